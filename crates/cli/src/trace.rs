// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem trace`: makes a rate trace at random.

use std::{fmt::Write as _, fs, path::PathBuf};

use anyhow::Context as _;
use tandem_network::{Generated, TraceKind, generate};
use tandem_scenario::{
    DEFAULT_MTU, FORWARD_LINK,
    units::{Rate, Span},
};

use crate::{failure::Failure, terminal::print};

/// Generate a random rate trace: cellular, satellite or wifi
///
/// Writes FILE in mahimahi's format, for `rate_trace` in scenario files and --rate-trace, and prints the lines for a scenario file. A
/// satellite's delay also changes: the lines include these changes. docs/reference/traces.md describes the models.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem trace cellular --rate 20mbit --seed 1 --out cellular.trace
  tandem compare --rate 20mbit --rtt 50ms --rate-trace cellular.trace cubic compound_tube
  tandem trace satellite --rate 100mbit --delay 20ms --duration 5min --out satellite.trace >> scenario.toml")]
pub struct Args {
    /// What the trace imitates
    kind: Kind,

    /// The approximate average rate
    #[arg(long, default_value = "20mbit", allow_hyphen_values = true)]
    rate: Rate,

    /// Length of the trace, after which it begins again
    #[arg(long, default_value = "60s", allow_hyphen_values = true)]
    duration: Span,

    /// The shortest one-way delay (satellite)
    #[arg(long, default_value = "20ms", allow_hyphen_values = true)]
    delay: Span,

    /// The same seed makes the same trace
    #[arg(long, default_value = "1")]
    seed: u64,

    /// Where to write the trace; an existing file is replaced
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Kind {
    Cellular,
    Satellite,
    Wifi,
}

/// The longest trace: an hour, so that a slip of the finger does not fill the disk.
const LONGEST: Span = Span::from_secs(3600);
/// A trace has a line for each packet.
const FASTEST: Rate = Rate { bps: 10_000_000_000 };

pub fn trace(args: &Args) -> Result<(), Failure> {
    let Args { rate, duration, delay, seed, .. } = *args;
    if duration < Span::from_ms(1) || duration > LONGEST {
        return Err(Failure::usage(format!("--duration {duration} is not from 1ms to {LONGEST}")));
    }
    if rate > FASTEST {
        return Err(Failure::usage(format!("--rate {rate} is above {FASTEST}: a trace has a line for each packet")));
    }
    let kind = match args.kind {
        Kind::Cellular => TraceKind::Cellular,
        Kind::Satellite => TraceKind::Satellite,
        Kind::Wifi => TraceKind::Wifi,
    };
    let Generated { opportunities_ms, delays } = generate(kind, rate, DEFAULT_MTU, duration, delay, seed);
    let mut text = String::new();
    for ms in opportunities_ms {
        writeln!(text, "{ms}").expect("a String takes all");
    }
    fs::write(&args.out, text).with_context(|| format!("cannot write `{}`", args.out.display()))?;
    let file = args.out.display().to_string();
    let mut lines = format!("[effects.{FORWARD_LINK}]\nrate_trace = {file:?}\n");
    if !delays.is_empty() {
        lines += "changes = [\n";
        for (at, delay) in delays {
            writeln!(lines, "    {{ at = \"{at}\", every = \"{duration}\", delay = \"{delay}\" }},")
                .expect("a String takes all");
        }
        lines += "]\n";
    }
    print(&lines)
}
