// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets at a constant rate: the application of a UDP flow.

use tandem_network::{Rng, agenda::NEVER};
use tandem_scenario::units::{Rate, Span};

use crate::exponential_ns;

/// Packets at a constant rate, all the time or on and off in turn.
///
/// The engine calls [`is_due`](Self::is_due) at [`next`](Self::next) or later, sends a packet if it says so, and then calls
/// [`sent`](Self::sent).
#[derive(Debug)]
pub struct ConstantRate {
    gap_ns: u64,
    on_off: Option<(u64, u64)>,
    /// Draws the times on and off, if they are random; with the end of the time on.
    random: Option<(Rng, u64)>,
    start: u64,
    stop: u64,
    next: u64,
}

impl ConstantRate {
    /// Packets of `packet_bytes` at `rate` from `start` until before `stop` ([`NEVER`]: without end). `on_off`: how long it sends, and how
    /// long it is then silent.
    pub fn new(rate: Rate, on_off: Option<(Span, Span)>, packet_bytes: u32, start: u64, stop: u64) -> Self {
        Self {
            gap_ns: (u64::from(packet_bytes) * 8_000_000_000).div_ceil(rate.bps),
            on_off: on_off.map(|(on, off)| (on.ns, off.ns)),
            random: None,
            start,
            stop,
            next: start,
        }
    }

    /// The same with times on and off that are exponentially distributed, with the given means.
    pub fn at_random(mut self, mut rng: Rng) -> Self {
        if let Some((on, _)) = self.on_off {
            let on_until = self.start.saturating_add(exponential_ns(&mut rng, on as f64));
            self.random = Some((rng, on_until));
        }
        self
    }

    /// Is a packet due by `now`? Passes over the times of silence.
    pub fn is_due(&mut self, now: u64) -> bool {
        while self.next <= now {
            if self.next >= self.stop {
                self.next = NEVER;
                return false;
            }
            let Some((on, off)) = self.on_off else { return true };
            if let Some((rng, on_until)) = &mut self.random {
                if self.next < *on_until {
                    return true;
                }
                self.next = on_until.saturating_add(exponential_ns(rng, off as f64)).max(self.next);
                *on_until = self.next.saturating_add(exponential_ns(rng, on as f64));
                continue;
            }
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
    use tandem_network::Stream;

    /// On for 300 ms on average and off for 700 ms, in 10 000 s: 10 000 times each. The share of packets that go is 0.3, within 4 deviations
    /// of 0.3 * 0.7 * sqrt(2 / 10 000) each; the times on and off are not regular.
    #[test]
    fn random_times_on_and_off() {
        let span = |ms| Some((Span::from_ms(ms), Span::from_ms(1000 - ms)));
        // 1.2 Mb/s are a packet each 10 ms.
        let end = 10_000_000_000_000;
        let mut source = ConstantRate::new(Rate { bps: 1_200_000 }, span(300), 1500, 0, end);
        source = source.at_random(Rng::new(1, Stream::Transfers(0)));
        let (mut sent, mut last, mut gaps_ms) = (0, 0, Vec::new());
        while source.next() < end {
            let now = source.next();
            if source.is_due(now) {
                (sent, last) = (sent + 1, {
                    gaps_ms.push((now - last) / 1_000_000);
                    now
                });
                source.sent();
            }
        }
        // The first packet of a time on goes at once: half a packet more each time.
        let expected = 10_000.0 * (30.0 + 0.5);
        assert!((f64::from(sent) / expected - 1.0).abs() < 0.04, "{sent}, expected {expected}");
        let silences: Vec<f64> = gaps_ms.into_iter().filter(|&gap| gap > 10).map(|gap| gap as f64).collect();
        let mean = silences.iter().sum::<f64>() / silences.len() as f64;
        assert!((mean - 705.0).abs() < 35.0, "{mean}");
        let above_mean = silences.iter().filter(|&&gap| gap > mean).count() as f64 / silences.len() as f64;
        assert!((above_mean - 0.368).abs() < 0.02, "{above_mean}");
    }

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
