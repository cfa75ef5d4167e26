// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the sender adapts (RFC 8698 section 4.3).

use tandem_scenario::units::Rate;

use super::{REPORT_EVERY_NS, Report};

/// PRIO times XREF, ms.
const REFERENCE_MS: f64 = 10.0;
/// KAPPA, ETA, and TAU in ms.
const GAIN: f64 = 0.5;
const GAIN_OF_CHANGE: f64 = 2.0;
const MOST_RTT_MS: f64 = 500.0;
/// QBOUND and DFILT in ms, GAMMA_MAX.
const QUEUE_BY_RAMP_MS: f64 = 50.0;
const FILTER_MS: f64 = 120.0;
const MOST_RAMP: f64 = 0.5;

/// The sender of one flow (section 4.3).
#[derive(Debug)]
pub struct MediaSender {
    rate_bps: f64,
    least_bps: f64,
    most_bps: f64,
    congestion_ms: f64,
    reported_at: u64,
}

impl MediaSender {
    /// One that begins at `now`, ns, with the least rate.
    pub fn new(now: u64, least: Rate, most: Rate) -> Self {
        let (least_bps, most_bps) = (least.bps as f64, most.bps as f64);
        Self { rate_bps: least_bps, least_bps, most_bps, congestion_ms: 0.0, reported_at: now }
    }

    /// The rate to send at, bits a second.
    pub fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// A report arrives that tells this RTT; both in ns.
    pub fn on_report(&mut self, now: u64, report: Report, rtt_ns: u64) {
        let congestion_ms = f64::from(report.congestion) / 10.0;
        let wanted = match report.speeds_up {
            true => self.ramped_up(f64::from(report.received_bps), rtt_ns as f64 / 1e6),
            false => self.updated(congestion_ms, (now - self.reported_at) as f64 / 1e6),
        };
        self.rate_bps = wanted.clamp(self.least_bps, self.most_bps);
        self.congestion_ms = congestion_ms;
        self.reported_at = now;
    }

    /// Equations (3) and (4).
    fn ramped_up(&self, received_bps: f64, rtt_ms: f64) -> f64 {
        let step = QUEUE_BY_RAMP_MS / (rtt_ms + REPORT_EVERY_NS as f64 / 1e6 + FILTER_MS);
        self.rate_bps.max((1.0 + step.min(MOST_RAMP)) * received_bps)
    }

    /// Equations (5) to (7).
    fn updated(&self, congestion_ms: f64, since_last_ms: f64) -> f64 {
        let offset = congestion_ms - REFERENCE_MS * self.most_bps / self.rate_bps;
        let change = congestion_ms - self.congestion_ms;
        let share = since_last_ms / MOST_RTT_MS * offset / MOST_RTT_MS + GAIN_OF_CHANGE * change / MOST_RTT_MS;
        self.rate_bps - GAIN * share * self.rate_bps
    }
}

#[cfg(test)]
mod tests {
    use super::{super::MS, *};

    fn sender(most_mbps: u64) -> MediaSender {
        MediaSender::new(0, Rate { bps: 1_000_000 }, Rate { bps: most_mbps * 1_000_000 })
    }

    fn report(speeds_up: bool, congestion_ms: f64, received_bps: u32) -> Report {
        Report { speeds_up, congestion: (congestion_ms * 10.0) as u16, received_bps }
    }

    /// 50 / (30 + 100 + 120) = 0.2 above what arrives; half at most; and never below the rate that it has.
    #[test]
    fn ramps_up() {
        let mut media = sender(10);
        media.on_report(100 * MS, report(true, 0.0, 2_000_000), 30 * MS);
        assert!((media.rate_bps() - 2_400_000.0).abs() < 1.0, "{}", media.rate_bps());
        media.on_report(200 * MS, report(true, 0.0, 1_000_000), 30 * MS);
        assert!((media.rate_bps() - 2_400_000.0).abs() < 1.0, "{}", media.rate_bps());
        media.on_report(300 * MS, report(true, 0.0, 9_000_000), 30 * MS);
        assert_eq!(media.rate_bps(), 10_000_000.0);
    }

    /// At 1 of 1.5 Mb/s the signal would be 15 ms. 20 ms are 5 more, and 20 more than before: 0.5 (100/500 5/500 + 2 20/500) is 4.1 % less.
    /// At 0.959 Mb/s it would be 15.64 ms: 10 ms later, 20 ms again take 0.5 10/500 4.359/500 of it, 83.6 b/s. 500 ms would be the end of it:
    /// the least rate.
    #[test]
    fn updates_gradually() {
        let mut media = MediaSender::new(0, Rate { bps: 100_000 }, Rate { bps: 1_500_000 });
        media.on_report(0, report(true, 0.0, 1_000_000), 2280 * MS);
        let before = media.rate_bps();
        assert!((before - 1_020_000.0).abs() < 1.0, "{before}");
        let mut media = MediaSender { rate_bps: 1_000_000.0, ..media };
        media.on_report(100 * MS, report(false, 20.0, 0), 30 * MS);
        assert!((media.rate_bps() - 959_000.0).abs() < 1.0, "{}", media.rate_bps());
        media.on_report(110 * MS, report(false, 20.0, 0), 30 * MS);
        assert!((media.rate_bps() - 958_916.4).abs() < 1.0, "{}", media.rate_bps());
        media.on_report(210 * MS, report(false, 1000.0, 0), 30 * MS);
        assert_eq!(media.rate_bps(), 100_000.0);
    }
}
