// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/reproduction.md: a row a figure.

use crate::{
    file::Experiment,
    findings::{Findings, Reading},
    judge::{Judged, Outcome},
    source,
    table::{self, capital},
};

const INTRODUCTION: &str = include_str!("introduction.md");

/// The page. `command` made it.
pub fn markdown(found: &[(&Experiment, &Findings)], command: &str) -> String {
    let count = |outcome| found.iter().filter(|(_, f)| f.verdict == outcome).count();
    let mut text = INTRODUCTION.replace("COMMAND", command);
    text += &format!(
        "\n{} figures and tables: {} hold, {} hold in part, {} do not hold.\n",
        found.len(),
        count(Outcome::Holds),
        count(Outcome::HoldsInPart),
        count(Outcome::DoesNotHold)
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
        text += &format!("| {link} | {} | {} | {verdict} |\n", cell(&f.claim), cell(&f.reason));
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
    let claim = |c: &Judged| format!("- {}: {} ({})\n", c.text, c.outcome.words(), c.detail);
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
    if !findings.assumptions.is_empty() {
        text += &format!("\n**Assumed.** {}\n", findings.assumptions.join(" "));
    }
    text += &format!(
        "\n{}; published values in brackets.\n\n{}",
        experiment.file.y.label,
        numbers(experiment, findings, &findings.own)
    );
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

fn numbers(experiment: &Experiment, findings: &Findings, reading: &Reading) -> String {
    let (header, rows) = table::rows(experiment, findings, reading);
    let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(|c| cell(c)).collect::<Vec<_>>().join(" | "));
    let rule = format!("|---|{}\n", "---:|".repeat(header.len() - 1));
    line(&header) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}
