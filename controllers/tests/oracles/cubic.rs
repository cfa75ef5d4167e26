// SPDX-License-Identifier: MIT OR Apache-2.0
//! RFC 9438 in real numbers.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, 
    Ack, TheirSide,
    single::{Single, Law, Smoothed},
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts::USUAL,
    kind: Kind::Windows(|params, window, _| Single::begin(Cubic::new(params), window)),
};

pub struct Cubic {
    c: f64,
    /// RFC 9438's beta.
    kept: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    est_interval_us: f64,
    alpha_rises: bool,
    /// When the window was last compared with W_est.
    looked_us: f64,
    /// Packets a second; infinite where there is no limit.
    max_growth: f64,
    min_rtt_us: f64,
    srtt_us: Smoothed,
    /// Window at the last loss as the cubic remembers it.
    w_max: f64,
    /// No loss yet, or a timeout: the window where congestion avoidance begins is to take its place.
    without_peak: bool,
    prior_window: f64,
    epoch: Option<Epoch>,
    seen_us: f64,
    now_us: f64,
    prior: (f64, bool, Option<Epoch>),
}

#[derive(Clone, Copy)]
struct Epoch {
    start_us: f64,
    k: f64,
    w_est: f64,
}

impl Cubic {
    pub fn new(params: &Params) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            c: p("c"),
            kept: 1.0 - p("decrease"),
            fast_convergence: p("fast_convergence") == 1.0,
            reno_friendly: p("reno_friendly") == 1.0,
            est_interval_us: p("est_interval") * 1e3,
            alpha_rises: p("alpha_rises") == 1.0,
            looked_us: 0.0,
            max_growth: if p("max_growth") > 0.0 { p("max_growth") } else { f64::INFINITY },
            min_rtt_us: f64::INFINITY,
            srtt_us: Smoothed::default(),
            w_max: 0.0,
            without_peak: true,
            prior_window: 0.0,
            epoch: None,
            seen_us: 0.0,
            now_us: 0.0,
            prior: (0.0, true, None),
        }
    }

    fn begin(&mut self, window: f64, now_us: f64) -> Epoch {
        if self.without_peak {
            (self.w_max, self.prior_window) = (window, self.prior_window.max(window));
            self.without_peak = false;
        }
        self.w_max = self.w_max.max(window);
        self.looked_us = now_us;
        Epoch { start_us: now_us, k: ((self.w_max - window) / self.c).cbrt(), w_est: window }
    }

    fn curve(&self, epoch: &Epoch, t_us: f64) -> f64 {
        self.c * (t_us / 1e6 - epoch.k).powi(3) + self.w_max
    }
}

impl Law for Cubic {
    fn clock(&mut self, now_us: f64) {
        self.now_us = now_us;
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.srtt_us.add(ack.rtt_us);
        self.min_rtt_us = self.min_rtt_us.min(ack.rtt_us.unwrap_or(f64::INFINITY));
        if !ack.window_limited
            && let Some(epoch) = &mut self.epoch
        {
            epoch.start_us += self.now_us - self.seen_us;
        }
        self.seen_us = self.now_us;
    }

    fn recovery_sample(&mut self, rtt_us: f64) {
        self.srtt_us.add(Some(rtt_us));
        self.min_rtt_us = self.min_rtt_us.min(rtt_us);
    }

    fn gain(&mut self, window: f64, ack: &Ack, their_side: TheirSide) -> f64 {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(window, self.now_us));
        let t_us = self.now_us - epoch.start_us;
        let target = self.curve(&epoch, t_us + self.srtt_us.value()).clamp(window, 1.5 * window);
        let is_past_peak = self.alpha_rises && epoch.w_est >= self.prior_window;
        let alpha = if is_past_peak { 1.0 } else { 3.0 * (1.0 - self.kept) / (1.0 + self.kept) };
        epoch.w_est += alpha * ack.acked / window;
        self.epoch = Some(epoch);
        let curve = self.curve(&epoch, t_us);
        // After an idle time the window may be below both, and jumps when the one passes the other.
        let close = (curve - epoch.w_est).abs() < 3.0;
        let follows = their_side.window_after != their_side.window || epoch.w_est < their_side.window_after + 1.0;
        let below = if close { follows && their_side.window_after > epoch.w_est - 3.0 } else { curve < epoch.w_est };
        let looks = self.reno_friendly && self.now_us - self.looked_us >= self.est_interval_us;
        if looks {
            self.looked_us = self.now_us;
        }
        let reno_rules = looks && below;
        let missing_to_reno = if reno_rules { (epoch.w_est - window) * window / ack.acked } else { 0.0 };
        (target - window).min(self.max_growth * self.min_rtt_us / 1e6).max(missing_to_reno)
    }

    fn after_loss(&mut self, window: f64, their_window: f64) -> f64 {
        self.prior = (self.w_max, self.without_peak, self.epoch.take());
        let shrinks = their_window < self.w_max;
        let share = if shrinks && self.fast_convergence { (1.0 + self.kept) / 2.0 } else { 1.0 };
        self.w_max = their_window * share;
        self.without_peak = false;
        self.prior_window = their_window;
        window * self.kept
    }

    fn on_timeout(&mut self) {
        self.without_peak = true;
    }

    fn on_undo(&mut self) {
        (self.w_max, self.without_peak, self.epoch) = self.prior;
    }

    fn on_restart(&mut self) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start_us += self.now_us - self.seen_us;
        }
        self.seen_us = self.now_us;
    }
}
