// SPDX-License-Identifier: MIT OR Apache-2.0
//! A golden trace, played.

use std::path::Path;

use serde::Serialize;
use tandem_conform::golden::{Played, play};
use tandem_scenario::bounded;

use super::SHOWN;
use crate::{failure::Failure, output::json_text, terminal::print};

/// Largest size of a trace, bytes; ours have 5 kB.
const MOST_BYTES: u64 = 10_000_000;

/// File extension of a golden trace.
const EXTENSION: &str = "trace";

pub fn is_golden(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == EXTENSION)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Verdict<'a> {
    trace: &'a str,
    conforms: bool,
    stories: usize,
    checks: usize,
    problems: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct Problem<'a> {
    line: usize,
    what: &'a str,
}

/// Plays it, and reports the deviations. A header's path in it is relative to its folder.
pub fn conform(file: &Path, as_json: bool) -> Result<(), Failure> {
    let name = file.display().to_string();
    let text =
        bounded::read_text(file, MOST_BYTES).map_err(|e| Failure::usage(format!("{name}: cannot be read: {e}")))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let played = play(&text, folder).map_err(|e| Failure::usage(format!("{name}:{}: {}", e.line, e.why)))?;
    print(&if as_json { json_text(&verdict(&name, &played))? } else { in_words(&name, &played) })?;
    match played.problems.len() {
        0 => Ok(()),
        wrong => Err(Failure::Failed(anyhow::anyhow!(
            "{name}: {wrong} of {} lines do not match: find out whether the trace or the controller is wrong",
            played.checks.max(wrong)
        ))),
    }
}

fn verdict<'a>(trace: &'a str, played: &'a Played) -> Verdict<'a> {
    let problems = played.problems.iter().map(|(line, what)| Problem { line: *line, what });
    let (stories, checks) = (played.stories, played.checks);
    Verdict { trace, conforms: played.problems.is_empty(), stories, checks, problems: problems.collect() }
}

fn in_words(name: &str, played: &Played) -> String {
    let shown = played.problems.iter().take(SHOWN);
    let text: String = shown.map(|(line, what)| format!("{name}:{line}: {what}\n")).collect();
    match played.problems.len().checked_sub(SHOWN) {
        None | Some(0) if !played.problems.is_empty() => text,
        None | Some(0) => format!("{} stories, {} checks: all match\n", played.stories, played.checks),
        Some(more) => format!("{text}{more} more\n"),
    }
}
