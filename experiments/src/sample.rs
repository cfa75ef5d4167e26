// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measured values at one point, seed by seed.

use serde::{Deserialize, Serialize};
use tandem_statistics::{Estimate, Looks, Neighbours, stolen};

/// One value a seed, and the estimate that they make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The mean, or the ratio of two means.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The value of each seed, in the order of the seeds; empty where only the estimate is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_seed: Vec<f64>,
}

impl Sample {
    /// The mean of one value per seed.
    pub fn new(by_seed: Vec<f64>) -> Self {
        Self { estimate: Estimate::of_mean(&by_seed), by_seed }
    }

    /// Bandwidth stolen, (P - Q) / P (S0 IV.B). `None` if P is 0. A seed's value comes from that seed alone.
    pub fn stolen(seeds: &[Neighbours]) -> Option<Self> {
        let sum = |goodputs: &[f64]| goodputs.iter().sum::<f64>();
        let of_seed = |seed: &Neighbours| 1.0 - sum(&seed.beside) / sum(&seed.reference);
        Some(Self { estimate: stolen(seeds)?, by_seed: seeds.iter().map(of_seed).collect() })
    }

    /// The same in percent.
    pub fn percent(self) -> Self {
        let by_seed = self.by_seed.iter().map(|value| 100.0 * value).collect();
        Self { estimate: self.estimate * 100.0, by_seed }
    }

    /// The same with an interval that is as wide as looking at the seeds again and again asks.
    pub fn looked_at(self, looks: &Looks) -> Self {
        Self { estimate: looks.widened(self.estimate), ..self }
    }

    /// Whether `value` lies among the values of single seeds.
    pub fn spans(&self, value: f64) -> bool {
        let (low, high) =
            self.by_seed.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        (low..=high).contains(&value)
    }

    /// This over another, of the seeds that both have. `None` if the other is nothing.
    pub fn over(&self, other: &Self) -> Option<Self> {
        let both = self.by_seed.len().min(other.by_seed.len());
        let estimate = Estimate::of_ratio(&self.by_seed[..both], &other.by_seed[..both])?;
        Some(Self { estimate, by_seed: self.with(other, |a, b| a / b) })
    }

    /// This less another, of the seeds that both have.
    pub fn minus(&self, other: &Self) -> Self {
        Self::new(self.with(other, |a, b| a - b))
    }

    fn with(&self, other: &Self, combine: fn(f64, f64) -> f64) -> Vec<f64> {
        self.by_seed.iter().zip(&other.by_seed).map(|(&a, &b)| combine(a, b)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: P = 10, 20; Q = 5, 10: half is stolen of each.
    #[test]
    fn what_is_made_of_samples_has_a_value_of_each_seed() {
        let seed = |p, q| Neighbours { beside: vec![q], reference: vec![p], peers: Vec::new() };
        let stolen = Sample::stolen(&[seed(10.0, 5.0), seed(20.0, 10.0)]).unwrap().percent();
        assert_eq!((stolen.estimate.text(1).as_str(), &stolen.by_seed[..]), ("50.0 ± 0.0", &[50.0, 50.0][..]));
        assert!(Sample::stolen(&[seed(0.0, 1.0)]).is_none());
        let two = Sample::new(vec![1.0, 3.0]);
        assert!(two.spans(2.5) && !two.spans(3.5));
        let ones = Sample::new(vec![1.0, 1.0]);
        assert_eq!((two.minus(&ones).by_seed, two.over(&ones).unwrap().estimate.value), (vec![0.0, 2.0], 2.0));
    }
}
