// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a search found, as a page: a row for each find, and its windows over time.

use tandem_batch::{Batch, Store, Task, Traces};
use tandem_report::{Curve, Figure, FigureSection, Mark, Note, SectionsPage, Table, thin};
use tandem_search::{Compared, Find, Found, Results, SEEDS, Settled, Space};

use crate::{failure::Failure, runner::of_tasks};

/// Points of a curve, as many as a screen shows.
const POINTS: usize = 1000;

pub fn page(
    results: &Results,
    compared: &Compared,
    space: &Space,
    settled: &Settled,
    store: Option<&Store>,
) -> Result<SectionsPage, Failure> {
    let mut sections = Vec::new();
    for (found, find) in results.finds.iter().zip(&settled.finds) {
        let lines: Vec<String> = found.words.iter().cloned().chain([results.likely(found)]).collect();
        sections.push(FigureSection {
            id: found.name.clone(),
            title: format!("{}: {}", found.name, found.mechanism.words()),
            mark: (Mark::Bad, violation(found)),
            notes: lines.iter().map(|line| Note::from(("", line.as_str()))).collect(),
            figure: windows(compared, space, find, store)?,
            tables: vec![Table { header: vec!["Scenario".into()], rows: scenario_rows(found) }],
        });
    }
    Ok(SectionsPage {
        title: format!("The worst paths for {}", compared.contender.controller),
        paragraphs: vec![results.text().lines().next().unwrap_or_default().into()],
        summary: Table {
            header: ["Find", "Violation", "What its flows show", "Features", "File"].map(str::to_owned).into(),
            rows: results.finds.iter().map(row).collect(),
        },
        sections,
        command: results.command.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
    })
}

fn violation(found: &Found) -> String {
    format!("{:.1} %", 100.0 * found.violation)
}

fn row(found: &Found) -> Vec<String> {
    let words = found.mechanism.words().to_owned();
    vec![found.name.clone(), violation(found), words, found.features.join(", "), found.file.clone()]
}

/// The lines of the file but its comment, whose words are above.
fn scenario_rows(found: &Found) -> Vec<Vec<String>> {
    let lines = found.scenario.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| vec![line.to_owned()]).collect()
}

/// The first flow's window over time, of both controllers.
fn windows(compared: &Compared, space: &Space, find: &Find, store: Option<&Store>) -> Result<Figure, Failure> {
    let mut curves = Vec::new();
    for side in [compared.contender, compared.baseline] {
        let Some(Ok(scenario)) = space.scenario(&find.point, side.controller) else { continue };
        let scenario = scenario.with_seeds([1]);
        let task = Task { scenario: &scenario, engine: side.engine, traces: Traces::FirstSeed(1) };
        let batch = Batch { quiet: true, ..of_tasks(store) };
        let runs = batch.run(&[task])?.seeds;
        let trace = runs.first().and_then(|seeds| seeds.first()?.trace.as_ref());
        let Some((trace, flow)) = trace.and_then(|trace| Some((trace, trace.flows.first()?))) else { continue };
        let windows: Vec<f64> = flow.samples.iter().map(|sample| f64::from(sample.cwnd_packets)).collect();
        let (x, y) = thin(&windows, POINTS).into_iter().map(|i| (trace.time_s[i], windows[i])).unzip();
        let controller = Some(side.controller.into());
        curves.push(Curve { name: compared.name(side), controller, x, y, ..Curve::default() });
    }
    Ok(Figure {
        title: "Window of the first flow".into(),
        caption: format!("The first of {SEEDS} seeds."),
        x_axis: "Time, s".into(),
        y_axis: "Window, packets".into(),
        curves,
        ..Figure::default()
    })
}
