// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/reproduction.md: a row a figure.

use crate::{
    file::Experiment,
    findings::{Findings, Reading},
    judge::{Judged, Outcome},
    source,
    table::{self as tables, capital},
};

const INTRODUCTION: &str = include_str!("introduction.md");

/// The page. `command` made it.
pub fn markdown(found: &[(&Experiment, &Findings)], command: &str) -> String {
    let count = |outcome| found.iter().filter(|(_, f)| f.verdict == outcome).count();
    let mut text = INTRODUCTION.replace("COMMAND", command);
    text += &format!(
        "\n{} figures and tables: {} hold, {} hold in part, {} do not hold, {} are undecided.\n",
        found.len(),
        count(Outcome::Holds),
        count(Outcome::HoldsInPart),
        count(Outcome::DoesNotHold),
        count(Outcome::Undecided)
    );
    let mut folder = "";
    for (_, f) in found {
        let own = f.id.split('/').next().unwrap_or_default();
        if own != folder {
            folder = own;
            let source = source(&f.id).unwrap_or(own);
            text += &format!("\n## {source}\n\n| figure | published | ours | verdict |\n|---|---|---|---|\n");
        }
        let verdict = match f.verdict {
            Outcome::Holds => "holds".into(),
            other => format!("**{}**", other.words()),
        };
        let link = format!("[{}](#{})", f.id, anchor(f));
        let kernel = f.kernel.as_ref().filter(|_| !f.is_kernel_only()).map_or(String::new(), |beside| {
            format!(" Over real TCP: {}. {}", beside.measured.verdict().words(), beside.comparison())
        });
        text += &format!("| {link} | {} | {}{} | {verdict} |\n", cell(&f.claim), cell(&f.reason), cell(&kernel));
    }
    text += "\n# The numbers\n";
    for (experiment, findings) in found {
        text += &section(experiment, findings);
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// As GitHub makes it of the heading.
fn anchor(findings: &Findings) -> String {
    let text = heading(findings).to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn heading(findings: &Findings) -> String {
    format!("{} {}", findings.id, findings.title)
}

fn section(experiment: &Experiment, findings: &Findings) -> String {
    let mut text = format!(
        "\n## {}\n\n**Published.** {}\n\n**{}.** {}.\n\n{}\n",
        heading(findings),
        findings.claim,
        capital(findings.verdict.words()),
        capital(&findings.setting()),
        findings.own.claims.iter().map(claim).collect::<String>(),
    );
    if let Some((inside, all)) = findings.inside_spread() {
        text += &format!("Of {all} published values {inside} lie inside the spread of single seeds.\n");
    }
    if let Some(why) = &findings.why {
        text += &format!("\n**Why.** {why}\n");
    }
    if let Some(note) = &findings.note {
        text += &format!("\n**Beside it.** {note}\n");
    }
    if !findings.assumptions.is_empty() {
        text += &format!("\n**Assumed.** {}\n", findings.assumptions.join(" "));
    }
    if !findings.is_kernel_only() {
        text += &format!(
            "\n{}; published values in brackets.\n\n{}",
            experiment.file.y.label,
            numbers(experiment, findings, &findings.own)
        );
    }
    text += &kernel(experiment, findings);
    for variant in &findings.variants {
        let claims = variant.claims.iter().map(|c| format!("{}: {} ({})", c.text, c.outcome.words(), c.detail));
        text += &format!(
            "\n**{}: {}.** {}.\n\n<details><summary>Numbers</summary>\n\n{}\n</details>\n",
            variant.name.as_deref().unwrap_or_default(),
            variant.verdict().words(),
            claims.collect::<Vec<_>>().join(". "),
            numbers(experiment, findings, variant)
        );
    }
    text
}

/// What was run over real TCP.
fn kernel(experiment: &Experiment, findings: &Findings) -> String {
    let Some(beside) = &findings.kernel else { return String::new() };
    let (header, rows) = beside.table(&experiment.file.sweep.label);
    let mut text = format!(
        "\n**Over real TCP: {}.** {} {}\n\n{}",
        beside.measured.verdict().words(),
        beside.setting(),
        beside.comparison(),
        table(&header, &rows, 2),
    );
    if !findings.is_kernel_only() {
        text += "\n";
        text += &beside.claims().map(claim).collect::<String>();
    }
    if let Some(doubts) = beside.doubts_text() {
        text += &format!("\n**Doubtful.** {doubts}.\n");
    }
    text
}

fn claim(claim: &Judged) -> String {
    format!("- {}: {} ({})\n", claim.text, claim.outcome.words(), claim.detail)
}

fn numbers(experiment: &Experiment, findings: &Findings, reading: &Reading) -> String {
    let (header, rows) = tables::rows(experiment, findings, reading);
    table(&header, &rows, 1)
}

/// The first columns to the left, the others to the right.
fn table(header: &[String], rows: &[Vec<String>], left: usize) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(|c| cell(c)).collect::<Vec<_>>().join(" | "));
    let rule = format!("|{}{}\n", "---|".repeat(left), "---:|".repeat(header.len() - left));
    line(header) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}
