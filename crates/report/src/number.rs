// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures, shares and counts as people read them.

use tandem_results::{Figure, Measure, Unit, Value};
pub use tandem_statistics::{rate, significant, with_interval};

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

/// A figure of a measure as in tables; empty where it has no value. Rates of links have this many digits.
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
    fn spells_shares_and_counts() {
        assert_eq!(percent_with_interval(0.12345, Some(0.011)), "12.3 ± 1.1");
        assert_eq!(count(0.4), "0.4");
        assert_eq!(count(7.0), "7");
        assert_eq!(count(1234.5), "1234");
        assert_eq!(rounded(123.456, 4), 123.5);
    }
}
