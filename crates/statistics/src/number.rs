// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers as people read them: as many digits as mean something, no more.

/// Decimals that leave `digits` significant ones.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 9) as usize
}

/// With `digits` significant digits; digits before the point are never cut. What is tiny is spelt as a rate is: `1.8e-8`.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value != 0.0 && value.abs() < 1e-5 {
        return rate(value);
    }
    format!("{value:.*}", decimals(value, digits))
}

/// `95.12 ± 0.34`: the half width has two significant digits and the value as many decimals, but no more than five
/// significant digits, which no interval over seeds supports.
pub fn with_interval(value: f64, half: Option<f64>, digits: i32) -> String {
    let Some(half) = half else { return significant(value, digits) };
    // Equal values leave a half width of 0, or next to it.
    let none = half <= value.abs() * 1e-9;
    let places = if none { decimals(value, digits) } else { decimals(half, 2).min(decimals(value, 5)) };
    format!("{value:.places$} ± {half:.places$}")
}

/// A small share as scenarios spell it, such as `1.2e-5`.
pub fn rate(share: f64) -> String {
    if share == 0.0 { "0".into() } else { format!("{share:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_digits_that_mean_something() {
        assert_eq!(significant(95.1234, 4), "95.12");
        assert_eq!(significant(12345.6, 4), "12346");
        assert_eq!(significant(0.0123456, 3), "0.0123");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(0.000000018, 3), "1.8e-8");
        assert_eq!(significant(f64::NAN, 3), "-");
    }

    #[test]
    fn the_interval_decides_the_decimals() {
        assert_eq!(with_interval(95.1234, Some(0.336), 4), "95.12 ± 0.34");
        assert_eq!(with_interval(951.234, Some(33.6), 4), "951 ± 34");
        assert_eq!(with_interval(95.1234, Some(0.0), 4), "95.12 ± 0.00");
        assert_eq!(with_interval(95.1234, Some(1e-14), 4), "95.12 ± 0.00");
        assert_eq!(with_interval(95.1234, Some(1e-5), 4), "95.123 ± 0.000");
        assert_eq!(with_interval(95.1234, None, 4), "95.12");
    }

    #[test]
    fn spells_rates() {
        assert_eq!(rate(0.000012345), "1.2e-5");
        assert_eq!(rate(0.0), "0");
    }
}
