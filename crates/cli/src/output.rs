// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where results go: a table or JSON on standard output, a report, JSON and traces in a folder.

use std::{fs, path::Path};

use anyhow::Context;
use serde::Serialize;
use tandem_report::{
    FLOWS_FILE, FiguresPage, LINKS_FILE, Report, Section, figures_html, html, matrix_figures, matrix_text, table,
    write_atomically, write_trace,
};
use tandem_results::{Matrix, Run};
use tandem_scenario::{Parts, Scenario};

use crate::{
    failure::Failure,
    folder::{Folder, REPORT_FILE, RESULTS_FILE},
    interrupt,
    origin::{COMMIT, command_line},
    runner::Outcome,
    settings::Common,
    terminal::{note, print_kept, warn},
};

pub const MODEL_FILE: &str = "model.html";

/// What `--json` prints.
#[derive(Default, Serialize)]
struct Results<'a> {
    version: &'static str,
    commit: &'static str,
    command: &'a str,
    runs: Vec<Entry<'a>>,
    /// Why there are as many seeds as there are, if that was left to the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_these_seeds: Option<String>,
    /// After an interrupt: the runs of which no seed was finished, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// Bandwidth stolen is measured against this run; with several engines there is one for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Entry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    baselines: Vec<Entry<'a>>,
    /// The shares of all pairs; `compare --matrix` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<&'a Matrix>,
}

/// A run with all that decides it.
#[derive(Clone, Copy, Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    run: &'a Run,
    scenario: &'a Parts,
}

impl<'a> Entry<'a> {
    fn new(scenario: &'a Scenario, run: &'a Run) -> Self {
        Self { run, scenario }
    }
}

pub fn json_text(value: &impl Serialize) -> anyhow::Result<String> {
    let mut json = serde_json::to_string_pretty(value).context("results as JSON")?;
    json.push('\n');
    Ok(json)
}

/// Writes the model's page of figures.
pub fn write_model_report(folder: &Path, page: &FiguresPage) -> Result<(), Failure> {
    let path = folder.join(MODEL_FILE);
    let written = fs::create_dir_all(folder).and_then(|()| write_atomically(&path, figures_html(page).as_bytes()));
    Ok(written.with_context(|| format!("cannot write `{}`; choose another folder with --out", path.display()))?)
}

/// Prints and writes what came of pairs of controllers.
pub fn publish_matrix(
    title: &str,
    set_up: String,
    matrix: &Matrix,
    outcome: &Outcome,
    common: &Common,
    folder: &Folder,
) -> Result<(), Failure> {
    let keeping = interrupt::keeping();
    let (command, version) = (command_line(), env!("CARGO_PKG_VERSION"));
    let missing = missing(std::slice::from_ref(outcome));
    let runs = outcome
        .scenarios
        .iter()
        .zip(&outcome.runs)
        .filter_map(|(scenario, run)| Some(Entry::new(scenario, run.as_ref()?)));
    let runs = runs.collect();
    let matrix_of = Some(matrix);
    let results = Results {
        version,
        commit: COMMIT,
        command: &command,
        runs,
        missing,
        matrix: matrix_of,
        why_these_seeds: outcome.why.clone(),
        ..Results::default()
    };
    let json = json_text(&results)?;
    let text = [Some(matrix_text(matrix)), outcome.why.as_ref().map(|why| format!("\n{why}\n"))]
        .into_iter()
        .flatten()
        .collect::<String>();
    let page = || FiguresPage {
        title: title.to_owned(),
        paragraphs: vec![set_up],
        text: text.clone(),
        figures: matrix_figures(matrix),
        command: command.clone(),
        version: version.into(),
    };
    keep_and_print(&results, outcome.interrupted, common, folder, if common.json { &json } else { &text }, || {
        write(&folder.path().join(RESULTS_FILE), &json)?;
        drop(keeping);
        write_report(common.no_report, folder.path(), || figures_html(&page()))
    })
}

pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = write_atomically(path, text.as_bytes());
    Ok(written.with_context(|| format!("cannot write `{}`", path.display()))?)
}

/// Why there are as many seeds as there are; with several engines a sentence for each, unless they agree.
fn why(outcomes: &[Outcome]) -> Option<String> {
    let mut sentences: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome.why.as_deref()).collect();
    sentences.dedup();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The names of the scenarios of which no seed was finished.
fn missing(outcomes: &[Outcome]) -> Vec<String> {
    let of_outcome = |outcome: &Outcome| {
        let not_done = outcome.scenarios.iter().zip(&outcome.runs).filter(|(_, run)| run.is_none());
        not_done.map(|(scenario, _)| scenario.name.clone()).collect::<Vec<_>>()
    };
    let mut names: Vec<String> = outcomes.iter().flat_map(of_outcome).collect();
    names.dedup();
    names
}

/// Writes the files, prints `text`, and says where the report is and whether it is whole. An interrupted run leaves what is there of an
/// earlier one.
fn keep_and_print(
    results: &Results,
    interrupted: bool,
    common: &Common,
    folder: &Folder,
    text: &str,
    write_files: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (shown, has_earlier) = (folder.path().display(), folder.has_results());
    let is_kept = !interrupted || !(has_earlier || results.runs.is_empty());
    print_kept(text, if is_kept { write_files() } else { Ok(()) })?;
    if is_kept {
        let replaced = if has_earlier { " (it replaces the one of the same command)" } else { "" };
        note(&format!("{}{replaced}", where_it_is(common.no_report, folder.path())));
    }
    if !interrupted {
        let cpu_s: f64 = results.runs.iter().chain(&results.baselines).map(|entry| entry.run.cpu_s).sum();
        note(&format!("It took {cpu_s:.1} s of processor time."));
        return Ok(());
    }
    let kept = match (has_earlier, results.runs.is_empty()) {
        (true, _) => format!("`{shown}` keeps the earlier results"),
        (false, true) => "nothing was finished".to_owned(),
        (false, false) => "finished runs are kept and marked partial".to_owned(),
    };
    let missing = match &results.missing[..] {
        [] => String::new(),
        names => format!("; nothing of: {}", names.join(", ")),
    };
    warn(&format!("tandem: interrupted; {kept}{missing}"));
    Err(Failure::Interrupted)
}

/// Prints and writes the results. Each engine has an outcome; bandwidth stolen is measured against its run at `baseline`.
pub fn publish(
    title: &str,
    outcomes: &[Outcome],
    baseline: Option<usize>,
    common: &Common,
    folder: &Folder,
) -> Result<(), Failure> {
    let keeping = interrupt::keeping();
    let command = command_line();
    let runs = outcomes.iter().flat_map(|outcome| outcome.scenarios.iter().zip(&outcome.runs).enumerate());
    let sections: Vec<Section> = runs
        .filter(|(i, _)| Some(*i) != baseline)
        .filter_map(|(_, (scenario, run))| Some(Section { scenario, run: run.as_ref()? }))
        .collect();
    let of_baseline =
        |i: usize| outcomes.iter().filter_map(move |o| Some(Entry::new(&o.scenarios[i], o.runs[i].as_ref()?)));
    let baselines: Vec<Entry> = baseline.into_iter().flat_map(of_baseline).collect();
    let results = Results {
        version: env!("CARGO_PKG_VERSION"),
        commit: COMMIT,
        command: &command,
        runs: sections.iter().map(|s| Entry::new(s.scenario, s.run)).collect(),
        baseline: if outcomes.len() == 1 { baselines.first().copied() } else { None },
        baselines: if outcomes.len() == 1 { Vec::new() } else { baselines.clone() },
        matrix: None,
        missing: missing(outcomes),
        why_these_seeds: why(outcomes),
    };
    let json = json_text(&results)?;
    let report = Report {
        title: title.to_owned(),
        command: command.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections: sections.clone(),
        baselines: baselines.iter().map(|entry| entry.run).collect(),
        why_these_seeds: why(outcomes),
    };
    let text = if common.json { json.clone() } else { format!("{}\n", table(&report)) };
    let interrupted = outcomes.iter().any(|outcome| outcome.interrupted);
    keep_and_print(&results, interrupted, common, folder, &text, || {
        write(&folder.path().join(RESULTS_FILE), &json)?;
        drop(keeping);
        write_report(common.no_report, folder.path(), || html(&report))?;
        write_traces(folder.path(), common.trace.then_some(&sections))
    })
}

/// With `--no-report` none, and not that of an earlier run either: it would pass for this one's.
pub fn write_report(is_left_out: bool, folder: &Path, html: impl FnOnce() -> String) -> Result<(), Failure> {
    let path = folder.join(REPORT_FILE);
    if is_left_out { remove(&path) } else { write(&path, &html()) }
}

/// Where to find what was written.
pub fn where_it_is(has_no_report: bool, folder: &Path) -> String {
    let (what, file) = if has_no_report { ("Results", RESULTS_FILE) } else { ("Report", REPORT_FILE) };
    format!("{what}: {}", folder.join(file).display())
}

pub fn remove(path: &Path) -> Result<(), Failure> {
    if path.exists() {
        fs::remove_file(path).with_context(|| format!("cannot remove the old `{}`", path.display()))?;
    }
    Ok(())
}

/// `traced` is `None` if no traces are wanted.
fn write_traces(folder: &Path, traced: Option<&Vec<Section>>) -> Result<(), Failure> {
    if let Some(sections) = traced {
        return Ok(write_trace(folder, sections).with_context(|| format!("cannot write `{}`", folder.display()))?);
    }
    // Samples of an earlier run would pass for this one's.
    [FLOWS_FILE, LINKS_FILE].iter().try_for_each(|name| remove(&folder.join(name)))
}
