// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the controllers with one undivided window share: slow start, growth of so many packets a window, reduction, undo.

use super::{Ack, Reduction, Reference, Shown, TheirSide, Windows};

/// What sets a controller apart. `their_window` is the integer controller's: where the two stand on different sides of a step in
/// the law, because of rounding, the integer controller is followed.
pub trait Law {
    /// Each ACK outside recovery, before growth.
    fn on_ack(&mut self, _window: f64, _slow_start: bool, _ack: &Ack, _their_side: TheirSide) {}
    /// Congestion avoidance: packets to be gained for a window of packets ACKed.
    fn gain(&mut self, window: f64, ack: &Ack, their_side: TheirSide) -> f64;
    /// What a loss leaves of the window.
    fn after_loss(&mut self, window: f64, their_window: f64) -> f64;
    fn on_timeout(&mut self) {}
    fn on_open(&mut self) {}
    fn on_undo(&mut self) {}
    fn on_restart(&mut self) {}
    fn shown(&self) -> Shown {
        Shown::default()
    }
}

pub struct Single<L> {
    law: L,
    window: f64,
    ssthresh: f64,
    /// Window and threshold before the last reduction.
    prior: (f64, f64),
}

impl<L: Law> Single<L> {
    pub fn new(law: L, window: f64) -> Self {
        Self { law, window, ssthresh: f64::INFINITY, prior: (window, f64::INFINITY) }
    }
}

/// On which side of a step in the law: the integer controller's, if rounding could have set the two apart.
pub fn beyond(ours: f64, theirs: f64, step: f64) -> bool {
    if (ours - step).abs() <= 3.0 { theirs > step } else { ours > step }
}

impl<L: Law> Reference for Single<L> {
    fn windows(&self) -> Windows {
        Windows { loss: self.window, delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        self.law.shown()
    }

    fn ack(&mut self, ack: &Ack, their_side: TheirSide) {
        self.law.on_ack(self.window, self.window < self.ssthresh, ack, their_side);
        if !ack.window_limited {
            return;
        }
        let slow_start = ack.acked.min((self.ssthresh - self.window).max(0.0));
        self.window += slow_start;
        let left = ack.acked - slow_start;
        if left > 0.0 {
            self.window += left * self.law.gain(self.window, ack, their_side) / self.window;
        }
    }

    fn reduce(&mut self, to: Reduction, their_window: f64) {
        self.prior = (self.window, self.ssthresh);
        self.ssthresh = self.law.after_loss(self.window, their_window).max(2.0);
        self.window = self.ssthresh;
        if to == Reduction::Timeout {
            self.window = 1.0;
            self.law.on_timeout();
        }
    }

    fn adopt(&mut self, windows: Windows, ssthresh: f64) {
        (self.window, self.ssthresh) = (windows.total(), ssthresh);
    }

    fn open(&mut self, _: u64, _: u64) {
        self.law.on_open();
    }

    fn undo(&mut self, _: u64, _: u64) {
        self.window = self.window.max(self.prior.0);
        self.ssthresh = self.ssthresh.max(self.prior.1);
        self.law.on_undo();
    }

    fn restart(&mut self, window: f64, _: u64) {
        self.window = self.window.min(window);
        self.law.on_restart();
    }
}
