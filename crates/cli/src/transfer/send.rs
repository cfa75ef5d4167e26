// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem send`.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use tandem_scenario::ControllerSpec;
use tandem_transfer::{Progress, SendNote, SendOptions, Source};

use super::{progress::Shown, run, ticket, transport};
use crate::{
    failure::Failure,
    terminal::{note, print},
};

/// Send files over QUIC to the receiver that printed the ticket
///
/// Folders are sent whole, without links and devices. Files that the receiver already has are not sent again.
///
/// The ticket is a secret. Where it is an argument, all users of this machine can read it in the list of processes while the command runs. Keep
/// it off the command line: `-` in its place reads it from standard input, and --ticket-file from a file; or put it into the variable TANDEM_TICKET.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem send film.mkv photos -                        # paste the ticket
  tandem send film.mkv --ticket-file ticket --controller compound@gamma=20
  ssh there cat ticket | tandem send --bench - --seconds 20")]
pub struct Args {
    /// Files and folders, then the ticket: `-` to read it from standard input, or the ticket itself, which other users can then see
    #[arg(value_name = "FILE... TICKET")]
    what: Vec<String>,

    /// Read the ticket from this file; then all arguments are files
    #[arg(long, value_name = "FILE")]
    ticket_file: Option<PathBuf>,

    /// The congestion controller [default: compound_tube]
    #[arg(long, value_name = "CONTROLLER")]
    controller: Option<ControllerSpec>,

    /// Use quinn's own CUBIC instead, to compare
    #[arg(long, conflicts_with = "controller")]
    quinn_cubic: bool,

    /// Measure without a file: the receiver discards the data
    #[arg(long)]
    bench: bool,

    /// How long --bench sends, seconds
    #[arg(long, requires = "bench", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

pub fn send(args: &Args) -> Result<(), Failure> {
    let transport = transport(args.controller.as_ref(), args.quinn_cubic)?;
    let (ticket, files) = ticket::find(&args.what, args.ticket_file.as_deref())?;
    let source = match (args.bench, files) {
        (true, []) => Source::Bench(Duration::from_secs(args.seconds)),
        (true, _) => return Err(Failure::usage("--bench sends no files: give the ticket alone")),
        (false, []) => return Err(Failure::usage("name the files to send, then the ticket")),
        (false, files) => Source::Files(files.iter().map(PathBuf::from).collect()),
    };
    let options = SendOptions { transport, ..SendOptions::default() };
    let progress = Arc::new(Progress::default());
    let start = Instant::now();
    let summary = {
        let _shown = Shown::new(&progress);
        let happened = |happened| match happened {
            SendNote::LeftOut(path) => note(&format!("left out because it is not a regular file: {}", path.display())),
            SendNote::TriesAgain(why) => {
                note(&format!("{why}; trying again for {} s", options.patience.as_secs()));
            }
        };
        run(tandem_transfer::send(&source, &ticket, &options, progress.clone(), happened))?
    };
    let text = super::summary("sent", &summary, start.elapsed().as_secs_f64());
    if args.bench {
        print(&format!("{text}\n"))
    } else {
        note(&text);
        Ok(())
    }
}
