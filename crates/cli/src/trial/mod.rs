// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem trial`: a controller on part of the machine's new connections, against another.

mod course;
mod page;
mod results;

use std::{fs::File, io::Read, path::PathBuf, time::Duration};

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use tandem_kernel::sockops::{Prefix, Trial, TrialSetup};
use tandem_scenario::units::{Share, Span};
use tandem_trial::{Assignment, Evidence, Limits, PeerNames, Plan, answer_text};

use crate::{
    failure::Failure,
    interrupt,
    output::json_text,
    terminal::{note, print},
};
use course::{Course, End};
use results::Results;

const EXAMPLES: &str = "\
Examples:
  tandem trial compound_tube --against cubic                          half of all new connections, until Ctrl-C
  tandem trial bbr --against cubic --share 10% --for 1h --to 192.0.2.0/24
  tandem trial reno --against cubic --by peer --cgroup system.slice/backup.service
  tandem trial cubic --against cubic --for 10min                      shows that it finds no difference where there is none

The first controller's share of the new connections gets it, the others get the second one; programs that choose a controller themselves take
no part. Each connection that ends leaves a row in connections-N.parquet, with its peer's address hashed. The intervals hold however often you
look: end the trial whenever you have seen enough. It also ends by itself if the first controller certainly does harm (--max-...).
Exit status 1: a guard rail ended it.";

/// Try a controller on part of this machine's new connections, against another, and see which is better here
///
/// Nothing runs per packet, and nothing remains when the trial ends or is killed; connections keep their controllers.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The controller to try; the kernel must have it (`tandem kernel load`, `modprobe`)
    #[arg(value_name = "CONTROLLER")]
    treatment: String,

    /// What it is tried against
    #[arg(long, value_name = "CONTROLLER")]
    against: String,

    /// The share that gets the first controller, such as 10%
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    share: Share,

    /// What is drawn: the controller of each connection, or of each peer for the whole trial
    #[arg(long, value_enum, value_name = "WHAT", default_value = "connection")]
    by: By,

    /// Only connections with peers in this prefix; may be given several times
    #[arg(long, value_name = "PREFIX")]
    to: Vec<Prefix>,

    /// Only connections to this port of a peer, or that are accepted on it here
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,

    /// Only connections of programs in this cgroup [default: all]
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,

    /// End after this time [default: at Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    length: Option<Span>,

    /// How peers are named in the files: by a hash with a key that is discarded, or by their addresses
    #[arg(long, value_enum, value_name = "HOW", default_value = "hashed")]
    peers: Peers,

    /// End if the first controller's RTT is certainly higher than the other's by more than this share
    #[arg(long, value_name = "SHARE", default_value = "25%")]
    max_rtt: Share,

    /// End if it certainly retransmits more, by this share of all segments
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    max_retransmissions: Share,

    /// End if certainly more of its handshakes fail, by this share of all
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    max_failures: Share,

    /// Folder for connections-N.parquet, results.json, path.txt and report.html [default: a new one in tandem-out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write no report.html
    #[arg(long)]
    no_report: bool,

    /// The answer as JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum By {
    /// Each connection's: both controllers meet the same peers
    Connection,
    /// Each peer's: a peer always gets the same
    Peer,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Peers {
    Hashed,
    Plain,
}

pub fn trial(args: &Args) -> Result<(), Failure> {
    let plan = plan(args)?;
    let setup = TrialSetup {
        arms: plan.arms.clone(),
        share: plan.assignment.share,
        by_peer: plan.assignment.by_peer,
        seed: u64::from_ne_bytes(random()?),
        port: args.port,
        to: args.to.clone(),
        cgroup: args.cgroup.clone(),
    };
    let names = if args.peers == Peers::Plain { PeerNames::Plain } else { PeerNames::Hashed(random()?) };
    interrupt::flag();
    let results = Results::prepare(args.out.as_ref(), names, plan.arms.clone(), args.no_report)?;
    let kernel = Trial::start(&setup)?;
    note(&format!(
        "tandem: the trial goes on until {}; files: {}",
        if args.length.is_some() { "its time is over, or Ctrl-C" } else { "Ctrl-C" },
        results.folder().display()
    ));
    let length = args.length.map(|span| Duration::from_nanos(span.ns));
    let mut course = Course::new(kernel, Evidence::new(plan), results, length);
    let end = course.run()?;
    let _keeping = interrupt::keeping();
    let outcome = course.finish(&end)?;
    if args.json {
        print(&json_text(&outcome)?)?;
    } else {
        print(&answer_text(&outcome.answer, outcome.elapsed_s))?;
    }
    note(&format!("Results: {}", course.results().folder().display()));
    match end {
        End::Time => Ok(()),
        // Without a time it is how a trial ends.
        End::Interrupted if args.length.is_none() => Ok(()),
        End::Interrupted => Err(Failure::Interrupted),
        End::Guard(what) => Err(Failure::Failed(anyhow!("a guard rail ended the trial: {what}"))),
        End::Gone(name) => Err(Failure::Failed(anyhow!(
            "the trial has ended, because the kernel no longer has the controller `{name}`"
        ))),
    }
}

fn plan(args: &Args) -> Result<Plan, Failure> {
    let share = args.share.0;
    if share < 0.001 {
        return Err(Failure::usage(format!(
            "--share {share}: less than 0.1 % of the connections says nothing; give 0.1% to 99.9%"
        )));
    }
    if share > 0.999 {
        return Err(Failure::usage("--share: the second controller needs a share, too; give 0.1% to 99.9%"));
    }
    if args.length.is_some_and(|span| span.ns == 0) {
        return Err(Failure::usage("--for must be longer than 0"));
    }
    let limits =
        Limits { rtt: args.max_rtt.0, retransmissions: args.max_retransmissions.0, failures: args.max_failures.0 };
    Ok(Plan {
        arms: [args.treatment.clone(), args.against.clone()],
        assignment: Assignment { share, by_peer: args.by == By::Peer },
        limits,
    })
}

/// From the kernel.
fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    Ok(read.map(|()| bytes).context("cannot read /dev/urandom")?)
}
