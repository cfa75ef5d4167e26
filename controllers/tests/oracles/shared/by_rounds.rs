// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the references share that decide once a round: rounds, slow start, reduction, undo.

use super::{
    Ack, Reduction, Reference, Shown, TheirSide, Windows,
    meter::{Meter, Round},
};

/// What sets a controller apart.
pub trait Law {
    /// Packets acknowledged at `now_us`, in recovery too; the RTT sample if it counts.
    fn acked(&mut self, _now_us: f64, _acked: f64, _rtt_us: Option<f64>, _their_side: Option<TheirSide>) {}
    /// A round has ended; `None` if nothing backs it. Returns what ssthresh is not to exceed; a window that falls takes it along.
    fn round(&mut self, win: &mut Windows, round: Option<Round>, at: At) -> Option<f64>;
    /// An ACK in slow start, before anything else.
    fn in_slow_start(&mut self, win: &mut Windows) {
        *win = Windows { loss: win.total(), delay: 0.0 };
    }
    /// Slow start adds `acked` packets.
    fn slow_start(&mut self, win: &mut Windows, acked: f64) {
        win.loss += acked;
    }
    /// Congestion avoidance.
    fn grow(&mut self, win: &mut Windows, acked: f64);
    fn after_loss(&mut self, win: Windows, meter: &Meter) -> Windows;
    /// Before a timeout's slow start.
    fn on_timeout(&mut self, _meter: &mut Meter) {}
    /// The last reduction was a mistake.
    fn on_undo(&mut self, _meter: &mut Meter) {}
    /// What is left after an idle time, when the host allows `window`.
    fn restart(&mut self, win: Windows, window: f64, now_us: f64) -> Windows;
    fn shown(&self) -> Shown;
    fn rounding(&self) -> f64 {
        4.0
    }
}

/// The circumstances of a round's end.
#[derive(Clone, Copy)]
pub struct At {
    pub slow_start: bool,
    pub window_limited: bool,
    pub their_side: TheirSide,
}

pub struct ByRounds<L> {
    law: L,
    win: Windows,
    ssthresh: f64,
    meter: Meter,
    now_us: f64,
    prior: (Windows, f64),
}

impl<L: Law + 'static> ByRounds<L> {
    /// The reference of a connection that begins with `window` packets and none in flight.
    pub fn begin(law: L, window: f64, now_us: f64) -> Box<dyn Reference> {
        let win = Windows { loss: window, delay: 0.0 };
        let (ssthresh, meter) = (f64::INFINITY, Meter::default());
        Box::new(Self { law, win, ssthresh, meter, now_us, prior: (win, ssthresh) })
    }

    fn end_round(&mut self, round: Option<Round>, at: At) {
        let before = self.win.total();
        let ssthresh = self.law.round(&mut self.win, round, at);
        if self.win.total() < before {
            self.ssthresh = self.ssthresh.min(self.win.total());
        }
        self.ssthresh = self.ssthresh.min(ssthresh.unwrap_or(f64::INFINITY));
    }
}

impl<L: Law + 'static> Reference for ByRounds<L> {
    fn windows(&self) -> Windows {
        self.win
    }

    fn shown(&self) -> Shown {
        Shown { base_rtt_us: self.meter.base_rtt_us, ..self.law.shown() }
    }

    fn rounding(&self) -> f64 {
        self.law.rounding()
    }

    fn clock(&mut self, now_us: f64) {
        self.now_us = now_us;
    }

    fn recovery_ack(&mut self, acked: f64, _: u64, _: u64) {
        self.law.acked(self.now_us, acked, None, None);
    }

    fn ack(&mut self, ack: &Ack, their_side: TheirSide) {
        let rtt_us = self.meter.sample(ack);
        self.law.acked(self.now_us, ack.acked, rtt_us, Some(their_side));
        // Slow start adds whole packets, so that there is nothing to be rounded.
        let slow_start = their_side.slow_start;
        if slow_start {
            self.law.in_slow_start(&mut self.win);
        }
        if let Some(round) = self.meter.ended(ack) {
            self.end_round(round, At { slow_start, window_limited: ack.window_limited, their_side });
            self.meter.begin(ack.una, ack.nxt);
        }
        if ack.window_limited {
            let slow_start = if slow_start { ack.acked.min((self.ssthresh - self.win.total()).max(0.0)) } else { 0.0 };
            self.law.slow_start(&mut self.win, slow_start);
            self.law.grow(&mut self.win, ack.acked - slow_start);
        }
    }

    fn reduce(&mut self, to: Reduction, _: f64) {
        self.prior = (self.win, self.ssthresh);
        self.win = self.law.after_loss(self.win, &self.meter);
        if self.win.total() < 2.0 {
            self.win.loss = 2.0 - self.win.delay;
        }
        self.ssthresh = self.win.total();
        self.meter.in_recovery = true;
        if to == Reduction::Timeout {
            self.win = Windows { loss: 1.0, delay: 0.0 };
            self.law.on_timeout(&mut self.meter);
        }
    }

    fn adopt(&mut self, windows: Windows, ssthresh: f64) {
        (self.win, self.ssthresh) = (windows, ssthresh);
    }

    fn open(&mut self, una: u64, nxt: u64) {
        self.meter.open(una, nxt);
    }

    fn undo(&mut self, una: u64, nxt: u64) {
        let (windows, ssthresh) = self.prior;
        let more = (self.win.total() - windows.total()).max(0.0);
        self.win = Windows { loss: windows.loss + more, ..windows };
        self.ssthresh = self.ssthresh.max(ssthresh);
        self.law.on_undo(&mut self.meter);
        self.open(una, nxt);
    }

    fn restart(&mut self, window: f64, nxt: u64) {
        self.win = self.law.restart(self.win, window, self.now_us);
        self.meter.begin(nxt, nxt);
    }
}
