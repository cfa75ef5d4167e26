// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem receive`.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use tandem_scenario::ControllerSpec;
use tandem_transfer::{Limits, Note, Progress, ReceiveOptions, Receiver};

use super::{progress::Shown, run, ticket, transport};
use crate::{
    failure::Failure,
    terminal::{note, print},
};

/// Receive files over QUIC
///
/// Prints a ticket, which the sender needs, and takes one transfer. An interrupted transfer continues when it is sent again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem receive downloads
  tandem receive downloads --ticket-file ticket
  tandem receive downloads --listen 0.0.0.0:4433 --address 203.0.113.7")]
pub struct Args {
    /// The folder for the files; created if missing
    folder: PathBuf,

    /// The address and port to listen at; port 0: any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:0")]
    listen: SocketAddr,

    /// The address for the ticket, where it is not this machine's own
    #[arg(long, value_name = "ADDRESS")]
    address: Option<IpAddr>,

    /// Write the ticket to this file, which you alone can read, and do not print it
    #[arg(long, value_name = "FILE")]
    ticket_file: Option<PathBuf>,

    /// Replace existing files
    #[arg(long)]
    force: bool,

    /// Also accept hidden files and folders: names that begin with a dot, such as `.ssh`
    #[arg(long)]
    hidden: bool,

    /// The controller for the little that the receiver sends [default: compound_tube]
    #[arg(long, value_name = "CONTROLLER")]
    controller: Option<ControllerSpec>,
}

pub fn receive(args: &Args) -> Result<(), Failure> {
    let options = ReceiveOptions {
        folder: args.folder.clone(),
        listen: args.listen,
        address: args.address,
        force: args.force,
        hidden: args.hidden,
        transport: transport(args.controller.as_ref(), false)?,
        limits: Limits::default(),
    };
    let progress = Arc::new(Progress::default());
    let (summary, seconds) = run(async {
        let receiver = Receiver::bind(&options)?;
        match &args.ticket_file {
            Some(path) => ticket::write(receiver.ticket(), path)?,
            // Scripts read the ticket from standard output.
            None => drop(print(&format!("{}\n", receiver.ticket()))),
        }
        let _shown = Shown::new(&progress);
        let mut start = Instant::now();
        let summary = receiver
            .run(progress.clone(), |happened| match happened {
                Note::Connected(_) => start = Instant::now(),
                Note::Stranger(address) => note(&format!("{address} does not have the ticket, and learned nothing")),
                Note::MoreStrangers(count) => {
                    note(&format!("{count} others did not have the ticket, and learned nothing"))
                }
                Note::BrokeOff(why) => {
                    note(&format!("the transfer broke off: {why}; waiting for the sender to try again"))
                }
            })
            .await?;
        Ok::<_, Failure>((summary, start.elapsed().as_secs_f64()))
    })?;
    note(&super::summary("received", &summary, seconds));
    Ok(())
}
