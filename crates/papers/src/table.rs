// SPDX-License-Identifier: MIT OR Apache-2.0
//! Findings as a table, for the terminal and wherever else it is wanted.

use comfy_table::{CellAlignment, Table, presets};
use tandem_report::with_interval;

use crate::{
    file::Experiment,
    findings::{Findings, Reading},
};

/// Header and rows of a figure's numbers: a row a point, a column a curve; what was published is in brackets.
pub(crate) fn rows(experiment: &Experiment, findings: &Findings, reading: &Reading) -> (Vec<String>, Vec<Vec<String>>) {
    let names = reading.curves.iter().map(|curve| curve.name.clone());
    let header = std::iter::once(experiment.file.sweep.label.clone()).chain(names).collect();
    let cell = |curve: &crate::judge::Points, i: usize| {
        let own = curve.points[i].as_ref().map_or("-".into(), |v| with_interval(v.mean, v.ci95, 3));
        match curve.published[i] {
            Some(published) => format!("{own} [{published}]"),
            None => own,
        }
    };
    let row = |(i, x): (usize, &String)| {
        std::iter::once(x.clone()).chain(reading.curves.iter().map(|curve| cell(curve, i))).collect()
    };
    (header, findings.x.iter().enumerate().map(row).collect())
}

/// An experiment's findings as text.
pub fn text(experiment: &Experiment, findings: &Findings) -> String {
    let (header, rows) = rows(experiment, findings, &findings.own);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    let mut text = format!(
        "{}: {}\nPublished: {}\nVerdict: {}\n\n{}; published values in brackets\n{}\n\n",
        findings.id,
        findings.title,
        findings.claim,
        findings.verdict.words(),
        experiment.file.y.label,
        lines.join("\n"),
    );
    text += &claims(&findings.own);
    for variant in &findings.variants {
        text += &format!("{}: {}\n", variant.name.as_deref().unwrap_or_default(), variant.verdict().words());
        text += &claims(variant);
    }
    if let Some(why) = &findings.why {
        text += &format!("Why: {why}\n");
    }
    text
}

fn claims(reading: &Reading) -> String {
    let line = |c: &crate::judge::Judged| format!("  {}: {} ({})\n", c.text, c.outcome.words(), c.detail);
    reading.claims.iter().map(line).collect()
}

/// With a capital to begin with.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
