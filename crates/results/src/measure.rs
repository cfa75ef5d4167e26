// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be said of a link or of a group of flows: a table, of which each measure is a row. Whatever shows measures goes over the rows:
//! tidy tables, reports, and docs/reference/result-keys.md.

use tandem_scenario::{Group, Scenario};
use tandem_statistics::{Estimate, mean};

use crate::{
    delivery::Delivery,
    distribution::Distribution,
    group::GroupSummary,
    seed::{FlowResult, LinkResult, SeedResult},
};

/// A row: a measure of `S`, a [`LinkSummary`](crate::LinkSummary) or a [`GroupSummary`](crate::GroupSummary).
pub struct Measure<S: 'static> {
    /// Its key in results; within another key after a point, such as `delivery.delay_ms`. Empty: results have no such key.
    pub key: &'static str,
    /// Keys beside it, of its interval and the like.
    pub beside: &'static [&'static str],
    /// What it is counted in.
    pub unit: Unit,
    /// What it is, in Markdown.
    pub meaning: &'static str,
    /// How it is taken from the seeds and summed up; `None`: with an earlier row, or by another comparison.
    pub(crate) sum: Option<fn(&Seeds, &mut S)>,
    /// Its value as summed up; `None` where there is none.
    pub value: fn(&S) -> Option<Value>,
    /// Its columns in a tidy table.
    pub column: Option<Column>,
    /// Its cells in the tables of a report.
    pub shown: Shown,
}

/// What a measure is counted in, which decides how people read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Megabits a second.
    Mbps,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Packets at a time.
    Packets,
    /// Events.
    Count,
    /// A part of a whole that may well be large: read in percent.
    Share,
    /// A part of a whole that is small: read as `1.2e-5`.
    Rate,
    /// This many times as much.
    Ratio,
}

/// What a measure comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A mean over seeds.
    Mean(Estimate),
    /// The distribution of a quantity.
    Distribution(Distribution),
}

/// A figure of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The mean, the one figure that each value has.
    Mean,
    /// The median.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The largest.
    Max,
}

/// All figures of a distribution.
pub const FIGURES: &[Figure] = &[Figure::Mean, Figure::P50, Figure::P95, Figure::P99, Figure::Max];

/// The columns of a measure in a tidy table.
pub struct Column {
    /// Ends in the unit, if it has one. A figure of a distribution stands before the unit: `rtt_ms` is `rtt_mean_ms`, `rtt_p95_ms`.
    pub name: &'static str,
    /// Those of a distribution that have a column; none of a mean, whose column is the name.
    pub figures: &'static [Figure],
}

/// Where a report has the measure.
pub struct Shown {
    /// In the terminal: titles of the columns, and what is in them.
    pub terminal: &'static [(&'static str, Figure)],
    /// On the page: the title, and the figures below it.
    pub page: (&'static str, &'static [Figure]),
    /// In a column at the end, and only where something has more than 0 of it.
    pub if_any: bool,
    /// In the summary of runs.
    pub summary: &'static [SummaryColumn],
}

/// A column of the summary of runs, which has a row for each run and one for each of its groups. Link columns show the bottleneck.
pub struct SummaryColumn {
    /// Columns stand in the order of these.
    pub place: u8,
    /// Its head in a terminal, which has little room; `None`: only a page has it.
    pub terminal: Option<&'static str>,
    /// Its head on a page. A soft hyphen says where a word may break.
    pub page: &'static str,
    /// What is in it.
    pub figure: Figure,
    /// What a run of several groups has in it.
    pub of_run: OfRun,
    /// The key of a measure that is better: the column is there only if some group lacks that one and has this one.
    pub instead_of: Option<&'static str>,
}

/// What the row of a run of several groups has.
pub enum OfRun {
    /// Nothing.
    Nothing,
    /// The sum of the groups.
    Sum,
    /// That, with its interval from the groups' figures by seed.
    SumBySeed(fn(&GroupSummary) -> &[f64]),
}

pub(crate) const fn summary(
    place: u8,
    terminal: Option<&'static str>,
    page: &'static str,
    figure: Figure,
    of_run: OfRun,
) -> SummaryColumn {
    SummaryColumn { place, terminal, page, figure, of_run, instead_of: None }
}

/// Shown in no table of its own.
pub(crate) const NOWHERE: Shown = Shown { terminal: &[], page: ("", &[]), if_any: false, summary: &[] };

impl Value {
    /// One of its figures; of a mean that is the mean.
    pub fn figure(&self, figure: Figure) -> f64 {
        match (self, figure) {
            (Value::Mean(mean), _) => mean.value,
            (Value::Distribution(of), Figure::Mean) => of.mean,
            (Value::Distribution(of), Figure::P50) => of.p50,
            (Value::Distribution(of), Figure::P95) => of.p95,
            (Value::Distribution(of), Figure::P99) => of.p99,
            (Value::Distribution(of), Figure::Max) => of.max,
        }
    }
}

/// A mean without an interval.
impl From<f64> for Value {
    fn from(mean: f64) -> Self {
        Value::Mean(Estimate::kept(mean, None))
    }
}

impl From<Distribution> for Value {
    fn from(distribution: Distribution) -> Self {
        Value::Distribution(distribution)
    }
}

impl Figure {
    /// As names of columns and heads of tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Mean => "mean",
            Figure::P50 => "p50",
            Figure::P95 => "p95",
            Figure::P99 => "p99",
            Figure::Max => "max",
        }
    }
}

impl Column {
    /// The names of its columns, with the figure that is in each.
    pub fn names(&self) -> Vec<(String, Figure)> {
        let Some((name, unit)) = self.name.rsplit_once('_').filter(|_| !self.figures.is_empty()) else {
            return vec![(self.name.to_owned(), Figure::Mean)];
        };
        self.figures.iter().map(|&figure| (format!("{name}_{}_{unit}", figure.name()), figure)).collect()
    }
}

impl<S> Measure<S> {
    /// Sums up all measures of a table.
    pub(crate) fn sum_all(measures: &[Self], seeds: &Seeds, summary: &mut S) {
        measures.iter().filter_map(|measure| measure.sum).for_each(|sum| sum(seeds, summary));
    }
}

/// The seeds of a scenario, as a link or a group of flows is taken from them.
pub(crate) struct Seeds<'a> {
    pub scenario: &'a Scenario,
    pub results: &'a [SeedResult],
    /// Of the link, or of the group.
    pub index: usize,
    /// The flows of the group.
    pub flows: Vec<usize>,
}

impl Seeds<'_> {
    pub fn group(&self) -> &Group {
        &self.scenario.groups[self.index]
    }

    /// A figure of the link, by seed.
    pub fn of_link(&self, figure: fn(&LinkResult) -> f64) -> Vec<f64> {
        self.results.iter().map(|seed| figure(&seed.links[self.index])).collect()
    }

    /// The sum of a figure over the group's flows, by seed.
    pub fn of_flows(&self, figure: fn(&FlowResult) -> f64) -> Vec<f64> {
        self.results.iter().map(|seed| self.flows.iter().map(|&flow| figure(&seed.flows[flow])).sum()).collect()
    }

    /// Its mean over seeds.
    pub fn mean_of_flows(&self, figure: fn(&FlowResult) -> f64) -> f64 {
        mean(&self.of_flows(figure))
    }

    /// A distribution of the link, over all seeds.
    pub fn distribution(&self, of: fn(&LinkResult) -> &Distribution) -> Distribution {
        Distribution::over_seeds(self.results.iter().map(|seed| of(&seed.links[self.index])))
    }

    /// What the packets of the group met, of the seeds that tell.
    pub fn deliveries(&self) -> impl Iterator<Item = &Delivery> + Clone {
        self.results.iter().filter_map(|seed| seed.deliveries.get(self.index)?.as_ref())
    }

    /// Of the group, over the seeds that measured it; `None` if none did. One without samples is all zeros, which no RTT is.
    pub fn if_measured(&self, of: fn(&SeedResult) -> &[Distribution]) -> Option<Distribution> {
        let of_group = self.results.iter().filter_map(|seed| of(seed).get(self.index));
        let measured: Vec<&Distribution> = of_group.filter(|rtt| rtt.mean > 0.0).collect();
        (!measured.is_empty()).then(|| Distribution::over_seeds(measured.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_before_the_unit() {
        let names = |name, figures| -> Vec<String> {
            Column { name, figures }.names().into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(
            names("queueing_delay_ms", &[Figure::Mean, Figure::P95][..]),
            ["queueing_delay_mean_ms", "queueing_delay_p95_ms"]
        );
        assert_eq!(names("link_drops", &[][..]), ["link_drops"]);
    }
}
