// SPDX-License-Identifier: MIT OR Apache-2.0
//! An estimate: a mean over seeds and how far chance may have moved it.

use serde::Serialize;
use tandem_results::stats::{ci95, mean, ratio, stolen};

/// A mean over seeds with its 95 % confidence interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean, or the ratio of two means.
    pub mean: f64,
    /// Half width of the 95 % confidence interval (Student's t); `None` with one seed.
    pub ci95: Option<f64>,
    /// The value of each seed, in the order of the seeds.
    pub by_seed: Vec<f64>,
}

impl Estimate {
    /// The mean of one value per seed.
    pub fn new(by_seed: Vec<f64>) -> Self {
        Self { mean: mean(&by_seed), ci95: ci95(&by_seed), by_seed }
    }

    /// Bandwidth stolen, (P - Q) / P, from P and Q of the same seeds (S0 IV.B). `None` if P is nothing.
    pub fn stolen(p: &[f64], q: &[f64]) -> Option<Self> {
        let (mean, ci95) = stolen(p, q)?;
        Some(Self { mean, ci95, by_seed: p.iter().zip(q).map(|(p, q)| 1.0 - q / p).collect() })
    }

    /// The same estimate in percent.
    pub fn percent(self) -> Self {
        let by_seed = self.by_seed.iter().map(|value| 100.0 * value).collect();
        Self { mean: 100.0 * self.mean, ci95: self.ci95.map(|half| 100.0 * half), by_seed }
    }

    /// Whether `value` lies among the values of single seeds.
    pub fn spans(&self, value: f64) -> bool {
        let (low, high) =
            self.by_seed.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        (low..=high).contains(&value)
    }

    /// This over another of the same seeds. `None` if the other is nothing.
    pub fn over(&self, other: &Self) -> Option<Self> {
        let (mean, ci95) = ratio(&self.by_seed, &other.by_seed)?;
        Some(Self { mean, ci95, by_seed: self.with(other, |a, b| a / b) })
    }

    /// This less another of the same seeds.
    pub fn minus(&self, other: &Self) -> Self {
        Self::new(self.with(other, |a, b| a - b))
    }

    fn with(&self, other: &Self, combine: fn(f64, f64) -> f64) -> Vec<f64> {
        self.by_seed.iter().zip(&other.by_seed).map(|(&a, &b)| combine(a, b)).collect()
    }

    /// Whether the difference to an independent estimate is within the joint 95 % interval: the root of the sum of the
    /// squared half widths. False if one of them has no interval.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self.ci95, other.ci95) {
            (Some(a), Some(b)) => (self.mean - other.mean).abs() <= a.hypot(b),
            _ => false,
        }
    }

    /// `95.1 ± 0.3`, with as many decimals as asked for.
    pub fn text(&self, decimals: usize) -> String {
        match self.ci95 {
            Some(half) => format!("{:.decimals$} ± {half:.decimals$}", self.mean),
            None => format!("{:.decimals$}", self.mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: P = 10, 20; Q = 5, 10: half is stolen of each. Two values 1 and 3: t = 12.706, s = sqrt(2), half width
    /// 12.706 * sqrt(2) / sqrt(2).
    #[test]
    fn means_and_shares() {
        let stolen = Estimate::stolen(&[10.0, 20.0], &[5.0, 10.0]).unwrap().percent();
        assert_eq!((stolen.mean, stolen.ci95, &stolen.by_seed[..]), (50.0, Some(0.0), &[50.0, 50.0][..]));
        let two = Estimate::new(vec![1.0, 3.0]);
        assert!((two.ci95.unwrap() - 12.706).abs() < 1e-3, "{two:?}");
        assert!(two.spans(2.5) && !two.spans(3.5));
        assert_eq!(two.minus(&Estimate::new(vec![1.0, 1.0])).by_seed, [0.0, 2.0]);
        assert!(Estimate::stolen(&[0.0], &[1.0]).is_none());
    }

    /// Half widths of 3 and 4 give a joint one of 5.
    #[test]
    fn intervals_join() {
        let of = |mean, half| Estimate { mean, ci95: Some(half), by_seed: Vec::new() };
        assert!(of(104.9, 3.0).overlaps(&of(100.0, 4.0)));
        assert!(!of(105.1, 3.0).overlaps(&of(100.0, 4.0)));
        assert!(!of(100.0, 3.0).overlaps(&Estimate::new(vec![100.0])), "a single value has no interval");
    }
}
