// SPDX-License-Identifier: MIT OR Apache-2.0
//! NADA (RFC 8698): how real-time media finds its rate. A receiver measures, and reports ten times a second; a sender adapts.
//!
//! Left out: marks (media does not set ECN here), the rate-shaping buffer and its encoder (5.2.1, 5.2.2): what is to be sent follows the
//! reference rate at once.

use std::collections::VecDeque;

use tandem_scenario::units::Rate;

/// DELTA, how often the receiver reports, ns.
pub const REPORT_EVERY_NS: u64 = 100_000_000;
/// LOGWIN, how far back the receiver looks, ns.
const WINDOW_NS: u64 = 500_000_000;
/// Samples of the minimum filter of the queueing delay (5.1.1).
const FILTERED: usize = 15;
/// QEPS: with less delay than this, ns, and no loss, the path is not full.
const QUIET_NS: u64 = 10_000_000;
/// QTH, where warping begins, ms.
const WARPED_FROM_MS: f64 = 50.0;
/// LAMBDA.
const WARPING: f64 = 0.5;
/// MULTILOSS: a loss matters for this many mean intervals between losses.
const INTERVALS_THAT_COUNT: f64 = 7.0;
/// ALPHA, of the loss ratio at each report.
const SMOOTHING: f64 = 0.1;
/// PLRREF, and DLOSS in ms.
const REFERENCE_LOSS: f64 = 0.01;
const REFERENCE_LOSS_MS: f64 = 10.0;
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

/// What the receiver says, in the units of RFC 8698 section 5.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Is the path not full, so that the sender may speed up (rmode = 0)?
    pub speeds_up: bool,
    /// The aggregate congestion signal, x_curr, in 0.1 ms; 15 bits.
    pub congestion: u16,
    /// The receiving rate, r_recv.
    pub received_bps: u32,
}

/// The receiver of one flow (sections 4.2 and 5.1). Packets are numbered from 0 in the order of sending.
#[derive(Debug)]
pub struct MediaReceiver {
    /// One above the highest number that has arrived.
    next: u64,
    base_ns: u64,
    /// The last queueing delays, ns.
    filtered: VecDeque<u64>,
    /// What has arrived within the window, in order.
    recent: VecDeque<Arrival>,
    loss_ratio: f64,
    intervals: LossIntervals,
}

#[derive(Debug, Clone, Copy)]
struct Arrival {
    at: u64,
    bytes: u32,
    queue_ns: u64,
    /// How many before it did not come.
    missing: u64,
}

impl Default for MediaReceiver {
    fn default() -> Self {
        Self {
            next: 0,
            base_ns: u64::MAX,
            filtered: VecDeque::new(),
            recent: VecDeque::new(),
            loss_ratio: 0.0,
            intervals: LossIntervals::default(),
        }
    }
}

impl MediaReceiver {
    /// The packet `number` of `bytes`, sent at `sent_at`, arrives; times in ns. One that was overtaken counts as lost (5.1.2).
    pub fn arrive(&mut self, now: u64, number: u64, bytes: u32, sent_at: u64) {
        let Some(missing) = number.checked_sub(self.next) else { return };
        self.next = number + 1;
        self.intervals.note(missing);
        let delay_ns = now.saturating_sub(sent_at);
        self.base_ns = self.base_ns.min(delay_ns);
        let queue_ns = delay_ns - self.base_ns;
        self.filtered.push_back(queue_ns);
        if self.filtered.len() > FILTERED {
            self.filtered.pop_front();
        }
        self.recent.push_back(Arrival { at: now, bytes, queue_ns, missing });
    }

    /// What there is to report `now`, ns; to be called every [`REPORT_EVERY_NS`].
    pub fn report(&mut self, now: u64) -> Report {
        while self.recent.front().is_some_and(|arrival| arrival.at + WINDOW_NS <= now) {
            self.recent.pop_front();
        }
        let bits: u64 = self.recent.iter().map(|arrival| 8 * u64::from(arrival.bytes)).sum();
        let missing: u64 = self.recent.iter().map(|arrival| arrival.missing).sum();
        let all = missing + self.recent.len() as u64;
        let lost_now = if all == 0 { 0.0 } else { missing as f64 / all as f64 };
        self.loss_ratio += SMOOTHING * (lost_now - self.loss_ratio);
        let losses = self.loss_ratio / REFERENCE_LOSS;
        // Equation (2).
        let congestion_ms = self.delay_ms() + REFERENCE_LOSS_MS * losses * losses;
        let received_bps = bits * 1_000_000_000 / WINDOW_NS;
        Report {
            speeds_up: missing == 0 && self.recent.iter().all(|arrival| arrival.queue_ns < QUIET_NS),
            congestion: (congestion_ms * 10.0).round().min(f64::from(u16::MAX >> 1)) as u16,
            received_bps: u32::try_from(received_bps).unwrap_or(u32::MAX),
        }
    }

    /// The queueing delay as it counts, ms: equation (1), and gradually less of it after the last loss that counts.
    fn delay_ms(&self) -> f64 {
        let queue_ms = self.filtered.iter().min().map_or(0.0, |&ns| ns as f64 / 1e6);
        if queue_ms < WARPED_FROM_MS {
            return queue_ms;
        }
        let warped_ms = WARPED_FROM_MS * libm::exp(-WARPING * (queue_ms - WARPED_FROM_MS) / WARPED_FROM_MS);
        let straight = self.intervals.since_last() - INTERVALS_THAT_COUNT;
        warped_ms + (queue_ms - warped_ms) * straight.clamp(0.0, 1.0)
    }
}

/// Weights of the intervals between losses, the newest first (RFC 5348 section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// How many packets came from one loss to the next. Each gap in the numbers is a loss event: the receiver knows no RTT.
#[derive(Debug, Default)]
struct LossIntervals {
    /// Since the last loss.
    open: u64,
    /// The newest first.
    closed: VecDeque<u64>,
}

impl LossIntervals {
    /// A packet comes, and `missing` before it did not.
    fn note(&mut self, missing: u64) {
        if missing > 0 {
            self.closed.push_front(self.open + missing);
            self.closed.truncate(WEIGHTS.len());
            self.open = 0;
        }
        self.open += 1;
    }

    /// Packets since the last loss, in mean intervals; without a loss infinitely many.
    fn since_last(&self) -> f64 {
        if self.closed.is_empty() {
            return f64::INFINITY;
        }
        self.open as f64 / self.mean()
    }

    /// The open interval is left out, which RFC 5348 counts where it makes the mean longer: it would be at most 6 such means, the sum of the
    /// weights, so that no loss would ever be 7 of them ago.
    fn mean(&self) -> f64 {
        let sum: f64 = self.closed.iter().zip(WEIGHTS).map(|(&interval, weight)| interval as f64 * weight).sum();
        sum / WEIGHTS.iter().take(self.closed.len()).sum::<f64>()
    }
}

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
    use super::*;

    const MS: u64 = 1_000_000;

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

    /// A packet of 1250 bytes each 10 ms are 1 Mb/s. One takes 20 ms, the next 25 to 39, the others 29: the least of the last 15 above 20 counts.
    #[test]
    fn measures_delay_and_rate() {
        let mut media = MediaReceiver::default();
        for number in 0..100 {
            let delay_ms = [20, 25, 39].get(number as usize).unwrap_or(&29);
            media.arrive((number * 10 + delay_ms) * MS, number, 1250, number * 10 * MS);
        }
        // The window has those that came after 519 ms: from number 50 (529 ms) on.
        assert_eq!(media.report(1019 * MS), Report { speeds_up: true, congestion: 90, received_bps: 1_000_000 });
        // 11 ms would not be quiet. Nothing for a while: no rate, and nothing against speeding up.
        media.arrive(1031 * MS, 100, 1250, 1000 * MS);
        assert!(!media.report(1031 * MS).speeds_up);
        assert_eq!(media.report(1531 * MS), Report { speeds_up: true, congestion: 90, received_bps: 0 });
    }

    /// Each tenth of 101 is missing, and one that comes late is missing all the same. The ratio is 1/10 of the way to 10 %, so 1 %: 10 ms.
    #[test]
    fn a_loss_ratio_of_the_reference_counts_for_10_ms() {
        let mut media = MediaReceiver::default();
        for number in (0..=100).filter(|number| number % 10 != 5) {
            media.arrive(number * MS, number, 1250, 0);
            if number == 6 {
                media.arrive(number * MS, 5, 1250, 0);
            }
        }
        let mut media = MediaReceiver { filtered: [0].into(), ..media };
        let said = media.report(101 * MS);
        // 10 of 101.
        assert!(!said.speeds_up && (97..=100).contains(&said.congestion), "{said:?}");
    }

    /// 150 ms of queue after a loss: 50 exp(-0.5 100/50) = 18.4 ms. The first loss came after 10 packets, so for 70 more. Between 70 and 80 it
    /// is ever more of 150 ms: in the middle 84.2.
    #[test]
    fn warps_the_delay_while_losses_count() {
        let mut media = MediaReceiver::default();
        let arrive = |media: &mut MediaReceiver, from: u64, to: u64| {
            for number in from..to {
                let delay_ms = if number == 0 { 0 } else { 150 };
                media.arrive((number + delay_ms) * MS, number, 1250, number * MS);
            }
        };
        arrive(&mut media, 0, 9);
        media.filtered = [150 * MS].into();
        assert_eq!(media.delay_ms(), 150.0, "without a loss");
        arrive(&mut media, 10, 80);
        assert!((media.delay_ms() - 18.394).abs() < 0.001, "{}", media.delay_ms());
        arrive(&mut media, 80, 85);
        assert!((media.delay_ms() - 84.197).abs() < 0.001, "{}", media.delay_ms());
        arrive(&mut media, 85, 90);
        assert_eq!(media.delay_ms(), 150.0);
    }

    /// RFC 5348 section 5.4: the weights of the fifth interval and later ones fall: (4 10 + 0.8 10 + 0.6 100) / 5.4. Eight are kept.
    #[test]
    fn old_intervals_count_for_less() {
        let mut intervals = LossIntervals::default();
        for length in [900, 900, 100, 10, 10, 10, 10, 10] {
            (1..length).for_each(|_| intervals.note(0));
            intervals.note(1);
            intervals.open = 0;
        }
        assert_eq!(intervals.closed, [10, 10, 10, 10, 10, 100, 900, 900]);
        let newest = LossIntervals { open: 1, closed: intervals.closed.into_iter().take(6).collect() };
        assert!((newest.mean() - 20.0).abs() < 1e-9, "{}", newest.mean());
    }
}
