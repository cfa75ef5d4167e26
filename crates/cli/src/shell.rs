// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem shell`: any program behind an emulated path.

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, ExitStatus},
};

use tandem_scenario::{DEFAULT_MTU, FORWARD_LINK};
use tandem_testbed::{Carried, Shell};

use crate::{
    failure::Failure,
    path::{PathArgs, with_flag},
    terminal::{note, print, warn},
};

/// A shell, or a command, behind an emulated path to this machine
///
/// Programs inside reach only this machine, at the address $TANDEM_HOST. Packets that leave the shell
/// take the path; packets that enter it take the return path. Needs root.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  iperf3 -s -D
  sudo tandem shell --rate 100mbit --rtt 40ms --queue 300p -- sh -c 'iperf3 -c $TANDEM_HOST'
  sudo tandem shell --rate 20mbit --rtt 80ms --queue 1bdp --loss 0.1%")]
pub struct Args {
    #[command(flatten)]
    path: PathArgs,

    /// Seed of the random losses
    #[arg(long, default_value = "1")]
    seed: u64,

    /// What the path did, as JSON on standard output, when the command ends
    #[arg(long)]
    json: bool,

    /// What to run [default: $SHELL]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn shell(args: &Args) -> Result<(), Failure> {
    if args.path.rtt.ns == 0 {
        return Err(Failure::usage("--rtt must be longer than 0: every path takes some time"));
    }
    let mut network = args.path.dumbbell().network(args.path.rtt, DEFAULT_MTU).map_err(Failure::usage)?;
    let here = Path::new("");
    let effects = args.path.effects();
    network.add_effects(FORWARD_LINK, &effects, here, DEFAULT_MTU).map_err(|e| Failure::usage(with_flag(&e)))?;
    let shell = Shell::new(&network, DEFAULT_MTU, args.seed).map_err(anyhow::Error::from)?;
    let status = shell.run(args.command()).map_err(anyhow::Error::from)?;
    let carried = shell.close(&network).map_err(anyhow::Error::from)?;
    report(&carried, args.json)?;
    match status_of(status) {
        0 => Ok(()),
        status => Err(Failure::Command(status)),
    }
}

/// The command's exit status; if a signal ended it, 128 and the signal's number, as in shells.
fn status_of(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|n| u8::try_from(n).ok()).unwrap_or(u8::MAX)
}

impl Args {
    fn command(&self) -> Command {
        let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
        let mut words = self.command.iter().cloned();
        let mut command = Command::new(words.next().unwrap_or_else(shell));
        command.args(words);
        command
    }
}

fn report(carried: &Carried, json: bool) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string_pretty(carried).map_err(anyhow::Error::from)?;
        print(&format!("{text}\n"))?;
    }
    for link in &carried.links {
        note(&format!(
            "{}: {} packets, {} dropped by the queue, {} lost at random; {:.1} MB of payload arrived",
            link.name,
            link.offered,
            link.queue_drops,
            link.random_losses,
            link.delivered.payload_bytes as f64 / 1e6
        ));
    }
    let lateness = &carried.emulation.lateness_us;
    note(&format!(
        "packets left {:.0} us late at the median, {:.0} us at the 99th percentile",
        lateness.p50, lateness.p99
    ));
    for doubt in &carried.emulation.doubts {
        warn(&format!("NOT TRUSTWORTHY: {doubt}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As wait(2) has it: an exit status in the second byte; a signal in the first, with 128 if the memory was dumped.
    #[test]
    fn a_command_s_end_is_told_as_shells_tell_it() {
        for (waited, told) in [(0, 0), (7 << 8, 7), (255 << 8, 255), (2, 130), (15, 143), (128 | 6, 134), (64, 192)] {
            assert_eq!(status_of(ExitStatus::from_raw(waited)), told, "{waited}");
        }
    }
}
