// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP Westwood+ in real numbers: Reno's growth, and a loss leaves what the path holds without a queue.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, 
    Shown, TheirSide, Windows,
    by_rounds::{ByRounds, At, Law},
    meter::{Meter, Round},
    rate::Rate,
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { shows_base_rtt: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| ByRounds::begin(Westwood::new(params, now_us), window, now_us)),
};

pub struct Westwood {
    rate: Rate,
    forget_base_rtt: bool,
    forgotten_base_rtt_us: Option<f64>,
}

impl Westwood {
    pub fn new(params: &Params, now_us: f64) -> Self {
        Self {
            rate: Rate::new(params, now_us),
            forget_base_rtt: params.get("forget_base_rtt") == Some(1.0),
            forgotten_base_rtt_us: None,
        }
    }
}

impl Law for Westwood {
    fn acked(&mut self, now_us: f64, acked: f64, rtt_us: Option<f64>, _: Option<TheirSide>) {
        self.rate.acked(now_us, acked, rtt_us);
    }

    fn round(&mut self, _: &mut Windows, _: Option<Round>, _: At) -> Option<f64> {
        None
    }

    fn grow(&mut self, win: &mut Windows, acked: f64) {
        win.loss += acked / win.loss;
    }

    fn after_loss(&mut self, win: Windows, meter: &Meter) -> Windows {
        self.forgotten_base_rtt_us = None;
        let path = meter.base_rtt_us.and_then(|base_rtt_us| self.rate.packets(base_rtt_us));
        Windows { loss: path.unwrap_or(win.loss / 2.0).min(win.loss), delay: 0.0 }
    }

    fn on_timeout(&mut self, meter: &mut Meter) {
        if self.forget_base_rtt {
            self.forgotten_base_rtt_us = meter.base_rtt_us.take();
        }
    }

    fn on_undo(&mut self, meter: &mut Meter) {
        meter.remember(self.forgotten_base_rtt_us);
    }

    fn restart(&mut self, win: Windows, window: f64, now_us: f64) -> Windows {
        self.rate.restart(now_us);
        Windows { loss: win.loss.min(window), delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        Shown::default()
    }
}
