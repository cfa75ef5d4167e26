// SPDX-License-Identifier: MIT OR Apache-2.0
//! All that is kept of an experiment, as text: what its page has no room for, too.

use crate::{
    file::Experiment,
    findings::{Findings, Reading},
    table::{aligned, reading_rows, text},
};

/// The text of a run, which has the claims of each variant; then the assumptions, single runs, and the numbers of each variant.
pub fn show(experiment: &Experiment, findings: &Findings) -> String {
    let mut all = text(experiment, findings);
    all += &format!("Run: {}.\n", findings.setting());
    if let Some((inside, printed)) = findings.inside_spread {
        all += &format!("Single runs: {inside} of {printed} published values lie inside the spread of single seeds.\n");
    }
    findings.assumptions.iter().for_each(|assumed| all += &format!("Assumed: {assumed}\n"));
    findings.variants.iter().for_each(|reading| all += &variant(experiment, findings, reading));
    all
}

/// Another reading of what the paper leaves open.
fn variant(experiment: &Experiment, findings: &Findings, reading: &Reading) -> String {
    let (header, rows) = reading_rows(experiment, findings, reading);
    let name = reading.name.as_deref().unwrap_or_default();
    format!("\nVariant: {name}: {}\n{}\n", reading.verdict().words(), aligned(header, rows, 1))
}
