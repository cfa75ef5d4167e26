// SPDX-License-Identifier: MIT OR Apache-2.0
//! H-TCP in real numbers, throughput in whole packets a second.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, Ack, TheirSide, meter::Round, single::{Law, Single}};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { shows_base_rtt: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| Single::begin(Htcp::new(params, now_us), window)),
};

pub struct Htcp {
    low_s: f64,
    linear: f64,
    square: f64,
    rtt_scaling: bool,
    adaptive: bool,
    kept_range: (f64, f64),
    rate_change: f64,
    rtt_memory: f64,
    base_us: f64,
    delivered: f64,
    round_start_us: f64,
    epoch: Epoch,
    prior_epoch: Epoch,
    rate: f64,
    max_rate: f64,
    rounds: u32,
    kept: f64,
    now_us: f64,
}

#[derive(Clone, Copy)]
struct Epoch {
    start_us: f64,
    longest_us: f64,
    last_max_rate: f64,
}

impl Htcp {
    pub fn new(params: &Params, now_us: f64) -> Self {
        let p = |name| params.get(name).unwrap();
        let epoch = Epoch { start_us: now_us, longest_us: 0.0, last_max_rate: 0.0 };
        Self {
            low_s: p("low_time"),
            linear: p("linear"),
            square: p("square"),
            rtt_scaling: p("rtt_scaling") == 1.0,
            adaptive: p("adaptive_backoff") == 1.0,
            kept_range: (p("least_kept"), p("most_kept")),
            rate_change: p("rate_change"),
            rtt_memory: p("rtt_memory"),
            base_us: f64::INFINITY,
            delivered: 0.0,
            round_start_us: now_us,
            epoch,
            prior_epoch: epoch,
            rate: 0.0,
            max_rate: 0.0,
            rounds: 0,
            kept: p("least_kept"),
            now_us,
        }
    }

    fn begin_round(&mut self) {
        (self.delivered, self.round_start_us) = (0.0, self.now_us);
    }

    fn steady(&self) -> bool {
        let last = self.epoch.last_max_rate;
        last > 0.0 && (self.max_rate - last).abs() <= (last * self.rate_change + 1e-9).floor()
    }
}

impl Law for Htcp {
    fn clock(&mut self, now_us: f64) {
        self.now_us = now_us;
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.delivered += ack.acked;
        if let Some(rtt_us) = ack.rtt_us {
            self.base_us = self.base_us.min(rtt_us);
            self.epoch.longest_us = self.epoch.longest_us.max(rtt_us);
        }
    }

    fn on_round(&mut self, window: f64, _: Option<Round>, _: TheirSide) -> f64 {
        let rate =
            (self.delivered * 1e6 / (self.now_us - self.round_start_us).max(1.0)).floor().min(f64::from(0x3fff_ffff));
        self.rounds += 1;
        if self.rounds <= 3 {
            (self.rate, self.max_rate) = (rate, rate);
        } else {
            self.rate = ((3.0 * self.rate + rate) / 4.0).floor();
            self.max_rate = self.max_rate.max(self.rate);
        }
        self.begin_round();
        window
    }

    fn gain(&mut self, window: f64, _: &Ack, _: TheirSide) -> f64 {
        let beyond_s = ((self.now_us - self.epoch.start_us) / 1e6 - self.low_s).max(0.0);
        let mut growth = 1.0 + self.linear * beyond_s + self.square * beyond_s * beyond_s;
        if self.rtt_scaling && self.base_us.is_finite() {
            growth = (growth * (self.base_us / 100_000.0).clamp(0.1, 2.0)).max(1.0);
        }
        // A round doubles the window at most.
        (2.0 * (1.0 - self.kept) * growth).min(window)
    }

    fn after_loss(&mut self, window: f64, _: f64) -> f64 {
        let (least, most) = self.kept_range;
        let measured = self.adaptive && self.epoch.longest_us > 0.0 && self.steady();
        self.kept = if measured { (self.base_us / self.epoch.longest_us).clamp(least, most) } else { least };
        self.prior_epoch = self.epoch;
        if self.epoch.longest_us > self.base_us {
            // In whole microseconds.
            let queueing_us = (self.epoch.longest_us - self.base_us) * self.rtt_memory;
            self.epoch.longest_us = self.base_us + (queueing_us + 1e-9).floor();
        }
        self.epoch.last_max_rate = self.max_rate;
        self.epoch.start_us = self.now_us;
        self.rounds = 0;
        window * self.kept
    }

    fn on_open(&mut self) {
        self.begin_round();
        self.epoch.start_us = self.now_us;
    }

    fn on_undo(&mut self) {
        self.begin_round();
        self.epoch = self.prior_epoch;
    }

    fn on_restart(&mut self) {
        self.begin_round();
    }

    fn shows_base_rtt(&self) -> bool {
        true
    }
}
