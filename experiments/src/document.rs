// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/reproduction.md, a row per figure; and a page per figure that fits the head: claim, verdict, picture, cause, main table.

use tandem_report::figure_svg;

use crate::{
    excerpt,
    file::Experiment,
    findings::Findings,
    judged::Judged,
    page::figure,
    prose::{item, paragraph},
    source,
    table::capital,
    tally::Tally,
    verdict::Verdict,
};

const INTRODUCTION: &str = include_str!("introduction.md");

/// A page names at most this many headlines that do not hold.
const NAMED: usize = 5;
/// A page has at most this many words.
const WORDS: usize = 400;
/// The most numbers that a page's table has; fewer where the words leave less room.
const CELLS: [usize; 7] = [60, 48, 40, 32, 24, 16, 8];

/// The table of all figures, and the files that it links to.
pub struct Document {
    /// Markdown of the table.
    pub table: String,
    /// Name of the file and text, for the folder that the table links to: a page and a picture for each figure.
    pub files: Vec<(String, String)>,
}

/// Where a document lies.
pub struct Place<'a> {
    /// The table's file: `reproduction.md`.
    pub name: &'a str,
    /// The folder of the pages, beside it: `reproduction`.
    pub folder: &'a str,
    /// Whether `experiments/` lies beside the table's folder, so that pages can link to the files of set-ups and numbers.
    pub has_experiments: bool,
}

/// Findings as Markdown. `command` wrote them.
pub fn markdown(found: &[(&Experiment, &Findings)], command: &str, place: &Place) -> Document {
    let mut table = INTRODUCTION.replace("COMMAND", command) + "\n" + &counts(found);
    let mut paper = "";
    for (experiment, findings) in found {
        let own = findings.id.split('/').next().unwrap_or_default();
        if own != paper {
            paper = own;
            let source = source(&findings.id).unwrap_or(own);
            table += &format!("\n## {source}\n\n| figure | published | ours | verdict |\n|---|---|---|---|\n");
        }
        table += &row(experiment, findings, place.folder);
    }
    let files = |(experiment, findings): &(&Experiment, &Findings)| {
        let name = stem(findings);
        let picture = figure_svg(&figure(experiment, findings));
        [(name.clone() + ".md", page(experiment, findings, place)), (name + ".svg", picture)]
    };
    Document { table, files: found.iter().flat_map(files).collect() }
}

fn counts(found: &[(&Experiment, &Findings)]) -> String {
    let count = |verdict| found.iter().filter(|(_, f)| f.verdict == verdict).count();
    let tally = |headline| found.iter().map(|(_, f)| f.own.tally(headline)).sum::<Tally>();
    let not_run = match count(Verdict::NotAsked) {
        0 => String::new(),
        n => format!(", {n} not run"),
    };
    paragraph(&format!(
        "{} figures and tables: **{} hold, {} hold in part, {} are undecided, {} fail{not_run}.** {} and {} hold.",
        found.len(),
        count(Verdict::Holds),
        count(Verdict::HoldsInPart),
        count(Verdict::Undecided),
        count(Verdict::DoesNotHold),
        tally(true).words("headline"),
        tally(false).words("side claim"),
    ))
}

/// The headline that tells most, its number, and the verdict on the figure.
fn row(experiment: &Experiment, findings: &Findings, folder: &str) -> String {
    let verdict = match findings.verdict {
        Verdict::Holds => "holds".into(),
        other => format!("**{}**", other.words()),
    };
    let kernel = findings.kernel.as_ref().filter(|_| !findings.is_kernel_only());
    let kernel = kernel.map_or(String::new(), |c| format!("; over real TCP: {}", c.measured.verdict().words()));
    let (claim, number) = match findings.own.telling() {
        None => (cell(&findings.claim), String::new()),
        Some(telling) => {
            // What has no number worth printing, such as a case, is said in words.
            let phrase = phrase(experiment, telling).filter(|phrase| !phrase.contains("{}"));
            let told = phrase.and_then(|phrase| telling.told(phrase));
            (cell(&telling.text), cell(&told.unwrap_or_else(|| telling.deciding())))
        }
    };
    format!(
        "| [{}]({folder}/{}.md) | {claim} | {number} | {verdict}; {}{kernel} |\n",
        findings.id,
        stem(findings),
        findings.tallies(),
    )
}

/// `s0-fig3`.
fn stem(findings: &Findings) -> String {
    findings.id.replace('/', "-")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The page of one figure, with as much of its table as there is room for.
fn page(experiment: &Experiment, findings: &Findings, place: &Place) -> String {
    let with_table = |cells: usize| whole_page(experiment, findings, place, cells);
    let fits = |page: &String| words(page) <= WORDS;
    CELLS.iter().map(|&cells| with_table(cells)).find(fits).unwrap_or_else(|| with_table(CELLS[CELLS.len() - 1]))
}

/// Runs of characters with a letter or a digit, as scripts/lint/words.py counts.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

fn whole_page(experiment: &Experiment, findings: &Findings, place: &Place, cells: usize) -> String {
    let mut text = format!("# {} {}\n\n", findings.id, findings.title);
    let source = source(&findings.id).map_or(String::new(), |source| format!(" From {source}."));
    text += &paragraph(&format!("[All figures](../{}), and how they are judged.{source}", place.name));
    text += &format!(
        "\n{}\n{}",
        paragraph(&format!("**The paper says:** {}", findings.claim)),
        verdict(experiment, findings)
    );
    text += &format!("\n![{}]({}.svg)\n", findings.title, stem(findings));
    if let Some(why) = &findings.why {
        text += &format!("\n{}", paragraph(&format!("**Why:** {why}")));
    }
    text += &numbers(experiment, findings, cells);
    text += &kernel(findings);
    text + "\n" + &paragraph(&rest(experiment, findings, place))
}

/// The verdict in a sentence or two, and the other headlines that do not hold.
fn verdict(experiment: &Experiment, findings: &Findings) -> String {
    let own = &findings.own;
    let word = findings.verdict.words();
    let Some(telling) = own.telling() else { return format!("**{}.**\n", capital(word)) };
    let claim = telling.text.trim_end_matches('.');
    let said = told(experiment, telling).unwrap_or_else(|| {
        let finding = telling.finding();
        let numbers = finding.strip_prefix(word).unwrap_or(&finding);
        format!("“{claim}”{}{numbers}", if numbers.starts_with([':', ' ']) { "" } else { " " })
    });
    let mut text = paragraph(&format!("**{}:** {said}. {}", capital(word), own.tallies_in_words()));
    let is_other =
        |claim: &&Judged| claim.headline && claim.verdict != Verdict::Holds && !std::ptr::eq(*claim, telling);
    let others: Vec<&Judged> = own.claims.iter().filter(is_other).collect();
    if !others.is_empty() {
        text.push('\n');
    }
    others
        .iter()
        .take(NAMED)
        .for_each(|claim| text += &item(&told(experiment, claim).unwrap_or_else(|| claim.brief())));
    if others.len() > NAMED {
        text += &item(&format!("and {} more headlines", others.len() - NAMED));
    }
    text
}

/// What was found, in the words of the experiment's file.
fn told(experiment: &Experiment, claim: &Judged) -> Option<String> {
    claim.told(phrase(experiment, claim)?)
}

/// The words of the experiment's file for what was found.
fn phrase<'a>(experiment: &'a Experiment, claim: &Judged) -> Option<&'a str> {
    experiment.claim_of(&claim.text)?.found.as_deref()
}

/// The main table, or what fits of it.
fn numbers(experiment: &Experiment, findings: &Findings, cells: usize) -> String {
    if findings.is_kernel_only() {
        return String::new();
    }
    let (header, rows, is_whole) = excerpt::main_table(experiment, findings, cells);
    let part = if is_whole { "" } else { "; part of the table" };
    let is_printed = rows.iter().flatten().any(|cell| cell.ends_with(']'));
    let published = if is_printed { "; published values in brackets" } else { "" };
    let label = &experiment.file.y.label;
    let caption = paragraph(&format!("{label}; {}{published}{part}:", findings.seeds_text()));
    format!("\n{caption}\n{}", table(&header, &rows, 1))
}

/// The runs over real TCP.
fn kernel(findings: &Findings) -> String {
    let Some(comparison) = &findings.kernel else { return String::new() };
    let verdict = comparison.measured.verdict().words();
    let doubts = if comparison.doubts.is_empty() { "" } else { " The emulator doubts some of these runs." };
    let words = format!("**Over real TCP:** {verdict}. {}{doubts}", comparison.in_short());
    format!("\n{}", paragraph(&words))
}

/// Where the rest is.
fn rest(experiment: &Experiment, findings: &Findings, place: &Place) -> String {
    let mut has = vec!["all claims"];
    let parts = [
        (findings.more.is_some(), "how the cause was found"),
        (!findings.variants.is_empty(), "the variants"),
        (findings.note.is_some(), "what else was found"),
        (findings.kernel.is_some(), "the runs over real TCP"),
    ];
    has.extend(parts.iter().filter(|(is_there, _)| *is_there).map(|(_, part)| *part));
    let (id, path) = (&findings.id, experiment.path());
    let files = match place.has_experiments {
        true => format!(
            " Files: [set-up, assumptions and claims](../../{path}), \
             [numbers](../../experiments/results/{id}.json)."
        ),
        false => String::new(),
    };
    format!("`tandem papers show {id}` prints {}.{files}", list(&has))
}

/// `a, b and c`.
fn list(parts: &[&str]) -> String {
    match parts {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => parts.concat(),
    }
}

/// The first columns to the left, the others to the right.
fn table(header: &[String], rows: &[Vec<String>], left: usize) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(|c| cell(c)).collect::<Vec<_>>().join(" | "));
    let rule = format!("|{}{}\n", "---|".repeat(left), "---:|".repeat(header.len() - left));
    line(header) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}
