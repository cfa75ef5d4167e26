// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP-Africa in real numbers: RFC 3649 while less than alpha is queued, otherwise Reno.

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, only};

use super::{Kind, Oracle, 
    Shown, Windows,
    by_rounds::{ByRounds, At, Law},
    highspeed::HighSpeed,
    meter::{Meter, Round, below},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| only(params, "alpha"), shows_base_rtt: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| ByRounds::begin(Africa::new(params), window, now_us)),
};

pub struct Africa {
    highspeed: HighSpeed,
    alpha: f64,
    always_b: bool,
    diff: f64,
    fast: bool,
}

impl Africa {
    pub fn new(params: &Params) -> Self {
        Self {
            highspeed: HighSpeed::new(params),
            alpha: params.get("alpha").unwrap(),
            always_b: params.get("always_b") == Some(1.0),
            diff: 0.0,
            fast: false,
        }
    }
}

impl Law for Africa {
    fn round(&mut self, _: &mut Windows, round: Option<Round>, at: At) -> Option<f64> {
        self.fast = false;
        let round = round?;
        self.diff = round.queued(round.in_flight);
        self.fast = below(self.diff, self.alpha, 0.004, at.their_side.diff < self.alpha);
        None
    }

    fn grow(&mut self, win: &mut Windows, acked: f64) {
        let growth = if self.fast { self.highspeed.growth(win.loss) } else { 1.0 };
        let counted = if self.fast { self.highspeed.counted(acked) } else { acked };
        win.loss += growth * counted / win.loss;
    }

    fn after_loss(&mut self, win: Windows, _: &Meter) -> Windows {
        let highspeed = std::mem::replace(&mut self.fast, false) || self.always_b;
        let decrease = if highspeed { self.highspeed.decrease(win.loss) } else { 0.5 };
        Windows { loss: win.loss * (1.0 - decrease), delay: 0.0 }
    }

    fn restart(&mut self, win: Windows, window: f64, _: f64) -> Windows {
        self.fast = false;
        Windows { loss: win.loss.min(window), delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        Shown { gamma: Some(self.alpha), diff: Some(self.diff), gamma_margin: 0.0, ..Shown::default() }
    }
}
