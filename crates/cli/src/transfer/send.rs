// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem send`.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use tandem_scenario::ControllerSpec;
use tandem_transfer::{Progress, SendOptions, Source, Ticket};

use super::{progress::Shown, run, transport};
use crate::{
    Failure,
    output::{note, print},
};

/// Send files over QUIC to who printed the ticket
///
/// Folders are sent with all that is in them, links and devices left out. What the receiver has already is not sent again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem send film.mkv photos 192.0.2.7:4433/9f...e1/07...c4
  tandem send film.mkv TICKET --controller compound@gamma=20
  tandem send --bench TICKET --seconds 20")]
pub struct Args {
    /// Files and folders, and at last the ticket; with --bench the ticket alone
    #[arg(required = true, value_name = "FILE... TICKET")]
    what: Vec<String>,

    /// The congestion controller [default: compound_tube]
    #[arg(long, value_name = "CONTROLLER")]
    controller: Option<ControllerSpec>,

    /// Use quinn's own CUBIC instead, to compare
    #[arg(long, conflicts_with = "controller")]
    quinn_cubic: bool,

    /// Measure, without a file: the receiver throws away what comes
    #[arg(long)]
    bench: bool,

    /// How long --bench sends, seconds
    #[arg(long, requires = "bench", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

pub fn send(args: &Args) -> Result<(), Failure> {
    let Some((ticket, files)) = args.what.split_last() else { return Err(Failure::usage("name a ticket")) };
    let source = match (args.bench, files) {
        (true, []) => Source::Bench(Duration::from_secs(args.seconds)),
        (true, _) => return Err(Failure::usage("--bench sends no files: give the ticket alone")),
        (false, []) => return Err(Failure::usage("name the files to send, and after them the ticket")),
        (false, files) => Source::Files(files.iter().map(PathBuf::from).collect()),
    };
    let ticket: Ticket = ticket.parse().map_err(|e| Failure::usage(format!("`{ticket}`: {e}")))?;
    let options = SendOptions { transport: transport(args.controller.as_ref(), args.quinn_cubic)? };
    let progress = Arc::new(Progress::default());
    let start = Instant::now();
    let summary = {
        let _shown = Shown::new(&progress);
        let left_out = |path: &PathBuf| note(&format!("left out, for it is no plain file: {}", path.display()));
        run(tandem_transfer::send(&source, &ticket, &options, progress.clone(), left_out))?
    };
    let text = super::summary("sent", &summary, start.elapsed().as_secs_f64());
    if args.bench {
        print(&format!("{text}\n"))
    } else {
        note(&text);
        Ok(())
    }
}
