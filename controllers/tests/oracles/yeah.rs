// SPDX-License-Identifier: MIT OR Apache-2.0
//! YeAH-TCP in real numbers.

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, only};

use super::{Kind, Oracle, 
    Ack, Shown, TheirSide,
    meter::Round,
    single::{Single, Law, beyond},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| only(params, "queue"), shows_base_rtt: true, loss_window_stays: false, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, _| Single::begin(Yeah::new(params), window)),
};

const LEAST: f64 = 2.0;

pub struct Yeah {
    most_queued: f64,
    phi: f64,
    gamma: f64,
    epsilon: f64,
    delta: f64,
    rho: u32,
    zeta: u32,
    increase: f64,
    queue: f64,
    /// `None`: no Reno flow is known of.
    reno_window: Option<f64>,
    slow_rounds: u32,
    fast_rounds: u32,
    /// Reno's window and the number of fast rounds before the last loss.
    prior: (Option<f64>, u32),
}

impl Yeah {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            most_queued: p("queue"),
            phi: p("phi"),
            gamma: p("gamma"),
            epsilon: p("epsilon"),
            delta: p("delta"),
            rho: p("rho") as u32,
            zeta: p("zeta") as u32,
            increase: p("increase"),
            queue: 0.0,
            reno_window: None,
            slow_rounds: 0,
            fast_rounds: 0,
            prior: (None, 0),
        }
    }

    fn fast_round(&mut self) {
        self.slow_rounds = 0;
        self.fast_rounds += 1;
        if self.fast_rounds > self.zeta {
            self.reno_window = None;
            self.fast_rounds = 0;
        }
    }

    fn slow_round(&mut self, window: f64, their_window: f64) -> f64 {
        let too_long = (self.queue * 256.0).floor() / 256.0 > self.most_queued;
        let reno_window = self.reno_window.unwrap_or(LEAST);
        // At its Reno window the integer controller decides.
        let above_reno = beyond(window, their_window, reno_window);
        let mut left = window;
        if too_long && above_reno {
            let cut = (self.queue / self.gamma).min(window * self.epsilon);
            left = (window - cut).max(reno_window).min(window);
        }
        self.reno_window = Some(self.reno_window.map_or((left / 2.0).max(LEAST), |w| w + 1.0));
        self.slow_rounds += 1;
        left
    }
}

impl Law for Yeah {
    fn on_round(&mut self, window: f64, round: Option<Round>, their_side: TheirSide) -> f64 {
        let Some(round) = round else { return window };
        self.queue = round.queued(round.in_flight);
        let short = (self.queue * 256.0).floor() / 256.0 <= self.most_queued;
        // In whole microseconds, as RTTs are.
        if short && round.rtt_us - round.base_rtt_us <= (round.base_rtt_us / self.phi).floor() {
            self.fast_round();
            window
        } else {
            self.slow_round(window, their_side.window)
        }
    }

    fn gain(&mut self, window: f64, _: &Ack, _: TheirSide) -> f64 {
        if self.slow_rounds == 0 { (window * self.increase).max(1.0) } else { 1.0 }
    }

    fn after_loss(&mut self, window: f64, _: f64) -> f64 {
        let half = window / 2.0;
        let cut = if self.slow_rounds < self.rho { self.queue.min(half).max(window * self.delta) } else { half };
        self.prior = (self.reno_window, self.fast_rounds);
        self.fast_rounds = 0;
        self.reno_window = self.reno_window.map(|w| (w / 2.0).max(LEAST));
        window - cut
    }

    fn on_undo(&mut self) {
        (self.reno_window, self.fast_rounds) = self.prior;
    }

    fn on_restart(&mut self) {
        self.queue = 0.0;
        self.slow_rounds = 0;
    }

    fn shows_base_rtt(&self) -> bool {
        true
    }

    fn shown(&self) -> Shown {
        Shown { gamma: Some(self.most_queued), diff: Some(self.queue), ..Shown::default() }
    }
}
