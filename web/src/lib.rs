// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator for a page in the browser: a scenario file in, samples while it runs, the result as JSON; what two results say of each
//! other; and `tandem advise`, whose runs the page makes.
//!
//! The same code runs natively, which the tests use: a result is the same to the last bit.

mod advise;
#[cfg(target_arch = "wasm32")]
mod exports;
mod rows;

use serde::{Deserialize, Serialize};
use tandem_controllers::CONTROLLERS;
use tandem_engine::{Engine, Options};
use tandem_results::{Run, SeedResult};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_sim::Sim;

pub use advise::{advise, advise_run};
pub use rows::Rows;

/// The caller gets new samples after each of this many parts of a run.
const PARTS: u64 = 400;

/// Runs the first seed of a scenario, written as in a file. `on_samples` gets the samples as they come. Returns the
/// [`SeedResult`] as JSON, with the samples if `with_trace`. Its CPU time is 0, so that equal runs have equal results.
///
/// # Errors
/// What is wrong with the scenario, in words.
pub fn run(text: &str, with_trace: bool, mut on_samples: impl FnMut(&Rows)) -> Result<String, String> {
    let scenario = parse(text, "scenario", "scenario", &Overrides::default()).map_err(|e| e.to_string())?;
    let result = simulate(&scenario, &mut on_samples)?;
    let trace = result.trace.filter(|_| with_trace);
    serde_json::to_string(&SeedResult { trace, cpu_s: 0.0, ..result }).map_err(|e| e.to_string())
}

fn simulate(scenario: &Scenario, on_samples: &mut impl FnMut(&Rows)) -> Result<SeedResult, String> {
    let options = Options { traced_flows_per_group: usize::MAX, ..Options::default() };
    let mut world = tandem_sim::start(scenario, scenario.seeds[0], options).map_err(|e| e.to_string())?;
    let mut rows = Rows::new(scenario);
    for part in 1..=PARTS {
        world.advance(scenario.duration.ns / PARTS * part);
        if let Some(trace) = world.trace() {
            rows.take(trace);
            on_samples(&rows);
        }
    }
    // What the division left over.
    world.advance(scenario.duration.ns);
    Ok(world.result())
}

/// A scenario, written as in a file, and what [`run`] made of it.
#[derive(Deserialize)]
struct Done {
    scenario: String,
    result: SeedResult,
}

impl Done {
    fn summed_up(self) -> Result<Run, String> {
        let scenario =
            parse(&self.scenario, "scenario", "scenario", &Overrides::default()).map_err(|e| e.to_string())?;
        Ok(Run::from_seeds(&scenario, Sim.name(), 1, vec![self.result]))
    }
}

/// Two runs of which one is the other's baseline.
#[derive(Deserialize)]
struct Pair {
    run: Done,
    baseline: Done,
}

/// The share of its goodput that the second group loses, as `tandem compare` has it. `pair` is JSON: `run` and `baseline`, each with its
/// `scenario` (text) and `result`. Returns the share as JSON; null if there is none.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn stolen(pair: &str) -> Result<String, String> {
    let Pair { run, baseline } = serde_json::from_str(pair).map_err(|e| e.to_string())?;
    let (mut run, baseline) = (run.summed_up()?, baseline.summed_up()?);
    if run.groups.len() < 2 {
        return Err("there is no second group".to_owned());
    }
    run.set_stolen(1, &baseline);
    Ok(run.groups[1].stolen.map_or_else(|| "null".to_owned(), |share| share.to_string()))
}

/// What the page says of a controller.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    family: &'static str,
    signal: &'static str,
    source: &'static str,
}

/// All controllers as JSON: name, family, congestion signal and source.
pub fn controllers() -> String {
    let list = CONTROLLERS.iter();
    let list = list.map(|c| Listed { name: c.name, family: c.family, signal: c.signal.as_str(), source: c.source });
    serde_json::to_string(&list.collect::<Vec<_>>()).expect("texts alone")
}
