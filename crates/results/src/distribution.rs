// SPDX-License-Identifier: MIT OR Apache-2.0
//! A quantity in brief: its mean and its percentiles.

use serde::{Deserialize, Serialize};
use tandem_statistics::{mean, percentile};

/// Mean and percentiles of a quantity, in the unit that the name of the field with it ends in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value; no percentile exceeds it.
    pub max: f64,
}

impl Distribution {
    /// Of values that are all at hand; `None` if there are none.
    pub fn of_values(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let at = |share| percentile(&values, share);
        Some(Self { mean: mean(&values), p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)?, max: at(1.0)? })
    }

    /// Each figure's mean over seeds; the maximum is that of all.
    pub(crate) fn over_seeds<'a>(seeds: impl Iterator<Item = &'a Distribution> + Clone) -> Self {
        let average = |f: fn(&Distribution) -> f64| mean(&seeds.clone().map(f).collect::<Vec<_>>());
        Self {
            mean: average(|d| d.mean),
            p50: average(|d| d.p50),
            p95: average(|d| d.p95),
            p99: average(|d| d.p99),
            max: seeds.clone().map(|d| d.max).fold(0.0, f64::max),
        }
    }
}
