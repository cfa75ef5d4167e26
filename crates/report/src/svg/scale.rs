// SPDX-License-Identifier: MIT OR Apache-2.0
//! From values to pixels, and the values that an axis names.

/// At most this many steps between ticks of a linear axis.
const STEPS: f64 = 6.0;
/// At most this many decades are named.
const DECADES: i32 = 8;

/// An axis in pixels.
pub struct Scale {
    log: bool,
    fitted: bool,
    low: f64,
    high: f64,
    from_px: f64,
    to_px: f64,
}

impl Scale {
    /// Over all `values`, which a logarithmic axis takes only above 0. A linear one begins at 0 unless `fitted` or below 0.
    pub fn new(values: impl Iterator<Item = f64>, log: bool, fitted: bool, from_px: f64, to_px: f64) -> Self {
        let usable = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match (low <= high, log) {
            (false, _) => (1.0, 10.0),
            (true, true) if low < high => (low, high),
            (true, true) => (low / 2.0, high * 2.0),
            (true, false) => {
                let low = if fitted { low } else { low.min(0.0) };
                if low < high { (low, high) } else { (low - 0.5, high + 0.5) }
            }
        };
        Self { log, fitted, low, high, from_px, to_px }
    }

    /// The same with this share of its length more on both sides.
    pub fn widened(self, share: f64) -> Self {
        let (low, high) = (self.place(self.low), self.place(self.high));
        let more = share * (high - low);
        let back = |place: f64| if self.log { 10_f64.powf(place) } else { place };
        let low = if !self.log && !self.fitted && self.low == 0.0 { self.low } else { back(low - more) };
        Self { low, high: back(high + more), ..self }
    }

    fn place(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    /// Where a value is. A logarithmic axis has no place for what is not above 0: it lies at its low end.
    pub fn px(&self, value: f64) -> f64 {
        let value = if self.log && value <= 0.0 { self.low } else { value };
        let share = (self.place(value) - self.place(self.low)) / (self.place(self.high) - self.place(self.low));
        self.from_px + share.clamp(-1.0, 2.0) * (self.to_px - self.from_px)
    }

    /// The values that are named.
    pub fn ticks(&self) -> Vec<f64> {
        if self.log { self.decades() } else { self.steps() }
    }

    fn steps(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / STEPS;
        let unit = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * unit).into_iter().find(|&step| step >= rough).unwrap_or(rough);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|n| n as f64 * step).collect()
    }

    fn decades(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let between: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = 1 + (last - first) / DECADES;
        let decades = (first..=last).filter(|decade| (decade - first) % every == 0);
        // Through text, so that 1e-5 is the 1e-5 of a file.
        let value = |decade: i32, n: &f64| format!("{n}e{decade}").parse().unwrap_or(*n);
        let all = decades.flat_map(|decade| between.iter().map(move |n| value(decade, n)));
        all.filter(|value| (self.low..=self.high).contains(value)).collect()
    }
}

/// `0.001`, `1e-5`, `20000`.
pub fn label(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if !(1e-3..1e6).contains(&size) => format!("{value:e}"),
        _ => {
            let text = format!("{value:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(values: &[f64], log: bool) -> Scale {
        Scale::new(values.iter().copied(), log, false, 100.0, 200.0)
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_steps() {
        let axis = scale(&[3.0, 60.0], false);
        assert_eq!((axis.px(0.0), axis.px(30.0), axis.px(60.0)), (100.0, 150.0, 200.0));
        assert_eq!(axis.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        assert_eq!(scale(&[-25.0, 25.0], false).ticks(), [-20.0, -10.0, 0.0, 10.0, 20.0]);
    }

    #[test]
    fn a_logarithmic_axis_names_decades() {
        let axis = scale(&[1e-6, 1e-2], true);
        assert_eq!(axis.ticks(), [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]);
        assert!((axis.px(1e-4) - 150.0).abs() < 1e-9);
        assert_eq!(scale(&[1.0, 20.0], true).ticks(), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(axis.px(0.0), 100.0, "nothing above 0");
    }

    #[test]
    fn an_axis_of_one_value_or_none_has_a_length() {
        for axis in [scale(&[5.0, 5.0], true), scale(&[0.0], false), scale(&[], false), scale(&[f64::NAN], true)] {
            assert!(axis.px(5.0).is_finite() && !axis.ticks().is_empty());
        }
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.001, 1e-5, 20000.0, 0.5, 1e6].map(label);
        assert_eq!(labels, ["0", "0.001", "1e-5", "20000", "0.5", "1e6"]);
    }
}
