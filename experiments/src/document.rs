// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/reproduction.md, a row per figure, and a page per figure with all its numbers.

use crate::{
    file::Experiment,
    findings::{Findings, Reading, Tally},
    judged::Judged,
    prose::{item, paragraph},
    source,
    table::{self as tables, capital},
    verdict::Verdict,
};

const INTRODUCTION: &str = include_str!("introduction.md");

/// The table of all figures, and the pages that it links to.
pub struct Document {
    /// Markdown of the table.
    pub table: String,
    /// Name of the file and text, for the folder that the table links to.
    pub pages: Vec<(String, String)>,
}

/// Findings as Markdown. `command` made them; the pages lie in `folder`, beside the table, which is in the file `name`.
pub fn markdown(found: &[(&Experiment, &Findings)], command: &str, name: &str, folder: &str) -> Document {
    let mut table = INTRODUCTION.replace("COMMAND", command) + "\n" + &counts(found);
    let mut paper = "";
    for (_, findings) in found {
        let own = findings.id.split('/').next().unwrap_or_default();
        if own != paper {
            paper = own;
            let source = source(&findings.id).unwrap_or(own);
            table += &format!("\n## {source}\n\n| figure | published | ours | verdict |\n|---|---|---|---|\n");
        }
        table += &row(findings, folder);
    }
    let page = |(experiment, findings): &(&Experiment, &Findings)| (file(findings), page(experiment, findings, name));
    Document { table, pages: found.iter().map(page).collect() }
}

fn counts(found: &[(&Experiment, &Findings)]) -> String {
    let count = |verdict| found.iter().filter(|(_, f)| f.verdict == verdict).count();
    let tally = |headline| found.iter().map(|(_, f)| f.own.tally(headline)).sum::<Tally>();
    let not_asked = match count(Verdict::NotAsked) {
        0 => String::new(),
        n => format!(", {n} not asked"),
    };
    paragraph(&format!(
        "{} figures and tables: **{} hold, {} hold in part, {} undecided, {} do not hold{not_asked}.** {} and {} hold.",
        found.len(),
        count(Verdict::Holds),
        count(Verdict::HoldsInPart),
        count(Verdict::Undecided),
        count(Verdict::DoesNotHold),
        tally(true).words("headlines"),
        tally(false).words("side claims"),
    ))
}

/// The headline that tells most, its number, and the verdict on the figure.
fn row(findings: &Findings, folder: &str) -> String {
    let verdict = match findings.verdict {
        Verdict::Holds => "holds".into(),
        other => format!("**{}**", other.words()),
    };
    let kernel = findings.kernel.as_ref().filter(|_| !findings.is_kernel_only());
    let kernel = kernel.map_or(String::new(), |c| format!("; over real TCP: {}", c.measured.verdict().words()));
    let (claim, number) = findings
        .own
        .telling()
        .map_or((cell(&findings.claim), String::new()), |telling| (cell(&telling.text), cell(&telling.deciding)));
    format!(
        "| [{}]({folder}/{}) | {claim} | {number} | {verdict}; {}{kernel} |\n",
        findings.id,
        file(findings),
        findings.tallies(),
    )
}

/// `s0-fig3.md`.
fn file(findings: &Findings) -> String {
    findings.id.replace('/', "-") + ".md"
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The page of one figure.
fn page(experiment: &Experiment, findings: &Findings, table: &str) -> String {
    let mut text = format!("# {} {}\n\n", findings.id, findings.title);
    let source = source(&findings.id).map_or(String::new(), |source| format!(" From {source}."));
    text += &paragraph(&format!("[All figures](../{table}), and how they are judged.{source}"));
    let mut part = |words: String| text += &format!("\n{}", paragraph(&words));
    part(format!("**Published.** {}", findings.claim));
    part(format!(
        "**{}**: {} hold. {}.",
        capital(findings.verdict.words()),
        findings.tallies(),
        capital(&findings.setting())
    ));
    text += "\n";
    text += &items(&findings.own.claims);
    if let Some((inside, all)) = findings.inside_spread() {
        text += &format!("\n{inside} of {all} published values lie inside the spread of single seeds.\n");
    }
    let mut part = |words: String| text += &format!("\n{}", paragraph(&words));
    findings.why.iter().for_each(|why| part(format!("**Why.** {why}")));
    findings.note.iter().for_each(|note| part(format!("**Beside it.** {note}")));
    if !findings.assumptions.is_empty() {
        part(format!("**Assumed.** {}", findings.assumptions.join(" ")));
    }
    if !findings.is_kernel_only() {
        part(format!("{}; published values in brackets.", experiment.file.y.label));
        text += &format!("\n{}", numbers(experiment, findings, &findings.own));
    }
    text += &kernel(experiment, findings);
    for variant in &findings.variants {
        text += &self::variant(experiment, findings, variant);
    }
    text
}

/// Another reading of what the paper leaves open.
fn variant(experiment: &Experiment, findings: &Findings, variant: &Reading) -> String {
    let name = variant.name.as_deref().unwrap_or_default();
    let claims = variant.claims.iter().map(Judged::marked_line).collect::<Vec<_>>().join(". ");
    let words = paragraph(&format!("**{name}: {}.** {claims}.", variant.verdict().words()));
    let numbers = numbers(experiment, findings, variant);
    format!("\n{words}\n<details><summary>Numbers</summary>\n\n{numbers}\n</details>\n")
}

/// The runs over real TCP.
fn kernel(experiment: &Experiment, findings: &Findings) -> String {
    let Some(comparison) = &findings.kernel else { return String::new() };
    let (header, rows) = comparison.table(&experiment.file.sweep.label);
    let words = paragraph(&format!(
        "**Over real TCP: {}.** {} {}",
        comparison.measured.verdict().words(),
        comparison.setting(),
        comparison.differences_text()
    ));
    let mut text = format!("\n{words}\n{}", table(&header, &rows, 2));
    if !findings.is_kernel_only() {
        text += "\n";
        text += &items(comparison.claims());
    }
    if let Some(doubts) = comparison.doubts_text() {
        text += &format!("\n{}", paragraph(&format!("**Doubtful.** {doubts}.")));
    }
    text
}

fn items<'a>(claims: impl IntoIterator<Item = &'a Judged>) -> String {
    let line =
        |claim: &Judged| if claim.headline { format!("**Headline.** {}", claim.line()) } else { claim.marked_line() };
    claims.into_iter().map(|claim| item(&line(claim))).collect()
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
