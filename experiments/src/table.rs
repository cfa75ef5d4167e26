// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings as a table, for the terminal and for documents.

use comfy_table::{CellAlignment, Table, presets};
use tandem_report::with_interval;

use crate::{
    file::Experiment,
    findings::{Findings, Reading},
    judge::Points,
    judged::Judged,
    verdict::Verdict,
};

/// Header and rows of a reading's numbers: a row a point, a column a curve; what was published is in brackets. Points and curves that
/// were not run are left out.
pub(crate) fn reading_rows(
    experiment: &Experiment,
    findings: &Findings,
    reading: &Reading,
) -> (Vec<String>, Vec<Vec<String>>) {
    let is_run = |curve: &&Points| curve.points.iter().any(Option::is_some);
    let curves: Vec<&Points> = reading.curves.iter().filter(is_run).collect();
    let names = curves.iter().map(|curve| curve.name.clone());
    let header = std::iter::once(experiment.file.sweep.label.clone()).chain(names).collect();
    let row = |i: usize| {
        std::iter::once(findings.x[i].clone()).chain(curves.iter().map(|curve| value_text(curve, i))).collect()
    };
    let places = (0..findings.x.len()).filter(|&i| curves.iter().any(|curve| has_value(curve, i)));
    (header, places.map(row).collect())
}

/// Whether the curve was run at this point.
pub(crate) fn has_value(curve: &Points, i: usize) -> bool {
    curve.points[i].is_some()
}

/// `14.8 ± 1.2 [21]`.
pub(crate) fn value_text(curve: &Points, i: usize) -> String {
    let own = curve.points[i].as_ref();
    let own = own.map_or("-".into(), |v| with_interval(v.estimate.value, v.estimate.half_width, 3));
    match curve.published[i] {
        Some(published) => format!("{own} [{published}]"),
        None => own,
    }
}

/// An experiment's findings as text.
pub fn text(experiment: &Experiment, findings: &Findings) -> String {
    let mut text = format!(
        "{}: {}\nPublished: {}\nVerdict: {} ({})\n\n",
        findings.id,
        findings.title,
        findings.claim,
        findings.verdict.words(),
        findings.tallies(),
    );
    if findings.is_kernel_only() {
        return text + &kernel(experiment, findings) + &why(findings);
    }
    let (header, rows) = reading_rows(experiment, findings, &findings.own);
    text += &format!("{}; published values in brackets\n{}\n\n", experiment.file.y.label, aligned(header, rows, 1));
    text += &claims(&findings.own);
    for variant in &findings.variants {
        text += &format!("{}: {}\n", variant.name.as_deref().unwrap_or_default(), variant.verdict().words());
        text += &claims(variant);
    }
    text + &kernel(experiment, findings) + &why(findings) + &cautions(findings)
}

fn cautions(findings: &Findings) -> String {
    findings.cautions.iter().map(|caution| format!("Caution: {caution}.\n")).collect()
}

fn why(findings: &Findings) -> String {
    let why = findings.why.iter().chain(&findings.more).map(|why| format!("Why: {why}\n"));
    why.chain(findings.note.iter().map(|note| format!("Beside it: {note}\n"))).collect()
}

/// The runs over real TCP.
fn kernel(experiment: &Experiment, findings: &Findings) -> String {
    let Some(comparison) = &findings.kernel else { return String::new() };
    let (header, rows) = comparison.table(&experiment.file.sweep.label);
    let mut text = format!(
        "Over real TCP: {}. {}\n{}; simulation of the same, and real TCP\n{}\n\n{}\n{}",
        comparison.measured.verdict().words(),
        comparison.setting(),
        experiment.file.y.label,
        aligned(header, rows, 2),
        comparison.differences_text(),
        comparison.claims().map(claim).collect::<String>(),
    );
    if let Some(doubts) = comparison.doubts_text() {
        text += &format!("Doubtful: {doubts}.\n");
    }
    text
}

/// The first columns to the left, the others to the right.
pub(crate) fn aligned(header: Vec<String>, rows: Vec<Vec<String>>, left: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn claims(reading: &Reading) -> String {
    reading.claims.iter().filter(|c| c.verdict != Verdict::NotAsked).map(claim).collect()
}

fn claim(claim: &Judged) -> String {
    format!("  {}\n", claim.marked_line())
}

/// With a capital to begin with.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
