// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of the summary, for terminal and page.

use tandem_results::{
    Figure, GROUP_MEASURES, GroupSummary, LINK_MEASURES, LinkSummary, Measure, OfRun, Run, SummaryColumn, Value,
};
use tandem_statistics::Estimate;

use crate::{Report, number};

/// The table: the heads of its columns, the first of which is the label's, and its rows.
pub struct Summary {
    pub heads: Vec<Head>,
    pub rows: Vec<Row>,
}

/// The head of a column.
#[derive(Clone, Copy)]
pub struct Head {
    /// In a terminal; `None`: only a page has the column.
    pub terminal: Option<&'static str>,
    /// On a page.
    pub page: &'static str,
}

/// A run, or a group within a run of several.
#[derive(Debug)]
pub struct Row {
    pub label: String,
    /// A group within the run above.
    pub indented: bool,
    /// One for each head but the label's; an empty one does not apply.
    pub cells: Vec<String>,
}

/// Whose row it is.
#[derive(Clone, Copy)]
enum Of<'a> {
    Run(&'a Run),
    Group(&'a GroupSummary),
}

/// A column, and how its cells are made.
struct Column {
    head: Head,
    cell: Box<dyn Fn(Of) -> String>,
}

/// All columns: what the tables of measures say, between the number of flows and Jain's index, which are of no link and no group.
fn columns(groups: &[&GroupSummary]) -> Vec<Column> {
    let of_groups = GROUP_MEASURES.iter().flat_map(|measure| measure.shown.summary.iter().map(move |c| (measure, c)));
    let of_groups =
        of_groups.filter(|(measure, column)| is_asked_for(measure, column, groups)).map(|(measure, column)| {
            let cell = move |of: Of| match of {
                Of::Group(group) => figure(measure, (measure.value)(group), column.figure),
                Of::Run(run) => figure(measure, of_run(measure, column, run), column.figure),
            };
            (column, Box::new(cell) as Box<dyn Fn(Of) -> String>)
        });
    let of_links = LINK_MEASURES.iter().flat_map(|measure| measure.shown.summary.iter().map(move |c| (measure, c)));
    let of_links = of_links.map(|(measure, column)| {
        let cell = move |of: Of| match of {
            Of::Group(_) => String::new(),
            // A mean, as of the runs beside it; the link's own table has its interval.
            Of::Run(run) => bottleneck(run).and_then(measure.value).map_or(String::new(), |value| {
                figure(measure, Some(value.figure(column.figure).into()), column.figure)
            }),
        };
        (column, Box::new(cell) as Box<dyn Fn(Of) -> String>)
    });
    let mut measured: Vec<_> = of_groups.chain(of_links).collect();
    measured.sort_by_key(|(column, _)| column.place);
    let measured = measured
        .into_iter()
        .map(|(column, cell)| Column { head: Head { terminal: column.terminal, page: column.page }, cell });
    let own =
        |name, cell: fn(Of) -> String| Column { head: Head { terminal: Some(name), page: name }, cell: Box::new(cell) };
    std::iter::once(own("Flows", flows)).chain(measured).chain([own("Jain", jain)]).collect()
}

/// A column that stands for another is there if some group has its figure alone.
fn is_asked_for(measure: &Measure<GroupSummary>, column: &SummaryColumn, groups: &[&GroupSummary]) -> bool {
    let Some(better) = column.instead_of.and_then(|key| GROUP_MEASURES.iter().find(|m| m.key == key)) else {
        return true;
    };
    groups.iter().any(|group| (better.value)(group).is_none() && (measure.value)(group).is_some())
}

/// A run's value of a measure: its only group's, or the value of several together.
fn of_run(measure: &Measure<GroupSummary>, column: &SummaryColumn, run: &Run) -> Option<Value> {
    if let [only] = run.groups.as_slice() {
        return (measure.value)(only);
    }
    let values = run.groups.iter().filter_map(measure.value).map(|value| value.figure(Figure::Mean));
    let sum = values.reduce(|a, b| a + b)?;
    match column.of_run {
        OfRun::Nothing => None,
        OfRun::Sum => Some(sum.into()),
        OfRun::SumBySeed(by_seed) => {
            let of_seed = |seed| run.groups.iter().filter_map(|group| by_seed(group).get(seed)).sum();
            let sums: Vec<f64> = (0..run.seeds.len()).map(of_seed).collect();
            Some(Value::Mean(Estimate::kept(sum, run.looks.widened(Estimate::of_mean(&sums)).half_width)))
        }
    }
}

/// Four digits for the values that people compare.
fn figure<S>(measure: &Measure<S>, value: Option<Value>, figure: Figure) -> String {
    use tandem_results::Unit::{Mbps, Ms};
    match (measure.unit, value) {
        (_, None) => String::new(),
        (Mbps, Some(Value::Mean(mean))) => number::with_interval(mean.value, mean.half_width, 4),
        (Ms, Some(value)) => number::significant(value.figure(figure), 4),
        (_, Some(value)) => number::text(measure.unit, value, figure, 4),
    }
}

fn flows(of: Of) -> String {
    match of {
        Of::Group(group) => group.flows.to_string(),
        Of::Run(run) => run.groups.iter().map(|group| group.flows).sum::<u32>().to_string(),
    }
}

fn jain(of: Of) -> String {
    match of {
        Of::Run(Run { jain: Some(jain), .. }) => format!("{jain:.3}"),
        _ => String::new(),
    }
}

/// The table of a report. A column that has nothing in any row only takes room, and is left out.
pub fn summary(report: &Report) -> Summary {
    let runs = runs(report);
    let groups: Vec<&GroupSummary> = runs.iter().flat_map(|(run, _)| &run.groups).collect();
    let mut columns = columns(&groups);
    let of: Vec<(String, bool, Of)> = runs.into_iter().flat_map(|(run, label)| rows_of_run(run, label)).collect();
    columns.retain(|column| of.iter().any(|(.., of)| !(column.cell)(*of).is_empty()));
    let row = |(label, indented, of): (String, bool, Of)| Row {
        label,
        indented,
        cells: columns.iter().map(|column| (column.cell)(of)).collect(),
    };
    let label = Head { terminal: Some("Run"), page: "Run" };
    Summary {
        heads: std::iter::once(label).chain(columns.iter().map(|column| column.head)).collect(),
        rows: of.into_iter().map(row).collect(),
    }
}

/// The run, and its groups below it if there are several.
fn rows_of_run(run: &Run, label: String) -> Vec<(String, bool, Of<'_>)> {
    let groups = if run.groups.len() > 1 { run.groups.as_slice() } else { &[] };
    let of_group = |group| (label_of_group(group), true, Of::Group(group));
    std::iter::once((label, false, Of::Run(run))).chain(groups.iter().map(of_group)).collect()
}

fn label_of_group(group: &GroupSummary) -> String {
    if group.name.contains(&group.controller) {
        group.name.clone()
    } else {
        format!("{} ({})", group.name, group.controller)
    }
}

/// The link that is used most: that is where flows meet.
pub fn bottleneck(run: &Run) -> Option<&LinkSummary> {
    run.links.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))
}

/// The baselines, unless they are among the sections, then each run: with what to call it and how many seeds were planned.
pub fn runs<'a>(report: &Report<'a>) -> Vec<(&'a Run, String)> {
    let listed = |run: &Run| report.sections.iter().any(|s| std::ptr::eq(s.run, run));
    let baselines = report.baselines.iter().copied().filter(|run| !listed(run)).map(|run| {
        let mark = if run.partial { "baseline, partial" } else { "baseline" };
        (run, format!("{} ({mark})", run.name))
    });
    let sections = report.sections.iter().map(|s| (s.run, label(s.run, s.scenario.seeds.len())));
    baselines.chain(sections).collect()
}

/// The run's name, how much of it is missing, and whether it may be believed.
pub fn label(run: &Run, planned: usize) -> String {
    let mut label = run.name.clone();
    if run.partial {
        label += &format!(" (partial: {} of {planned} seeds)", run.seeds.len());
    }
    if !doubts(run).is_empty() {
        label += " (NOT TRUSTWORTHY)";
    }
    label
}

/// Why the run is not to be trusted.
pub fn doubts(run: &Run) -> &[String] {
    run.emulation.as_ref().map_or(&[], |e| &e.doubts)
}

/// `n = 5`, or `n = 2 to 5` where runs differ.
pub fn seed_counts(report: &Report) -> String {
    let counts: Vec<usize> = runs(report).iter().map(|(run, _)| run.seeds.len()).collect();
    let (least, most) = (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    if least == most { format!("n = {most}") } else { format!("n = {least} to {most}") }
}

/// Whether any run has an interval to explain.
pub fn has_intervals(report: &Report) -> bool {
    runs(report).iter().any(|(run, _)| run.seeds.len() > 1)
}
