// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem conform`: replays a stack's log of controller calls and checks it against the contract; or plays a golden trace.

mod golden;
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

/// Number of problems shown; the others are counted. JSON has a thousand.
const SHOWN: usize = 10;
/// The log may have any length, but each line is limited.
const LINE_BYTES: u64 = 1_000_000;

/// Replay a stack's log of ACK events against a controller, and report where it deviates or breaks the contract
///
/// The log has one JSON object a line; docs/embedding.md describes it, and the rules that a host must keep. Exit status 1 if the stack and the
/// controller differ or a rule is broken.
///
/// A file *.trace is a golden trace: events, and the window that must result, worked out by hand. It names its controllers;
/// `tandem new` writes one. Its lines:
///
///   controller NAME|./FILE.h       begins a story
///   set PARAMETER VALUE            before conn
///   conn cwnd=N [ssthresh=N] [clamp=N] [mss=1000] [una=0] [flight=0]
///   ack N rtt=US [times=1] [gap=0 (us)] [marked=0]; with OWNS_WINDOW [delivered=0 in=0 (us)] [lost=0]
///   round rtt=US [by=1] [times=1]  ACKs for all that is in flight
///   loss, ecn, timeout, recovered, undo, disorder, restart cwnd=N, wait US
///   app flight=N, bulk             what limits from now on: the application, the window
///   host [cwnd=N] [ssthresh=N] [clamp=N]
///   expect KEY=VALUE ...           cwnd, cnt, ssthresh, flight, rate; loss, delay, base, gamma, diff
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem conform stack.jsonl --controller compound_tube
  ./host | tandem conform - --controller compound@gamma=20
  tandem conform mine.trace")]
pub struct Args {
    /// The log, or a golden trace, *.trace; `-`: a log on standard input
    file: PathBuf,

    /// The controller that the stack claims to run, with any parameters that differ from the defaults
    #[arg(long, value_name = "CONTROLLER")]
    controller: Option<ControllerSpec>,

    /// The verdict as JSON
    #[arg(long)]
    json: bool,
}

pub fn conform(args: &Args) -> Result<(), Failure> {
    let is_golden = golden::is_golden(&args.file);
    let controller = match &args.controller {
        None if is_golden => return golden::conform(&args.file, args.json),
        None => return Err(Failure::usage("--controller is missing: a log does not name its controller")),
        Some(_) if is_golden => {
            return Err(Failure::usage("a golden trace names its controllers: leave out --controller"));
        }
        Some(controller) => controller,
    };
    let CongestionControl::Tandem(params) = controller.with(&Settings::default()) else {
        return Err(Failure::usage(format!(
            "`{controller}` is not one of Tandem's: name one of `tandem list controllers`"
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
        check.event(number as u64 + 1, &event).map_err(|e| wrong(e.to_string()))?;
        let new = check.problems().iter().enumerate().skip(known);
        for (_, problem) in new.filter(|(i, _)| *i < SHOWN && !args.json) {
            print(&format!("{name}:{}: {problem}\n", problem.line))?;
        }
    }
    if check.events() == 0 {
        return Err(Failure::usage(format!("{name}: the log is empty: its first line must be an `init` event")));
    }
    let verdict = Verdict::new(&name, controller.to_string(), &check);
    print(&if args.json { json_text(&verdict)? } else { verdict.in_words() })?;
    verdict.result()
}
