// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem papers cases`: the test cases of a specification, run and judged.

use std::path::{Path, PathBuf};

use tandem_papers::cases::{Case, Found, cases as of_word, markdown, run, text};

use tandem_scenario::bounded::read_text;

use crate::{
    failure::Failure,
    interrupt::flag,
    origin::command_line,
    output::{json_text, write},
    terminal::{is_quiet, note, print},
};

/// The largest file that is read.
const MOST_BYTES: u64 = 1_000_000;

#[derive(clap::Args)]
pub struct Cases {
    /// Suites such as bbr-draft, cases such as bbr-draft/07, or your own files; all if none is given
    words: Vec<String>,

    /// A path or two for each case
    #[arg(long)]
    quick: bool,

    /// Only show what there is
    #[arg(long)]
    list: bool,

    /// As JSON, with each path
    #[arg(long)]
    json: bool,

    /// Also write the page of verdicts, docs/bbr-draft.md in the repository
    #[arg(long, value_name = "FILE")]
    doc: Option<PathBuf>,
}

pub fn cases(args: &Cases) -> Result<(), Failure> {
    let words = if args.words.is_empty() { vec![String::new()] } else { args.words.clone() };
    let mut meant = Vec::new();
    for word in words {
        meant.extend(if word.ends_with(".toml") {
            vec![from_file(&word)?]
        } else {
            of_word(&word).map_err(Failure::usage)?
        });
    }
    if args.list {
        return print(&meant.iter().map(|case| format!("{}  {}\n", case.id, case.title())).collect::<String>());
    }
    let cancelled = flag();
    let tell = |done: &str| {
        if !is_quiet() {
            note(done);
        }
    };
    let found = run(&meant, args.quick, cancelled, &tell).map_err(|e| Failure::Failed(e.into()))?;
    let found = found.ok_or(Failure::Interrupted)?;
    if let Some(path) = &args.doc {
        write(path, &markdown("The BBR draft's test cases", &intro(&found, args.quick), &found))?;
    }
    if args.json {
        return print(&json_text(&found)?);
    }
    print(&found.iter().map(text).collect::<Vec<_>>().join("\n"))
}

/// A case of one's own.
fn from_file(path: &str) -> Result<Case, Failure> {
    let text =
        read_text(Path::new(path), MOST_BYTES).map_err(|e| Failure::usage(format!("cannot read `{path}`: {e}")))?;
    Case::parse(path.trim_end_matches(".toml"), path, &text).map_err(Failure::usage)
}

/// What the page begins with.
fn intro(found: &[Found], quick: bool) -> String {
    let runs: usize = found.iter().map(|case| case.runs.len()).sum();
    let form = if quick { "This is the reduced form, for rates up to 100 Mb/s. " } else { "" };
    format!(
        "<!-- written by `{}`: do not edit -->\n\n\
         The 22 cases of draft-ietf-ccwg-bbr, appendix \"BBR Example Test Cases\" (commit 4ce5e87), each a file with its claims. A case holds\n\
         if its claims hold at each moment on all its paths: those on which it can be posed (of four packets in flight 2 % cannot be lost).\n\
         Files mark what is ours. `bbr`, version 1, is there for information.\n\
         {form}There were {runs} runs.",
        command_line(),
    )
}
