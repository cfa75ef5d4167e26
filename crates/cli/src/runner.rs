// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs scenarios for the commands; an interrupt keeps what is done.

use tandem_batch::{Batch, Store, Task, Traces};
use tandem_engine::Engine;
use tandem_model::loss_cycle::cautions;
use tandem_results::Run;
use tandem_scenario::Scenario;

use crate::{
    engine::Engines,
    failure::Failure,
    interrupt, store,
    terminal::{is_quiet, note},
};

/// Flows of each group whose windows are sampled for the report.
const TRACED_FLOWS_PER_GROUP: usize = 8;

/// The runs of some scenarios in one engine, in their order; `None` for a scenario of which no seed was finished.
pub struct Outcome {
    pub runs: Vec<Option<Run>>,
    pub interrupted: bool,
}

/// Runs all seeds of all scenarios in each engine: an outcome for each. With several engines the name of a run has its engine in it.
pub fn run_in_each(engines: &Engines, scenarios: &[Scenario]) -> Result<Vec<Outcome>, Failure> {
    let (mut outcomes, store) = (Vec::new(), store::of_user());
    for engine in engines.iter() {
        let mut outcome = run_in(engine, scenarios, store.as_ref())?;
        if engines.len() > 1 {
            for run in outcome.runs.iter_mut().flatten() {
                run.name = format!("{}, {}", run.name, run.engine);
            }
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Nothing, if an interrupt came before.
fn run_in(engine: &dyn Engine, scenarios: &[Scenario], store: Option<&Store>) -> Result<Outcome, Failure> {
    let as_run: Vec<_> = scenarios.iter().map(|scenario| engine.as_run(scenario)).collect();
    let traces = Traces::FirstSeed(TRACED_FLOWS_PER_GROUP);
    let tasks: Vec<Task> = as_run.iter().map(|scenario| Task { scenario, engine, traces }).collect();
    let batch = Batch { cancelled: Some(interrupt::flag()), quiet: is_quiet(), store, ..Batch::default() };
    let unbroken = engine.needs_machine().then(interrupt::unbroken);
    let outcome = batch.run(&tasks)?;
    let _keeping = interrupt::keeping();
    drop(unbroken);
    let interrupted = outcome.interrupted;
    if outcome.stored > 0 {
        let all: usize = outcome.seeds.iter().map(Vec::len).sum();
        note(&format!("{} of {all} runs in `{}` were in the store of finished runs", outcome.stored, engine.name()));
    }
    let mut runs = outcome.into_runs(&tasks);
    for (run, scenario) in runs.iter_mut().zip(&as_run) {
        run.iter_mut().for_each(|run| run.cautions.extend(cautions(scenario)));
    }
    Ok(Outcome { runs, interrupted })
}
