// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the controllers with one undivided window share: slow start, growth of this many packets a window, reduction, undo.

use super::{
    Ack, Reduction, Reference, Shown, TheirSide, Windows,
    meter::{Meter, Round},
};

/// What sets a controller apart. Where rounding has put the two on different sides of a step in the law, the integer controller's
/// window, `their_window`, decides. What is to be remembered of a loss is their window too, since the next epoch begins with
/// theirs ([`Reference::adopt`]).
pub trait Law {
    /// The host's clock, before each of the following.
    fn clock(&mut self, _now_us: f64) {}
    /// Each ACK outside recovery, before anything else.
    fn on_ack(&mut self, _ack: &Ack) {}
    fn recovery_sample(&mut self, _rtt_us: f64) {}
    /// A round has ended; what it has measured, if anything. Returns the window, which some cut.
    fn on_round(&mut self, window: f64, _round: Option<Round>, _their_side: TheirSide) -> f64 {
        window
    }
    /// Congestion avoidance: packets to be gained for a window of packets ACKed.
    fn gain(&mut self, window: f64, ack: &Ack, their_side: TheirSide) -> f64;
    /// What a loss leaves of the window.
    fn after_loss(&mut self, window: f64, their_window: f64) -> f64;
    /// What a mark leaves of it: for most what a loss leaves.
    fn after_mark(&mut self, window: f64, their_window: f64) -> f64 {
        self.after_loss(window, their_window)
    }
    fn on_timeout(&mut self) {}
    /// Recovery is over.
    fn on_open(&mut self) {}
    fn on_undo(&mut self) {}
    fn on_restart(&mut self) {}
    /// Does the controller show the smallest RTT?
    fn shows_base_rtt(&self) -> bool {
        false
    }
    fn shown(&self) -> Shown {
        Shown::default()
    }
    fn rounding(&self) -> f64 {
        4.0
    }
}

pub struct Single<L> {
    law: L,
    meter: Meter,
    window: f64,
    ssthresh: f64,
    /// Window and threshold before the last reduction.
    prior: (f64, f64),
}

impl<L: Law + 'static> Single<L> {
    /// The reference of a connection that begins with `window` packets and none in flight.
    pub fn begin(law: L, window: f64) -> Box<dyn Reference> {
        let ssthresh = f64::INFINITY;
        Box::new(Self { law, meter: Meter::default(), window, ssthresh, prior: (window, ssthresh) })
    }
}

/// RFC 6298's smoothed RTT.
#[derive(Default)]
pub struct Smoothed(Option<f64>);

impl Smoothed {
    pub fn add(&mut self, sample: Option<f64>) {
        if let Some(sample) = sample {
            self.0 = Some(self.0.map_or(sample, |value| value * 7.0 / 8.0 + sample / 8.0));
        }
    }

    /// 0 before the first sample.
    pub fn value(&self) -> f64 {
        self.0.unwrap_or(0.0)
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
        let base_rtt_us = self.meter.base_rtt_us.filter(|_| self.law.shows_base_rtt());
        Shown { base_rtt_us, ..self.law.shown() }
    }

    fn rounding(&self) -> f64 {
        self.law.rounding()
    }

    fn clock(&mut self, now_us: f64) {
        self.law.clock(now_us);
    }

    fn ack(&mut self, ack: &Ack, their_side: TheirSide) {
        let sample = self.meter.sample(ack);
        self.law.on_ack(&Ack { rtt_us: sample, ..*ack });
        if let Some(round) = self.meter.ended(ack) {
            let cut = self.law.on_round(self.window, round, their_side);
            if cut < self.window {
                self.window = cut;
                self.ssthresh = self.ssthresh.min(cut.max(2.0));
            }
            self.meter.begin(ack.una, ack.nxt);
        }
        if !ack.window_limited {
            return;
        }
        let slow_start = ack.acked.min((self.ssthresh - self.window).max(0.0));
        self.window += slow_start;
        let left = ack.acked - slow_start;
        if left > 0.0 {
            let ack = Ack { acked: left, ..*ack };
            self.window += left * self.law.gain(self.window, &ack, their_side) / self.window;
        }
    }

    fn recovery_sample(&mut self, rtt_us: f64) {
        self.law.recovery_sample(rtt_us);
    }

    fn reduce(&mut self, to: Reduction, their_window: f64) {
        self.prior = (self.window, self.ssthresh);
        let left = match to {
            Reduction::Mark => self.law.after_mark(self.window, their_window),
            Reduction::Recovery | Reduction::Timeout => self.law.after_loss(self.window, their_window),
        };
        self.ssthresh = left.max(2.0);
        self.window = self.ssthresh;
        self.meter.in_recovery = true;
        if to == Reduction::Timeout {
            self.window = 1.0;
            self.law.on_timeout();
        }
    }

    fn adopt(&mut self, windows: Windows, ssthresh: f64) {
        (self.window, self.ssthresh) = (windows.total(), ssthresh);
    }

    fn open(&mut self, una: u64, nxt: u64) {
        self.meter.open(una, nxt);
        self.law.on_open();
    }

    fn undo(&mut self, una: u64, nxt: u64) {
        self.window = self.window.max(self.prior.0);
        self.ssthresh = self.ssthresh.max(self.prior.1);
        self.meter.open(una, nxt);
        self.law.on_undo();
    }

    fn restart(&mut self, window: f64, nxt: u64) {
        self.window = self.window.min(window);
        self.meter.begin(nxt, nxt);
        self.law.on_restart();
    }
}
