// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long ago the last loss is, in mean intervals between losses (RFC 5348 section 5.4).

use std::collections::VecDeque;

/// Weights of the intervals between losses, the newest first (RFC 5348 section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// How many packets came from one loss to the next. Each gap in the numbers is a loss event: the receiver knows no RTT.
#[derive(Debug, Default)]
pub struct LossIntervals {
    /// Since the last loss.
    open: u64,
    /// The newest first.
    closed: VecDeque<u64>,
}

impl LossIntervals {
    /// A packet comes, and `missing` before it did not.
    pub fn note(&mut self, missing: u64) {
        if missing > 0 {
            self.closed.push_front(self.open + missing);
            self.closed.truncate(WEIGHTS.len());
            self.open = 0;
        }
        self.open += 1;
    }

    /// Packets since the last loss, in mean intervals; without a loss infinitely many.
    pub fn since_last(&self) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
