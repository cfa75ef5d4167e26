// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator for a page in the browser: a scenario file in, samples while it runs, the result as JSON.
//!
//! The same code runs natively, which the tests use: a result is the same to the last bit.

#[cfg(target_arch = "wasm32")]
mod exports;
mod rows;

use serde::Serialize;
use tandem_controllers::CONTROLLERS;
use tandem_engine::Options;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

pub use rows::Rows;

/// The caller gets new samples after each of so many parts of a run.
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
