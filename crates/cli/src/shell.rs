// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem shell`: any program behind an emulated path.

use std::{ffi::OsString, process::Command};

use tandem_scenario::DEFAULT_MTU;
use tandem_testbed::{Carried, Shell};

use crate::{
    Failure,
    output::{note, print},
    path::Path,
};

/// A shell, or a command, behind an emulated path to this machine
///
/// Whatever runs inside reaches this machine, and nothing else, at the address $TANDEM_HOST. The path is what leaves the shell,
/// the way back what enters it. Needs root.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  iperf3 -s -D
  sudo tandem shell --rate 100mbit --rtt 40ms --queue 300p -- sh -c 'iperf3 -c $TANDEM_HOST'
  sudo tandem shell --rate 20mbit --rtt 80ms --queue 1bdp --loss 0.1%")]
pub struct Args {
    #[command(flatten)]
    path: Path,

    /// Of the random losses
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
    let network = args.path.network()?;
    let shell = Shell::new(&network, DEFAULT_MTU, args.seed).map_err(anyhow::Error::from)?;
    let status = shell.run(args.command()).map_err(anyhow::Error::from)?;
    let carried = shell.close(&network).map_err(anyhow::Error::from)?;
    report(&carried, args.json)?;
    match status.code() {
        Some(0) => Ok(()),
        // As shells tell it of a command that a signal ended.
        code => Err(Failure::Command(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(128))),
    }
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
        note(&format!("NOT TRUSTWORTHY: {doubt}"));
    }
    Ok(())
}
