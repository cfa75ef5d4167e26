// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem run`: a scenario from a file.

use std::path::PathBuf;

use tandem_scenario::file::{Overrides, load};

use crate::{
    Failure,
    engine::{Engine, run_in_each},
    output::{prepare_folder, publish},
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
  sudo tandem run scenarios/dumbbell.toml --engine sim,kernel
  tandem run scenarios/isolated.toml --engine sim,model")]
pub struct Args {
    /// The scenario; docs/reference/scenario-keys.md describes the format
    file: PathBuf,

    /// What runs it; several, separated by commas, run one after another and stand side by side
    #[arg(long, value_enum, value_delimiter = ',', default_value = "sim")]
    engine: Vec<Engine>,

    /// Run even what this machine is unlikely to carry in real time
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    common: Common,
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
    let outcome = run_in_each(&args.engine, &scenario, args.force)?;
    let scenarios = vec![scenario; args.engine.len()];
    publish(&scenarios[0].name, &scenarios, &outcome, None, common, &folder)
}
