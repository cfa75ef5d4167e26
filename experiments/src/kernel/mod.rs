// SPDX-License-Identifier: MIT OR Apache-2.0
//! Experiments over real TCP: what is to be run, what has been run, and how far it is from the simulator.
//!
//! The engine itself is the caller's. A run takes as long as what it emulates, so each is kept as soon as it is done.

mod beside;
mod runs;

use std::{collections::HashMap, sync::Mutex};

use tandem_batch::{Batch, Task, Traces};
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_scenario::{FileError, Scenario, result::SeedResult};

pub(crate) use beside::Measured;
pub use beside::{Beside, Difference};
pub use runs::Runs;
use runs::{Row, key};

use crate::{
    file::Experiment,
    plan::{self, Form},
};

/// A run over real TCP that is not there yet, or is doubted.
pub struct Missing {
    /// Of one seed.
    pub scenario: Scenario,
    key: String,
    /// Experiment, curve and x of the first that asks for it.
    label: String,
}

impl Missing {
    /// Is it there now, but not to be trusted?
    pub fn is_doubtful(&self, kept: &Runs) -> bool {
        kept.get(&self.key, self.scenario.seeds[0]).is_some_and(|row| !row.is_trusted())
    }
}

/// What the experiments need of runs over real TCP beyond those that are kept: every first seed before any second.
pub fn missing(experiments: &[Experiment], kept: &Runs) -> Result<Vec<Missing>, FileError> {
    let mut missing: Vec<Missing> = Vec::new();
    for experiment in experiments.iter().filter(|e| e.file.kernel.is_some()) {
        let plan = plan::plan(experiment, Form::Kernel)?;
        for (curve, points) in experiment.file.curves.iter().zip(&plan.readings[0].curves) {
            for (x, point) in plan.xs.iter().zip(points).filter_map(|(x, point)| Some((x, point.as_ref()?))) {
                for (place, run) in point.runs().enumerate() {
                    let baseline = if place > 0 { ", baseline" } else { "" };
                    let label = format!("{}, {}, {x}{baseline}", experiment.id, curve.get_ref().name);
                    let key = key(&run.text);
                    for &seed in &run.scenario.seeds {
                        let is_same = |m: &Missing| m.key == key && m.scenario.seeds == [seed];
                        if kept.is_trusted(&key, seed) || missing.iter().any(is_same) {
                            continue;
                        }
                        let scenario = run.scenario.clone().named(&label).with_seeds([seed]);
                        missing.push(Missing { scenario, key: key.clone(), label: label.clone() });
                    }
                }
            }
        }
    }
    missing.sort_by_key(|m| m.scenario.seeds[0]);
    Ok(missing)
}

/// Runs what is missing and keeps it. False if an interrupt came first.
pub fn measure(missing: &[Missing], engine: &dyn Engine, kept: &mut Runs, batch: &Batch) -> anyhow::Result<bool> {
    let by_name = missing.iter().map(|m| ((m.scenario.name.as_str(), m.scenario.seeds[0]), m)).collect();
    let keeping = Keeping { engine, by_name, kept: Mutex::new(kept) };
    let tasks: Vec<Task> =
        missing.iter().map(|m| Task { scenario: &m.scenario, engine: &keeping, traces: Traces::None }).collect();
    Ok(!Batch { store: None, ..*batch }.run(&tasks)?.interrupted)
}

/// Keeps each run of an engine before it hands it on.
struct Keeping<'a> {
    engine: &'a dyn Engine,
    /// By name of the scenario and seed.
    by_name: HashMap<(&'a str, u64), &'a Missing>,
    kept: Mutex<&'a mut Runs>,
}

impl Engine for Keeping<'_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn description(&self) -> &'static str {
        self.engine.description()
    }

    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
        self.engine.check(scenario, force)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let Some(result) = self.engine.run(scenario, seed, options)? else { return Ok(None) };
        let missing = self.by_name[&(scenario.name.as_str(), seed)];
        let row = Row::new(&missing.label, &missing.key, scenario, &result);
        let mut kept = self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.insert(row).map_err(EngineError::failed)?;
        Ok(Some(result))
    }

    fn needs_machine(&self) -> bool {
        self.engine.needs_machine()
    }
}
