// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs and flows side by side.

use plotly::{
    Bar,
    common::{ErrorData, ErrorType, Marker},
};
use tandem_scenario::result::{GroupSummary, Run};

use crate::{
    Report,
    chart::{Chart, plain},
    colours::Colours,
    number::rounded,
    rows::runs,
};

/// A figure of a group with the half width of its interval.
type Figure = fn(&GroupSummary) -> Option<(f64, Option<f64>)>;

/// Goodput, and bandwidth stolen if any run has it, of every group across runs.
pub fn summary(report: &Report, colours: &Colours) -> Vec<Chart> {
    let explained =
        if crate::rows::has_intervals(report) { " Whiskers are 95\u{a0}% intervals over seeds." } else { "" };
    let goodput = Chart::new(
        "Goodput",
        "",
        "Goodput, Mbit/s",
        format!(
            "Sum of each group's flows. On one path, higher bars beside each other make better use of it.{explained}"
        ),
    );
    let stolen = Chart::new(
        "Bandwidth stolen",
        "",
        "Bandwidth stolen, %",
        format!("The share of its goodput that a group loses to the others: near 0 is friendly.{explained}"),
    );
    let mut charts = vec![
        across_runs(report, colours, goodput, |g| Some((g.goodput_mbps, g.goodput_ci95_mbps))),
        across_runs(report, colours, stolen, |g| Some((g.stolen? * 100.0, g.stolen_ci95.map(|c| c * 100.0)))),
    ];
    charts.retain(|c| !c.is_empty());
    charts
}

/// Bars of a run stand together in the middle of its place, however many it has; so they need positions of their own.
fn across_runs(report: &Report, colours: &Colours, mut chart: Chart, figure: Figure) -> Chart {
    let mut runs = runs(report);
    runs.retain(|(run, _)| run.groups.iter().any(|g| figure(g).is_some()));
    let shown: Vec<Vec<&GroupSummary>> =
        runs.iter().map(|(run, _)| run.groups.iter().filter(|g| figure(g).is_some()).collect()).collect();
    let width = 0.8 / shown.iter().map(Vec::len).max().unwrap_or(1).max(2) as f64;
    for name in colours.names() {
        let (mut x, mut y, mut half) = (Vec::new(), Vec::new(), Vec::new());
        for (place, groups) in shown.iter().enumerate() {
            let Some(nth) = groups.iter().position(|g| g.name == *name) else { continue };
            let (value, interval) = figure(groups[nth]).expect("only groups with the figure are shown");
            x.push(rounded(place as f64 + (nth as f64 - (groups.len() - 1) as f64 / 2.0) * width, 6));
            y.push(rounded(value, 5));
            half.push(interval.map_or(f64::NAN, |h| rounded(h, 3)));
        }
        if x.is_empty() {
            continue;
        }
        let mut bar = bar(name, colours, x, y).width(width * 0.92);
        if half.iter().any(|h| h.is_finite()) {
            bar = bar.error_y(ErrorData::new(ErrorType::Data).array(half));
        }
        chart.add(bar);
    }
    chart.name_x(&runs.into_iter().map(|(_, label)| label).collect::<Vec<_>>());
    chart
}

fn bar(name: &str, colours: &Colours, x: Vec<f64>, y: Vec<f64>) -> Box<Bar<f64, f64>> {
    let name_as_text = plain(name);
    let hover = format!("{name_as_text}: %{{y}}<extra></extra>");
    Bar::new(x, y).name(name_as_text).marker(Marker::new().color(colours.of(name).to_owned())).hover_template(hover)
}

/// Goodput of every flow of a run, mean over seeds.
pub fn per_flow(run: &Run, colours: &Colours) -> Chart {
    let caption = "Mean over seeds. Bars of one height are a fair share; within a group they should be, \
                   since its flows differ in nothing but chance.";
    let mut chart = Chart::new("Goodput of each flow", "Flow", "Goodput, Mbit/s", caption);
    let mut next = 1.0;
    for group in &run.groups {
        let y: Vec<f64> = group.per_flow_goodput_mbps.iter().map(|&g| rounded(g, 5)).collect();
        let x: Vec<f64> = (0..y.len()).map(|i| next + i as f64).collect();
        next += y.len() as f64;
        chart.add(bar(&group.name, colours, x, y));
    }
    chart.count_x((next as usize).div_ceil(12));
    chart
}
