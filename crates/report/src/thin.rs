// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fewer points for charts, without losing what is to be seen.

/// Which points to keep of a series so that at most `limit` remain: the lowest and the highest of each bucket, so that a
/// sawtooth keeps its teeth, and both ends.
pub fn thin(values: &[f64], limit: usize) -> Vec<usize> {
    let n = values.len();
    if n <= limit {
        return (0..n).collect();
    }
    let buckets = (limit / 2).saturating_sub(1).max(1);
    let mut kept = vec![0, n - 1];
    for bucket in 0..buckets {
        let range = bucket * n / buckets..(bucket + 1) * n / buckets;
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        kept.extend(range.clone().min_by(by_value));
        kept.extend(range.max_by(by_value));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Means of at most `limit` buckets of whole samples, and how many samples a bucket has.
pub fn averages(values: &[f64], limit: usize) -> (Vec<f64>, usize) {
    let size = values.len().div_ceil(limit).max(1);
    (values.chunks(size).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect(), size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_peak_of_a_sawtooth() {
        let teeth: Vec<f64> = (0..100_000).map(|i| (i % 1000) as f64).collect();
        let kept = thin(&teeth, 1500);
        assert!(kept.len() <= 1500, "{}", kept.len());
        assert_eq!(kept.iter().filter(|&&i| teeth[i] == 999.0).count(), 100);
        assert_eq!((kept[0], *kept.last().unwrap()), (0, 99_999));
    }

    #[test]
    fn keeps_a_short_series_whole() {
        assert_eq!(thin(&[3.0, 1.0, 2.0], 3), [0, 1, 2]);
        assert!(thin(&[], 10).is_empty());
    }

    #[test]
    fn averages_whole_buckets() {
        assert_eq!(averages(&[1.0, 3.0, 5.0, 7.0, 9.0], 3), (vec![2.0, 6.0, 9.0], 2));
    }
}
