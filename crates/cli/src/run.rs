// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem run`: a scenario from a file.

use std::path::PathBuf;

use clap::ValueEnum;
use tandem_scenario::file::{Overrides, load};

use crate::{
    Failure,
    output::{prepare_folder, publish},
    runner::run_all,
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
  tandem run scenarios/dumbbell.toml --set compound.gamma=20 --json")]
pub struct Args {
    /// The scenario; docs/scenarios.md describes the format
    file: PathBuf,

    /// What runs it
    #[arg(long, value_enum, default_value = "sim")]
    engine: Engine,

    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, ValueEnum)]
enum Engine {
    /// Packet-level simulator
    Sim,
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
    let folder = prepare_folder(common, &scenario.name)?;
    let scenarios = [scenario];
    let Engine::Sim = args.engine;
    let outcome = run_all(&scenarios);
    publish(&scenarios[0].name, &scenarios, &outcome, None, common, &folder)
}
