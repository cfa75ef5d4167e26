// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP-Illinois in real numbers, delays in whole microseconds.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, Ack, TheirSide, meter::Round, single::{Law, Single}};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { shows_base_rtt: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, _| Single::begin(Illinois::new(params), window)),
};

pub struct Illinois {
    alpha: (f64, f64),
    beta: (f64, f64),
    /// d_1, d_2, d_3 as shares of the largest delay.
    steps: [f64; 3],
    theta: u32,
    win_thresh: f64,
    base_us: f64,
    longest_us: f64,
    samples: Vec<f64>,
    growth: f64,
    given_up: f64,
    was_above: bool,
    low_rounds: u32,
}

impl Illinois {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            alpha: (p("alpha_min"), p("alpha_max")),
            beta: (p("beta_min"), p("beta_max")),
            steps: [p("delay_1"), p("delay_2"), p("delay_3")],
            theta: p("theta") as u32,
            win_thresh: p("win_thresh"),
            base_us: f64::INFINITY,
            longest_us: 0.0,
            samples: Vec::new(),
            growth: p("alpha_max"),
            given_up: 0.5,
            was_above: false,
            low_rounds: 0,
        }
    }

    fn update(&mut self, mean_us: f64, longest_us: f64) {
        // The least whole microsecond at or below a share of the longest delay; 1e-9 for products that are whole.
        let step = |share: f64| (share * longest_us + 1e-9).floor();
        let [d1, d2, d3] = self.steps.map(step);
        let (least, most) = self.alpha;
        if mean_us <= d1 {
            self.low_rounds += u32::from(self.was_above);
            if !self.was_above || self.low_rounds >= self.theta {
                (self.was_above, self.low_rounds, self.growth) = (false, 0, most);
            }
        } else {
            self.was_above = true;
            let k1 = (longest_us - d1) * least * most / (most - least);
            let k2 = (longest_us - d1) * least / (most - least) - d1;
            self.growth = k1 / (k2 + mean_us);
        }
        let (least, most) = self.beta;
        self.given_up = if mean_us <= d2 {
            least
        } else if mean_us >= d3 {
            most
        } else {
            let k4 = (most - least) / (d3 - d2);
            least + k4 * (mean_us - d2)
        };
    }
}

impl Law for Illinois {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt_us) = ack.rtt_us {
            self.base_us = self.base_us.min(rtt_us);
            self.longest_us = self.longest_us.max(rtt_us);
            self.samples.push(rtt_us);
        }
    }

    fn on_round(&mut self, window: f64, _: Option<Round>, their_side: TheirSide) -> f64 {
        if their_side.window < self.win_thresh {
            (self.growth, self.given_up) = (1.0, 0.5);
        } else if !self.samples.is_empty() {
            let mean_us = (self.samples.iter().sum::<f64>() / self.samples.len() as f64).floor() - self.base_us;
            self.update(mean_us, self.longest_us - self.base_us);
        }
        self.samples.clear();
        window
    }

    fn gain(&mut self, _: f64, _: &Ack, _: TheirSide) -> f64 {
        self.growth
    }

    fn after_loss(&mut self, window: f64, _: f64) -> f64 {
        window * (1.0 - self.given_up)
    }

    fn on_timeout(&mut self) {
        (self.growth, self.given_up, self.was_above, self.low_rounds) = (1.0, 0.5, false, 0);
    }

    fn on_open(&mut self) {
        self.samples.clear();
    }

    fn on_undo(&mut self) {
        self.samples.clear();
    }

    fn on_restart(&mut self) {
        self.samples.clear();
    }

    fn shows_base_rtt(&self) -> bool {
        true
    }
}
