// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs many scenarios, every seed of each, on all cores. It shows progress and the time left, and can be cancelled. With a [`Store`] nothing
//! is run twice, and an interrupted batch continues where it was. It knows engines only by their trait.
//!
//! ```
//! use tandem_batch::{Batch, Task, Traces};
//! use tandem_scenario::file::{Overrides, parse};
//! use tandem_sim::Sim;
//!
//! let text = r#"
//!     duration = "5s"
//!     warmup = "1s"
//!     seeds = 2
//!     [dumbbell]
//!     rate = "10mbit"
//!     rtt = "20ms"
//!     queue = "1bdp"
//!     [[flows]]
//!     controller = "cubic"
//! "#;
//! let scenario = parse(text, "cubic.toml", "cubic", &Overrides::default())?;
//! let tasks = [Task { scenario: &scenario, engine: &Sim, traces: Traces::None }];
//! let runs = Batch::default().run(&tasks)?.into_runs(&tasks);
//! let run = runs[0].as_ref().expect("nobody interrupted it");
//! assert_eq!(run.groups[0].goodput_by_seed_mbps.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_engine::Engine`] is what it calls, [`tandem_results`] what it returns; [tandem-sweep](../tandem_sweep/index.html)
//! keeps the results of many scenarios as a data set.

mod clock;
mod elsewhere;
mod error;
mod key;
mod progress;
mod scheduler;
#[cfg(not(target_family = "wasm"))]
mod shown;
pub mod store;
mod stored_only;
mod until;

use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use tandem_engine::{Engine, Options};
use tandem_results::{Run, SeedResult};
use tandem_scenario::Scenario;

pub use clock::Clock;
pub use elsewhere::{Carry, Elsewhere, JobError, run_job};
pub use error::{BatchError, StoreError};
pub use key::{RunKey, TaskKey};
use progress::Progress;
pub use scheduler::{work, workers};
#[cfg(not(target_family = "wasm"))]
pub use shown::Shown;
pub use store::Store;
pub use stored_only::StoredOnly;
pub use until::{Ended, First, Settled, Until};

/// A scenario and what runs it.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// What to run; every seed of it is a job.
    pub scenario: &'a Scenario,
    /// What runs it.
    pub engine: &'a dyn Engine,
    /// What to sample over time.
    pub traces: Traces,
}

/// Which seeds' windows and queues are sampled over time; of how many flows of each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traces {
    /// No samples.
    None,
    /// The first seed's, of at most this many flows of each group.
    FirstSeed(usize),
    /// Every seed's, of at most this many flows of each group.
    EverySeed(usize),
}

/// How to run tasks.
#[derive(Default, Clone, Copy)]
pub struct Batch<'a> {
    /// Set by another thread to end early.
    pub cancelled: Option<&'a AtomicBool>,
    /// Keeps what is done, and knows what was done before. Runs that need the machine for themselves are none of it: they measure this
    /// machine, at this time.
    pub store: Option<&'a Store>,
    /// Ends one task before the next. Otherwise the first seeds of all come first, so that an interrupt leaves some of each.
    pub by_task: bool,
    /// Places of tasks of which all seeds come before those of the others.
    pub first: &'a [usize],
    /// Does not show how far it is: by a bar on a terminal, by a line every ten seconds elsewhere.
    pub quiet: bool,
    /// How many runs go at a time; `None`: one for each core.
    pub workers: Option<usize>,
    /// Is called instead, ten times a second and at the end, with the share that is done; in the thread that runs the batch.
    pub watch: Option<&'a (dyn Fn(f64) + Sync)>,
}

/// What came of tasks, in their order. A seed that was not finished is missing.
pub struct Outcome {
    /// The results of each task's finished seeds.
    pub seeds: Vec<Vec<SeedResult>>,
    /// How many runs the store had.
    pub stored: usize,
    /// Whether the batch was cancelled before all was done.
    pub interrupted: bool,
}

/// One seed of one task.
struct Job<'a> {
    task: Task<'a>,
    seed: u64,
    /// The seed's place among the task's.
    seed_index: usize,
    traced_flows_per_group: usize,
    comes_first: bool,
    key: TaskKey,
    progress_ns: AtomicU64,
}

/// In real time a nanosecond takes a nanosecond, whatever the links' rates are: far more than in the simulator.
const REAL_TIME_WEIGHT: f64 = 1e12;

impl Job<'_> {
    /// What a nanosecond of it costs, as far as that can be told beforehand: mostly packets on the fastest link.
    fn weight(&self) -> f64 {
        if self.task.engine.needs_machine() {
            return REAL_TIME_WEIGHT;
        }
        let fastest = self.task.scenario.network.links.iter().map(|l| l.rate.bps).max();
        self.task.engine.weight() * (1e6 + fastest.unwrap_or(0) as f64)
    }

    fn duration_ns(&self) -> u64 {
        self.task.scenario.duration.ns
    }
}

impl Traces {
    fn of_seed(self, index: usize) -> usize {
        match (self, index) {
            (Traces::FirstSeed(flows), 0) | (Traces::EverySeed(flows), _) => flows,
            (Traces::None | Traces::FirstSeed(_), _) => 0,
        }
    }
}

impl Batch<'_> {
    /// Runs all seeds of all tasks. Equal ones, as baselines of several comparisons are, run once, and each has all the
    /// traces that any of them asks for.
    ///
    /// # Errors
    /// The first run that fails ends the batch; so does a store that cannot be written to.
    pub fn run(&self, tasks: &[Task]) -> Result<Outcome, BatchError> {
        let all: Vec<_> = tasks.iter().map(|task| 0..task.scenario.seeds.len()).collect();
        self.run_seeds(tasks, &all)
    }

    /// As [`Batch::run`], of each task these of its seeds.
    fn run_seeds(&self, tasks: &[Task], which: &[Range<usize>]) -> Result<Outcome, BatchError> {
        let mut jobs: Vec<Job> = Vec::new();
        let mut job_of: HashMap<RunKey, usize> = HashMap::new();
        let mut wanted: Vec<Vec<usize>> = Vec::new();
        for (place, (&task, which)) in tasks.iter().zip(which).enumerate() {
            let comes_first = self.first.contains(&place);
            let key = TaskKey::new(task.engine, task.scenario);
            let of_task = which.clone().map(|i| {
                let seed = task.scenario.seeds[i];
                let traced_flows_per_group = task.traces.of_seed(i);
                let j = *job_of.entry(key.of_seed(seed)).or_insert_with(|| {
                    let progress_ns = AtomicU64::new(0);
                    jobs.push(Job { task, seed, seed_index: i, traced_flows_per_group, comes_first, key, progress_ns });
                    jobs.len() - 1
                });
                // Traces change nothing in the rest of a result.
                jobs[j].traced_flows_per_group = jobs[j].traced_flows_per_group.max(traced_flows_per_group);
                jobs[j].comes_first |= comes_first;
                j
            });
            wanted.push(of_task.collect());
        }
        let stored = AtomicUsize::new(0);
        let results = self.run_jobs(&jobs, &stored)?;
        let seeds = wanted.iter().map(|jobs| jobs.iter().filter_map(|&j| results[j].clone()).collect()).collect();
        Ok(Outcome { seeds, stored: stored.into_inner(), interrupted: self.is_cancelled() })
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.is_some_and(|flag| flag.load(Relaxed))
    }

    /// Each job's result; `None` where it was not finished.
    fn run_jobs(&self, jobs: &[Job], stored: &AtomicUsize) -> Result<Vec<Option<SeedResult>>, BatchError> {
        let results: Vec<Mutex<Option<SeedResult>>> = jobs.iter().map(|_| Mutex::default()).collect();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        if !self.by_task {
            order.sort_by_key(|&j| jobs[j].seed_index);
        }
        order.sort_by_key(|&j| !jobs[j].comes_first);
        // Several at a time first, then those that need the machine for themselves.
        let (together, alone): (Vec<usize>, Vec<usize>) =
            order.into_iter().partition(|&j| !jobs[j].task.engine.needs_machine());
        let progress = Progress::new(jobs);
        let run_some = |order: &[usize]| -> Result<(), BatchError> {
            let Some(&first) = order.first() else { return Ok(()) };
            let next = AtomicUsize::new(0);
            // In order, so that what is done when an interrupt comes is the beginning.
            let one = || -> Result<bool, BatchError> {
                let Some(&j) = order.get(next.fetch_add(1, Relaxed)) else { return Ok(false) };
                *lock(&results[j]) = self.run_job(&jobs[j], stored)?;
                Ok(true)
            };
            work(workers(jobs[first].task.engine, self.workers).min(order.len()), self.cancelled, one)
        };
        let outcome = Mutex::new(Ok(()));
        let run_all = || *lock(&outcome) = run_some(&together).and_then(|()| run_some(&alone));
        match self.watch {
            Some(watch) => progress.tell_while(watch, run_all),
            None => progress.show_while(self.quiet, run_all),
        }
        outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?;
        Ok(results.into_iter().map(|r| r.into_inner().unwrap_or_default()).collect())
    }

    fn run_job(&self, job: &Job, stored: &AtomicUsize) -> Result<Option<SeedResult>, BatchError> {
        let store = self.store.filter(|_| !job.task.engine.needs_machine());
        if let Some(done) = store.and_then(|store| store.get(&job.key, job.seed, job.traced_flows_per_group)) {
            stored.fetch_add(1, Relaxed);
            job.progress_ns.store(job.duration_ns(), Relaxed);
            return Ok(Some(done));
        }
        let options = Options {
            traced_flows_per_group: job.traced_flows_per_group,
            cancelled: self.cancelled,
            progress_ns: Some(&job.progress_ns),
        };
        let result = job.task.engine.run(job.task.scenario, job.seed, options)?;
        if let (Some(store), Some(result)) = (store, &result) {
            store.put(&job.key, job.seed, job.traced_flows_per_group, result);
        }
        job.progress_ns.store(job.duration_ns(), Relaxed);
        Ok(result)
    }
}

/// Another thread's panic comes out when it is joined; until then what it held is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Outcome {
    /// Each task summed up; `None` for one of which no seed was finished.
    pub fn into_runs(self, tasks: &[Task]) -> Vec<Option<Run>> {
        tasks
            .iter()
            .zip(self.seeds)
            .map(|(task, seeds)| {
                let as_run = task.engine.as_run(task.scenario);
                let planned = task.scenario.seeds.len();
                (!seeds.is_empty()).then(|| Run::from_seeds(&as_run, task.engine.name(), planned, seeds))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tandem_engine::{EngineError, Warning};
    use tandem_scenario::file::{Overrides, parse};

    use super::*;

    /// Counts its runs, and gives as CPU time how many flows were traced.
    #[derive(Default)]
    pub struct Counting(AtomicUsize);

    impl Engine for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }

        fn description(&self) -> &'static str {
            "Counts its runs"
        }

        fn arithmetic(&self) -> &'static str {
            "of a test"
        }

        fn check(&self, _: &Scenario, _: bool) -> Result<Vec<Warning>, EngineError> {
            Ok(Vec::new())
        }

        fn run(&self, _: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
            self.0.fetch_add(1, Relaxed);
            Ok(Some(SeedResult { seed, cpu_s: options.traced_flows_per_group as f64, ..SeedResult::default() }))
        }
    }

    pub fn scenario(rtt: &str) -> Scenario {
        let text = r#"
            duration = "1s"
            seeds = 3
            [dumbbell]
            rate = "1mbit"
            rtt = "RTT"
            queue = "9p"
            [[flows]]
            controller = "reno"
        "#;
        parse(&text.replace("RTT", rtt), "test.toml", "test", &Overrides::default()).unwrap()
    }

    /// In the thread that runs the batch, which may hold what other threads may not touch.
    #[test]
    fn a_watcher_sees_the_end_and_can_cancel() {
        let (engine, cancelled, scenario) = (Counting::default(), AtomicBool::new(false), scenario("10ms"));
        let (last, caller) = (Mutex::new(0.0), thread::current().id());
        let watch = |share: f64| {
            assert_eq!(thread::current().id(), caller);
            *lock(&last) = share;
        };
        let task = Task { scenario: &scenario, engine: &engine, traces: Traces::None };
        let batch = Batch { watch: Some(&watch), cancelled: Some(&cancelled), ..Batch::default() };
        assert!(!batch.run(&[task]).unwrap().interrupted);
        assert_eq!(*lock(&last), 1.0);
        cancelled.store(true, Relaxed);
        assert!(batch.run(&[task]).unwrap().interrupted);
    }

    #[test]
    fn what_differs_in_its_traces_only_runs_once_with_all_of_them() {
        let engine = Counting::default();
        let scenario = &scenario("10ms");
        let task = |traces| Task { scenario, engine: &engine, traces };
        let tasks = [task(Traces::None), task(Traces::EverySeed(4)), task(Traces::FirstSeed(9))];
        let outcome = Batch::default().run(&tasks).unwrap();
        assert_eq!(engine.0.into_inner(), 3);
        for seeds in outcome.seeds {
            assert_eq!(seeds.iter().map(|s| (s.seed, s.cpu_s)).collect::<Vec<_>>(), [(1, 9.0), (2, 4.0), (3, 4.0)]);
        }
    }

    /// Has the machine for itself, so that its runs come one by one, and notes them.
    #[derive(Default)]
    struct Noting(Mutex<Vec<(u64, u64)>>);

    impl Engine for Noting {
        fn name(&self) -> &'static str {
            "noting"
        }

        fn description(&self) -> &'static str {
            "Notes its runs"
        }

        fn arithmetic(&self) -> &'static str {
            "of a test"
        }

        fn needs_machine(&self) -> bool {
            true
        }

        fn check(&self, _: &Scenario, _: bool) -> Result<Vec<Warning>, EngineError> {
            Ok(Vec::new())
        }

        fn run(&self, scenario: &Scenario, seed: u64, _: Options) -> Result<Option<SeedResult>, EngineError> {
            let rtt_ms = scenario.base_rtt(&scenario.groups[0]).ns / 1_000_000;
            lock(&self.0).push((rtt_ms, seed));
            Ok(Some(SeedResult { seed, ..SeedResult::default() }))
        }
    }

    #[test]
    fn what_comes_first_has_all_its_seeds_before_the_others() {
        let engine = Noting::default();
        let scenarios = ["10ms", "11ms", "12ms"].map(scenario);
        let tasks = scenarios.each_ref().map(|scenario| Task { scenario, engine: &engine, traces: Traces::None });
        Batch { first: &[2], quiet: true, ..Batch::default() }.run(&tasks).unwrap();
        let others = [(10, 1), (11, 1), (10, 2), (11, 2), (10, 3), (11, 3)];
        assert_eq!(*lock(&engine.0), [&[(12, 1), (12, 2), (12, 3)][..], &others].concat());
    }
}
