// SPDX-License-Identifier: MIT OR Apache-2.0
//! RFC 3649 in real numbers.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, 
    Ack, TheirSide,
    single::{Single, Law, beyond},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts::USUAL,
    kind: Kind::Windows(|params, window, _| Single::begin(HighSpeed::new(params), window)),
};

pub struct HighSpeed {
    low: f64,
    high: f64,
    high_decrease: f64,
    response: f64,
    count_acks: bool,
}

impl HighSpeed {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            low: p("low_window"),
            high: p("high_window"),
            high_decrease: p("high_decrease"),
            response: p("response"),
            count_acks: p("count_acks") == 1.0,
        }
    }

    /// b(w); a half up to `low`.
    pub fn decrease(&self, window: f64) -> f64 {
        let position = (window.max(self.low).min(self.high) / self.low).ln() / (self.high / self.low).ln();
        0.5 + (self.high_decrease - 0.5) * position
    }

    /// a(w), packets a round; 1 up to `low`.
    pub fn growth(&self, window: f64) -> f64 {
        if window <= self.low {
            return 1.0;
        }
        let b = self.decrease(window);
        let w = window.min(self.high);
        // p(w) = response / w^1.2
        (w * w * (self.response / w.powf(1.2)) * 2.0 * b / (2.0 - b)).max(1.0)
    }

    /// What counts of the packets of an ACK.
    pub fn counted(&self, acked: f64) -> f64 {
        if self.count_acks { acked.min(1.0) } else { acked }
    }
}

impl Law for HighSpeed {
    fn gain(&mut self, window: f64, ack: &Ack, their_side: TheirSide) -> f64 {
        let growth = if beyond(window, their_side.window, self.low) { self.growth(window.max(self.low + 1e-9)) } else { 1.0 };
        growth * self.counted(ack.acked) / ack.acked
    }

    fn after_loss(&mut self, window: f64, their_window: f64) -> f64 {
        let b = if beyond(window, their_window, self.low) { self.decrease(window) } else { 0.5 };
        window * (1.0 - b)
    }
}
