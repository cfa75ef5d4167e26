// SPDX-License-Identifier: MIT OR Apache-2.0
//! An estimate beside that of a reference, and whether they agree.

use std::fmt::Write;

use tandem_papers::Verdict;
use tandem_statistics::Estimate;

/// The claim that is made of two estimates: what counts as agreement besides overlapping intervals.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    /// Relative to the reference.
    Relative(f64),
    /// Relative to the reference, or so far from it.
    RelativeOr(f64, f64),
    /// None: only the joint interval counts.
    Interval,
}

impl Bound {
    fn is_met(self, ours: &Estimate, reference: &Estimate) -> bool {
        let difference = (ours.value - reference.value).abs();
        match self {
            Bound::Relative(share) => difference <= share * reference.value.abs(),
            Bound::RelativeOr(share, distance) => difference <= (share * reference.value.abs()).max(distance),
            Bound::Interval => false,
        }
    }

    pub fn judge(self, ours: &Estimate, reference: &Estimate) -> Verdict {
        verdict(self.is_met(ours, reference) || ours.overlaps(reference))
    }

    /// The verdict as a cell of a table.
    pub fn cell(self, ours: &Estimate, reference: &Estimate) -> &'static str {
        if ours.overlaps(reference) { "yes (interval)" } else { cell(self.judge(ours, reference)) }
    }
}

pub(super) fn verdict(agrees: bool) -> Verdict {
    if agrees { Verdict::Holds } else { Verdict::DoesNotHold }
}

/// A verdict under the heading "agrees".
pub(super) fn cell(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "yes",
        Verdict::NotAsked => "not asked",
        _ => "**no**",
    }
}

/// `27 of 30`: how many agree of those that were asked.
pub(super) fn tally(verdicts: impl IntoIterator<Item = Verdict>) -> String {
    let (mut agreed, mut asked) = (0, 0);
    for verdict in verdicts.into_iter().filter(|verdict| *verdict != Verdict::NotAsked) {
        asked += 1;
        agreed += u32::from(verdict == Verdict::Holds);
    }
    format!("{agreed} of {asked}")
}

/// One point of a curve beside the reference.
pub(super) struct Comparison {
    pub point: String,
    pub controller: String,
    pub ours: Estimate,
    pub reference: Estimate,
    pub bound: Bound,
}

impl Comparison {
    pub fn difference(&self) -> f64 {
        self.ours.value - self.reference.value
    }

    pub fn verdict(&self) -> Verdict {
        self.bound.judge(&self.ours, &self.reference)
    }
}

/// One quantity in the simulator and in another engine.
pub(super) struct Pair {
    pub simulated: Estimate,
    /// The simulation with the seeds that the other engine ran, too: starts and random losses are the same.
    pub same_seeds: Estimate,
    pub measured: Estimate,
    pub bound: Bound,
}

impl Pair {
    pub fn verdict(&self) -> Verdict {
        self.bound.judge(&self.same_seeds, &self.measured)
    }

    /// Of the simulation, as a share of the other engine's.
    pub fn difference(&self) -> f64 {
        self.same_seeds.value / self.measured.value - 1.0
    }

    /// Four cells of a table: both estimates, the difference, whether they agree.
    pub fn cells(&self) -> String {
        format!(
            "{} | {} | {:+.1} % | {}",
            self.simulated.text(1),
            self.measured.text(1),
            100.0 * self.difference(),
            self.bound.cell(&self.same_seeds, &self.measured)
        )
    }
}

/// The head of a Markdown table: names, a [`Pair`] of goodputs, one of mean queues, and three counts.
pub(super) fn table_head(peer: &str) -> String {
    let pair = |quantity: &str| format!("{quantity} | {peer} | difference | agrees");
    let pairs = [pair("goodput, simulator, Mb/s"), pair("mean queue, simulator, packets")].join(" | ");
    format!("| flows | {pairs} | retransmissions | reductions | timeouts |\n")
        + "|---|---:|---:|---:|---|---:|---:|---:|---|---:|---:|---:|\n"
}

/// A Markdown table of comparisons with ns-2.
pub(super) fn table(axis: &str, quantity: &str, digits: usize, comparisons: &[Comparison]) -> String {
    let mut text = format!("| {axis} | controller | Tandem, {quantity} | ns-2, {quantity} | difference | agrees |\n");
    text += "|---:|---|---:|---:|---:|---|\n";
    for comparison in comparisons {
        let Comparison { point, controller, ours, reference, bound } = comparison;
        let difference = match bound {
            Bound::Interval => format!("{:+.digits$}", comparison.difference()),
            _ => format!("{:+.1} %", 100.0 * comparison.difference() / reference.value),
        };
        let (here, there) = (ours.text(digits), reference.text(digits));
        writeln!(
            text,
            "| {point} | {controller} | {here} | {there} | {difference} | {} |",
            bound.cell(ours, reference)
        )
        .expect("writing to a String");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, half_width: Option<f64>) -> Estimate {
        Estimate::kept(value, half_width)
    }

    /// Half widths of 3 and 4 give a joint one of 5.
    #[test]
    fn agreement_is_within_the_bound_or_the_joint_interval() {
        let agrees = |ours: (f64, f64), reference: (f64, f64), bound: Bound| {
            let judged = bound.judge(&of(ours.0, Some(ours.1)), &of(reference.0, Some(reference.1)));
            judged == Verdict::Holds
        };
        assert!(agrees((104.9, 3.0), (100.0, 4.0), Bound::Interval));
        assert!(!agrees((105.1, 3.0), (100.0, 4.0), Bound::Interval));
        assert!(agrees((105.1, 0.1), (110.0, 0.1), Bound::Relative(0.05)));
        assert!(!agrees((104.4, 0.1), (110.0, 0.1), Bound::Relative(0.05)));
        assert!(agrees((104.4, 3.0), (110.0, 5.0), Bound::Relative(0.05)));
        assert!(agrees((14.9, 0.1), (10.0, 0.1), Bound::RelativeOr(0.1, 5.0)));
        assert!(!agrees((15.2, 0.1), (10.0, 0.1), Bound::RelativeOr(0.1, 5.0)));
        assert!(agrees((109.0, 0.1), (100.0, 0.1), Bound::RelativeOr(0.1, 5.0)));
    }

    /// A single measurement has no interval; the bound still counts.
    #[test]
    fn without_intervals_the_bound_decides() {
        let cell = |ours, reference, bound: Bound| bound.cell(&of(ours, None), &of(reference, None));
        assert_eq!(cell(104.0, 100.0, Bound::Relative(0.05)), "yes");
        assert_eq!(cell(106.0, 100.0, Bound::Relative(0.05)), "**no**");
        assert_eq!(cell(100.0, 100.0, Bound::Interval), "**no**");
    }

    #[test]
    fn what_is_not_asked_is_not_counted() {
        assert_eq!(tally([Verdict::Holds, Verdict::NotAsked, Verdict::DoesNotHold]), "1 of 2");
    }
}
