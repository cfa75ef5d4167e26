// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem run`: a scenario from a file.

use std::path::PathBuf;

use tandem_scenario::file::{MAX_COUNT, load};

use crate::{
    acks, engine::EngineArgs, failure::Failure, folder::Folder, output::publish, runner::run_in_each, settings::Common,
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
  tandem run scenarios/dumbbell.toml --acks --out results/acks
  sudo tandem run scenarios/dumbbell.toml --engine sim,kernel
  tandem run scenarios/isolated.toml --engine sim,model")]
pub struct Args {
    /// The scenario; docs/reference/scenario-keys.md describes the format
    file: PathBuf,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    common: Common,

    /// Independent repetitions; two or more give 95 % intervals [default: the file's or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_COUNT)))]
    seeds: Option<u32>,

    /// Also write what each ACK and timer did to the senders of the first seed (Parquet); the simulator runs it once more
    #[arg(long)]
    acks: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.acks {
        acks::check(&args.engine.engines)?;
    }
    let common = &args.common;
    let scenarios = [load(&args.file, &common.overrides(args.seeds)?).map_err(Failure::usage)?];
    args.engine.check(&scenarios)?;
    let folder = Folder::prepare(common, &scenarios[0].name)?;
    let outcomes = run_in_each(&args.engine.engines, &scenarios, None)?;
    publish(&scenarios[0].name, &outcomes, None, common, &folder)?;
    if args.acks { acks::write(folder.path(), &scenarios[0]) } else { acks::remove_old(folder.path()) }
}
