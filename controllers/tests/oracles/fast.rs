// SPDX-License-Identifier: MIT OR Apache-2.0
//! FAST TCP in real numbers: the window law of INFOCOM 2004, every other round.

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, only};

use super::{Kind, Oracle, 
    Shown, TheirSide, Windows,
    by_rounds::{ByRounds, At, Law},
    meter::{Meter, Round, below},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| only(params, "alpha"), shows_base_rtt: true, loss_window_stays: false, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| ByRounds::begin(Fast::new(params), window, now_us)),
};

pub struct Fast {
    alpha: f64,
    gamma: f64,
    average_weight: f64,
    idle_delay_us: f64,
    beta: f64,
    multiply: bool,
    average_rtt_us: Option<f64>,
    diff: f64,
    gain: f64,
    due: bool,
}

impl Fast {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            alpha: p("alpha"),
            gamma: p("gamma"),
            average_weight: p("average_weight"),
            idle_delay_us: p("idle_delay"),
            beta: p("beta"),
            multiply: p("multiply") == 1.0,
            average_rtt_us: None,
            diff: 0.0,
            gain: 0.0,
            due: true,
        }
    }
}

impl Law for Fast {
    fn acked(&mut self, _: f64, _: f64, rtt_us: Option<f64>, their_side: Option<TheirSide>) {
        if let (Some(rtt_us), Some(their_side)) = (rtt_us, their_side) {
            let weight = (3.0 / their_side.window).min(self.average_weight);
            let average = self.average_rtt_us.unwrap_or(rtt_us);
            self.average_rtt_us = Some((1.0 - weight) * average + weight * rtt_us);
        }
    }

    fn round(&mut self, win: &mut Windows, round: Option<Round>, at: At) -> Option<f64> {
        let due = std::mem::replace(&mut self.due, true);
        self.gain = 0.0;
        let round = round?;
        self.diff = round.queued(round.in_flight);
        let few = self.alpha / 2.0;
        let no_queue = round.rtt_us - round.base_rtt_us < self.idle_delay_us
            && below(self.diff, few, 0.004, at.their_side.diff < few);
        if at.slow_start {
            return (!no_queue).then(|| win.loss.max(2.0));
        }
        if !due {
            return None;
        }
        self.due = false;
        let w = win.loss;
        let equilibrium = round.base_rtt_us / self.average_rtt_us.unwrap() * w + self.alpha;
        let towards = if no_queue && self.multiply { 2.0 * w } else { equilibrium };
        let target = ((1.0 - self.gamma) * w + self.gamma * towards).min(2.0 * w);
        self.gain = (target - w).max(0.0);
        if target < w {
            win.loss = target.floor().max(2.0).min(w);
        }
        None
    }

    fn grow(&mut self, win: &mut Windows, acked: f64) {
        win.loss += self.gain * acked / win.loss;
    }

    fn after_loss(&mut self, win: Windows, _: &Meter) -> Windows {
        (self.gain, self.due) = (0.0, true);
        Windows { loss: win.loss * (1.0 - self.beta), delay: 0.0 }
    }

    fn restart(&mut self, win: Windows, window: f64, _: f64) -> Windows {
        self.gain = 0.0;
        Windows { loss: win.loss.min(window), delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        Shown { gamma: Some(self.alpha), diff: Some(self.diff), gamma_margin: 0.0, ..Shown::default() }
    }
}
