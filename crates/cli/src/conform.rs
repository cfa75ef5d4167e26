// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem conform`: a stack's log of its controller's calls, replayed and held against the contract.

mod verdict;

use std::{
    io::{BufRead, BufReader, stdin},
    path::PathBuf,
};

use anyhow::Context;
use tandem_conform::{Check, Event};
use tandem_scenario::{CongestionControl, ControllerSpec, Settings, bounded};

use crate::{failure::Failure, output::json_text, terminal::print};
use verdict::Verdict;

/// Problems that are shown; the others are counted. JSON has a thousand.
const SHOWN: usize = 10;
/// The log may be as long as it likes, but not a line of it.
const LINE_BYTES: u64 = 1_000_000;

/// Play a stack's log of ACK events against a controller, and say where it departs or breaks the contract
///
/// The log has one JSON object a line; docs/embedding.md describes it, and the rules that a host must keep. Exit status 1 if the stack and the
/// controller differ or a rule is broken.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem conform stack.jsonl --controller compound_tube
  ./host | tandem conform - --controller compound@gamma=20")]
pub struct Args {
    /// The log; `-`: standard input
    file: PathBuf,

    /// The controller that the stack says it runs, with parameters if it has others than the defaults
    #[arg(long, value_name = "CONTROLLER")]
    controller: ControllerSpec,

    /// The verdict as JSON
    #[arg(long)]
    json: bool,
}

pub fn conform(args: &Args) -> Result<(), Failure> {
    let CongestionControl::Tandem(params) = args.controller.with(&Settings::default()) else {
        return Err(Failure::usage(format!(
            "`{}` is not one of Tandem's: name one of `tandem list controllers`",
            args.controller
        )));
    };
    let name = if args.file.as_os_str() == "-" { "standard input".into() } else { args.file.display().to_string() };
    let lines: Box<dyn BufRead> = match &*name {
        "standard input" => Box::new(BufReader::new(stdin())),
        _ => Box::new(BufReader::new(
            bounded::open(&args.file, u64::MAX).map_err(|e| Failure::usage(format!("{name}: cannot be read: {e}")))?,
        )),
    };
    let mut check = Check::new(&params);
    for (number, line) in bounded::lines(lines, LINE_BYTES).enumerate() {
        let line = line.with_context(|| format!("{name}:{}: cannot be read", number + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |e: String| Failure::usage(format!("{name}:{}: {e}", number + 1));
        let event: Event = serde_json::from_str(&line).map_err(|e| wrong(e.to_string()))?;
        let known = check.problems().len();
        check.event(number as u64 + 1, &event).map_err(wrong)?;
        let new = check.problems().iter().enumerate().skip(known);
        for (_, problem) in new.filter(|(i, _)| *i < SHOWN && !args.json) {
            print(&format!("{name}:{}: {problem}\n", problem.line))?;
        }
    }
    if check.events() == 0 {
        return Err(Failure::usage(format!("{name}: the log is empty: its first line must be an `init` event")));
    }
    let verdict = Verdict::new(&name, args.controller.to_string(), &check);
    print(&if args.json { json_text(&verdict)? } else { verdict.in_words() })?;
    verdict.result()
}
