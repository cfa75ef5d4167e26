// SPDX-License-Identifier: MIT OR Apache-2.0
//! The application of a UDP flow: packets at a constant rate.

use tandem_network::agenda::NEVER;
use tandem_scenario::units::{Rate, Span};

/// Packets of the MTU at a constant rate, all the time or on and off in turn.
///
/// The engine calls [`is_due`](Self::is_due) at [`next`](Self::next) or later, sends a packet if it says so, and then calls
/// [`sent`](Self::sent).
#[derive(Debug)]
pub struct ConstantRate {
    gap_ns: u64,
    on_off: Option<(u64, u64)>,
    start: u64,
    stop: u64,
    next: u64,
}

impl ConstantRate {
    /// Packets of `mtu` bytes at `rate` from `start` until before `stop` ([`NEVER`]: without end). `on_off`: how long it sends, and how
    /// long it is then silent.
    pub fn new(rate: Rate, on_off: Option<(Span, Span)>, mtu: u32, start: u64, stop: u64) -> Self {
        Self {
            gap_ns: (u64::from(mtu) * 8_000_000_000).div_ceil(rate.bps),
            on_off: on_off.map(|(on, off)| (on.ns, off.ns)),
            start,
            stop,
            next: start,
        }
    }

    /// Is a packet due by `now`? Passes over the times of silence.
    pub fn is_due(&mut self, now: u64) -> bool {
        while self.next <= now {
            if self.next >= self.stop {
                self.next = NEVER;
                return false;
            }
            let Some((on, off)) = self.on_off else { return true };
            let into_cycle = (self.next - self.start) % (on + off);
            if into_cycle < on {
                return true;
            }
            self.next += on + off - into_cycle;
        }
        false
    }

    /// The packet that was due has been sent.
    pub fn sent(&mut self) {
        self.next += self.gap_ns;
    }

    /// When to ask next; [`NEVER`] after the stop.
    pub fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 Mb/s are a packet of 1500 bytes each millisecond. On for 3 ms, off for 2.5 ms, from 1 ms to 13 ms: at 1, 2 and 3 ms, then 5.5
    /// ms after each of those.
    #[test]
    fn on_and_off_in_turn() {
        const US: u64 = 1000;
        let span = |us: u64| Span { ns: us * US };
        let rate = Rate { bps: 12_000_000 };
        let mut source = ConstantRate::new(rate, Some((span(3000), span(2500))), 1500, 1000 * US, 13_000 * US);
        let mut sent_us = Vec::new();
        while source.next() != NEVER {
            let now = source.next();
            assert!(now == 0 || !source.is_due(now - 1));
            if source.is_due(now) {
                sent_us.push(now / US);
                source.sent();
            }
        }
        assert_eq!(sent_us, [1000, 2000, 3000, 6500, 7500, 8500, 12_000]);
    }
}
