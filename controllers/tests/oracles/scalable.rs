// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalable TCP in real numbers.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, 
    Ack, TheirSide,
    single::{Single, Law, beyond},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts::USUAL,
    kind: Kind::Windows(|params, window, _| Single::begin(Scalable::new(params), window)),
};

pub struct Scalable {
    increase: f64,
    decrease: f64,
    low_window: f64,
}

impl Scalable {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self { increase: p("increase"), decrease: p("decrease"), low_window: p("low_window") }
    }
}

impl Law for Scalable {
    fn gain(&mut self, window: f64, _: &Ack, their_side: TheirSide) -> f64 {
        if beyond(window, their_side.window, self.low_window) { self.increase * window } else { 1.0 }
    }

    fn after_loss(&mut self, window: f64, their_window: f64) -> f64 {
        let decrease = if beyond(window, their_window, self.low_window) { self.decrease } else { 0.5 };
        window * (1.0 - decrease)
    }
}
