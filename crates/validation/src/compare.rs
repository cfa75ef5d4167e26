// SPDX-License-Identifier: MIT OR Apache-2.0
//! A measured value beside another's, and whether they agree.

use std::fmt::Write;

use tandem_scenario::stats::{ci95, mean};

/// A mean and the half width of its 95 % interval, if there are enough values for one.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    pub mean: f64,
    pub half_width: Option<f64>,
}

impl Measured {
    pub fn of(values: &[f64]) -> Self {
        Self { mean: mean(values), half_width: ci95(values) }
    }

    pub fn text(&self, digits: usize) -> String {
        match self.half_width {
            Some(half) => format!("{:.digits$} ± {half:.digits$}", self.mean),
            None => format!("{:.digits$}", self.mean),
        }
    }
}

/// What counts as agreement besides overlapping intervals.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// Relative to the other's value.
    Relative(f64),
    /// Relative to the other's value, or so far from it.
    RelativeOr(f64, f64),
    /// None: only the joint interval counts.
    Interval,
}

/// One line of a table.
pub struct Line {
    pub point: String,
    pub controller: String,
    pub tandem: Measured,
    pub ns2: Measured,
    pub bound: Bound,
}

impl Measured {
    /// Is the difference within the joint 95 % interval, the root of the sum of the squared half widths?
    fn within_interval(self, other: Self) -> bool {
        match (self.half_width, other.half_width) {
            (Some(a), Some(b)) => (self.mean - other.mean).abs() <= a.hypot(b),
            _ => false,
        }
    }

    fn within(self, other: Self, bound: Bound) -> bool {
        let difference = (self.mean - other.mean).abs();
        match bound {
            Bound::Relative(share) => difference <= share * other.mean.abs(),
            Bound::RelativeOr(share, distance) => difference <= (share * other.mean.abs()).max(distance),
            Bound::Interval => false,
        }
    }

    pub fn agrees(self, other: Self, bound: Bound) -> bool {
        self.within(other, bound) || self.within_interval(other)
    }

    pub fn verdict(self, other: Self, bound: Bound) -> &'static str {
        match (self.within_interval(other), self.agrees(other, bound)) {
            (true, _) => "yes (interval)",
            (false, true) => "yes",
            (false, false) => "**no**",
        }
    }
}

impl Line {
    pub fn difference(&self) -> f64 {
        self.tandem.mean - self.ns2.mean
    }

    pub fn agrees(&self) -> bool {
        self.tandem.agrees(self.ns2, self.bound)
    }

    fn verdict(&self) -> &'static str {
        self.tandem.verdict(self.ns2, self.bound)
    }
}

/// A Markdown table.
pub fn table(axis: &str, quantity: &str, digits: usize, lines: &[Line]) -> String {
    let mut text = format!("| {axis} | controller | Tandem, {quantity} | ns-2, {quantity} | difference | agrees |\n");
    text += "|---:|---|---:|---:|---:|---|\n";
    for line in lines {
        let difference = match line.bound {
            Bound::Interval => format!("{:+.digits$}", line.difference()),
            _ => format!("{:+.1} %", 100.0 * line.difference() / line.ns2.mean),
        };
        writeln!(
            text,
            "| {} | {} | {} | {} | {difference} | {} |",
            line.point,
            line.controller,
            line.tandem.text(digits),
            line.ns2.text(digits),
            line.verdict()
        )
        .expect("writing to a String");
    }
    text
}

/// «27 of 30 agree».
pub fn tally<'a>(lines: impl IntoIterator<Item = &'a Line>) -> String {
    let verdicts: Vec<bool> = lines.into_iter().map(Line::agrees).collect();
    format!("{} of {} agree", verdicts.iter().filter(|&&agrees| agrees).count(), verdicts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tandem: (f64, f64), ns2: (f64, f64), bound: Bound) -> Line {
        let measured = |(mean, half): (f64, f64)| Measured { mean, half_width: Some(half) };
        Line { point: String::new(), controller: String::new(), tandem: measured(tandem), ns2: measured(ns2), bound }
    }

    /// Half widths of 3 and 4 give a joint one of 5.
    #[test]
    fn agreement_is_within_the_bound_or_the_joint_interval() {
        assert!(line((104.9, 3.0), (100.0, 4.0), Bound::Interval).agrees());
        assert!(!line((105.1, 3.0), (100.0, 4.0), Bound::Interval).agrees());
        assert!(line((105.1, 0.1), (110.0, 0.1), Bound::Relative(0.05)).agrees());
        assert!(!line((104.4, 0.1), (110.0, 0.1), Bound::Relative(0.05)).agrees());
        assert!(line((104.4, 3.0), (110.0, 5.0), Bound::Relative(0.05)).agrees());
        assert!(line((14.9, 0.1), (10.0, 0.1), Bound::RelativeOr(0.1, 5.0)).agrees());
        assert!(!line((15.2, 0.1), (10.0, 0.1), Bound::RelativeOr(0.1, 5.0)).agrees());
        assert!(line((109.0, 0.1), (100.0, 0.1), Bound::RelativeOr(0.1, 5.0)).agrees());
    }

    /// A single measurement has no interval; the bound still counts.
    #[test]
    fn without_intervals_the_bound_decides() {
        let of = |mean| Measured { mean, half_width: None };
        assert_eq!(of(104.0).verdict(of(100.0), Bound::Relative(0.05)), "yes");
        assert_eq!(of(106.0).verdict(of(100.0), Bound::Relative(0.05)), "**no**");
        assert_eq!(of(100.0).verdict(of(100.0), Bound::Interval), "**no**");
    }
}
