// SPDX-License-Identifier: MIT OR Apache-2.0
//! RFC 8257 in real numbers: Reno, except for what a mark leaves.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Ack, Kind, Oracle, Reduction, Reference, Shown, TheirSide, Windows, reno::Reno};

pub const ORACLE: Oracle = Oracle {
    facts: Facts::USUAL,
    kind: Kind::Windows(|params, window, _| Box::new(Dctcp::new(params, window))),
};

/// The EWMA of section 3.3, in which a round ends with the first packet acknowledged that was sent after its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    g: f64,
    pub alpha: f64,
    acked: f64,
    marked: f64,
    /// One above the last packet that had been sent when the round began.
    end: u64,
}

impl Average {
    /// `nxt` is the position up to which has been sent when it begins.
    pub fn new(g: f64, alpha: f64, nxt: u64) -> Self {
        Self { g, alpha, acked: 0.0, marked: 0.0, end: nxt }
    }

    pub fn count(&mut self, acked: f64, marked: f64) {
        self.acked += acked;
        self.marked += marked;
    }

    pub fn has_ended(&self, una: u64) -> bool {
        una > self.end
    }

    pub fn end_round(&mut self, nxt: u64, counts: bool) {
        if counts && self.acked > 0.0 {
            self.alpha = (1.0 - self.g) * self.alpha + self.g * (self.marked / self.acked).min(1.0);
        }
        (self.acked, self.marked, self.end) = (0.0, 0.0, nxt);
    }
}

struct Dctcp {
    growth: Reno,
    average: Average,
}

impl Dctcp {
    fn new(params: &Params, window: f64) -> Self {
        let p = |name| params.get(name).unwrap();
        let growth = Reno::new(params, window);
        Self { growth, average: Average::new(p("g"), p("initial_alpha"), 0) }
    }

    fn take(&mut self, acked: f64, marked: f64, una: u64, nxt: u64) {
        self.average.count(acked, marked);
        if self.average.has_ended(una) {
            self.average.end_round(nxt, true);
        }
    }
}

impl Reference for Dctcp {
    fn windows(&self) -> Windows {
        self.growth.windows()
    }

    fn shown(&self) -> Shown {
        Shown::default()
    }

    fn ack(&mut self, ack: &Ack, their_side: TheirSide) {
        self.take(ack.acked, ack.marked, ack.una, ack.nxt);
        self.growth.ack(ack, their_side);
    }

    fn recovery_ack(&mut self, acked: f64, una: u64, nxt: u64) {
        self.take(acked, 0.0, una, nxt);
    }

    fn reduce(&mut self, to: Reduction, their_window: f64) {
        let window = self.windows().total();
        self.growth.reduce(to, their_window);
        if to == Reduction::Mark {
            let left = (window * (1.0 - self.average.alpha / 2.0)).max(2.0);
            self.growth.adopt(Windows { loss: left, delay: 0.0 }, left);
        }
    }

    fn adopt(&mut self, windows: Windows, ssthresh: f64) {
        self.growth.adopt(windows, ssthresh);
    }

    fn open(&mut self, una: u64, nxt: u64) {
        self.growth.open(una, nxt);
    }

    fn undo(&mut self, una: u64, nxt: u64) {
        self.growth.undo(una, nxt);
    }

    fn restart(&mut self, window: f64, nxt: u64) {
        self.growth.restart(window, nxt);
    }
}
