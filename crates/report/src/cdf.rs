// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributions over samples, flows and transfers, as cumulative shares.

use tandem_results::{GroupSummary, Run};

use crate::{
    Report, Section,
    chart::{Chart, Draw, Series},
    colours::Looks,
    comparison::name_in,
    rows::runs,
};

/// Points of a curve.
const POINTS: usize = 200;
/// Curves of a chart.
const MAX_CURVES: usize = 24;
/// A curve needs at least this many flows or transfers.
const MIN_VALUES: usize = 5;

/// The charts that have something to show: of RTTs, of flows' goodput, of transfers' times.
pub fn distributions(report: &Report, looks: &Looks) -> Vec<Chart> {
    vec![rtt(report, looks), goodput(report, looks), completion(report, looks)]
}

fn chart(title: &str, x_axis: &str, y_axis: &str, caption: &str) -> Chart {
    let mut chart = Chart::new(title, x_axis, y_axis, caption);
    chart.x.fitted = true;
    chart
}

/// The smoothed RTT where windows are sampled.
fn rtt(report: &Report, looks: &Looks) -> Chart {
    let caption = "At each value the share of the samples that are not above it, after the warm-up of the first seed. \
                   A steep curve far to the left is a short queue that hardly changes.";
    let mut chart = chart("Distribution of the smoothed RTT", "Smoothed RTT, ms", "Share of samples, %", caption);
    let of_sections = report.sections.iter().flat_map(|section| {
        let groups = 0..section.scenario.groups.len();
        groups.map(move |g| (section, g))
    });
    let curves = of_sections.filter_map(|(section, g)| {
        let values = rtts(section, g);
        Some((section.run, section.run.groups.get(g)?, values))
    });
    add(&mut chart, report, looks, curves);
    chart
}

/// The smoothed RTTs of a group after the warm-up, milliseconds.
fn rtts(section: &Section, group: usize) -> Vec<f64> {
    let Some(trace) = &section.run.trace else { return Vec::new() };
    let from = trace.time_s.partition_point(|&t| t < section.run.warmup_s);
    let flows = trace.flows.iter().filter(|flow| flow.group == group);
    let samples = flows.flat_map(|flow| flow.samples.get(from..).unwrap_or_default());
    samples.map(|s| f64::from(s.srtt_ms)).filter(|&rtt| rtt > 0.0).collect()
}

fn goodput(report: &Report, looks: &Looks) -> Chart {
    let caption = "At each value the share of a group's flows that do not get more, each flow's mean over seeds. \
                   An upright curve is a fair share.";
    let mut chart =
        chart("Distribution of the flows' goodput", "Goodput of a flow, Mbit/s", "Share of flows, %", caption);
    let curves = of_groups(report).map(|(run, group)| (run, group, group.per_flow_goodput_mbps.clone()));
    add(&mut chart, report, looks, curves);
    chart
}

fn completion(report: &Report, looks: &Looks) -> Chart {
    let caption = "At each time the share of the transfers of all seeds that took no longer.";
    let mut chart =
        chart("Distribution of completion times", "Time of a transfer, s", "Share of transfers, %", caption);
    let curves = of_groups(report).map(|(run, group)| (run, group, group.completion_times_s.clone()));
    add(&mut chart, report, looks, curves);
    chart
}

fn of_groups<'a>(report: &Report<'a>) -> impl Iterator<Item = (&'a Run, &'a GroupSummary)> {
    runs(report).into_iter().flat_map(|(run, _)| run.groups.iter().map(move |group| (run, group)))
}

/// Adds a curve for each group that has enough values.
fn add<'a>(
    chart: &mut Chart,
    report: &Report,
    looks: &Looks,
    curves: impl Iterator<Item = (&'a Run, &'a GroupSummary, Vec<f64>)>,
) {
    let runs = runs(report).len();
    let mut curves = curves.filter(|(_, _, values)| values.len() >= MIN_VALUES);
    for (run, group, values) in curves.by_ref().take(MAX_CURVES) {
        let name = name_in(run, group, &run.name, runs);
        let (x, y) = shares(values);
        chart.add(Series::new(name, Draw::Steps, looks.of(&group.name, &group.controller), x, y));
    }
    let left_out = curves.count();
    if left_out > 0 {
        chart.caption += &format!(" Shown: {MAX_CURVES} of {} groups.", MAX_CURVES + left_out);
    }
}

/// Values in order, and the share of all that are not above each, percent; at most [`POINTS`] of them.
fn shares(mut values: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let points = n.min(POINTS);
    let at = |i: usize| (i + 1) * n / points - 1;
    let of = |i: usize| (values[at(i)], 100.0 * (at(i) + 1) as f64 / n as f64);
    // The curve rises from 0 at the smallest.
    std::iter::once((values[0], 0.0)).chain((0..points).map(of)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_rise_to_all() {
        assert_eq!(
            shares(vec![3.0, 1.0, 2.0, 2.0]),
            (vec![1.0, 1.0, 2.0, 2.0, 3.0], vec![0.0, 25.0, 50.0, 75.0, 100.0])
        );
        let (x, y) = shares((0..10_000).rev().map(f64::from).collect());
        assert_eq!((x.len(), x[1], y[1], x[200], y[200]), (201, 49.0, 0.5, 9999.0, 100.0));
    }
}
