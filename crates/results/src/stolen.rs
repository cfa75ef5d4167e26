// SPDX-License-Identifier: MIT OR Apache-2.0
//! What flows lose to others.

use tandem_statistics::Estimate;

/// Bandwidth stolen, (P - Q) / P, from P and Q of the same seeds (S0 IV.B). `None` without a baseline, and where P is nothing.
pub fn stolen(p: &[f64], q: &[f64]) -> Option<Estimate> {
    Estimate::of_ratio(q, p).map(Estimate::complement)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P = 10, 12, 14 and Q = 8, 9, 13: means 12 and 10, so a sixth is stolen. The interval is that of Q / P, which the tests of
    /// `tandem-statistics` work out.
    #[test]
    fn stolen_bandwidth() {
        let sixth = stolen(&[10.0, 12.0, 14.0], &[8.0, 9.0, 13.0]).unwrap();
        assert!((sixth.value - 1.0 / 6.0).abs() < 1e-12 && (sixth.half_width.unwrap() - 0.24880).abs() < 5e-6);
        // Gaining bandwidth is negative theft.
        let gained = stolen(&[10.0], &[15.0]).unwrap();
        assert_eq!((gained.value, gained.half_width), (-0.5, None));
        assert_eq!((stolen(&[], &[]), stolen(&[0.0], &[1.0]), stolen(&[1.0, 2.0], &[1.0])), (None, None, None));
    }
}
