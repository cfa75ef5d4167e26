// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem store`: finished runs that all commands share. And the store itself, for those commands.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use clap::Subcommand;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use tandem_batch::{
    Store,
    store::{Held, Limits, Pruned, VARIABLE, folder, held, prune},
};
use tandem_scenario::units::Bytes;

use crate::{
    failure::Failure,
    output::json_text,
    terminal::{print, warn},
};

const DAY_S: u64 = 24 * 3600;

const EXAMPLES: &str = "\
Examples:
  tandem store
  tandem store --json
  tandem store prune --size 500MB --age 30d
  tandem store clear
  TANDEM_STORE=/data/runs tandem papers run    # another folder
  TANDEM_STORE=off tandem compare --rate 100mbit --rtt 40ms reno cubic    # repeats every run

Units: sizes 500MB, 2GB; ages 12h, 30d.";

/// Finished runs, which are not repeated: where they are, how many, how large
///
/// compare, run, advise, sweep and papers keep each simulated run, and use the runs that any of them has made before. A run is identified by the
/// meaning of its scenario, its seed, and the code of the engine and of the controllers in it; names, comments and files do not matter.
/// Runs over real TCP are measurements, so they are made each time. The store keeps at most 2 GB, and nothing unused for 90 days.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Remove runs unused for a long time, then those used least recently
    #[command(after_help = EXAMPLES)]
    Prune {
        /// The largest size on disk
        #[arg(long, value_name = "SIZE", default_value_t = Bytes(Limits::USUAL.bytes), allow_hyphen_values = true)]
        size: Bytes,

        /// Remove runs unused for this long
        #[arg(long, value_name = "AGE", default_value = "90d", value_parser = parse_age, allow_hyphen_values = true)]
        age: Duration,

        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove everything
    #[command(after_help = EXAMPLES)]
    Clear {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// The store for this command's runs; `None`: there is to be none, or it cannot be used, which was told.
pub fn of_user() -> Option<Store> {
    Store::of_user(warn)
}

/// The store, for what cannot do without.
pub fn needed(option: &str) -> Result<Store, Failure> {
    let folder = needed_folder(option)?;
    Ok(Store::open(&folder, Limits::USUAL, warn).map_err(anyhow::Error::from)?)
}

fn needed_folder(what: &str) -> Result<PathBuf, Failure> {
    folder().ok_or_else(|| {
        Failure::usage(format!(
            "{what} needs the store of finished runs, and there is none: set {VARIABLE} to its folder"
        ))
    })
}

pub fn store(args: &Args) -> Result<(), Failure> {
    let folder = needed_folder("tandem store")?;
    let (limits, json) = match &args.action {
        None => return show(&Shown::new(folder)?, args.json),
        Some(Action::Prune { size, age, json }) => (Limits { bytes: size.0, age: *age }, *json),
        Some(Action::Clear { json }) => (Limits::NOTHING, *json),
    };
    let pruned = prune(&folder, limits, SystemTime::now()).map_err(anyhow::Error::from)?;
    tell_pruned(&folder.display().to_string(), pruned, json)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Shown {
    folder: PathBuf,
    bytes: u64,
    most_bytes: u64,
    most_age_days: u64,
    runs: u64,
    engines: Vec<Engine>,
}

#[derive(Serialize)]
struct Engine {
    engine: String,
    scenarios: u64,
    runs: u64,
    bytes: u64,
    /// Days since the scenario was used that was not for longest.
    oldest_days: f64,
}

impl Shown {
    fn new(folder: PathBuf) -> Result<Self, Failure> {
        let now = SystemTime::now();
        let engine = |(engine, held): (String, Held)| {
            let age = held.oldest.and_then(|oldest| now.duration_since(oldest).ok()).unwrap_or_default();
            let Held { scenarios, runs, bytes, .. } = held;
            Engine { engine, scenarios, runs, bytes, oldest_days: age.as_secs_f64() / DAY_S as f64 }
        };
        let engines: Vec<Engine> = held(&folder).map_err(anyhow::Error::from)?.into_iter().map(engine).collect();
        Ok(Self {
            folder,
            bytes: engines.iter().map(|engine| engine.bytes).sum(),
            most_bytes: Limits::USUAL.bytes,
            most_age_days: Limits::USUAL.age.as_secs() / DAY_S,
            runs: engines.iter().map(|engine| engine.runs).sum(),
            engines,
        })
    }
}

fn show(shown: &Shown, json: bool) -> Result<(), Failure> {
    if json {
        return print(&json_text(shown)?);
    }
    let Shown { folder, bytes, most_bytes, most_age_days, runs, engines } = shown;
    let (folder, size, most) = (folder.display(), Bytes(*bytes), Bytes(*most_bytes));
    let head = format!(
        "{folder}\n{runs} finished runs, {size}. Above {most}, and after {most_age_days} days without use, the least recently used are removed.\n"
    );
    if engines.is_empty() {
        return print(&head);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["Engine", "Scenarios", "Runs", "Size", "Oldest use"]);
    for Engine { engine, scenarios, runs, bytes, oldest_days } in engines {
        let (size, oldest) = (Bytes(*bytes).to_string(), format!("{oldest_days:.1} days ago"));
        table.add_row([engine.clone(), scenarios.to_string(), runs.to_string(), size, oldest]);
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    print(&format!("{head}\n{table}\n"))
}

/// What `--json` of prune and clear prints.
#[derive(Serialize)]
struct TakenOut {
    folder: String,
    scenarios: u64,
    bytes: u64,
    left_bytes: u64,
}

fn tell_pruned(folder: &str, pruned: Pruned, json: bool) -> Result<(), Failure> {
    let Pruned { scenarios, bytes, left_bytes } = pruned;
    if json {
        return print(&json_text(&TakenOut { folder: folder.into(), scenarios, bytes, left_bytes })?);
    }
    let (bytes, left) = (Bytes(bytes), Bytes(left_bytes));
    print(&format!("The runs of {scenarios} scenarios are taken out, {bytes}; {left} are left in {folder}\n"))
}

/// `12h`, `30d`.
fn parse_age(text: &str) -> Result<Duration, String> {
    let read = || {
        let (number, seconds) =
            text.strip_suffix('d').map(|n| (n, DAY_S)).or_else(|| text.strip_suffix('h').map(|n| (n, 3600)))?;
        Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
    };
    read().ok_or_else(|| format!("age `{text}` is not a number of hours or days: write `12h` or `30d`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_hours_or_days() {
        assert_eq!(parse_age("12h"), Ok(Duration::from_secs(43_200)));
        assert_eq!(parse_age("30d"), Ok(Duration::from_secs(2_592_000)));
        for wrong in ["", "d", "30", "-1d", "1.5d", "99999999999999999999d", "999999999999999999d", "1m"] {
            assert!(parse_age(wrong).unwrap_err().contains("write `12h` or `30d`"), "{wrong}");
        }
    }
}
