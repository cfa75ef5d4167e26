// SPDX-License-Identifier: MIT OR Apache-2.0
//! The summary for a terminal: plain text, no colour, at most as wide as the terminal.

use std::iter;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use tandem_results::{Distribution, Figure, LINK_MEASURES, LinkSummary, Measure, Run};

use crate::{
    Report, delivery, number,
    rows::{self, bottleneck, doubts, has_intervals, runs, seed_counts},
    short_flows_table, words,
};

/// Where there is no terminal to ask.
const DEFAULT_WIDTH: u16 = 100;
/// Below this width, lines may be too long, because numbers must not be cut.
const MIN_WIDTH: u16 = 100;
/// Digits of a link's rate.
const RATE_DIGITS: i32 = 3;

/// A row for each run and for each group of a run with several; below, a row for each run's bottleneck.
pub fn table(report: &Report) -> String {
    table_at(report, width())
}

/// How wide a table may be.
pub fn width() -> u16 {
    Table::new().width().unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH)
}

fn table_at(report: &Report, width: u16) -> String {
    let parts = [
        summary(report, width),
        bottlenecks(report, width),
        of_some(report, width, &short_flows_table::HEADER, short_flows_table::rows),
        of_some(report, width, &delivery::header(), delivery::rows),
        notes(report, width),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn summary(report: &Report, width: u16) -> String {
    let rows::Summary { heads, rows } = rows::summary(report);
    let rows = rows.into_iter().map(|row| {
        // The no-break space keeps the indentation when a name is wrapped.
        let label = if row.indented { format!("\u{a0}\u{a0}{}", row.label) } else { row.label };
        let cells = std::iter::once(label).chain(row.cells).zip(&heads);
        cells.filter(|(_, head)| head.terminal.is_some()).map(|(cell, _)| cell).collect()
    });
    render(heads.iter().filter_map(|head| head.terminal).map(str::to_owned).collect(), rows, width)
}

fn bottlenecks(report: &Report, width: u16) -> String {
    let runs = runs(report);
    let links: Vec<(&Run, &LinkSummary)> = runs.iter().filter_map(|(run, _)| Some((*run, bottleneck(run)?))).collect();
    let measures = number::shown(LINK_MEASURES, links.iter().map(|(_, link)| *link));
    let columns: Vec<(&Measure<LinkSummary>, &str, Figure)> = measures
        .iter()
        .flat_map(|measure| measure.shown.terminal.iter().map(|(title, figure)| (*measure, *title, *figure)))
        .collect();
    let header = iter::once("Bottleneck").chain(columns.iter().map(|(_, title, _)| *title)).map(str::to_owned);
    let rows = links.iter().map(|(run, link)| {
        let cells = columns.iter().map(|(measure, _, figure)| number::cell(measure, *link, *figure, RATE_DIGITS));
        iter::once(format!("{}: {}", run.name, link.name)).chain(cells).collect()
    });
    render(header.collect(), rows, width)
}

/// A group's label and its cells.
type LabelledRow = (String, Vec<String>);

/// A table of what only some groups have; empty if no run has such a group.
fn of_some(report: &Report, width: u16, header: &[&str], rows: fn(&Run) -> Vec<LabelledRow>) -> String {
    let runs = runs(report);
    let of_run = |run: &Run| {
        let name = if runs.len() > 1 { format!("{}: ", run.name) } else { String::new() };
        rows(run).into_iter().map(move |(label, cells)| [vec![format!("{name}{label}")], cells].concat())
    };
    let rows: Vec<Vec<String>> = runs.iter().flat_map(|(run, _)| of_run(run)).collect();
    if rows.is_empty() {
        return String::new();
    }
    render(header.iter().map(|title| (*title).to_owned()).collect(), rows.into_iter(), width)
}

/// Names to the left, which may be wrapped; numbers to the right, which may not.
pub fn render(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>, width: u16) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(header).add_rows(rows);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.lines().map(|line| line.trim_end().replace('\u{a0}', " ") + "\n").collect()
}

/// Notes that do not fit into a column.
fn notes(report: &Report, width: u16) -> String {
    let mut notes: Vec<String> = Vec::new();
    for (run, _) in runs(report) {
        notes.extend(doubts(run).iter().map(|doubt| format!("NOT TRUSTWORTHY: {}: {doubt}", run.name)));
    }
    notes.extend(caution_notes(report));
    notes.extend(runs(report).iter().flat_map(|(run, _)| completion_notes(run)));
    notes.extend(runs(report).iter().flat_map(|(run, _)| short_flows_table::offered(run)));
    let cells = runs(report).into_iter().filter_map(|(run, _)| Some((run, run.cell.as_ref()?)));
    notes.extend(cells.map(|(run, cell)| format!("{}: {}", run.name, words::channel(cell))));
    if has_intervals(report) {
        let wide = if report.why_these_seeds.is_some() { ", widened for repeated looks" } else { "" };
        notes.push(format!("±: half of the 95 % interval of the mean over seeds, {}{wide}", seed_counts(report)));
    }
    notes.extend(report.why_these_seeds.clone());
    let options = textwrap::Options::new(width.into()).subsequent_indent("  ");
    notes.iter().map(|note| textwrap::fill(note, &options) + "\n").collect()
}

/// Each caution once, with the runs that it concerns, unless it concerns all.
fn caution_notes(report: &Report) -> Vec<String> {
    let runs = runs(report);
    let mut runs_of: Vec<(&str, Vec<&str>)> = Vec::new();
    for (caution, run) in
        runs.iter().flat_map(|(run, _)| run.cautions.iter().map(move |caution| (caution.as_str(), run)))
    {
        match runs_of.iter_mut().find(|(known, _)| *known == caution) {
            Some((_, names)) => names.push(&run.name),
            None => runs_of.push((caution, vec![&run.name])),
        }
    }
    let note = |(caution, names): (&str, Vec<&str>)| {
        let about = if names.len() == runs.len() { String::new() } else { format!(" ({})", names.join(", ")) };
        format!("Caution{about}: {caution}")
    };
    runs_of.into_iter().map(note).collect()
}

fn completion_notes(run: &Run) -> impl Iterator<Item = String> {
    run.groups.iter().filter_map(|group| {
        let Distribution { mean, p50, p95, p99, .. } =
            group.completion_time_s.filter(|_| group.short_flows.is_none())?;
        let [mean, p50, p95, p99] = [mean, p50, p95, p99].map(|s| number::significant(s, 3));
        Some(format!("{}, {}: a transfer takes {mean} s, p50 {p50} s, p95 {p95} s, p99 {p99} s", run.name, group.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Section, synthetic};

    /// The whole text, so that a change shows what readers will see.
    const EXPECTED: &str = r"
Run                     Flows      Goodput     Stolen   RTT   p95 Queue Used   Loss  Re- RTOs  Jain
                                    Mbit/s          %    ms    ms  pkts    %   rate sent
reno:8 (baseline)           8 95.00 ± 0.47            123.4 148.1   211 98.8 1.3e-4  268    4 0.999
reno:4 (partial: 3 of 5     4   94.8 ± 1.8            123.4 148.1   211 98.7 1.3e-4  126    2 0.999
seeds)
compound:4 against          8 95.00 ± 0.49                          211 98.8 1.3e-4  268    4 0.961
reno:4
  compound                  4 57.00 ± 0.56            123.4 148.1                    126    2
  reno                      4 38.00 ± 0.37 20.0 ± 0.7 123.4 148.1                    142    2

Bottleneck                              Rate       Used Queue pkts     Delay ms Drops Random
                                      Mbit/s          %   p95  p99 max      p95       losses
reno:8: bottleneck                       100 98.8 ± 0.2   253  274 295     30.4   126      1
reno:4: bottleneck                       100 98.7 ± 0.2   253  274 295     30.4   125      1
compound:4 against reno:4: bottleneck    100 98.8 ± 0.2   253  274 295     30.4   126      1

±: half of the 95 % interval of the mean over seeds, n = 3 to 5
";

    #[test]
    fn runs_groups_and_bottlenecks_fit_a_hundred_columns() {
        let alone = synthetic::scenario("reno:4", &[("reno", "reno", 4)]);
        let mixed =
            synthetic::scenario("compound:4 against reno:4", &[("compound", "compound", 4), ("reno", "reno", 4)]);
        let all_reno = synthetic::scenario("reno:8", &[("reno", "reno", 8)]);
        let (alone_run, mut mixed_run) = (synthetic::run(&alone, 3), synthetic::run(&mixed, 5));
        let baseline = synthetic::run(&all_reno, 5);
        (mixed_run.groups[1].stolen, mixed_run.groups[1].stolen_ci95) = (Some(0.2), Some(0.007));
        let text = table_at(
            &Report {
                title: String::new(),
                command: String::new(),
                version: String::new(),
                sections: vec![
                    Section { scenario: &alone, run: &alone_run },
                    Section { scenario: &mixed, run: &mixed_run },
                ],
                baselines: vec![&baseline],
                why_these_seeds: None,
            },
            100,
        );
        assert_eq!(text.trim_end(), EXPECTED.trim_matches('\n'), "\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn columns_that_no_run_needs_are_left_out() {
        let scenario = synthetic::scenario("reno:4", &[("reno", "reno", 4)]);
        let run = synthetic::run(&scenario, 1);
        let text = table_at(
            &Report {
                title: String::new(),
                command: String::new(),
                version: String::new(),
                sections: vec![Section { scenario: &scenario, run: &run }],
                baselines: Vec::new(),
                why_these_seeds: None,
            },
            100,
        );
        assert!(!text.contains("Stolen") && !text.contains('±') && !text.contains("sRTT"), "{text}");
    }

    /// Without marks the column is left out, as in the test above; with some, a link that has none shows 0.
    #[test]
    fn marks_have_a_column_where_a_bottleneck_marked() {
        let scenario = synthetic::scenario("reno:4", &[("reno", "reno", 4)]);
        let (unmarked, mut marked) = (synthetic::run(&scenario, 1), synthetic::run(&scenario, 1));
        marked.links[0].marks = 4321.0;
        let sections = [&unmarked, &marked].map(|run| Section { scenario: &scenario, run });
        let text = table_at(
            &Report {
                title: String::new(),
                command: String::new(),
                version: String::new(),
                sections: sections.to_vec(),
                baselines: Vec::new(),
                why_these_seeds: None,
            },
            100,
        );
        let ends = |lines: [&str; 3]| {
            let all: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("Bottleneck")).collect();
            all.iter().zip([lines[0], "", lines[1], lines[2]]).all(|(line, end)| line.ends_with(end))
        };
        assert!(ends(["Random Marks", " 0", " 4321"]), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100));
    }

    /// Beside a run of an engine that has smoothed RTTs only, others show theirs, too.
    #[test]
    fn smoothed_rtts_stand_beside_each_other() {
        let scenario = synthetic::scenario("reno:4", &[("reno", "reno", 4)]);
        let (simulated, mut real) = (synthetic::run(&scenario, 1), synthetic::run(&scenario, 1));
        real.groups[0].rtt_ms = None;
        let sections = [&simulated, &real].map(|run| Section { scenario: &scenario, run });
        let report = Report {
            title: String::new(),
            command: String::new(),
            version: String::new(),
            sections: sections.to_vec(),
            baselines: Vec::new(),
            why_these_seeds: None,
        };
        let summary = rows::summary(&report);
        let column = |page| summary.heads.iter().position(|head| head.page == page).unwrap() - 1;
        let (rtt, srtt) = (column("RTT mean\nms"), column("Smoothed RTT\nmean, ms"));
        assert_eq!(summary.rows.iter().map(|row| &row.cells[rtt]).collect::<Vec<_>>(), ["123.4", ""]);
        assert_eq!(summary.rows.iter().map(|row| &row.cells[srtt]).collect::<Vec<_>>(), ["121.0", "121.0"]);
        assert!(table_at(&report, 100).contains("sRTT"));
    }
}
