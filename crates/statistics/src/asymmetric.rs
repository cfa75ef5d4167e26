// SPDX-License-Identifier: MIT OR Apache-2.0
//! An estimate whose interval reaches further to one side.

use serde::Serialize;

use crate::Estimate;

/// What becomes of an [`Estimate`] on another scale: of a logarithm's, for example, a ratio with `low` nearer to it than `high`. The interval
/// holds as often as that of the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AsymmetricEstimate {
    /// The point estimate.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl AsymmetricEstimate {
    /// The estimate on the scale that `scale` leads to, which must rise everywhere. `None` if it has no interval.
    pub fn on_scale(estimate: Estimate, scale: impl Fn(f64) -> f64) -> Option<Self> {
        let Estimate { value, half_width, .. } = estimate;
        half_width.map(|half| Self { value: scale(value), low: scale(value - half), high: scale(value + half) })
    }

    /// Is there a difference, whichever?
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// A share, as people read it: `+4.0 % (-1.0 to +9.0)`.
    pub fn percent(&self) -> String {
        let [value, low, high] = [self.value, self.low, self.high].map(|share| share * 100.0);
        format!("{value:+.1} % ({low:+.1} to {high:+.1})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln 2 ± ln 2: the ratio is 2, from 1 to 4.
    #[test]
    fn a_logarithms_becomes_a_ratios() {
        let two = std::f64::consts::LN_2;
        let more = AsymmetricEstimate::on_scale(Estimate::kept(two, Some(two)), f64::exp_m1).unwrap();
        assert_eq!(more.percent(), "+100.0 % (+0.0 to +300.0)");
        assert!(!more.excludes_zero());
        assert_eq!(AsymmetricEstimate::on_scale(Estimate::kept(two, None), f64::exp_m1), None);
        let loss = AsymmetricEstimate::on_scale(Estimate::kept(-0.02, Some(0.01)), |share| share).unwrap();
        assert_eq!(loss.percent(), "-2.0 % (-3.0 to -1.0)");
        assert!(loss.excludes_zero());
    }
}
