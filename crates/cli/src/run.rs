// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem run`: a scenario from a file.

use std::path::PathBuf;

use clap::ValueEnum;
use tandem_scenario::{
    Scenario,
    file::{Overrides, load},
};

use crate::{
    Failure,
    output::{note, prepare_folder, publish},
    runner::{Outcome, run_all, run_in_kernel},
    settings::Common,
};

/// Run a scenario from a TOML file
///
/// Prints a table and writes report.html and results.json.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem run scenarios/dumbbell.toml
  tandem run scenarios/parking-lot.toml --seeds 10 --trace --out results/parking-lot
  tandem run scenarios/dumbbell.toml --set compound.gamma=20 --json
  sudo tandem run scenarios/dumbbell.toml --engine sim,kernel")]
pub struct Args {
    /// The scenario; docs/scenarios.md describes the format
    file: PathBuf,

    /// What runs it; several, separated by commas, run it one after the other
    #[arg(long, value_enum, default_value = "sim", value_delimiter = ',', value_name = "ENGINE")]
    engine: Vec<Engine>,

    /// Run even what this machine is unlikely to carry in real time
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Engine {
    /// Packet-level simulator
    Sim,
    /// Real Linux TCP over an emulated path, in real time; needs root
    Kernel,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let common = &args.common;
    let overrides = Overrides {
        seeds: common.seeds,
        first_seed: common.seed,
        no_delayed_acks: common.no_delayed_acks,
        settings: common.settings(),
    };
    let scenario = load(&args.file, &overrides).map_err(Failure::usage)?;
    check(&scenario, args)?;
    let folder = prepare_folder(common, &scenario.name)?;
    let mut outcome = Outcome::default();
    let mut scenarios = Vec::new();
    for engine in &args.engine {
        let mut scenario = scenario.clone();
        if args.engine.len() > 1 {
            scenario.name += engine.suffix();
        }
        let done = match engine {
            Engine::Sim => run_all(std::slice::from_ref(&scenario)),
            Engine::Kernel => run_in_kernel(&scenario)?,
        };
        scenarios.push(scenario);
        outcome.runs.extend(done.runs);
        outcome.interrupted |= done.interrupted;
        if outcome.interrupted {
            break;
        }
    }
    publish(&scenario.name, &scenarios, &outcome, None, common, &folder)
}

impl Engine {
    /// Tells the runs of one scenario apart.
    fn suffix(self) -> &'static str {
        match self {
            Engine::Sim => " (sim)",
            Engine::Kernel => " (kernel)",
        }
    }
}

/// Whether the engines can run the scenario, before any of them begins.
fn check(scenario: &Scenario, args: &Args) -> Result<(), Failure> {
    if args.engine.contains(&Engine::Kernel) {
        tandem_testbed::check(scenario, args.force).map_err(Failure::usage)?.iter().for_each(|warning| note(warning));
    }
    match scenario.needs_kernel() {
        Some(controller) if args.engine.contains(&Engine::Sim) => Err(Failure::usage(format!(
            "`{controller}` is the kernel's own, which the simulator does not have: run it with --engine kernel"
        ))),
        _ => Ok(()),
    }
}
