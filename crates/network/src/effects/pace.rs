// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast a link with effects sends: at a rate that changes, or when a trace lets it.

use tandem_scenario::effects::RateTrace;

use super::{
    FAR,
    timeline::{Segment, Timeline},
};
use crate::agenda::NEVER;

/// A transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    /// When the last bit leaves, ns.
    pub ends: u64,
    /// The part of the time in which something was sent, ns; of a trace the time that this many bytes take at its mean rate.
    pub busy_ns: u64,
}

#[derive(Debug, Clone)]
pub enum Pace {
    /// Bits a second.
    Rate(Timeline<u64>),
    Trace(Cursor),
}

impl Pace {
    /// The transmission of this many bytes from `start`, ns, on, which is not before the end of the last one. The rate may change
    /// meanwhile.
    pub fn transmit(&mut self, start: u64, bytes: u64) -> Transmission {
        match self {
            Self::Rate(rate) => transmit_at(|now| rate.follow(now), start, bytes),
            Self::Trace(cursor) => cursor.transmit(start, bytes),
        }
    }

    /// When the last of this many bytes would leave, ns, if they were sent from `start` on.
    pub fn would_end(&self, start: u64, bytes: u64) -> u64 {
        match self {
            Self::Rate(rate) => transmit_at(|now| rate.segment(now), start, bytes).ends,
            Self::Trace(cursor) => cursor.after(start, bytes).0,
        }
    }

    /// The rate at `now` or on average, bits a second.
    pub fn bps(&self, now: u64) -> u64 {
        match self {
            Self::Rate(rate) => rate.segment(now).value,
            Self::Trace(cursor) => cursor.mean_bps,
        }
    }
}

/// `rate` has bits a second at a time.
fn transmit_at(mut rate: impl FnMut(u64) -> Segment<u64>, start: u64, bytes: u64) -> Transmission {
    const NS: u128 = 1_000_000_000;
    let Segment { until, value: bps, .. } = rate(start);
    if let Some(busy_ns) = within(bytes, bps, until - start) {
        return Transmission { ends: start + busy_ns, busy_ns };
    }
    // In bits a second times nanoseconds.
    let mut left = u128::from(bytes) * 8 * NS;
    let (mut now, mut busy_ns) = (start, 0);
    loop {
        let Segment { until, value, .. } = rate(now);
        let bps = u128::from(value);
        let room = bps * u128::from(until - now);
        if bps > 0 && left <= room {
            let needed = ((left + bps / 2) / bps) as u64;
            return Transmission { ends: now + needed, busy_ns: busy_ns + needed };
        }
        if until == NEVER {
            return Transmission { ends: FAR, busy_ns };
        }
        left -= room;
        busy_ns += if bps > 0 { until - now } else { 0 };
        now = until;
    }
}

/// How long this many bytes take, ns, if 64 bits hold it and it is no more than `most_ns`: nearly always.
#[inline]
fn within(bytes: u64, bps: u64, most_ns: u64) -> Option<u64> {
    let bits_ns = bytes.checked_mul(8_000_000_000)?;
    let ns = bits_ns.checked_add(bps / 2)?.checked_div(bps)?;
    (bits_ns <= bps.saturating_mul(most_ns)).then_some(ns)
}

/// The place in a trace. Each opportunity carries as many bytes as a full packet has, of one packet or several; what is left of one
/// while nothing waits is lost (mahimahi's rule).
#[derive(Debug, Clone)]
pub struct Cursor {
    trace: RateTrace,
    /// When the trace began, ns.
    origin: u64,
    opportunity_bytes: u64,
    mean_bps: u64,
    /// The opportunity in use, counted over all passes of the trace, and what is left of it.
    index: u64,
    left_bytes: u64,
}

impl Cursor {
    pub fn new(trace: RateTrace, origin: u64, mtu: u32) -> Self {
        let mean_bps = trace.mean_rate(mtu).bps;
        let opportunity_bytes = u64::from(mtu);
        Self { trace, origin, opportunity_bytes, mean_bps, index: 0, left_bytes: opportunity_bytes }
    }

    /// The time of an opportunity, ns.
    fn time(&self, index: u64) -> u64 {
        let times = self.trace.opportunities_ms();
        let (pass, place) = (index / times.len() as u64, (index % times.len() as u64) as usize);
        self.origin + pass * self.trace.period().ns + u64::from(times[place]) * 1_000_000
    }

    /// The first opportunity at `now` or later.
    fn first_from(&self, now: u64) -> u64 {
        let times = self.trace.opportunities_ms();
        let (since, period) = (now.saturating_sub(self.origin), self.trace.period().ns);
        // The end of one pass is the beginning of the next, and both may have opportunities.
        let (mut pass, mut within) = (since / period, since % period);
        if within == 0 && pass > 0 {
            (pass, within) = (pass - 1, period);
        }
        let place = times.partition_point(|&ms| u64::from(ms) * 1_000_000 < within);
        pass * times.len() as u64 + place as u64
    }

    fn transmit(&mut self, start: u64, bytes: u64) -> Transmission {
        let ends;
        (ends, self.index, self.left_bytes) = self.after(start, bytes);
        let busy_ns = u128::from(bytes) * 8_000_000_000 / u128::from(self.mean_bps);
        Transmission { ends, busy_ns: busy_ns as u64 }
    }

    /// When the last of this many bytes leaves, ns, if they are sent from `start` on; then the opportunity that comes next and what is left of it.
    fn after(&self, start: u64, bytes: u64) -> (u64, u64, u64) {
        let is_past = self.time(self.index) < start;
        let (index, left_bytes) =
            if is_past { (self.first_from(start), self.opportunity_bytes) } else { (self.index, self.left_bytes) };
        let others = bytes.saturating_sub(left_bytes).div_ceil(self.opportunity_bytes);
        let last = index + others;
        match left_bytes + others * self.opportunity_bytes - bytes {
            0 => (self.time(last), last + 1, self.opportunity_bytes),
            left_bytes => (self.time(last), last, left_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 12 Mb/s are 1.5 bytes a microsecond. 1500 bytes from 9.5 ms on: 750 until 10 ms; then 1.2 Mb/s carry 150 a millisecond until
    /// 12 ms, nothing is sent until 20 ms, and the last 450 take 0.3 ms at 12 Mb/s.
    #[test]
    fn a_transmission_goes_on_at_the_rate_of_each_time() {
        let steps = [(10 * MS, None, 1_200_000), (12 * MS, None, 0), (20 * MS, None, 12_000_000)];
        let mut pace = Pace::Rate(Timeline::new(12_000_000, steps.into_iter()));
        assert_eq!(pace.transmit(0, 1500), Transmission { ends: MS, busy_ns: MS });
        let last = pace.transmit(9_500_000, 1500);
        assert_eq!(last, Transmission { ends: 20_300_000, busy_ns: 2_800_000 });
    }

    #[test]
    fn after_the_last_outage_nothing_ever_leaves() {
        let mut pace = Pace::Rate(Timeline::new(12_000_000, [(MS, None, 0)].into_iter()));
        assert_eq!(pace.transmit(2 * MS, 1), Transmission { ends: FAR, busy_ns: 0 });
    }

    /// Opportunities at 1, 1, 5, 10; 11, 11, 15, 20; ... ms.
    #[test]
    fn a_trace_wraps_around_and_small_packets_share_an_opportunity() {
        let trace = RateTrace::parse("1\n1\n5\n10\n", "t").unwrap();
        let mut pace = Pace::Trace(Cursor::new(trace, 0, 1500));
        let mut ends_ms = |start_ms: u64, bytes| pace.transmit(start_ms * MS, bytes).ends / MS;
        assert_eq!([ends_ms(0, 1500), ends_ms(1, 1500), ends_ms(1, 1500)], [1, 1, 5]);
        // Three of 500 bytes at 10 ms, and the fourth at 11 ms, where 1000 bytes are left for a part of the next; its rest goes in the
        // second opportunity of the same time.
        assert_eq!([ends_ms(6, 500), ends_ms(10, 500), ends_ms(10, 500), ends_ms(10, 500)], [10, 10, 10, 11]);
        assert_eq!(ends_ms(11, 1500), 11);
        // 500 bytes of that are left and lost while nothing waits.
        assert_eq!(ends_ms(12, 1500), 15);
        assert_eq!(ends_ms(35, 1500), 35);
        // Exactly at the end of a pass.
        assert_eq!(ends_ms(50, 1500), 50);
        // 4 * 1500 bytes in 10 ms.
        assert_eq!(pace.bps(0), 4_800_000);
    }
}
