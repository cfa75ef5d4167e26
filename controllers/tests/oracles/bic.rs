// SPDX-License-Identifier: MIT OR Apache-2.0
//! BIC in real numbers.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, 
    Ack, TheirSide,
    single::{Single, Law, beyond},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts::USUAL,
    kind: Kind::Windows(|params, window, _| Single::begin(Bic::new(params), window)),
};

pub struct Bic {
    s_max: f64,
    b: f64,
    smooth_part: f64,
    kept: f64,
    low_window: f64,
    fast_convergence: bool,
    w_max: Option<f64>,
    prior_w_max: Option<f64>,
    rounding: f64,
}

impl Bic {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            s_max: p("max_increment"),
            b: p("search"),
            smooth_part: p("smooth_part"),
            kept: 1.0 - p("decrease"),
            low_window: p("low_window"),
            fast_convergence: p("fast_convergence") == 1.0,
            w_max: None,
            prior_w_max: None,
            rounding: 4.0,
        }
    }
}

impl Law for Bic {
    fn gain(&mut self, window: f64, _: &Ack, their_side: TheirSide) -> f64 {
        if !beyond(window, their_side.window, self.low_window) {
            return 1.0;
        }
        let Some(w_max) = self.w_max else { return self.s_max.max(0.05 * window) };
        // Above W_max the distance from it grows by a factor, and with it what rounding has made of it.
        self.rounding = 4.0 + 2.0 * (window - w_max).clamp(0.0, self.s_max * self.b) / self.b;
        // The steps near W_max are where theirs are: in between a packet takes many rounds.
        let theirs = their_side.window - w_max;
        if theirs <= -2.0 * self.b {
            ((w_max - window) / self.b).min(self.s_max)
        } else if theirs < self.b {
            (self.b / self.smooth_part).min(self.s_max)
        } else {
            ((window - w_max) / (self.b - 1.0)).min(self.s_max)
        }
    }

    fn after_loss(&mut self, window: f64, their_window: f64) -> f64 {
        self.prior_w_max = self.w_max;
        let shrinks = self.fast_convergence && self.w_max.is_some_and(|w_max| their_window < w_max);
        self.w_max = Some(if shrinks { (their_window * (1.0 + self.kept) / 2.0).floor() } else { their_window });
        window * if beyond(window, their_window, self.low_window) { self.kept } else { 0.5 }
    }

    fn on_timeout(&mut self) {
        self.w_max = None;
    }

    fn on_undo(&mut self) {
        self.w_max = self.prior_w_max;
    }

    fn rounding(&self) -> f64 {
        self.rounding
    }
}
