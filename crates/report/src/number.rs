// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers as people read them: as many digits as mean something, no more.

use tandem_results::{Figure, Measure, Unit, Value};

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

/// A share in percent, without the sign.
pub fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

pub fn percent_with_interval(share: f64, half: Option<f64>) -> String {
    match half {
        Some(half) => format!("{} ± {}", percent(share), percent(half)),
        None => percent(share),
    }
}

/// A figure of a measure as tables have it; empty where it has no value. Rates of links have this many digits.
pub fn cell<S>(measure: &Measure<S>, of: &S, figure: Figure, rate_digits: i32) -> String {
    (measure.value)(of).map_or(String::new(), |value| text(measure.unit, value, figure, rate_digits))
}

/// A figure of a value in this unit.
pub fn text(unit: Unit, value: Value, figure: Figure, rate_digits: i32) -> String {
    let number = value.figure(figure);
    match (unit, value) {
        (Unit::Share, Value::Mean(share)) => percent_with_interval(share.value, share.half_width),
        (Unit::Share, _) => percent(number),
        (Unit::Rate, _) => rate(number),
        (Unit::Count, _) => count(number),
        (Unit::Packets, _) if figure == Figure::Max => count(number),
        (Unit::Mbps, _) => significant(number, rate_digits),
        (Unit::Packets | Unit::Ms | Unit::S | Unit::Ratio, _) => significant(number, 3),
    }
}

/// The measures that a table of these has: last those that only some have any of.
pub fn shown<'a, S>(
    measures: &'static [Measure<S>],
    all: impl Iterator<Item = &'a S> + Clone,
) -> Vec<&'static Measure<S>> {
    let has_any = |measure: &&Measure<S>| {
        all.clone().any(|of| (measure.value)(of).is_some_and(|value| value.figure(Figure::Mean) > 0.0))
    };
    let (rare, usual): (Vec<_>, Vec<_>) = measures.iter().partition(|measure| measure.shown.if_any);
    usual.into_iter().chain(rare.into_iter().filter(has_any)).collect()
}

/// A small share as scenarios spell it, such as `1.2e-5`.
pub fn rate(share: f64) -> String {
    if share == 0.0 { "0".into() } else { format!("{share:.1e}") }
}

/// Counts, which are means over seeds: whole from ten on.
pub fn count(value: f64) -> String {
    if value.fract() == 0.0 || value >= 10.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// To `digits` significant digits, so that charts hold no digits that nobody sees.
pub fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(digits - 1 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
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
    fn spells_shares_and_counts() {
        assert_eq!(percent_with_interval(0.12345, Some(0.011)), "12.3 ± 1.1");
        assert_eq!(rate(0.000012345), "1.2e-5");
        assert_eq!(rate(0.0), "0");
        assert_eq!(count(0.4), "0.4");
        assert_eq!(count(7.0), "7");
        assert_eq!(count(1234.5), "1234");
        assert_eq!(rounded(123.456, 4), 123.5);
    }
}
