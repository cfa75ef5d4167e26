// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compound TCP in fractional packets: S0 (1)-(5), S1 (1)-(4), and what `ctcp.h` decides where they are silent.

use tandem_controllers::Params;

use super::{
    Ack, Reduction, Reference, Shown, TheirSide, Windows,
    gamma::Gamma,
    meter::{Meter, Round, below},
    plus::Plus,
};

/// Packets by which rounding may set the two controllers' windows or thresholds apart: within it the integer controller
/// may be on the other side, and is followed.
const WINDOW_MARGIN: f64 = 3.0;
const RELATIVE_MARGIN: f64 = 0.02;

struct Law {
    alpha: f64,
    beta: f64,
    k: f64,
    zeta: f64,
    low_window: f64,
    spread_gain: f64,
    forget_base_rtt: bool,
    /// 0: a round has the RTT of its smallest sample.
    rtt_gain: f64,
    rtt_per_round: bool,
}

pub struct Compound {
    law: Law,
    win: Windows,
    ssthresh: f64,
    meter: Meter,
    last_rtt_us: f64,
    srtt_us: Option<f64>,
    /// Loss window when the round began.
    round_loss: f64,
    diff: f64,
    diff_margin: f64,
    gamma: Gamma,
    gain: Gain,
    plus: Option<Plus>,
    prior: (Windows, f64),
    forgotten_base_rtt_us: Option<f64>,
}

/// What dwnd is still to gain in this round.
#[derive(Clone, Copy, Default)]
struct Gain {
    packets: f64,
    /// Over this many packets ACKed.
    over: f64,
}

impl Gain {
    /// The share that falls to the next `acked` packets.
    fn take(&mut self, acked: f64) -> f64 {
        let share = if self.over > 0.0 { (acked / self.over).min(1.0) } else { 1.0 };
        let taken = self.packets * share;
        self.packets -= taken;
        self.over = (self.over - acked).max(0.0);
        taken
    }
}

impl Compound {
    pub fn new(params: &Params, window: f64) -> Self {
        let p = |name| params.get(name).unwrap();
        let law = Law {
            alpha: p("alpha"),
            beta: p("beta"),
            k: p("k"),
            zeta: p("zeta"),
            low_window: p("low_window"),
            spread_gain: p("spread_gain"),
            forget_base_rtt: p("forget_base_rtt") == 1.0,
            rtt_gain: p("rtt_gain"),
            rtt_per_round: p("rtt_per_round") == 1.0,
        };
        let win = Windows { loss: window, delay: 0.0 };
        Self {
            law,
            win,
            ssthresh: f64::INFINITY,
            meter: Meter::default(),
            last_rtt_us: 0.0,
            srtt_us: None,
            round_loss: window,
            diff: 0.0,
            diff_margin: 0.0,
            gamma: Gamma::new(params),
            gain: Gain::default(),
            plus: Plus::new(params),
            prior: (win, f64::INFINITY),
            forgotten_base_rtt_us: None,
        }
    }

    fn begin_round(&mut self, una: u64, nxt: u64) {
        self.meter.begin(una, nxt);
        self.round_loss = self.win.loss;
    }

    fn smooth(&mut self) {
        let srtt_us = self.srtt_us.get_or_insert(self.last_rtt_us);
        *srtt_us += self.law.rtt_gain * (self.last_rtt_us - *srtt_us);
    }

    fn in_slow_start(&self) -> bool {
        self.win.total() < self.ssthresh - 1e-9
    }

    fn end_round(&mut self, mut round: Round, window_limited: bool, their_side: TheirSide) {
        if self.law.rtt_per_round {
            self.smooth();
        }
        if self.law.rtt_gain > 0.0 {
            // A baseRTT measured afresh may be longer than what was smoothed before.
            round.rtt_us = self.srtt_us.unwrap().max(round.base_rtt_us);
            self.diff_margin = round.in_flight / 128.0 / round.base_rtt_us;
        }
        self.diff = round.queued(round.in_flight);
        // S1 (5).
        self.gamma.round(round.base_rtt_us, round.queued(self.round_loss));

        let win = self.win.total();
        let margin = WINDOW_MARGIN.max(win * RELATIVE_MARGIN);
        let asleep = below(win, self.ssthresh, margin, their_side.slow_start)
            || below(win, self.law.low_window, margin, their_side.up_to_low_window);
        self.gain = Gain::default();
        if asleep {
            if let Some(plus) = &mut self.plus {
                plus.asleep(below(win, self.ssthresh, margin, their_side.slow_start));
            }
            return;
        }
        // S1 (4).
        let congested =
            !below(self.diff, self.gamma.now(), self.gamma.margin() + self.diff_margin, !their_side.congested());
        if !congested {
            let packets = (self.law.alpha * win.powf(self.law.k) - 1.0).max(0.0);
            self.gain = Gain { packets, over: self.law.spread_gain * win };
        } else {
            // Whole packets are given up, and a packet only partly gained is lost with them.
            self.win.delay = (self.win.delay.floor() - (self.law.zeta * self.diff).floor()).max(0.0);
        }
        if let Some(plus) = &mut self.plus {
            self.win.loss = plus.round(self.win.loss, congested, window_limited, their_side);
        }
        if congested {
            self.ssthresh = self.ssthresh.min(self.win.total());
        }
    }

    fn grow(&mut self, mut acked: f64) {
        if self.in_slow_start() {
            let slow_start = acked.min(self.ssthresh - self.win.total());
            self.win.loss += slow_start;
            acked -= slow_start;
        }
        let win = self.win.total();
        // S1 (2).
        self.win.loss += acked / win;
        self.win.delay += self.gain.take(acked);
    }
}

impl Reference for Compound {
    fn windows(&self) -> Windows {
        self.win
    }

    fn shown(&self) -> Shown {
        Shown {
            gamma: Some(self.gamma.now()),
            diff: Some(self.diff),
            base_rtt_us: self.meter.base_rtt_us,
            gamma_margin: self.gamma.margin(),
            diff_margin: self.diff_margin,
        }
    }

    fn ack(&mut self, ack: &Ack, their_side: TheirSide) {
        if let Some(rtt_us) = self.meter.sample(ack) {
            self.last_rtt_us = rtt_us;
            if !self.law.rtt_per_round {
                self.smooth();
            }
            self.gamma.sample(rtt_us);
            if let Some(plus) = &mut self.plus {
                plus.sample(ack.acked);
            }
        }
        if self.in_slow_start() {
            self.win = Windows { loss: self.win.total(), delay: 0.0 };
            self.gain = Gain::default();
        }
        if let Some(round) = self.meter.ended(ack) {
            match round {
                Some(round) => self.end_round(round, ack.window_limited, their_side),
                None => self.gain = Gain::default(),
            }
            self.begin_round(ack.una, ack.nxt);
        }
        if ack.window_limited {
            self.grow(ack.acked);
        }
        if let Some(plus) = &mut self.plus {
            plus.note(their_side);
        }
    }

    fn reduce(&mut self, to: Reduction, _: f64) {
        self.gamma.loss();
        self.prior = (self.win, self.ssthresh);
        let win = self.win.total();
        let loss = self.win.loss / 2.0;
        self.win = Windows { loss, delay: (win * (1.0 - self.law.beta) - loss).max(0.0) };
        if self.win.total() < 2.0 {
            self.win.loss = 2.0 - self.win.delay;
        }
        self.ssthresh = self.win.total();
        self.gain = Gain::default();
        self.meter.in_recovery = true;
        self.forgotten_base_rtt_us = None;
        if to == Reduction::Timeout {
            self.win = Windows { loss: 1.0, delay: 0.0 };
            if let Some(plus) = &mut self.plus {
                plus.timeout();
            }
            if self.law.forget_base_rtt {
                self.forgotten_base_rtt_us = self.meter.base_rtt_us.take();
                self.gamma.forget();
            }
        }
    }

    fn adopt(&mut self, windows: Windows, ssthresh: f64) {
        (self.win, self.ssthresh) = (windows, ssthresh);
    }

    fn open(&mut self, una: u64, nxt: u64) {
        self.meter.in_recovery = false;
        self.begin_round(una, nxt);
    }

    fn undo(&mut self, una: u64, nxt: u64) {
        let (windows, ssthresh) = self.prior;
        let more = (self.win.total() - windows.total()).max(0.0);
        self.win = Windows { loss: windows.loss + more, ..windows };
        self.ssthresh = self.ssthresh.max(ssthresh);
        self.meter.remember(self.forgotten_base_rtt_us);
        self.gamma.undo();
        self.open(una, nxt);
    }

    fn restart(&mut self, window: f64, nxt: u64) {
        self.win = Windows { loss: self.win.total().min(window), delay: 0.0 };
        self.gain = Gain::default();
        self.begin_round(nxt, nxt);
    }
}
