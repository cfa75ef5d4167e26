// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the delay-based references measure: the smallest RTT, rounds, and what was queued in one.

use super::Ack;

/// `ours < limit`, unless it is so close that rounding decides.
pub fn below(ours: f64, limit: f64, margin: f64, theirs: bool) -> bool {
    if (ours - limit).abs() <= margin { theirs } else { ours < limit }
}

fn least(known: Option<f64>, new: f64) -> Option<f64> {
    Some(known.map_or(new, |k| k.min(new)))
}

/// From a round's first packet until that is answered.
#[derive(Default)]
pub struct Meter {
    pub base_rtt_us: Option<f64>,
    pub last_rtt_us: Option<f64>,
    pub in_recovery: bool,
    end: u64,
    in_flight: f64,
    rtt_us: Option<f64>,
    samples: u32,
}

/// A round that samples back.
#[derive(Clone, Copy)]
pub struct Round {
    pub in_flight: f64,
    pub rtt_us: f64,
    pub base_rtt_us: f64,
    pub samples: u32,
}

impl Round {
    /// S1 (3): how many of `window` packets waited.
    pub fn queued(&self, window: f64) -> f64 {
        window * (1.0 - self.base_rtt_us / self.rtt_us)
    }
}

impl Meter {
    pub fn begin(&mut self, una: u64, nxt: u64) {
        (self.end, self.in_flight, self.rtt_us, self.samples) = (nxt, (nxt - una) as f64, None, 0);
    }

    /// The sample that counts, if any.
    pub fn sample(&mut self, ack: &Ack) -> Option<f64> {
        let rtt_us = ack.rtt_us.filter(|_| !self.in_recovery)?;
        self.base_rtt_us = least(self.base_rtt_us, rtt_us);
        self.rtt_us = least(self.rtt_us, rtt_us);
        self.last_rtt_us = Some(rtt_us);
        self.samples += 1;
        Some(rtt_us)
    }

    /// A smallest RTT that should not have been forgotten.
    pub fn remember(&mut self, base_rtt_us: Option<f64>) {
        if let Some(rtt_us) = base_rtt_us {
            self.base_rtt_us = least(self.base_rtt_us, rtt_us);
        }
    }

    /// Has the round ended with this ACK? Then what it has measured, if anything; the caller begins the next.
    pub fn ended(&self, ack: &Ack) -> Option<Option<Round>> {
        if self.in_recovery || ack.una <= self.end {
            return None;
        }
        Some(self.rtt_us.filter(|_| self.in_flight >= 1.0).map(|rtt_us| Round {
            in_flight: self.in_flight,
            rtt_us,
            base_rtt_us: self.base_rtt_us.unwrap(),
            samples: self.samples,
        }))
    }

    pub fn open(&mut self, una: u64, nxt: u64) {
        self.in_recovery = false;
        self.begin(una, nxt);
    }
}
