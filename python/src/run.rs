// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs scenarios without Python's lock, while the calling thread looks out for Ctrl-C and tells how far it is.

use std::{
    ffi::CString,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use pyo3::{
    exceptions::PyUserWarning,
    prelude::*,
    types::{PyDict, PyString},
};
use tandem_batch::{Batch, Task, Traces};
use tandem_compare::{Budget, CompareError, Comparison, Decided, Flows, FlowsError, Plan, Seeds, decide};
use tandem_engine::Engine;
use tandem_results::Run;
use tandem_scenario::{
    DumbbellSpec, EffectsSpec,
    units::{Bytes, Span},
};
use tandem_statistics::Looks;

use crate::{
    error::{at_key, of_engine, usage, with_causes},
    result::Outcome,
    scenario::{Scenario, overrides, read},
};

/// Flows of each group whose windows are sampled.
const TRACED_FLOWS_PER_GROUP: usize = 8;
/// Ctrl-C is looked out for so often.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// How to run, whatever is run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    engine: String,
    /// `none`, `first` or `every`.
    traces: String,
    /// Is called with the share that is done.
    progress: Option<Py<PyAny>>,
    title: String,
    /// The call, for reports.
    call: String,
}

#[pyfunction]
pub fn run(py: Python, scenario: &Scenario, options: Options) -> PyResult<Outcome> {
    let plan = Plan::alone(scenario.0.clone());
    run_plan(py, plan, None, options)
}

#[pyfunction]
pub fn compare(
    py: Python,
    dumbbell: &Bound<PyDict>,
    effects: Option<&Bound<PyDict>>,
    asked: Asked,
    options: Options,
) -> PyResult<Outcome> {
    let is_real_time = engine(&options.engine)?.needs_machine();
    let (seeds, budget) = match asked.seeds.parse::<Seeds>().map_err(usage)? {
        Seeds::Auto => {
            let budget = asked.budget()?;
            (budget.most_seeds, Some(budget))
        }
        Seeds::Fixed(_) if asked.most_seeds.is_some() || asked.time.is_some() || asked.precision.is_some() => {
            return Err(usage("most_seeds, time and precision are for seeds=\"auto\""));
        }
        Seeds::Fixed(count) => (count, None),
    };
    let comparison = Comparison {
        dumbbell: read::<DumbbellSpec>(dumbbell, "path")?,
        effects: effects.map(|table| read::<EffectsSpec>(table, "path")).transpose()?.unwrap_or_default(),
        contenders: flows(&asked.contenders)?,
        against: flows(&asked.against)?,
        reverse: flows(&asked.reverse)?,
        ecn: asked.ecn,
        transfer: parsed::<Bytes>(asked.transfer.as_deref())?,
        start_spread: parsed(asked.start_spread.as_deref())?.unwrap_or(Comparison::START_SPREAD),
        rtt_spread: parsed(asked.rtt_spread.as_deref())?.unwrap_or(Comparison::RTT_SPREAD),
        send_jitter: parsed(asked.send_jitter.as_deref())?,
        duration: parsed(asked.duration.as_deref())?,
        warmup: parsed::<Span>(asked.warmup.as_deref())?,
        overrides: overrides(Some(seeds), asked.first_seed),
        is_real_time,
    };
    let plan = comparison.plan().map_err(|e| match e {
        CompareError::Scenario(e) => at_key("compare", &e.key, &e.message),
        other => usage(other),
    })?;
    run_plan(py, plan, budget, options)
}

/// What is compared, as in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    contenders: Vec<String>,
    against: Vec<String>,
    reverse: Vec<String>,
    ecn: bool,
    transfer: Option<String>,
    start_spread: Option<String>,
    rtt_spread: Option<String>,
    send_jitter: Option<String>,
    duration: Option<String>,
    warmup: Option<String>,
    /// A number or `auto`.
    seeds: String,
    most_seeds: Option<u32>,
    time: Option<String>,
    precision: Option<f64>,
    first_seed: Option<u64>,
}

impl Asked {
    fn budget(&self) -> PyResult<Budget> {
        let budget = Budget {
            most_seeds: self.most_seeds.unwrap_or(Budget::USUAL.most_seeds),
            time: parsed(self.time.as_deref())?.unwrap_or(Budget::USUAL.time),
            precision: self.precision.unwrap_or(Budget::USUAL.precision),
        };
        if budget.most_seeds < 2 {
            return Err(usage("most_seeds: give 2 or more; one seed has no interval"));
        }
        match budget.precision {
            0.0..1.0 => Ok(budget),
            other => Err(usage(format!("precision={other}: give a share from 0 up to below 1"))),
        }
    }
}

fn flows(texts: &[String]) -> PyResult<Vec<Flows>> {
    texts.iter().map(|text| text.parse().map_err(|e: FlowsError| usage(e))).collect()
}

pub fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: Option<&str>) -> PyResult<Option<T>> {
    text.map(|text| text.parse().map_err(|e: T::Err| usage(e))).transpose()
}

pub fn engine(name: &str) -> PyResult<&'static dyn Engine> {
    tandem_engines::find(name).map_err(usage)
}

/// Warns of what an engine doubts.
pub fn warn(py: Python, doubt: String) -> PyResult<()> {
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(doubt)?, 2)
}

/// All seeds, or with a budget as many as it takes.
fn run_plan(py: Python, mut plan: Plan, budget: Option<Budget>, options: Options) -> PyResult<Outcome> {
    let engine = engine(&options.engine)?;
    let mut doubts = Vec::new();
    for scenario in &plan.scenarios {
        doubts.extend(engine.check(scenario, false).map_err(|e| of_engine(e, scenario))?);
    }
    doubts.dedup();
    doubts.into_iter().try_for_each(|doubt| warn(py, doubt.0))?;
    let traces = match options.traces.as_str() {
        "none" => Traces::None,
        "first" => Traces::FirstSeed(TRACED_FLOWS_PER_GROUP),
        "every" => Traces::EverySeed(TRACED_FLOWS_PER_GROUP),
        other => return Err(usage(format!("traces=`{other}`: give one of `none`, `first`, `every`"))),
    };
    for scenario in &mut plan.scenarios {
        *scenario = engine.as_run(scenario).into_owned();
    }
    let tasks: Vec<Task> = plan.scenarios.iter().map(|scenario| Task { scenario, engine, traces }).collect();
    let Some(budget) = budget else {
        let seeds = run_tasks(py, options.progress, |batch| Ok(batch.run(&tasks)?.seeds))?;
        return Ok(Outcome::new(options.title, options.call, plan, engine, seeds, &Looks::default(), None));
    };
    let decided = run_tasks(py, options.progress, |batch| {
        let ask = |runs: &mut [Option<Run>]| {
            plan.set_stolen(runs);
            plan.open(runs, budget.precision)
        };
        Ok(decide(batch, &tasks, budget, ask)?)
    })?;
    plan.scenarios = decided.as_run(&plan.scenarios);
    let Decided { settled, looks, why, .. } = decided;
    Ok(Outcome::new(options.title, options.call, plan, engine, settled.seeds, &looks, why))
}

/// Does work that a batch does, without Python's lock. Ctrl-C ends it; `progress` is called with the share that is done.
pub fn run_tasks<T: Send>(
    py: Python,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Batch) -> anyhow::Result<T> + Send,
) -> PyResult<T> {
    watched(py, progress, |cancelled, watch| {
        work(&Batch { cancelled: Some(cancelled), watch: Some(watch), ..Batch::default() })
    })
}

/// Does work without Python's lock. The work is told by a flag to end, after Ctrl-C; several times a second it calls, in this thread, a function
/// with the share that is done, which looks out for Ctrl-C and calls `progress`.
pub fn watched<T: Send>(
    py: Python,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&AtomicBool, &(dyn Fn(f64) + Sync)) -> anyhow::Result<T> + Send,
) -> PyResult<T> {
    let cancelled = AtomicBool::new(false);
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let watch = |share: f64| {
        let seen = Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |tell| tell.call1(py, (share,)).map(drop))
        });
        if let Err(e) = seen {
            cancelled.store(true, Relaxed);
            raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(e);
        }
    };
    let done = py.detach(|| work(&cancelled, &watch));
    match raised.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(e) => Err(e),
        None => done.map_err(with_causes),
    }
}

/// Does work in another thread, while this one watches how much is done.
pub fn beside<T: Send>(watch: &dyn Fn(f64), share: impl Fn() -> f64, work: impl FnOnce() -> T + Send) -> T {
    let (running, is_over) = channel::<()>();
    let done = thread::scope(|scope| {
        let all = scope.spawn(|| {
            let _running = running;
            work()
        });
        while is_over.recv_timeout(WATCH_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            watch(share());
        }
        all.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    watch(share());
    done
}

/// JSON as in Python.
pub fn loads<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (PyString::new(py, json),))
}
