// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of the summary, for the terminal and for the page alike.

use tandem_results::{Distribution, GroupSummary, LinkSummary, Run};
use tandem_statistics::Estimate;

use crate::{Report, number};

/// What a row has in a column.
pub type Cell = fn(&Row) -> &str;

/// A column of the summary.
pub struct Column {
    /// Its head in a terminal, which has little room; `None`: only a page has it.
    pub terminal: Option<&'static str>,
    /// Its head on a page. A soft hyphen says where a word may break.
    pub page: &'static str,
    pub cell: Cell,
}

const fn column(terminal: &'static str, page: &'static str, cell: Cell) -> Column {
    Column { terminal: Some(terminal), page, cell }
}

const fn of_page(page: &'static str, cell: Cell) -> Column {
    Column { terminal: None, page, cell }
}

/// All of them, in their order. The first is the label.
pub const COLUMNS: [Column; 18] = [
    column("Run", "Run", |r| &r.label),
    column("Flows", "Flows", |r| &r.flows),
    column("Goodput\nMbit/s", "Goodput\nMbit/s", |r| &r.goodput),
    column("Stolen\n%", "Stolen\n%", |r| &r.stolen),
    column("RTT\nms", "RTT mean\nms", |r| &r.rtt.mean),
    of_page("RTT p50\nms", |r| &r.rtt.p50),
    column("p95\nms", "RTT p95\nms", |r| &r.rtt.p95),
    of_page("RTT p99\nms", |r| &r.rtt.p99),
    column("sRTT\nms", "Smoothed RTT\nmean, ms", |r| &r.srtt.mean),
    of_page("Smoothed RTT\np50, ms", |r| &r.srtt.p50),
    column("p95\nms", "Smoothed RTT\np95, ms", |r| &r.srtt.p95),
    of_page("Smoothed RTT\np99, ms", |r| &r.srtt.p99),
    column("Queue\npkts", "Queue mean\npackets", |r| &r.queue),
    column("Used\n%", "Link used\n%", |r| &r.utilisation),
    column("Loss\nrate", "Loss\nrate", |r| &r.loss_rate),
    column("Re-\nsent", "Retrans\u{ad}mits", |r| &r.retransmits),
    column("RTOs", "Time\u{ad}outs", |r| &r.timeouts),
    column("Jain", "Jain", |r| &r.jain),
];

/// Those for which some row has something: others only take room.
pub fn columns(rows: &[Row]) -> Vec<&'static Column> {
    COLUMNS.iter().filter(|column| rows.iter().any(|row| !(column.cell)(row).is_empty())).collect()
}

/// A run, or a group within a run of several. Cells are formatted; an empty one does not apply.
#[derive(Debug)]
pub struct Row {
    pub label: String,
    /// A group within the run above.
    pub indented: bool,
    pub flows: String,
    /// Mbit/s.
    pub goodput: String,
    /// Percent.
    pub stolen: String,
    pub rtt: Rtt,
    /// The smoothed RTT: only where a run knows no other, then for all runs, so that they can be compared.
    pub srtt: Rtt,
    /// Mean, packets.
    pub queue: String,
    /// Percent.
    pub utilisation: String,
    pub loss_rate: String,
    pub retransmits: String,
    pub timeouts: String,
    pub jain: String,
}

/// Cells of an RTT, milliseconds; all are empty where nothing measured one, as with UDP, which has no ACKs.
#[derive(Debug, Default)]
pub struct Rtt {
    pub mean: String,
    pub p50: String,
    pub p95: String,
    pub p99: String,
}

impl From<Option<Distribution>> for Rtt {
    fn from(ms: Option<Distribution>) -> Self {
        let Some(Distribution { mean, p50, p95, p99, .. }) = ms.filter(|ms| ms.mean > 0.0) else {
            return Self::default();
        };
        let [mean, p50, p95, p99] = [mean, p50, p95, p99].map(|ms| number::significant(ms, 4));
        Self { mean, p50, p95, p99 }
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

pub fn rows(report: &Report) -> Vec<Row> {
    let runs = runs(report);
    let mut rows: Vec<Row> = runs.iter().flat_map(|(run, label)| rows_of_run(run, label)).collect();
    let has_smoothed_only = |group: &GroupSummary| group.rtt_ms.is_none() && group.srtt_ms.is_some();
    if !runs.iter().any(|(run, _)| run.groups.iter().any(has_smoothed_only)) {
        for row in &mut rows {
            row.srtt = Rtt::default();
        }
    }
    rows
}

fn rows_of_run(run: &Run, label: &str) -> Vec<Row> {
    let whole = row_of_run(run, label);
    match run.groups.as_slice() {
        [only] => vec![Row { stolen: stolen(only), ..whole }],
        groups => std::iter::once(whole).chain(groups.iter().map(row_of_group)).collect(),
    }
}

/// The row of a run. With one group it is that group; with several, their sum where a sum makes sense.
fn row_of_run(run: &Run, label: &str) -> Row {
    let total = |f: fn(&GroupSummary) -> f64| run.groups.iter().map(f).sum::<f64>();
    let by_seed: Vec<f64> =
        (0..run.seeds.len()).map(|s| run.groups.iter().filter_map(|g| g.goodput_by_seed_mbps.get(s)).sum()).collect();
    let link = bottleneck(run);
    let only = if let [group] = run.groups.as_slice() { Some(group) } else { None };
    Row {
        label: label.to_owned(),
        indented: false,
        flows: run.groups.iter().map(|g| g.flows).sum::<u32>().to_string(),
        goodput: number::with_interval(
            total(|g| g.goodput_mbps),
            run.looks.widened(Estimate::of_mean(&by_seed)).half_width,
            4,
        ),
        stolen: String::new(),
        rtt: only.and_then(|g| g.rtt_ms).into(),
        srtt: only.and_then(|g| g.srtt_ms).into(),
        queue: link.map_or(String::new(), |l| number::significant(l.queue_packets.mean, 3)),
        utilisation: link.map_or(String::new(), |l| number::percent(l.utilisation)),
        loss_rate: link.map_or(String::new(), |l| number::rate(l.loss_rate)),
        retransmits: number::count(total(|g| g.retransmits)),
        timeouts: number::count(total(|g| g.timeouts)),
        jain: run.jain.map_or(String::new(), |jain| format!("{jain:.3}")),
    }
}

fn row_of_group(group: &GroupSummary) -> Row {
    let label = if group.name.contains(&group.controller) {
        group.name.clone()
    } else {
        format!("{} ({})", group.name, group.controller)
    };
    Row {
        label,
        indented: true,
        flows: group.flows.to_string(),
        goodput: number::with_interval(group.goodput_mbps, group.goodput_ci95_mbps, 4),
        stolen: stolen(group),
        rtt: group.rtt_ms.into(),
        srtt: group.srtt_ms.into(),
        queue: String::new(),
        utilisation: String::new(),
        loss_rate: String::new(),
        retransmits: number::count(group.retransmits),
        timeouts: number::count(group.timeouts),
        jain: String::new(),
    }
}

fn stolen(group: &GroupSummary) -> String {
    group.stolen.map_or(String::new(), |s| number::percent_with_interval(s, group.stolen_ci95))
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
