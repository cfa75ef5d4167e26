// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs scenarios for the commands; an interrupt keeps what is done.

use tandem_batch::{Batch, Ended, Store, Task, Traces};
use tandem_compare::{Budget, Decided, Open, decide};
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
    /// With the seeds that they were to have.
    pub scenarios: Vec<Scenario>,
    pub runs: Vec<Option<Run>>,
    pub interrupted: bool,
    /// Why there are as many seeds as there are, if that was left to the results.
    pub why: Option<String>,
}

/// Sets what runs have of each other, and says what is open.
pub type Ask<'a> = dyn Fn(&mut [Option<Run>], Budget) -> Vec<Open> + 'a;

/// What is asked of runs.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub open: &'a Ask<'a>,
    /// Seeds are added until nothing is open, or this is reached. Without it each scenario has its own.
    pub budget: Option<Budget>,
}

/// A batch of tasks that an interrupt ends, and whose finished runs are kept as they come.
pub fn of_tasks(store: Option<&Store>) -> Batch<'_> {
    let cancelled = Some(interrupt::flag());
    Batch { cancelled, store, by_task: store.is_some(), quiet: is_quiet(), ..Batch::default() }
}

/// Runs the seeds of all scenarios in each engine: an outcome for each. With several engines the name of a run has its engine in it.
pub fn run_in_each(engines: &Engines, scenarios: &[Scenario], asked: Option<Asked>) -> Result<Vec<Outcome>, Failure> {
    let (mut outcomes, store) = (Vec::new(), store::of_user());
    for engine in engines.iter() {
        let mut outcome = run_in(engine, scenarios, asked, store.as_ref())?;
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
fn run_in(
    engine: &dyn Engine,
    scenarios: &[Scenario],
    asked: Option<Asked>,
    store: Option<&Store>,
) -> Result<Outcome, Failure> {
    let as_run: Vec<_> = scenarios.iter().map(|scenario| engine.as_run(scenario)).collect();
    let traces = Traces::FirstSeed(TRACED_FLOWS_PER_GROUP);
    let tasks: Vec<Task> = as_run.iter().map(|scenario| Task { scenario, engine, traces }).collect();
    let batch = Batch { cancelled: Some(interrupt::flag()), quiet: is_quiet(), store, ..Batch::default() };
    let unbroken = engine.needs_machine().then(interrupt::unbroken);
    let (mut outcome, stored) = match asked.and_then(|asked| Some((asked, asked.budget?))) {
        Some((asked, budget)) => run_until_decided(&batch, &tasks, scenarios, asked, budget)?,
        _ => run_all(&batch, &tasks, scenarios, asked)?,
    };
    let _keeping = interrupt::keeping();
    drop(unbroken);
    if stored > 0 {
        let all: usize = outcome.runs.iter().flatten().map(|run| run.seeds.len()).sum();
        note(&format!("{stored} of {all} runs in `{}` were in the store of finished runs", engine.name()));
    }
    for (run, scenario) in outcome.runs.iter_mut().zip(&as_run) {
        run.iter_mut().for_each(|run| run.cautions.extend(cautions(scenario)));
    }
    Ok(outcome)
}

/// All seeds of all scenarios; how many of the runs were stored.
fn run_all(
    batch: &Batch,
    tasks: &[Task],
    scenarios: &[Scenario],
    asked: Option<Asked>,
) -> Result<(Outcome, usize), Failure> {
    let outcome = batch.run(tasks)?;
    let (interrupted, stored) = (outcome.interrupted, outcome.stored);
    let mut runs = outcome.into_runs(tasks);
    if let Some(asked) = asked {
        (asked.open)(&mut runs, Budget::USUAL);
    }
    Ok((Outcome { scenarios: scenarios.to_vec(), runs, interrupted, why: None }, stored))
}

/// Seeds until nothing is open; how many of the runs were stored.
fn run_until_decided(
    batch: &Batch,
    tasks: &[Task],
    scenarios: &[Scenario],
    asked: Asked,
    budget: Budget,
) -> Result<(Outcome, usize), Failure> {
    let decided = decide(batch, tasks, budget, |runs| (asked.open)(runs, budget))?;
    let scenarios = decided.as_run(scenarios);
    let Decided { settled, runs, why, .. } = decided;
    let interrupted = settled.ended == Ended::Interrupted;
    Ok((Outcome { scenarios, runs, interrupted, why }, settled.stored))
}
