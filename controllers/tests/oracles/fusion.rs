// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP-Fusion in real numbers, S3 II, and what `fusion.h` decides where it is silent. The loss window is Reno's.

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, q8};

use super::{Kind, Oracle, 
    Shown, TheirSide, Windows,
    by_rounds::{ByRounds, At, Law},
    meter::{Meter, Round, below},
    rate::Rate,
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| q8(params, "alpha_low")..=u32::MAX, shows_base_rtt: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| ByRounds::begin(Fusion::new(params, now_us), window, now_us)),
};

pub struct Fusion {
    rate: Rate,
    beta: f64,
    alpha_delay_us: f64,
    alpha_low: f64,
    upper: f64,
    increase_delay_us: f64,
    alpha: f64,
    diff: f64,
    /// Packets for each window of packets ACKed.
    gain: f64,
}

impl Fusion {
    pub fn new(params: &Params, now_us: f64) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            rate: Rate::new(params, now_us),
            beta: p("beta"),
            alpha_delay_us: p("alpha_delay"),
            alpha_low: p("alpha_low"),
            upper: p("upper"),
            increase_delay_us: p("increase_delay"),
            alpha: p("alpha_low"),
            diff: 0.0,
            gain: 0.0,
        }
    }
}

impl Law for Fusion {
    fn acked(&mut self, now_us: f64, acked: f64, rtt_us: Option<f64>, _: Option<TheirSide>) {
        self.rate.acked(now_us, acked, rtt_us);
    }

    fn round(&mut self, win: &mut Windows, round: Option<Round>, at: At) -> Option<f64> {
        self.gain = 0.0;
        let round = round?;
        // The share of what is in flight that passes in Dmin.
        self.alpha = (round.in_flight / round.rtt_us * self.alpha_delay_us).max(self.alpha_low);
        self.diff = round.queued(round.in_flight);
        let theirs = at.their_side;
        let upper = self.upper * self.alpha;
        if at.slow_start {
            return None;
        }
        if below(self.diff, self.alpha, 0.01, theirs.diff < theirs.gamma) {
            self.gain = self.rate.packets(self.increase_delay_us).unwrap_or(0.0);
        } else if !below(self.diff, upper, 0.01 * self.upper, theirs.diff <= self.upper * theirs.gamma) {
            win.delay = (win.delay - (self.diff - self.alpha).floor()).max(0.0);
        }
        None
    }

    fn grow(&mut self, win: &mut Windows, acked: f64) {
        let cwnd = win.total();
        win.loss += acked / cwnd;
        win.delay = (cwnd + self.gain * acked / cwnd - win.loss).max(0.0);
    }

    fn after_loss(&mut self, win: Windows, meter: &Meter) -> Windows {
        self.gain = 0.0;
        let unqueued = match (meter.base_rtt_us, meter.last_rtt_us) {
            (Some(base), Some(last)) => base / last,
            _ => 0.0,
        };
        let loss = (win.loss / 2.0).max(2.0);
        Windows { loss, delay: (win.total() * unqueued.max(1.0 - self.beta) - loss).max(0.0) }
    }

    fn restart(&mut self, win: Windows, window: f64, now_us: f64) -> Windows {
        self.rate.restart(now_us);
        self.gain = 0.0;
        let loss = win.loss.min(window);
        Windows { loss, delay: win.total().min(window) - loss }
    }

    fn shown(&self) -> Shown {
        Shown { gamma: Some(self.alpha), diff: Some(self.diff), gamma_margin: 0.01, ..Shown::default() }
    }
}
