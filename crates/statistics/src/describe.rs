// SPDX-License-Identifier: MIT OR Apache-2.0
//! What describes a list of values.

/// Arithmetic mean; 0 without values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Unbiased variance of the population that the values are drawn from: the squares' sum over n - 1. `None` with fewer than two.
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (values.len() as f64 - 1.0))
}

/// The value at this share of the way through the values, which are sorted: the nearest, without interpolation; 0.5 is the median.
/// `None` without values.
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(last as f64 * share).round() as usize])
}

/// Jain's fairness index (RFC 5166 section 2.3.1): 1 = all equal, 1/n = one has all. 0 if nothing was sent.
pub fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    if squares > 0.0 { sum * sum / (rates.len() as f64 * squares) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NumAcc2 of NIST's Statistical Reference Datasets: 1.2, then 1.1 and 1.3 in turn, 1001 values. The certified mean is 1.2, the
    /// standard deviation 0.1.
    #[test]
    fn mean_and_variance() {
        let values: Vec<f64> = std::iter::once(1.2).chain([1.1, 1.3].into_iter().cycle().take(1000)).collect();
        assert!((mean(&values) - 1.2).abs() < 1e-13);
        assert!((variance(&values).unwrap().sqrt() - 0.1).abs() < 1e-13);
        assert_eq!((mean(&[]), variance(&[]), variance(&[7.0])), (0.0, None, None));
    }

    #[test]
    fn percentiles_are_values() {
        let ten: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(
            [0.0, 0.5, 0.95, 0.99, 1.0].map(|share| percentile(&ten, share).unwrap()),
            [0.0, 5.0, 10.0, 10.0, 10.0]
        );
        // Of an even number the upper one of the two in the middle.
        assert_eq!(percentile(&[1.0, 2.0], 0.5), Some(2.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    /// RFC 5166 section 2.3.1: (sum x)^2 / (n sum x^2). 3 and 1: 16 / (2 * 10) = 0.8.
    #[test]
    fn jain_index() {
        assert_eq!(jain(&[5.0; 7]), 1.0);
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain(&[3.0, 1.0]), 0.8);
        assert_eq!(jain(&[300.0, 100.0]), 0.8, "whatever the unit");
        assert_eq!((jain(&[]), jain(&[0.0, 0.0])), (0.0, 0.0));
    }
}
