// SPDX-License-Identifier: MIT OR Apache-2.0
//! For how long a thread of the emulator left its end alone. It knows times, but no clock.

use hdrhistogram::Histogram;
use tandem_network::histogram;

/// A thread wakes up later than it asked for. This much is usual; packets that are late for it show in their lateness.
const WAKE_UP_NS: u64 = 1_000_000;

/// The times between looks, of those that left packets waiting.
#[derive(Debug, Clone)]
pub struct Attention {
    /// Since when nobody has looked, ns.
    away_since: u64,
    /// From when on gaps count, ns.
    counted_from: u64,
    /// What counts as not served, ns.
    unserved_from_ns: u64,
    /// Between looks while there were packets, ns: one may have waited so long unseen.
    pub gap_ns: Histogram<u64>,
    /// The sum of the gaps that were too long, ns.
    pub unserved_ns: u64,
}

impl Attention {
    /// Begins at `now`; gaps count from `counted_from` on. Those longer than `unserved_from_ns` are not served.
    pub fn new(now: u64, counted_from: u64, unserved_from_ns: u64) -> Self {
        Self { away_since: now, counted_from, unserved_from_ns, gap_ns: histogram(), unserved_ns: 0 }
    }

    /// Gaps count from `time` on.
    pub fn count_from(&mut self, time: u64) {
        self.counted_from = time;
    }

    /// A look at `now`; `has_packets`: some are under way, or have just been found. Returns the time since the last look, ns.
    pub fn looked(&mut self, now: u64, has_packets: bool) -> u64 {
        let gap_ns = now.saturating_sub(self.away_since);
        self.away_since = now;
        if has_packets && now > self.counted_from {
            // Nothing before it counts.
            let counted_ns = gap_ns.min(now - self.counted_from);
            self.gap_ns.saturating_record(counted_ns);
            if counted_ns > self.unserved_from_ns {
                self.unserved_ns += counted_ns;
            }
        }
        gap_ns
    }

    /// A sleep that a packet would have ended at once was to end at `planned` at the latest, and ended at `now`.
    pub fn slept(&mut self, planned: u64, now: u64) {
        // Longer than that: the thread was kept from waking up, also for a packet.
        self.away_since = if now > planned + WAKE_UP_NS { planned } else { now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn attention() -> Attention {
        Attention::new(0, 0, MS)
    }

    #[test]
    fn a_pause_counts_wherever_it_comes() {
        // While it worked: between two looks.
        let mut awake = attention();
        awake.looked(MS, true);
        assert_eq!(awake.looked(101 * MS, true), 100 * MS);
        // While it slept: what it had planned is no pause.
        let mut asleep = attention();
        asleep.looked(MS, true);
        asleep.slept(21 * MS, 121 * MS);
        assert_eq!(asleep.looked(121 * MS, true), 100 * MS);
        for attention in [awake, asleep] {
            assert!(attention.gap_ns.max() >= 99 * MS, "{attention:?}");
            assert_eq!(attention.unserved_ns, 100 * MS);
        }
    }

    #[test]
    fn a_planned_sleep_and_a_usual_wake_up_are_none() {
        let mut attention = attention();
        attention.looked(MS, true);
        attention.slept(21 * MS, 21 * MS + 60_000);
        assert_eq!(attention.looked(21 * MS + 80_000, true), 20_000);
        // A packet wakes it up before.
        attention.slept(60 * MS, 30 * MS);
        assert_eq!(attention.looked(30 * MS + 5_000, true), 5_000);
        assert_eq!(attention.unserved_ns, 0);
    }

    #[test]
    fn with_nothing_in_flight_nothing_waits() {
        let mut attention = attention();
        attention.slept(20 * MS, 2000 * MS);
        attention.looked(2000 * MS, false);
        assert!(attention.gap_ns.is_empty() && attention.unserved_ns == 0);
    }

    #[test]
    fn what_was_before_the_run_does_not_count() {
        let mut attention = Attention::new(0, u64::MAX, MS);
        attention.looked(500 * MS, true);
        attention.count_from(700 * MS);
        attention.looked(703 * MS, true);
        assert_eq!((attention.gap_ns.len(), attention.unserved_ns), (1, 3 * MS));
    }
}
