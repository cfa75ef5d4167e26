// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random Early Detection (Floyd and Jacobson 1993), in `gentle` form (Floyd 2000), dropping.

use crate::Rng;

#[derive(Debug, Clone)]
pub struct Red {
    min_packets: f64,
    max_packets: f64,
    max_p: f64,
    weight: f64,
    average: f64,
    /// Packets since the last drop; -1 while the average is below the minimum.
    count: i64,
}

impl Red {
    pub fn new(min_packets: f64, max_packets: f64, max_p: f64, weight: f64) -> Self {
        Self { min_packets, max_packets, max_p, weight, average: 0.0, count: -1 }
    }

    /// Is this arrival dropped early? `queue_packets` are waiting; the link had been idle for `idle_packets` packet times.
    pub fn drops(&mut self, queue_packets: usize, idle_packets: u64, rng: &mut Rng) -> bool {
        if queue_packets > 0 {
            self.average += self.weight * (queue_packets as f64 - self.average);
        } else {
            self.average *= power(1.0 - self.weight, idle_packets.max(1));
        }
        let p = if self.average < self.min_packets {
            self.count = -1;
            return false;
        } else if self.average < self.max_packets {
            self.max_p * (self.average - self.min_packets) / (self.max_packets - self.min_packets)
        } else if self.average < 2.0 * self.max_packets {
            self.max_p + (1.0 - self.max_p) * (self.average - self.max_packets) / self.max_packets
        } else {
            self.count = 0;
            return true;
        };
        self.count += 1;
        // Spreads drops evenly: p / (1 - count p), certain once count p reaches 1.
        let spread = 1.0 - self.count as f64 * p;
        let drop = spread <= p || rng.chance(p / spread);
        if drop {
            self.count = 0;
        }
        drop
    }
}

/// By squaring: `powi` and `powf` may differ between machines.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
