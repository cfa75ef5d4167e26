// SPDX-License-Identifier: MIT OR Apache-2.0
//! When an application that offers data at a rate writes it: a piece at a time, evenly or at random, or in frames of several pieces.

use std::ops::Range;

use tandem_network::{Rng, agenda::NEVER, normal_quantile};
use tandem_scenario::{FrameSizes, Process, log_normal, units::Rate};

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
    Frames { gap: u64, frames: Frames },
}

/// Frames of different sizes.
#[derive(Debug)]
struct Frames {
    sizes: FrameSizes,
    /// Pieces of one with the median size, or for each byte of a list's.
    scale: f64,
    /// Where the next one is in a list.
    place: usize,
    /// Pieces of the frame that is due.
    pieces: u64,
    /// What was less than a piece so far.
    left_over: f64,
}

impl Frames {
    /// The next frame. What is left below a piece is kept for the one after it, so that the mean stays what it is.
    fn draw(&mut self, rng: &mut Rng) {
        let size = match &self.sizes {
            FrameSizes::LogNormal { sigma } => log_normal::quantile(*sigma, normal_quantile(rng.share())),
            FrameSizes::Listed(list) => {
                let bytes = list.bytes()[self.place];
                self.place = (self.place + 1) % list.bytes().len();
                bytes as f64
            }
        };
        let pieces = self.scale * size + self.left_over;
        self.pieces = pieces as u64;
        self.left_over = pieces.fract();
    }
}

impl Writes {
    /// Pieces of `piece_bytes` at this mean rate, at times of `span`, ns. Even ones begin at once. At random the process has gone on for
    /// ever, so that one span may follow another.
    pub fn new(process: Option<&Process>, rate: Rate, piece_bytes: u32, span: Range<u64>, rng: &mut Rng) -> Self {
        let piece_ns = u64::from(piece_bytes) * 8_000_000_000;
        let gaps = match process {
            None => Gaps::Even { gap: piece_ns.div_ceil(rate.bps) },
            Some(Process::Poisson) => Gaps::Poisson { mean: piece_ns as f64 / rate.bps as f64 },
            Some(Process::Frames { per_second, sizes }) => {
                return Self::frames(*per_second, sizes, rate, piece_bytes, span, rng);
            }
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

    /// Frames at even times. The first comes at a random moment, and has a random place in a list.
    fn frames(
        per_second: f64,
        sizes: &FrameSizes,
        rate: Rate,
        piece_bytes: u32,
        span: Range<u64>,
        rng: &mut Rng,
    ) -> Self {
        let gap = 1e9 / per_second;
        let first = later(span.start, (rng.share() * gap) as u64);
        let mean_pieces = rate.bps as f64 / 8.0 / per_second / f64::from(piece_bytes);
        let (place, mean) = match sizes {
            FrameSizes::LogNormal { sigma } => (0, log_normal::mean(*sigma)),
            FrameSizes::Listed(list) => ((rng.share() * list.bytes().len() as f64) as usize, list.mean_bytes()),
        };
        let mut frames = Frames { sizes: sizes.clone(), scale: mean_pieces / mean, place, pieces: 0, left_over: 0.0 };
        frames.draw(rng);
        Self { gaps: Gaps::Frames { gap: gap.round() as u64, frames }, next: first, until: span.end }
    }

    /// How many pieces are written at once.
    pub fn pieces(&self) -> u64 {
        if let Gaps::Frames { frames, .. } = &self.gaps { frames.pieces } else { 1 }
    }

    /// Is a piece due by `now`?
    pub fn is_due(&self, now: u64) -> bool {
        self.next <= now && self.next < self.until
    }

    /// The piece that was due has been written.
    pub fn written(&mut self, rng: &mut Rng) {
        match &mut self.gaps {
            Gaps::Even { gap } => self.next = later(self.next, *gap),
            Gaps::Frames { gap, frames } => {
                self.next = later(self.next, *gap);
                frames.draw(rng);
            }
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
    use tandem_scenario::{short_flows::SizeList, units::Span};

    const SECOND: u64 = 1_000_000_000;
    /// A thousand pieces of 1000 bytes a second.
    const RATE: Rate = Rate { bps: 8_000_000 };

    fn times(process: Process, seed: u64, seconds: u64) -> Vec<u64> {
        let mut rng = Rng::new(seed, Stream::Transfers(3));
        let mut writes = Writes::new(Some(&process), RATE, 1000, 0..seconds * SECOND, &mut rng);
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
            let times = times(process.clone(), seed, 10_000);
            let (mean, variance) = counts(&times, 1000, 10 * SECOND);
            assert!((mean - 10_000.0).abs() < 268.0, "{mean}");
            let expected = 4000.0 * 4000.0 * 0.28125 * 0.9925;
            assert!((variance / expected - 1.0).abs() < 0.18, "{variance} {expected}");
            assert_eq!(times.windows(2).map(|pair| pair[1] - pair[0]).min(), Some(SECOND / 4000));
        }
    }

    fn frames(sizes: FrameSizes, seed: u64, count: usize) -> Vec<(u64, u64)> {
        let mut rng = Rng::new(seed, Stream::Transfers(3));
        let process = Process::Frames { per_second: 50.0, sizes };
        let mut writes = Writes::new(Some(&process), RATE, 1000, 0..NEVER, &mut rng);
        let mut frame = || {
            let frame = (writes.next(), writes.pieces());
            writes.written(&mut rng);
            frame
        };
        (0..count).map(|_| frame()).collect()
    }

    /// A thousand pieces a second are 20 in each of 50 frames. A log-normal distribution with sigma 0.5 has the variance
    /// exp(0.25) - 1 = 0.284 times the square of its mean; over 20 000 frames a deviation of the mean is 0.0038 of it. Half of the frames are
    /// smaller than exp(-0.125) = 0.8825 of the mean, 17.65 pieces: at most 17, and few of 18 by what was left over.
    #[test]
    fn frames_of_log_normal_sizes() {
        for seed in 1..=3 {
            let frames = frames(FrameSizes::LogNormal { sigma: 0.5 }, seed, 20_000);
            assert!(frames[0].0 < SECOND / 50);
            assert!(frames.windows(2).all(|pair| pair[1].0 - pair[0].0 == SECOND / 50));
            let share = |test: fn(u64) -> bool| frames.iter().filter(|frame| test(frame.1)).count() as f64 / 20_000.0;
            let mean = frames.iter().map(|frame| frame.1 as f64).sum::<f64>() / 20_000.0;
            let variance = frames.iter().map(|frame| (frame.1 as f64 - mean).powi(2)).sum::<f64>() / 20_000.0;
            assert!((mean / 20.0 - 1.0).abs() < 0.015, "{mean}");
            assert!((variance / (20.0 * 20.0 * 0.284) - 1.0).abs() < 0.15, "{variance}");
            assert!(share(|pieces| pieces <= 16) < 0.5 && share(|pieces| pieces <= 18) > 0.5);
        }
    }

    /// 3, 1 and 2 of a mean of 2 are 30, 10 and 20 pieces. A third, a third and seven thirds of the mean are 20/3, 20/3 and 140/3:
    /// what is less than a piece waits.
    #[test]
    fn frames_of_a_list() {
        let list = |text: &str| FrameSizes::Listed(SizeList::parse(text, &"x").unwrap());
        let pieces = |sizes| frames(sizes, 1, 6).into_iter().map(|frame| frame.1).collect::<Vec<_>>();
        let whole = pieces(list("3kB\n1kB\n2kB\n"));
        let begin = whole.iter().position(|&pieces| pieces == 30).unwrap();
        assert_eq!(whole[begin..begin + 3], [30, 10, 20]);
        assert_eq!(pieces(list("1kB\n1kB\n7kB\n")).iter().sum::<u64>(), 120);
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let process = Process::OnOff { on: Span::from_ms(10), off: Span::from_ms(10) };
        for process in [Process::Poisson, process] {
            assert_eq!(times(process.clone(), 1, 1), times(process.clone(), 1, 1));
            assert_ne!(times(process.clone(), 1, 1), times(process.clone(), 2, 1));
        }
    }
}
