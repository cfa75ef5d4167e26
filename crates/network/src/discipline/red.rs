// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random Early Detection (Floyd and Jacobson 1993), in `gentle` form (Floyd 2000), dropping or marking.

use tandem_scenario::aqm::Red;

use super::{Arrival, AtArrival, Verdict};
use crate::Rng;

/// RED's average queue, and how it spreads drops.
#[derive(Debug, Clone)]
pub(super) struct Average {
    red: Red,
    /// Packets.
    average: f64,
    /// Packets since the last drop; -1 while the average is below the minimum.
    count: i64,
}

impl AtArrival for Average {
    fn judge(&mut self, arrival: &Arrival, rng: &mut Rng) -> Verdict {
        let idle_packets = arrival.now.saturating_sub(arrival.busy_until) / arrival.full_packet_ns;
        if !self.drops(arrival.waiting_packets, idle_packets, rng) {
            return Verdict::Pass;
        }
        // RFC 3168 section 7: above the thresholds it drops.
        let marks = self.red.ecn && self.average < 2.0 * self.red.max_packets;
        if marks { Verdict::Mark } else { Verdict::Drop }
    }
}

impl Average {
    pub fn new(red: Red) -> Self {
        Self { red, average: 0.0, count: -1 }
    }

    /// Is this arrival dropped early? `queue_packets` are waiting; the link had been idle for `idle_packets` packet times.
    fn drops(&mut self, queue_packets: usize, idle_packets: u64, rng: &mut Rng) -> bool {
        let Red { min_packets, max_packets, max_p, weight, .. } = self.red;
        if queue_packets > 0 {
            self.average += weight * (queue_packets as f64 - self.average);
        } else {
            self.average *= power(1.0 - weight, idle_packets.max(1));
        }
        let p = if self.average < min_packets {
            self.count = -1;
            return false;
        } else if self.average < max_packets {
            max_p * (self.average - min_packets) / (max_packets - min_packets)
        } else if self.average < 2.0 * max_packets {
            max_p + (1.0 - max_p) * (self.average - max_packets) / max_packets
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    /// At most 0.1 between the thresholds.
    fn red(min_packets: f64, max_packets: f64, weight: f64) -> Average {
        Average::new(Red { min_packets, max_packets, max_p: 0.1, weight, ecn: false })
    }

    /// RED that follows the queue at once (weight 1), with `queue_packets` waiting at each of 100000 arrivals.
    fn drops(queue_packets: usize, min_packets: f64, max_packets: f64, seed: u64) -> u64 {
        let mut average = red(min_packets, max_packets, 1.0);
        let mut rng = Rng::new(seed, Stream::Link(0));
        (0..100_000).filter(|_| average.drops(queue_packets, 0, &mut rng)).count() as u64
    }

    #[test]
    fn nothing_is_dropped_below_the_minimum_and_all_above_twice_the_maximum() {
        assert_eq!((drops(0, 5.0, 15.0, 1), drops(4, 5.0, 15.0, 1)), (0, 0));
        assert_eq!((drops(30, 5.0, 15.0, 1), drops(31, 5.0, 15.0, 1)), (100_000, 100_000));
    }

    /// Halfway between the thresholds p = 0.05. Floyd and Jacobson (section 7, method 2) make the number of packets from one drop to the
    /// next uniform; counted as in their figure 2, from 1 to 1/p - 1 = 19: mean 10, variance 30. The standard deviation of the
    /// count is sqrt(100000 * 30 / 10^3) = 55; bounds: 3.29 of them.
    #[test]
    fn drop_share_between_the_thresholds() {
        for seed in 1..=5 {
            let dropped = drops(10, 5.0, 15.0, seed);
            assert!(dropped.abs_diff(10_000) <= 180, "{dropped}, seed {seed}");
        }
    }

    /// Gentle: from max = 9 to 2 max, p rises from 0.1 to 1, so p = 0.2 at 10. Uniform from 1 to 4: mean 2.5, variance 1.25,
    /// standard deviation of the count 89.
    #[test]
    fn drop_share_in_the_gentle_part() {
        for seed in 1..=5 {
            let dropped = drops(10, 3.0, 9.0, seed);
            assert!(dropped.abs_diff(40_000) <= 294, "{dropped}, seed {seed}");
        }
    }

    /// Evenly spread: no gap between drops is longer than 1/p.
    #[test]
    fn drops_are_spread_evenly() {
        let mut average = red(5.0, 15.0, 1.0);
        let mut rng = Rng::new(1, Stream::Link(0));
        let drops: Vec<usize> = (0..100_000).filter(|_| average.drops(10, 0, &mut rng)).collect();
        let gaps: Vec<usize> = drops.windows(2).map(|d| d[1] - d[0]).collect();
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&19)));
    }

    /// A burst of 50 lifts the average by 0.002 * (0 + 1 + ... + 49) = 2.45 at most: it passes a minimum of 5. After 1000 more
    /// at 50 the average is above 40.
    #[test]
    fn bursts_pass_and_standing_queues_do_not() {
        let mut average = red(5.0, 15.0, 0.002);
        let mut rng = Rng::new(1, Stream::Link(0));
        assert!(!(0..50).any(|queue| average.drops(queue, 0, &mut rng)));
        for _ in 0..1000 {
            average.drops(50, 0, &mut rng);
        }
        assert!(average.average > 40.0 && average.average < 50.0);
        assert!(average.drops(50, 0, &mut rng), "more than twice the maximum");
    }

    /// While the link is idle the average decays as if packets had found it empty: 16 halved four times is 1.
    #[test]
    fn average_decays_while_idle() {
        let mut average = red(5.0, 15.0, 0.5);
        average.average = 16.0;
        average.drops(0, 4, &mut Rng::new(1, Stream::Link(0)));
        assert_eq!(average.average, 1.0);
    }
}
