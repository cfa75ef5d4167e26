// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value that runs with random numbers estimate, and how far chance may have moved it.

use std::ops::{Div, Mul, Neg};

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF};

use crate::{describe::mean, student::two_sided, variance};

/// How often an interval made so holds the true value, were all runs repeated with other seeds again and again.
pub const CONFIDENCE: f64 = 0.95;

/// An estimate with its confidence interval, `value` ± `half_width`. As JSON it has the keys that results have: `mean` and `ci95`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate: a mean, a mean difference or a ratio of two means.
    #[serde(rename = "mean")]
    pub value: f64,
    /// Half the width of its confidence interval, by Student's t; `None` with fewer than two values.
    #[serde(rename = "ci95")]
    pub half_width: Option<f64>,
    /// How often such an interval holds the true value: [`CONFIDENCE`].
    #[serde(skip, default = "usual_confidence")]
    pub confidence: f64,
    /// How many independent values it was made of; 0 if that is not known any more.
    #[serde(skip)]
    pub n: usize,
    /// Those of the interval; 0 if it has none, or if that is not known any more.
    #[serde(skip)]
    pub degrees_of_freedom: f64,
}

/// What is kept of an estimate has the usual confidence.
fn usual_confidence() -> f64 {
    CONFIDENCE
}

impl Estimate {
    /// The mean that independent values are drawn around.
    pub fn of_mean(values: &[f64]) -> Self {
        let n = values.len();
        let variance_of_mean = variance(values).map(|variance| variance / n as f64);
        Self::of_variance(mean(values), variance_of_mean, n as f64 - 1.0, n)
    }

    /// A value whose own variance was estimated, with these degrees of freedom, more than 0; without a variance there is no interval.
    pub(crate) fn of_variance(value: f64, variance: Option<f64>, degrees_of_freedom: f64, n: usize) -> Self {
        let half_width = variance.map(|variance| two_sided(CONFIDENCE, degrees_of_freedom) * variance.sqrt());
        let degrees_of_freedom = if half_width.is_some() { degrees_of_freedom } else { 0.0 };
        Self { value, half_width, confidence: CONFIDENCE, n, degrees_of_freedom }
    }

    /// The mean of what the first value of a pair is above the second. Values without a partner, at the end of the longer list, do not
    /// count.
    pub fn of_difference(first: &[f64], second: &[f64]) -> Self {
        Self::of_mean(&first.iter().zip(second).map(|(first, second)| first - second).collect::<Vec<_>>())
    }

    /// The ratio of the means of paired values; its interval by linearisation (the delta method). `None` without pairs, and where the
    /// denominators' mean is not positive.
    pub fn of_ratio(numerators: &[f64], denominators: &[f64]) -> Option<Self> {
        let denominator = mean(denominators);
        if numerators.is_empty() || numerators.len() != denominators.len() || denominator <= 0.0 {
            return None;
        }
        let ratio = mean(numerators) / denominator;
        let residuals: Vec<f64> = numerators.iter().zip(denominators).map(|(n, d)| n - ratio * d).collect();
        Some(Self { value: ratio, ..Self::of_mean(&residuals) / denominator })
    }

    /// The mean of the natural logarithms of the ratios of paired values. `None` without pairs, and where a value is not positive.
    pub fn of_log_ratio(numerators: &[f64], denominators: &[f64]) -> Option<Self> {
        let pairs = || numerators.iter().zip(denominators);
        let are_positive = pairs().all(|(n, d)| n.min(*d) > 0.0);
        let logs = pairs().map(|(n, d)| (n / d).ln()).collect::<Vec<_>>();
        (are_positive && !logs.is_empty()).then(|| Self::of_mean(&logs))
    }

    /// An estimate that was made elsewhere and kept as a value and the half width of its interval.
    pub fn kept(value: f64, half_width: Option<f64>) -> Self {
        Self { value, half_width, confidence: CONFIDENCE, n: 0, degrees_of_freedom: 0.0 }
    }

    /// A value that is known: its interval has no width.
    pub fn exactly(value: f64) -> Self {
        Self::kept(value, Some(0.0))
    }

    /// What is left of 1: of the share that somebody keeps, the share that is lost.
    pub fn complement(self) -> Self {
        Self { value: 1.0 - self.value, ..self }
    }

    /// The same with an interval of another confidence, as a [`Look`](crate::Look) asks for. One whose degrees of freedom are not known
    /// stays as it is.
    pub fn at(self, confidence: f64) -> Self {
        if self.degrees_of_freedom <= 0.0 {
            return self;
        }
        let reach = |confidence| two_sided(confidence, self.degrees_of_freedom);
        let factor = reach(confidence) / reach(self.confidence);
        Self { half_width: self.half_width.map(|half| half * factor), confidence, ..self }
    }

    /// Whether the difference to an independent estimate is within the joint interval: the root of the sum of the squared half widths.
    /// False if one of them has no interval.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self.half_width, other.half_width) {
            (Some(own), Some(others)) => (self.value - other.value).abs() <= own.hypot(others),
            _ => false,
        }
    }

    /// `95.1 ± 0.3`, with as many decimals as asked for.
    pub fn text(&self, decimals: usize) -> String {
        match self.half_width {
            Some(half) => format!("{:.decimals$} ± {half:.decimals$}", self.value),
            None => format!("{:.decimals$}", self.value),
        }
    }
}

impl Mul<f64> for Estimate {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_width: self.half_width.map(|half| half * factor.abs()), ..self }
    }
}

impl Div<f64> for Estimate {
    type Output = Self;

    fn div(self, divisor: f64) -> Self {
        Self { value: self.value / divisor, half_width: self.half_width.map(|half| half / divisor.abs()), ..self }
    }
}

impl Neg for Estimate {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, ..self }
    }
}

/// The exact interval of a share of which `hits` of `trials` draws were seen (Clopper, Pearson 1934), from 0 to 1.
pub fn proportion(hits: usize, trials: usize) -> (f64, f64) {
    let quantile = |a: usize, b: usize, share: f64| Beta::new(a as f64, b as f64).map(|beta| beta.inverse_cdf(share));
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let misses = trials.saturating_sub(hits);
    let low = if hits == 0 { 0.0 } else { quantile(hits, misses + 1, tail).unwrap_or(0.0) };
    let high = if misses == 0 { 1.0 } else { quantile(hits + 1, misses, 1.0 - tail).unwrap_or(1.0) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 5e-4, "{actual}, expected {expected}");
    }

    fn half_width(values: &[f64]) -> f64 {
        Estimate::of_mean(values).half_width.unwrap()
    }

    /// 1 to 5: mean 3, variance 10 / 4 = 2.5, standard error sqrt(0.5) = 0.70711, t(0.975, 4) = 2.7764 (any table): 1.9632.
    #[test]
    fn the_interval_of_a_mean() {
        let of_five = Estimate::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((of_five.value, of_five.n, of_five.confidence), (3.0, 5, 0.95));
        close(of_five.half_width.unwrap(), 1.9632);
        // Two values: t(0.975, 1) = 12.706, standard error |a - b| / 2.
        close(half_width(&[10.0, 12.0]), 12.706);
        // Ten: t(0.975, 9) = 2.2622; variance of 1..10 is 82.5 / 9 = 9.1667, standard error 0.95743.
        close(half_width(&(1..=10).map(f64::from).collect::<Vec<_>>()), 2.1659);
        assert_eq!([&[1.0][..], &[]].map(|few| Estimate::of_mean(few).half_width), [None, None]);
        assert_eq!(half_width(&[7.0; 6]), 0.0);
    }

    /// Student (1908), "The Probable Error of a Mean", section IX: the additional hours of sleep of ten patients with two drugs.
    /// The difference has mean 1.58 and the standard deviation 1.17 with n (1.2300 with n - 1): 2.2622 * 1.2300 / sqrt(10) = 0.8799.
    #[test]
    fn the_interval_of_a_paired_difference() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let more = Estimate::of_difference(&second, &first);
        close(more.value, 1.58);
        close(more.half_width.unwrap(), 0.8799);
        assert_eq!(Estimate::of_difference(&second, &first[..4]).n, 4);
    }

    /// 1 to 5 again, with t(0.995, 4) = 4.6041: 4.6041 * 0.70711 = 3.2556.
    #[test]
    fn a_higher_confidence_makes_it_wider() {
        let wider = Estimate::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]).at(0.99);
        assert_eq!((wider.value, wider.n, wider.confidence), (3.0, 5, 0.99));
        close(wider.half_width.unwrap(), 3.2556);
        assert_eq!(Estimate::of_mean(&[1.0]).at(0.99).half_width, None);
        assert_eq!(Estimate::kept(1.0, Some(2.0)).at(0.99).half_width, Some(2.0));
    }

    /// 8, 9, 13 over 10, 12, 14: means 10 and 12, ratio 5/6. Residuals are -1/3, -1, 4/3: mean 0, variance (1/9 + 1 + 16/9) / 2 = 13/9,
    /// standard error sqrt(13/27) = 0.69389, t(0.975, 2) = 4.3027; over the mean of the denominators: 2.98558 / 12 = 0.24880.
    #[test]
    fn the_interval_of_a_ratio() {
        let ratio = Estimate::of_ratio(&[8.0, 9.0, 13.0], &[10.0, 12.0, 14.0]).unwrap();
        close(ratio.value, 5.0 / 6.0);
        close(ratio.half_width.unwrap(), 0.24880);
        // Pairs that move together say more than their spread: the same ratio of each is exact.
        let exact = Estimate::of_ratio(&[9.0, 18.0, 27.0], &[10.0, 20.0, 30.0]).unwrap();
        close(exact.half_width.unwrap(), 0.0);
        let single = Estimate::of_ratio(&[15.0], &[10.0]).unwrap();
        assert_eq!((single.value, single.half_width, single.n), (1.5, None, 1));
        for (numerators, denominators) in [(&[][..], &[][..]), (&[1.0], &[0.0]), (&[1.0], &[1.0, 2.0])] {
            assert_eq!(Estimate::of_ratio(numerators, denominators), None);
        }
    }

    /// e, e^2 and e^3 times as much: 2 on average, standard deviation 1, t(0.975, 2) = 4.3027, over the root of 3: 2.48414.
    #[test]
    fn the_interval_of_a_ratio_on_the_scale_of_logarithms() {
        let powers = [1.0f64, 2.0, 3.0].map(f64::exp);
        let ratio = Estimate::of_log_ratio(&powers.map(|power| 5.0 * power), &[5.0; 3]).unwrap();
        close(ratio.value, 2.0);
        close(ratio.half_width.unwrap(), 2.48414);
        assert_eq!(Estimate::of_log_ratio(&powers, &[1.0, 1.0]).unwrap().n, 2);
        for (numerators, denominators) in [(&[][..], &[][..]), (&[1.0, 1.0], &[1.0, 0.0]), (&[0.0], &[1.0])] {
            assert_eq!(Estimate::of_log_ratio(numerators, denominators), None);
        }
    }

    /// Half widths of 3 and 4 give a joint one of 5.
    #[test]
    fn intervals_join() {
        let of = |value, half| Estimate::kept(value, Some(half));
        assert!(of(104.9, 3.0).overlaps(&of(100.0, 4.0)));
        assert!(!of(105.1, 3.0).overlaps(&of(100.0, 4.0)));
        assert!(!of(100.0, 3.0).overlaps(&Estimate::of_mean(&[100.0])), "a single value has no interval");
    }

    #[test]
    fn in_other_units_and_in_words() {
        let share = Estimate::kept(0.1234, Some(0.0216));
        assert_eq!((share * 100.0).text(1), "12.3 ± 2.2");
        assert_eq!((-share * 100.0).text(0), "-12 ± 2");
        assert_eq!((share / -2.0).half_width, Some(0.0108));
        assert_eq!(share.complement().text(2), "0.88 ± 0.02");
        assert_eq!(Estimate::of_mean(&[2.0]).text(1), "2.0");
        assert_eq!(serde_json::to_string(&Estimate::of_mean(&[2.0])).unwrap(), r#"{"mean":2.0,"ci95":null}"#);
    }

    /// With no hit in n the upper end is 1 - 0.025^(1/n); the lower end of all hits mirrors it. 5 of 10: the tables of Clopper and Pearson have
    /// 0.187 and 0.813.
    #[test]
    fn shares_have_exact_intervals() {
        let end = 1.0 - 0.025_f64.powf(0.01);
        let is_near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 5e-4 && (a.1 - b.1).abs() < 5e-4;
        assert!(is_near(proportion(0, 100), (0.0, end)) && is_near(proportion(100, 100), (1.0 - end, 1.0)));
        assert!(is_near(proportion(5, 10), (0.187, 0.813)));
        assert_eq!(proportion(0, 0), (0.0, 1.0));
    }
}
