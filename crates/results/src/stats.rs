// SPDX-License-Identifier: MIT OR Apache-2.0
//! Means and intervals over seeds, and the indices of RFC 5166.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Arithmetic mean; 0 without values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Half width of the 95 % confidence interval of the mean (Student's t); `None` with fewer than two values.
pub fn ci95(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let m = mean(values);
    let variance = values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (n - 1.0);
    let t = StudentsT::new(0.0, 1.0, n - 1.0).expect("at least one degree of freedom").inverse_cdf(0.975);
    Some(t * (variance / n).sqrt())
}

/// The ratio of the means of paired values, and the half width of its 95 % interval by linearisation (the delta method).
/// `None` without pairs or where the denominators' mean is not positive.
pub fn ratio(numerators: &[f64], denominators: &[f64]) -> Option<(f64, Option<f64>)> {
    if numerators.is_empty() || numerators.len() != denominators.len() || mean(denominators) <= 0.0 {
        return None;
    }
    let ratio = mean(numerators) / mean(denominators);
    let residuals: Vec<f64> = numerators.iter().zip(denominators).map(|(n, d)| n - ratio * d).collect();
    Some((ratio, ci95(&residuals).map(|half| half / mean(denominators))))
}

/// Bandwidth stolen, (P - Q) / P, from P and Q of the same seeds (S0 IV.B), with its interval. `None` without a baseline.
pub fn stolen(p: &[f64], q: &[f64]) -> Option<(f64, Option<f64>)> {
    ratio(q, p).map(|(ratio, half)| (1.0 - ratio, half))
}

/// Jain's fairness index (RFC 5166 section 2.3.1): 1 = all equal, 1/n = one has all. 0 if nothing was sent.
pub fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|r| r * r).sum();
    if squares > 0.0 { sum * sum / (rates.len() as f64 * squares) } else { 0.0 }
}
