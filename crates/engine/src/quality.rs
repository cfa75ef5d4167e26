// SPDX-License-Identifier: MIT OR Apache-2.0
//! What real-time traffic meets on its way: delay, jitter and loss of the packets of a flow without congestion control.

use std::ops::Range;

use hdrhistogram::Histogram;
use tandem_network::{distribution, histogram};
use tandem_results::{Delivery, Distribution};

/// A packet overtaken by this many later ones counts as lost to the player.
const MAX_LATE_PACKETS: u64 = 64;
const SECOND_NS: u64 = 1_000_000_000;

/// Takes note of each packet of one flow that arrives. Packets are numbered from 0 in the order of sending.
#[derive(Debug)]
pub struct Quality {
    /// Packets sent in this time count.
    measured: Range<u64>,
    /// One above the highest number that has arrived.
    next: u64,
    /// Bit i: has the packet i + 1 below `next` arrived?
    arrived: u64,
    /// How long the packet before took that arrived.
    last_transit: Option<u64>,
    jitter_ns: f64,
    delays_ns: Histogram<u64>,
    jitters_ns: Histogram<u64>,
    /// By second of sending.
    seconds: Vec<Count>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    sent: u64,
    arrived: u64,
}

impl Quality {
    /// Nothing has arrived. Packets sent within `measured` will count.
    pub fn new(measured: Range<u64>) -> Self {
        Self {
            measured,
            next: 0,
            arrived: 0,
            last_transit: None,
            jitter_ns: 0.0,
            delays_ns: histogram(),
            jitters_ns: histogram(),
            seconds: Vec::new(),
        }
    }

    /// The packet `number`, sent at `sent`, arrives. A second copy counts for nothing. Packets before it that have not arrived count as sent
    /// when it was.
    pub fn arrive(&mut self, now: u64, number: u64, sent: u64) {
        let Some(newly_sent) = self.note(number) else { return };
        let transit = now.saturating_sub(sent);
        let jumped_ns = self.last_transit.replace(transit).map(|last| transit.abs_diff(last));
        // RFC 3550 section 6.4.1; the first packet has nothing to differ from.
        if let Some(jumped_ns) = jumped_ns {
            self.jitter_ns += (jumped_ns as f64 - self.jitter_ns) / 16.0;
        }
        if !self.measured.contains(&sent) {
            return;
        }
        let second = ((sent - self.measured.start) / SECOND_NS) as usize;
        if second >= self.seconds.len() {
            self.seconds.resize(second + 1, Count::default());
        }
        self.seconds[second].sent += newly_sent;
        self.seconds[second].arrived += 1;
        self.delays_ns.saturating_record(transit);
        if jumped_ns.is_some() {
            self.jitters_ns.saturating_record(self.jitter_ns.round() as u64);
        }
    }

    /// Packets that this one's arrival shows to have been sent; `None` for a copy, and for one that is too late.
    fn note(&mut self, number: u64) -> Option<u64> {
        if number >= self.next {
            let newly_sent = number + 1 - self.next;
            self.arrived = self.arrived.checked_shl(newly_sent.min(64) as u32).unwrap_or(0) | 1;
            self.next = number + 1;
            return Some(newly_sent);
        }
        let behind = self.next - 1 - number;
        if behind >= MAX_LATE_PACKETS || self.arrived >> behind & 1 == 1 {
            return None;
        }
        self.arrived |= 1 << behind;
        Some(0)
    }

    /// The flows of a group together; `None` if none of their packets counts.
    pub fn delivery<'a>(flows: impl Iterator<Item = &'a Quality> + Clone) -> Option<Delivery> {
        let mut delays_ns = histogram();
        let mut jitters_ns = histogram();
        for flow in flows.clone() {
            delays_ns += &flow.delays_ns;
            jitters_ns += &flow.jitters_ns;
        }
        let seconds: Vec<Count> = flows.flat_map(|flow| flow.seconds.iter().copied()).filter(|s| s.sent > 0).collect();
        // One that came in the second after may have been counted as sent there.
        let lost = |count: &Count| count.sent.saturating_sub(count.arrived);
        let sent: u64 = seconds.iter().map(|count| count.sent).sum();
        let arrived: u64 = seconds.iter().map(|count| count.arrived).sum();
        let by_second: Vec<f64> = seconds.iter().map(|count| lost(count) as f64 / count.sent as f64).collect();
        Some(Delivery {
            delay_ms: distribution(&delays_ns, 1e-6),
            jitter_ms: distribution(&jitters_ns, 1e-6),
            loss_rate: sent.saturating_sub(arrived) as f64 / sent as f64,
            loss_rate_by_second: Distribution::of_values(by_second)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn delivery(quality: &Quality) -> Delivery {
        Quality::delivery(std::iter::once(quality)).unwrap()
    }

    /// Sent every 20 ms, on the way for 10, 26, 26 and 10 ms. By hand: J = 0 + (16 - 0) / 16 = 1, then 1 + (0 - 1) / 16 = 0.9375, then
    /// 0.9375 + (16 - 0.9375) / 16 = 1.87890625 ms.
    #[test]
    fn jitter_as_in_rfc_3550() {
        let mut quality = Quality::new(0..u64::MAX);
        for (number, transit_ms) in [10, 26, 26, 10].into_iter().enumerate() {
            let sent = number as u64 * 20 * MS;
            quality.arrive(sent + transit_ms * MS, number as u64, sent);
        }
        let Delivery { delay_ms, jitter_ms, loss_rate, .. } = delivery(&quality);
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
        assert!(close(delay_ms.mean, 18.0) && close(delay_ms.max, 26.0), "{delay_ms:?}");
        assert!(close(jitter_ms.p50, 1.0) && close(jitter_ms.max, 1.87890625), "{jitter_ms:?}");
        assert!(close(jitter_ms.mean, (1.0 + 0.9375 + 1.87890625) / 3.0), "{jitter_ms:?}");
        assert_eq!(loss_rate, 0.0);
    }

    /// Ten in each of two seconds. Of the first 4 and 5 are lost; 8 comes late, and twice. Of the second 12 is lost.
    #[test]
    fn losses_second_by_second() {
        let mut quality = Quality::new(0..u64::MAX);
        for number in [0, 1, 2, 3, 6, 7, 9, 8, 8, 10, 11, 13, 14, 15, 16, 17, 18, 19] {
            let sent = number * 100 * MS;
            quality.arrive(sent + 150 * MS, number, sent);
        }
        let Delivery { loss_rate, loss_rate_by_second: by_second, delay_ms, .. } = delivery(&quality);
        assert_eq!(loss_rate, 3.0 / 20.0);
        assert!((by_second.mean - 0.15).abs() < 1e-12 && by_second.max == 0.2, "{by_second:?}");
        assert!((delay_ms.mean - 150.0).abs() < 0.2, "{delay_ms:?}");
    }

    #[test]
    fn packets_of_the_warm_up_do_not_count() {
        let mut quality = Quality::new(1000 * MS..3000 * MS);
        for number in [0, 2, 4, 5, 6, 8] {
            let sent = number * 400 * MS;
            quality.arrive(sent + number * MS, number, sent);
        }
        // Sent at 1600, 2000 and 2400 ms, and 3 before them.
        let Delivery { loss_rate, delay_ms, .. } = delivery(&quality);
        assert_eq!(loss_rate, 1.0 / 4.0);
        assert!((delay_ms.mean - 5.0).abs() < 0.01, "{delay_ms:?}");
        assert!(Quality::delivery(std::iter::once(&Quality::new(0..1))).is_none());
    }

    /// 100 packets are overtaken: those that come more than 63 late are lost.
    #[test]
    fn packets_that_come_too_late_are_lost() {
        let mut quality = Quality::new(0..u64::MAX);
        for number in (100..=163).chain(0..100) {
            quality.arrive(200 * MS, number, 0);
        }
        // 163 - 63 = 100 is the first that would have been in time.
        assert_eq!(delivery(&quality).loss_rate, 100.0 / 164.0);
    }
}
