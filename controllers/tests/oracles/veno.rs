// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP Veno in real numbers.

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, only};

use super::{
    Ack, Kind, Oracle, Shown, TheirSide,
    single::{Law, Single},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| only(params, "beta"), shows_base_rtt: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, _| Single::begin(Veno::new(params), window)),
};

pub struct Veno {
    beta: f64,
    random_decrease: f64,
    decrease: f64,
    congested_increase: f64,
    base_us: f64,
    backlog: f64,
}

impl Veno {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            beta: p("beta"),
            random_decrease: p("random_decrease"),
            decrease: p("decrease"),
            congested_increase: p("congested_increase"),
            base_us: f64::INFINITY,
            backlog: 0.0,
        }
    }

    /// The integer controller keeps the backlog in 1/256, cut off.
    fn congested(&self) -> bool {
        (self.backlog * 256.0).floor() / 256.0 >= self.beta
    }
}

impl Law for Veno {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt_us) = ack.rtt_us {
            self.base_us = self.base_us.min(rtt_us);
            // In this order a whole number of packets comes out whole.
            self.backlog = (ack.nxt - ack.una) as f64 * (rtt_us - self.base_us) / rtt_us;
        }
    }

    fn gain(&mut self, _: f64, _: &Ack, _: TheirSide) -> f64 {
        if self.congested() { self.congested_increase } else { 1.0 }
    }

    fn after_loss(&mut self, window: f64, _: f64) -> f64 {
        window * (1.0 - if self.congested() { self.decrease } else { self.random_decrease })
    }

    fn on_restart(&mut self) {
        self.backlog = 0.0;
    }

    fn shows_base_rtt(&self) -> bool {
        true
    }

    fn shown(&self) -> Shown {
        Shown { gamma: Some(self.beta), diff: Some(self.backlog), ..Shown::default() }
    }
}
