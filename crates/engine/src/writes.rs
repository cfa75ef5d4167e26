// SPDX-License-Identifier: MIT OR Apache-2.0
//! When an application that offers data at a rate writes it, a piece at a time: evenly or at random.

use std::ops::Range;

use tandem_network::{Rng, agenda::NEVER};
use tandem_scenario::{Process, units::Rate};

use crate::exponential_ns;

/// Pieces at a mean rate.
///
/// The caller asks [`is_due`](Self::is_due) at [`next`](Self::next) or later, takes a piece if it says so, and then calls
/// [`written`](Self::written).
#[derive(Debug)]
pub(crate) struct Writes {
    gaps: Gaps,
    next: u64,
    until: u64,
}

/// The times between pieces, ns.
#[derive(Debug)]
enum Gaps {
    Even { gap: u64 },
    Poisson { mean: f64 },
    OnOff { gap: u64, on: f64, off: f64, on_until: u64 },
}

impl Writes {
    /// Pieces of `piece_bytes` at this mean rate, at times of `span`, ns. Even ones begin at once. At random the process has gone on for
    /// ever, so that one span may follow another.
    pub fn new(process: Option<Process>, rate: Rate, piece_bytes: u32, span: Range<u64>, rng: &mut Rng) -> Self {
        let piece_ns = u64::from(piece_bytes) * 8_000_000_000;
        let gaps = match process {
            None => Gaps::Even { gap: piece_ns.div_ceil(rate.bps) },
            Some(Process::Poisson) => Gaps::Poisson { mean: piece_ns as f64 / rate.bps as f64 },
            Some(Process::OnOff { on, off }) => {
                let (on, off) = (on.ns as f64, off.ns as f64);
                let share_on = on / (on + off);
                let time_on = if rng.chance(share_on) { exponential_ns(rng, on) } else { 0 };
                // The cast saturates.
                let gap = (share_on * piece_ns as f64 / rate.bps as f64).ceil() as u64;
                Gaps::OnOff { gap: gap.max(1), on, off, on_until: later(span.start, time_on) }
            }
        };
        let mut writes = Self { gaps, next: span.start, until: span.end };
        if process.is_some() {
            writes.written(rng);
        }
        writes
    }

    /// Is a piece due by `now`?
    pub fn is_due(&self, now: u64) -> bool {
        self.next <= now && self.next < self.until
    }

    /// The piece that was due has been written.
    pub fn written(&mut self, rng: &mut Rng) {
        match &mut self.gaps {
            Gaps::Even { gap } => self.next = later(self.next, *gap),
            Gaps::Poisson { mean } => self.next = later(self.next, exponential_ns(rng, *mean)),
            Gaps::OnOff { gap, on, off, on_until } => {
                self.next = later(self.next, *gap);
                // What of the gap a time on has no room for passes in the next, so that none of it is lost.
                while self.next >= *on_until && self.next < self.until {
                    let silence = exponential_ns(rng, *off);
                    self.next = later(self.next, silence);
                    *on_until = later(later(*on_until, silence), exponential_ns(rng, *on));
                }
            }
        }
    }

    /// When to ask next; [`NEVER`] after the end.
    pub fn next(&self) -> u64 {
        if self.next < self.until { self.next } else { NEVER }
    }
}

fn later(from: u64, by: u64) -> u64 {
    from.saturating_add(by).min(NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_network::Stream;
    use tandem_scenario::units::Span;

    const SECOND: u64 = 1_000_000_000;
    /// A thousand pieces of 1000 bytes a second.
    const RATE: Rate = Rate { bps: 8_000_000 };

    fn times(process: Process, seed: u64, seconds: u64) -> Vec<u64> {
        let mut rng = Rng::new(seed, Stream::Transfers(3));
        let mut writes = Writes::new(Some(process), RATE, 1000, 0..seconds * SECOND, &mut rng);
        let mut times = Vec::new();
        while writes.next() != NEVER {
            assert!(writes.next() == 0 || !writes.is_due(writes.next() - 1));
            times.push(writes.next());
            writes.written(&mut rng);
        }
        times
    }

    /// Mean and variance of the number of pieces in windows of this length.
    fn counts(times: &[u64], windows: usize, window: u64) -> (f64, f64) {
        let mut counts = vec![0.0; windows];
        times.iter().for_each(|time| counts[(time / window) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / windows as f64;
        (mean, counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (windows - 1) as f64)
    }

    /// The number of pieces in 100 ms has mean and variance 100. Over 2000 windows a deviation of their mean is 0.22, one of their variance
    /// 3.2. A share of e^-2 of the gaps is longer than 2 ms; over 200 000 gaps a deviation of that is 0.00077.
    #[test]
    fn poisson_writes() {
        for seed in 1..=3 {
            let times = times(Process::Poisson, seed, 200);
            let (mean, variance) = counts(&times, 2000, SECOND / 10);
            assert!((mean - 100.0).abs() < 0.9 && (variance - 100.0).abs() < 13.0, "{mean} {variance}");
            let long = times.windows(2).filter(|pair| pair[1] - pair[0] > 2_000_000).count() as f64;
            assert!((long / times.len() as f64 - (-2f64).exp()).abs() < 0.0031, "{long}");
        }
    }

    /// On for 100 ms and off for 300 ms: 4000 pieces a second while on. The variance of the time on in a long time t is
    /// 2 a b t / (a + b)^3, where 1/a and 1/b are the mean times on and off (a renewal process's): with a = 10/s, b = 10/3/s in 10 s it is
    /// 0.28125 s^2, less 0.75 % as t is not endless, times 4000^2. Over 1000 windows a deviation of the variance is 4.5 %, of the mean 67.
    #[test]
    fn on_off_writes() {
        let process = Process::OnOff { on: Span::from_ms(100), off: Span::from_ms(300) };
        for seed in 1..=3 {
            let times = times(process, seed, 10_000);
            let (mean, variance) = counts(&times, 1000, 10 * SECOND);
            assert!((mean - 10_000.0).abs() < 268.0, "{mean}");
            let expected = 4000.0 * 4000.0 * 0.28125 * 0.9925;
            assert!((variance / expected - 1.0).abs() < 0.18, "{variance} {expected}");
            assert_eq!(times.windows(2).map(|pair| pair[1] - pair[0]).min(), Some(SECOND / 4000));
        }
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let process = Process::OnOff { on: Span::from_ms(10), off: Span::from_ms(10) };
        for process in [Process::Poisson, process] {
            assert_eq!(times(process, 1, 1), times(process, 1, 1));
            assert_ne!(times(process, 1, 1), times(process, 2, 1));
        }
    }
}
