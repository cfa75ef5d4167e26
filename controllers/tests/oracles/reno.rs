// SPDX-License-Identifier: MIT OR Apache-2.0
//! RFC 5681 in fractional packets.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, Ack, Reduction, Reference, Shown, TheirSide, Windows};

pub const ORACLE: Oracle = Oracle {
    facts: Facts::USUAL,
    kind: Kind::Windows(|params, window, _| Box::new(Reno::new(params, window))),
};

pub struct Reno {
    window: f64,
    ssthresh: f64,
    beta: f64,
    /// Window and threshold before the last reduction.
    prior: (f64, f64),
}

impl Reno {
    pub fn new(params: &Params, window: f64) -> Self {
        Self { window, ssthresh: f64::INFINITY, beta: params.get("beta").unwrap(), prior: (window, f64::INFINITY) }
    }
}

/// One packet a packet up to `ssthresh`, then 1/window a packet.
pub fn grown(window: f64, ssthresh: f64, acked: f64) -> f64 {
    let slow_start = acked.min((ssthresh - window).max(0.0));
    let window = window + slow_start;
    window + (acked - slow_start) / window
}

impl Reference for Reno {
    fn windows(&self) -> Windows {
        Windows { loss: self.window, delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        Shown::default()
    }

    fn ack(&mut self, ack: &Ack, _: TheirSide) {
        if ack.window_limited {
            self.window = grown(self.window, self.ssthresh, ack.acked);
        }
    }

    fn reduce(&mut self, to: Reduction, _: f64) {
        self.prior = (self.window, self.ssthresh);
        self.ssthresh = (self.window * (1.0 - self.beta)).max(2.0);
        self.window = if to == Reduction::Timeout { 1.0 } else { self.ssthresh };
    }

    fn adopt(&mut self, windows: Windows, ssthresh: f64) {
        (self.window, self.ssthresh) = (windows.total(), ssthresh);
    }

    fn open(&mut self, _: u64, _: u64) {}

    fn undo(&mut self, _: u64, _: u64) {
        self.window = self.window.max(self.prior.0);
        self.ssthresh = self.ssthresh.max(self.prior.1);
    }

    fn restart(&mut self, window: f64, _: u64) {
        self.window = self.window.min(window);
    }
}
