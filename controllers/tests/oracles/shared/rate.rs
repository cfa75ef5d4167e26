// SPDX-License-Identifier: MIT OR Apache-2.0
//! Westwood+'s rate estimate in real numbers: packets a second over RTTs of at least 50 ms, smoothed twice.

use tandem_controllers::Params;

pub struct Rate {
    least_span_us: f64,
    gain: f64,
    since_us: f64,
    acked: f64,
    rtt_us: Option<f64>,
    /// After the first and after the second filter.
    smoothed: Option<(f64, f64)>,
}

impl Rate {
    pub fn new(params: &Params, now_us: f64) -> Self {
        Self {
            least_span_us: params.get("rate_interval").unwrap(),
            gain: params.get("rate_gain").unwrap(),
            since_us: now_us,
            acked: 0.0,
            rtt_us: None,
            smoothed: None,
        }
    }

    pub fn restart(&mut self, now_us: f64) {
        (self.since_us, self.acked) = (now_us, 0.0);
    }

    pub fn acked(&mut self, now_us: f64, acked: f64, rtt_us: Option<f64>) {
        self.rtt_us = rtt_us.or(self.rtt_us);
        let span_us = now_us - self.since_us;
        if self.rtt_us.is_some_and(|rtt_us| span_us > rtt_us.max(self.least_span_us)) {
            let sample = self.acked / span_us * 1e6;
            let (once, twice) = self.smoothed.unwrap_or((sample, sample));
            let once = (1.0 - self.gain) * once + self.gain * sample;
            self.smoothed = Some((once, (1.0 - self.gain) * twice + self.gain * once));
            self.restart(now_us);
        }
        self.acked += acked;
    }

    /// Packets that pass in `span_us`; `None` before the first estimate.
    pub fn packets(&self, span_us: f64) -> Option<f64> {
        self.smoothed.map(|(_, rate)| rate * span_us / 1e6)
    }
}
