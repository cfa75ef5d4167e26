// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs side by side.

use tandem_results::{Distribution, GroupSummary, Run};

use crate::{
    Report,
    cdf::distributions,
    chart::{Axis, Chart, Draw, Series},
    colours::{Look, Looks},
    rows::{bottleneck, has_intervals, runs},
};

/// Rows of a chart; nobody reads more.
const MAX_ROWS: usize = 40;
/// Groups that share a row of their run.
const GROUPS_IN_A_ROW: usize = 4;

/// A group of a run, with its place on the axis of names.
struct Entry<'a> {
    run: &'a Run,
    group: &'a GroupSummary,
    label: String,
    place: f64,
}

/// The groups of all runs, in rows.
struct Rows<'a> {
    names: Vec<String>,
    entries: Vec<Entry<'a>>,
    /// Room of an entry; a row has 1.
    height: f64,
    left_out: String,
}

/// What one sees at a glance: who gets how much, at which delay, and at whose expense.
pub fn comparison(report: &Report, looks: &Looks) -> Vec<Chart> {
    let rows = Rows::new(report);
    let whiskers = if has_intervals(report) { " Whiskers are 95\u{a0}% intervals over seeds." } else { "" };
    let mut charts = vec![trade_off(&rows, looks, whiskers), goodput(&rows, looks, whiskers), delay(report)];
    charts.push(stolen(&rows, looks, whiskers));
    charts.extend(distributions(report, looks));
    charts.retain(|chart| !chart.is_empty());
    charts
}

impl<'a> Rows<'a> {
    fn new(report: &Report<'a>) -> Self {
        let runs = runs(report);
        let all: usize = runs.iter().map(|(run, _)| run.groups.len()).sum();
        let most = runs.iter().map(|(run, _)| run.groups.len()).max().unwrap_or(1);
        let has_own_rows = most > GROUPS_IN_A_ROW || runs.len() == 1;
        let (mut names, mut entries) = (Vec::new(), Vec::new());
        for (run, label) in &runs {
            let share = if has_own_rows { 1.0 } else { run.groups.len() as f64 };
            for (i, group) in run.groups.iter().enumerate() {
                if has_own_rows || i == 0 {
                    names.push(if share > 1.0 { label.clone() } else { name_in(run, group, label, runs.len()) });
                }
                if names.len() > MAX_ROWS {
                    break;
                }
                let within = if share > 1.0 { i as f64 - (share - 1.0) / 2.0 } else { 0.0 };
                let place = (names.len() - 1) as f64 + within * 0.8 / most.clamp(1, GROUPS_IN_A_ROW) as f64;
                let label = name_in(run, group, label, runs.len());
                entries.push(Entry { run, group, label, place });
            }
        }
        names.truncate(MAX_ROWS);
        let shown = entries.len();
        let left_out = if shown < all { format!(" Shown: the first {shown} of {all} groups.") } else { String::new() };
        let height = if has_own_rows { 0.8 } else { 0.8 / most.max(1) as f64 };
        Self { names, entries, height, left_out }
    }

    /// A series for each group name, so that the legend has each once.
    fn series(
        &self,
        looks: &Looks,
        draw: Draw,
        of: impl Fn(&Entry) -> Option<(f64, Option<f64>)>,
    ) -> impl Iterator<Item = Series> {
        let mut all: Vec<(String, Series)> = Vec::new();
        for entry in &self.entries {
            let Some((value, half)) = of(entry) else { continue };
            let key = format!("{} {}", entry.group.controller, entry.group.name);
            let at = all.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                let look = looks.of(&entry.group.name, &entry.group.controller);
                let mut series = Series::new(&entry.group.name, draw, look, Vec::new(), Vec::new());
                series.width = (draw == Draw::Bars).then_some(self.height);
                all.push((key, series));
                all.len() - 1
            });
            let series = &mut all[at].1;
            series.x.push(value);
            series.y.push(entry.place);
            series.half_x.push(half.unwrap_or(f64::NAN));
            series.labels.push(entry.label.clone());
        }
        all.into_iter().map(|(_, mut series)| {
            if series.half_x.iter().all(|half| half.is_nan()) {
                series.half_x.clear();
            }
            series
        })
    }

    /// A chart whose rows have names; they are read from the top.
    fn chart(&self, title: &str, x_axis: &str, caption: String) -> Chart {
        let mut chart = Chart::new(title, x_axis, "", caption + &self.left_out);
        chart.y = Axis { names: self.names.clone(), reversed: true, fitted: true, ..Axis::default() };
        chart
    }
}

/// What to call a group of one of this many runs: the run alone does where it has no other group.
pub fn name_in(run: &Run, group: &GroupSummary, label: &str, runs: usize) -> String {
    match run.groups.len() {
        1 => label.to_owned(),
        _ if runs == 1 || group.name == label => group.name.clone(),
        _ => format!("{} (run {label})", group.name),
    }
}

/// How long a group's packets wait, 95th percentile, milliseconds: its RTT less the propagation delay, or for UDP, which has no ACKs,
/// its one-way delay. Where an engine measures no RTT, the delay of the bottleneck's queue.
fn waiting_p95_ms(run: &Run, group: &GroupSummary) -> Option<f64> {
    // Its packets may wait in a queue of their own (FQ-CoDel), so the bottleneck's delay says nothing about them.
    if let Some(base_ms) = group.base_delay_ms {
        return Some((group.delivery?.delay_ms.p95 - base_ms).max(0.0));
    }
    let rtt = group.rtt_ms.or(group.srtt_ms).map(|rtt| rtt.p95).filter(|&rtt| rtt > 0.0);
    let queue = || Some(bottleneck(run)?.queueing_delay_ms.p95);
    rtt.map(|rtt| (rtt - group.base_rtt_ms).max(0.0)).or_else(queue)
}

/// Goodput against delay, as Pantheon draws it (Yan and others, USENIX ATC 2018, figure 2): up and to the right is better.
fn trade_off(rows: &Rows, looks: &Looks, whiskers: &str) -> Chart {
    let caption = format!(
        "One point per group: goodput, and the 95th percentile of the RTT (for UDP, of the one-way delay) beyond the \
         propagation delay. \
         Up and to the right is better.{whiskers}{}",
        rows.left_out
    );
    let title = "Goodput against queueing delay";
    let mut chart = Chart::new(title, "Queueing delay, 95th percentile, ms", "Goodput, Mbit/s", caption);
    (chart.x.reversed, chart.y.fitted) = (true, true);
    if rows.entries.len() < 2 {
        return chart;
    }
    for mut series in rows.series(looks, Draw::Points, |e| Some((e.group.goodput_mbps, e.group.goodput_ci95_mbps))) {
        let of_series = |label: &String| rows.entries.iter().find(|e| e.label == *label);
        let delay = |label| of_series(label).and_then(|e| waiting_p95_ms(e.run, e.group)).unwrap_or(f64::NAN);
        series.y = std::mem::take(&mut series.x);
        series.x = series.labels.iter().map(delay).collect();
        series.half_y = std::mem::take(&mut series.half_x);
        chart.add(series);
    }
    chart
}

fn goodput(rows: &Rows, looks: &Looks, whiskers: &str) -> Chart {
    let caption = format!("Sum of each group's flows. The axis begins where the values do.{whiskers}");
    let mut chart = rows.chart("Goodput", "Goodput, Mbit/s", caption);
    chart.x.fitted = true;
    rows.series(looks, Draw::Points, |e| Some((e.group.goodput_mbps, e.group.goodput_ci95_mbps)))
        .for_each(|series| chart.add(series));
    chart
}

fn stolen(rows: &Rows, looks: &Looks, whiskers: &str) -> Chart {
    let caption = format!("The share of its goodput that a group loses to the others: near 0 is friendly.{whiskers}");
    let mut chart = rows.chart("Bandwidth stolen", "Bandwidth stolen, %", caption);
    let percent = |e: &Entry| Some((e.group.stolen? * 100.0, e.group.stolen_ci95.map(|half| half * 100.0)));
    rows.series(looks, Draw::Bars, percent).for_each(|series| chart.add(series));
    chart
}

/// Delay of the bottleneck's queue, a row a run.
fn delay(report: &Report) -> Chart {
    let of_runs = runs(report);
    let shown: Vec<_> = of_runs
        .iter()
        .filter_map(|(run, label)| Some((label, bottleneck(run)?.queueing_delay_ms)))
        .take(MAX_ROWS)
        .collect();
    let left_out = if shown.len() < of_runs.len() {
        format!(" Shown: the first {} of {} runs.", shown.len(), of_runs.len())
    } else {
        String::new()
    };
    let caption = format!("How long a packet waits at the busiest link.{left_out}");
    let mut chart = Chart::new("Queueing delay", "Queueing delay, ms", "", caption);
    chart.y = Axis {
        names: shown.iter().map(|(label, _)| (*label).clone()).collect(),
        reversed: true,
        fitted: true,
        ..Axis::default()
    };
    if shown.len() < 2 {
        return chart;
    }
    let mut bars = |name: &str, colour: &'static str, width, of: fn(&Distribution) -> f64| {
        let look = Look { colour: colour.into(), symbol: "circle" };
        let x = shown.iter().map(|(_, delay)| of(delay)).collect();
        let mut series = Series::new(name, Draw::Bars, look, x, (0..shown.len()).map(|i| i as f64).collect());
        series.width = Some(width);
        series.labels = shown.iter().map(|(label, _)| (*label).clone()).collect();
        chart.add(series);
    };
    bars("99th percentile", "#C3CAD2", 0.8, |d| d.p99);
    bars("95th percentile", "#94A0AC", 0.55, |d| d.p95);
    bars("mean", "#5F6E7C", 0.3, |d| d.mean);
    chart
}
