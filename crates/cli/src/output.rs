// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where results go: a table or JSON on standard output, a report, JSON and traces in a folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use anyhow::Context;
use serde::Serialize;
use tandem_report::{
    FLOWS_FILE, FiguresPage, LINKS_FILE, Report, Section, figures_html, html, matrix_figures, matrix_text, table,
    write_atomically, write_trace,
};
use tandem_scenario::{Scenario, matrix::Matrix, result::Run};

use crate::{Failure, runner::Outcome, settings::Common};

pub const REPORT_FILE: &str = "report.html";
pub const MODEL_FILE: &str = "model.html";
pub const RESULTS_FILE: &str = "results.json";

/// What `--json` prints.
#[derive(Default, Serialize)]
struct Results<'a> {
    version: &'static str,
    command: &'a str,
    runs: Vec<&'a Run>,
    /// Bandwidth stolen is measured against this run; with several engines there is one for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'a Run>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    baselines: Vec<&'a Run>,
    /// The shares of all pairs; `compare --matrix` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<&'a Matrix>,
}

/// Makes the output folder before anything runs, so that an hour's run does not end with "permission denied".
pub fn prepare_folder(common: &Common, default_name: &str) -> Result<PathBuf, Failure> {
    let folder = common.out.clone().unwrap_or_else(|| Path::new("tandem-out").join(file_name(default_name)));
    make_folder(&folder)?;
    Ok(folder)
}

/// As [`prepare_folder`], for a folder that is known.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    let prepare = || {
        refuse_planted_links(folder)?;
        fs::create_dir_all(folder)?;
        write_atomically(&folder.join(".tandem-writable"), b"")?;
        fs::remove_file(folder.join(".tandem-writable"))
    };
    Ok(prepare().with_context(|| {
        format!("cannot write to the output folder `{}`; choose another with --out", folder.display())
    })?)
}

/// As root, no symbolic link leads to where results go that another user has put into a folder which others may write to: it could lead
/// anywhere.
fn refuse_planted_links(folder: &Path) -> io::Result<()> {
    #[cfg(not(unix))]
    let _ = folder;
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        use std::os::unix::fs::MetadataExt;
        for part in folder.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            let Ok(link) = part.symlink_metadata() else { continue };
            let parent = part.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if link.is_symlink() && link.uid() != 0 && parent.metadata()?.mode() & 0o022 != 0 {
                let why =
                    format!("`{}` is a link that user {} put there, and this is root", part.display(), link.uid());
                return Err(io::Error::other(why));
            }
        }
    }
    Ok(())
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

pub fn json_text(value: &impl Serialize) -> anyhow::Result<String> {
    let mut json = serde_json::to_string_pretty(value).context("results as JSON")?;
    json.push('\n');
    Ok(json)
}

/// Writes the model's page of figures.
pub fn write_model_report(folder: &Path, page: &FiguresPage) -> Result<(), Failure> {
    let path = folder.join(MODEL_FILE);
    fs::create_dir_all(folder)
        .and_then(|()| write_atomically(&path, figures_html(page).as_bytes()))
        .with_context(|| format!("cannot write `{}`; choose another folder with --out", path.display()))?;
    note(&format!("Report: {}", path.display()));
    Ok(())
}

/// The command line as it was given.
pub fn command_line() -> String {
    let quote = |arg: String| {
        let plain = !arg.is_empty() && arg.chars().all(|c| c.is_alphanumeric() || "-_./:=@,%+".contains(c));
        if plain { arg } else { format!("'{}'", arg.replace('\'', r"'\''")) }
    };
    let arguments = std::env::args_os().skip(1).map(|arg| quote(arg.to_string_lossy().into_owned()));
    std::iter::once("tandem".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Prints and writes what came of pairs of controllers.
pub fn publish_matrix(
    title: &str,
    set_up: String,
    matrix: &Matrix,
    outcome: &Outcome,
    common: &Common,
    folder: &Path,
) -> Result<(), Failure> {
    let (command, version) = (command_line(), env!("CARGO_PKG_VERSION"));
    let runs = outcome.runs.iter().flatten().collect();
    let json = json_text(&Results { version, command: &command, runs, matrix: Some(matrix), ..Results::default() })?;
    let text = matrix_text(matrix);
    let page = FiguresPage {
        title: title.to_owned(),
        paragraphs: vec![set_up],
        text: text.clone(),
        figures: matrix_figures(matrix),
        command,
        version: version.into(),
    };
    write(&folder.join(RESULTS_FILE), &json)?;
    write(&folder.join(REPORT_FILE), &figures_html(&page))?;
    finish(if common.json { &json } else { &text }, outcome.interrupted, folder)
}

pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = write_atomically(path, text.as_bytes());
    Ok(written.with_context(|| format!("cannot write `{}`", path.display()))?)
}

/// Prints results and says where the report is and whether it is whole.
fn finish(results: &str, interrupted: bool, folder: &Path) -> Result<(), Failure> {
    print(results)?;
    note(&format!("Report: {}", folder.join(REPORT_FILE).display()));
    if interrupted {
        warn("tandem: interrupted; what was done by then is kept and marked partial");
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// Prints and writes the results. Each engine has an outcome, with the runs of `scenarios` in order; bandwidth stolen is measured against
/// the one at `baseline`.
pub fn publish(
    title: &str,
    scenarios: &[Scenario],
    outcomes: &[Outcome],
    baseline: Option<usize>,
    common: &Common,
    folder: &Path,
) -> Result<(), Failure> {
    let command = command_line();
    let runs = outcomes.iter().flat_map(|outcome| scenarios.iter().zip(&outcome.runs).enumerate());
    let sections: Vec<Section> = runs
        .filter(|(i, _)| Some(*i) != baseline)
        .filter_map(|(_, (scenario, run))| Some(Section { scenario, run: run.as_ref()? }))
        .collect();
    let baselines: Vec<&Run> =
        baseline.iter().flat_map(|&i| outcomes.iter().filter_map(move |o| o.runs[i].as_ref())).collect();
    let results = Results {
        version: env!("CARGO_PKG_VERSION"),
        command: &command,
        runs: sections.iter().map(|s| s.run).collect(),
        baseline: if outcomes.len() == 1 { baselines.first().copied() } else { None },
        baselines: if outcomes.len() == 1 { Vec::new() } else { baselines.clone() },
        matrix: None,
    };
    let json = json_text(&results)?;
    let report = Report {
        title: title.to_owned(),
        command: command.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections: sections.clone(),
        baselines,
    };

    let interrupted = outcomes.iter().any(|outcome| outcome.interrupted);
    let text = format!("{}\n", table(&report));
    let results = if common.json { &json } else { &text };
    if let Err(e) = write_files(folder, &json, &html(&report), common.trace.then_some(&sections)) {
        // The disk may be full, but the run was made.
        print(results)?;
        return Err(e);
    }
    finish(results, interrupted, folder)
}

/// `traced` is `None` if no traces are wanted.
fn write_files(folder: &Path, json: &str, html: &str, traced: Option<&Vec<Section>>) -> Result<(), Failure> {
    write(&folder.join(RESULTS_FILE), json)?;
    write(&folder.join(REPORT_FILE), html)?;
    if let Some(sections) = traced {
        return Ok(write_trace(folder, sections).with_context(|| format!("cannot write `{}`", folder.display()))?);
    }
    // Samples of an earlier run would pass for this one's.
    for old in [FLOWS_FILE, LINKS_FILE].map(|name| folder.join(name)) {
        if old.exists() {
            fs::remove_file(&old).with_context(|| format!("cannot remove the old `{}`", old.display()))?;
        }
    }
    Ok(())
}

/// Asked for with `--quiet`.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets what `--quiet` and `--color` ask for. To be called once, before anything is printed.
pub fn set_up(quiet: bool, color: clap::ColorChoice) {
    QUIET.store(quiet, Relaxed);
    let choice = match color {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    #[cfg(all(feature = "linux", target_os = "linux"))]
    if color != clap::ColorChoice::Auto {
        crossterm::style::force_color_output(color == clap::ColorChoice::Always);
    }
}

/// Whether `--quiet` was given.
pub fn is_quiet() -> bool {
    QUIET.load(Relaxed)
}

/// To standard error, unless `--quiet` was given.
pub fn note(line: &str) {
    if !is_quiet() {
        warn(line);
    }
}

/// To standard error. Unlike `eprintln!` it does not panic if nobody reads there any more (`2>&1 | head`).
pub fn warn(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// An error, to standard error.
pub fn complain(error: &str) {
    use std::io::Write;
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{red}tandem:{red:#} {error}");
}

/// To standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_to_reader(text).map(drop)
}

/// Like [`print()`], but returns whether there is still a reader.
pub fn print_to_reader(text: &str) -> Result<bool, Failure> {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Failure::Failed(anyhow::Error::new(e).context("cannot write to standard output"))),
    }
}
