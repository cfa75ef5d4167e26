// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the runs over real TCP that are missing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tandem_batch::{Batch, Task, Traces};
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_results::{LinkTrace, SeedResult, Trace};
use tandem_scenario::{FileError, Scenario};

use crate::{
    error::RunError,
    file::Experiment,
    kernel::runs::{RealTcpRun, RealTcpRuns},
    plan::{self, Form, refusal},
};

/// A run over real TCP that is not there yet, or is doubted.
#[derive(Clone)]
pub struct Missing {
    /// Has one seed; its name is the label that the run is kept with.
    pub scenario: Scenario,
    /// As [`scenario_key`](crate::scenario_key) names the scenario.
    pub key: String,
    /// What is sampled over time: of the first this many flows of each group.
    pub traced_flows_per_group: usize,
}

impl Missing {
    /// Its one seed.
    pub fn seed(&self) -> u64 {
        self.scenario.seeds[0]
    }

    /// Whether the kept runs have it, with a trace if it needs one.
    fn is_there(&self, runs: &RealTcpRuns) -> bool {
        let run = runs.get(&self.key, self.seed()).filter(|run| run.is_trusted());
        run.is_some_and(|run| self.traced_flows_per_group == 0 || run.has_trace())
    }

    /// Whether it is there now, but not to be trusted.
    pub fn is_doubtful(&self, runs: &RealTcpRuns) -> bool {
        runs.get(&self.key, self.seed()).is_some_and(|run| !run.is_trusted())
    }
}

/// What the experiments need of runs over real TCP beyond those that are kept: every first seed before any second.
///
/// # Errors
/// If a scenario of an experiment is wrong.
pub fn missing<'a>(
    experiments: impl IntoIterator<Item = &'a Experiment>,
    runs: &RealTcpRuns,
) -> Result<Vec<Missing>, FileError> {
    let mut missing: Vec<Missing> = Vec::new();
    for experiment in experiments.into_iter().filter(|e| e.file.kernel.is_some()) {
        for wanted in wanted(experiment, runs)? {
            let is_same = |m: &&mut Missing| m.key == wanted.key && m.seed() == wanted.seed();
            if wanted.is_there(runs) {
                continue;
            }
            match missing.iter_mut().find(is_same) {
                Some(same) => {
                    same.traced_flows_per_group = same.traced_flows_per_group.max(wanted.traced_flows_per_group)
                }
                None => missing.push(wanted),
            }
        }
    }
    missing.sort_by_key(Missing::seed);
    Ok(missing)
}

/// Every run over real TCP that an experiment asks for, by curve, x and seed.
fn wanted(experiment: &Experiment, runs: &RealTcpRuns) -> Result<Vec<Missing>, FileError> {
    let plan = plan::plan(experiment, Form::Kernel)?;
    let mut wanted = Vec::new();
    for (curve, points) in experiment.file.curves.iter().zip(&plan.readings[0].curves) {
        for (x, point) in plan.xs.iter().zip(points).filter_map(|(x, point)| Some((x, point.as_ref()?))) {
            for (place, run) in point.runs().enumerate() {
                let baseline = if place > 0 { ", baseline" } else { "" };
                let name = format!("{}, {}, {x}{baseline}", experiment.id, curve.get_ref().name);
                wanted.extend(run.scenario.seeds.iter().map(|&seed| Missing {
                    scenario: run.scenario.clone().named(&name).with_seeds([seed]),
                    key: runs.key(run),
                    traced_flows_per_group: experiment.traced_flows_per_group(curve.get_ref()),
                }));
            }
        }
    }
    Ok(wanted)
}

/// What is said against an experiment's runs that are kept, each run once.
///
/// # Errors
/// If its kernel form is wrong.
pub fn doubts(experiment: &Experiment, runs: &RealTcpRuns) -> Result<Vec<String>, FileError> {
    let mut said: Vec<String> = Vec::new();
    for wanted in wanted(experiment, runs)? {
        let run = runs.get(&wanted.key, wanted.seed()).filter(|run| !run.is_trusted());
        let text = run.map(|run| format!("{}, seed {}: {}", run.asked_by, run.seed, run.doubts.join("; ")));
        said.extend(text.filter(|text| !said.contains(text)));
    }
    Ok(said)
}

/// Why an engine cannot run the experiment over real TCP, if so: what its scenarios ask for, or the lack of a form for it.
///
/// # Errors
/// If this process may run nothing there, for example without root.
pub fn obstacle(experiment: &Experiment, engine: &dyn Engine, force: bool) -> Result<Option<String>, RunError> {
    let has_form = experiment.file.kernel.is_some();
    let refused = refusal(experiment, if has_form { Form::Kernel } else { Form::Quick }, engine, force)?;
    let lacks_form = || format!("`{}` has no [kernel], the short form that real TCP takes", experiment.path());
    Ok(refused.or_else(|| (!has_form).then(lacks_form)))
}

/// Runs what is missing and keeps it. False if an interrupt came first.
///
/// # Errors
/// If a run fails, or cannot be kept.
pub fn measure(
    missing: &[Missing],
    engine: &dyn Engine,
    runs: &mut RealTcpRuns,
    batch: &Batch,
) -> Result<bool, RunError> {
    measure_shared(missing, engine, &Mutex::new(runs), batch)
}

/// As [`measure`], where several threads keep their runs in one file.
///
/// # Errors
/// As [`measure`].
pub fn measure_shared(
    missing: &[Missing],
    engine: &dyn Engine,
    runs: &Mutex<&mut RealTcpRuns>,
    batch: &Batch,
) -> Result<bool, RunError> {
    let by_name = missing.iter().map(|m| ((m.scenario.name.as_str(), m.seed()), m)).collect();
    let keeping = Keeping { engine, by_name, runs };
    let tasks: Vec<Task> = missing
        .iter()
        .map(|Missing { scenario, traced_flows_per_group, .. }| Task {
            scenario,
            engine: &keeping,
            traces: Traces::EverySeed(*traced_flows_per_group),
        })
        .collect();
    Ok(!Batch { store: None, ..*batch }.run(&tasks).map_err(|e| RunError::Batch(e.into()))?.interrupted)
}

/// Of a trace only what links counted by the second is kept: nobody reads windows off runs that are kept whole.
fn without_samples(result: &SeedResult) -> SeedResult {
    let link = |link: &LinkTrace| LinkTrace { queue_packets: Vec::new(), ..link.clone() };
    let of =
        |trace: &Trace| Trace { seed: trace.seed, links: trace.links.iter().map(link).collect(), ..Trace::default() };
    SeedResult { trace: result.trace.as_deref().map(of).map(Arc::new), ..result.clone() }
}

/// Keeps each run of an engine before it hands it on.
struct Keeping<'a, 'b> {
    engine: &'a dyn Engine,
    /// By name of the scenario and seed.
    by_name: HashMap<(&'a str, u64), &'a Missing>,
    runs: &'a Mutex<&'b mut RealTcpRuns>,
}

impl Engine for Keeping<'_, '_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn description(&self) -> &'static str {
        self.engine.description()
    }

    fn arithmetic(&self) -> &'static str {
        self.engine.arithmetic()
    }

    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
        self.engine.check(scenario, force)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let Some(result) = self.engine.run(scenario, seed, options)? else { return Ok(None) };
        let missing = self.by_name[&(scenario.name.as_str(), seed)];
        // A thread that panicked left the runs whole.
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = runs.are_whole().then(|| Box::new(without_samples(&result)));
        let run = RealTcpRun { whole, ..RealTcpRun::new(&missing.key, scenario, &result) };
        runs.insert(run).map_err(EngineError::failed)?;
        Ok(Some(result))
    }

    fn needs_machine(&self) -> bool {
        self.engine.needs_machine()
    }
}
