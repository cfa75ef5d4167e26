// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the receiver measures (RFC 8698 sections 4.2 and 5.1).

use std::collections::VecDeque;

use super::{Report, loss_intervals::LossIntervals};

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

    /// What there is to report `now`, ns; to be called every [`REPORT_EVERY_NS`](super::REPORT_EVERY_NS).
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

#[cfg(test)]
mod tests {
    use super::{super::MS, *};

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
}
