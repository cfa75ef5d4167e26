// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP Vegas: the paper's section 4, once a round.

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, only};

use super::{Kind, Oracle, 
    Shown, Windows,
    by_rounds::{ByRounds, At, Law},
    meter::{Meter, Round, below},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| only(params, "alpha"), shows_base_rtt: true, loss_window_stays: false, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| ByRounds::begin(Vegas::new(params), window, now_us)),
};

pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    least_samples: f64,
    loss_beta: f64,
    diff: f64,
    steered: bool,
}

impl Vegas {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            alpha: p("alpha"),
            beta: p("beta"),
            gamma: p("gamma"),
            least_samples: p("least_samples"),
            loss_beta: p("loss_beta"),
            diff: 0.0,
            steered: false,
        }
    }
}

impl Law for Vegas {
    fn round(&mut self, win: &mut Windows, round: Option<Round>, at: At) -> Option<f64> {
        let round = round.filter(|r| f64::from(r.samples) >= self.least_samples);
        self.steered = round.is_some();
        let round = round?;
        self.diff = round.queued(round.in_flight);
        let theirs = at.their_side.diff;
        let is_below = |limit| below(self.diff, limit, 0.004, theirs < limit);
        let is_above = |limit| !below(self.diff, limit, 0.004, theirs <= limit);
        let lowered = if at.slow_start && is_above(self.gamma) {
            // What is not queued, and one packet.
            win.loss.min((win.loss * round.base_rtt_us / round.rtt_us).floor() + 1.0)
        } else if !at.slow_start && is_above(self.beta) {
            win.loss - 1.0
        } else {
            if !at.slow_start && is_below(self.alpha) && at.window_limited {
                win.loss += 1.0;
            }
            return None;
        };
        win.loss = lowered.max(2.0).min(win.loss);
        // Below the window, so that slow start is over.
        Some((win.loss - 1.0).max(2.0))
    }

    fn grow(&mut self, win: &mut Windows, acked: f64) {
        if !self.steered {
            win.loss += acked / win.loss;
        }
    }

    fn after_loss(&mut self, win: Windows, _: &Meter) -> Windows {
        Windows { loss: win.loss * (1.0 - self.loss_beta), delay: 0.0 }
    }

    fn restart(&mut self, win: Windows, window: f64, _: f64) -> Windows {
        Windows { loss: win.loss.min(window), delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        Shown { gamma: Some(self.alpha), diff: Some(self.diff), gamma_margin: 0.0, ..Shown::default() }
    }
}
