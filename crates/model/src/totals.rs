// SPDX-License-Identifier: MIT OR Apache-2.0
//! Durations, data and backlog of stretches of a connection, and S2's phases worked out as integrals.

use std::ops::{AddAssign, Mul};

use crate::law::Law;

/// A stretch of a connection. Times are packet times: one packet's transmission at the bottleneck, 1/mu.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Number of rounds.
    pub rounds: f64,
    /// Packet times.
    pub time: f64,
    /// Packets delivered.
    pub data: f64,
    /// Integral of the queue over time: packets times packet times.
    pub queue_area: f64,
}

impl Totals {
    /// Share of the link's rate: a link that is never idle delivers a packet each packet time.
    pub fn utilisation(&self) -> f64 {
        if self.time > 0.0 { self.data / self.time } else { 0.0 }
    }

    /// Mean queue over time, packets; 0 for a stretch without length.
    pub fn mean_queue(&self) -> f64 {
        if self.time > 0.0 { self.queue_area / self.time } else { 0.0 }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.time += other.time;
        self.data += other.data;
        self.queue_area += other.queue_area;
    }
}

impl Mul<f64> for Totals {
    type Output = Self;
    fn mul(self, times: f64) -> Self {
        Self {
            rounds: self.rounds * times,
            time: self.time * times,
            data: self.data * times,
            queue_area: self.queue_area * times,
        }
    }
}

/// `(b^n - a^n) / n`, the integral of w^(n-1) from a to b.
fn power_integral(a: f64, b: f64, n: f64) -> f64 {
    (b.powf(n) - a.powf(n)) / n
}

/// Growth by `alpha w^k` a round from `from` to `to` windows, neither above the BDP: RTT tau~, no queue.
/// From `dw/dt = alpha w^k / tau~` and a rate of `w / tau~`.
pub fn phase1(law: &Law, bdp: f64, from: f64, to: f64) -> Totals {
    let rounds = growth_rounds(law, from, to);
    let data = power_integral(from, to, 2.0 - law.k) / law.alpha;
    Totals { rounds, time: rounds * bdp, data, queue_area: 0.0 }
}

/// Growth by `alpha w^k` a round with a queue of `w - bdp`: RTT `w / mu`, the link never idle.
/// From `dw/dt = alpha mu w^(k-1)`.
pub fn phase2(law: &Law, bdp: f64, from: f64, to: f64) -> Totals {
    let time = power_integral(from, to, 2.0 - law.k) / law.alpha;
    let queue_area = power_integral(from, to, 3.0 - law.k) / law.alpha - bdp * time;
    Totals { rounds: growth_rounds(law, from, to), time, data: time, queue_area }
}

/// Reno: a packet a round, with a queue of `w - bdp`. From `dw/dt = mu / w`.
pub fn phase4(bdp: f64, from: f64, to: f64) -> Totals {
    let time = power_integral(from, to, 2.0);
    let queue_area = power_integral(from, to, 3.0) - bdp * time;
    Totals { rounds: to - from, time, data: time, queue_area }
}

fn growth_rounds(law: &Law, from: f64, to: f64) -> f64 {
    power_integral(from, to, 1.0 - law.k) / law.alpha
}
