// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs scenarios, every seed of each, on all cores, with a progress bar; an interrupt keeps what is done.

use std::{
    io::IsTerminal,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use tandem_scenario::{Scenario, result::Run, units::Span};
use tandem_sim::Options;

use crate::Failure;

/// Flows of each group whose windows are sampled for the report.
const TRACED_FLOWS_PER_GROUP: usize = 8;

/// What came of the scenarios, in their order; `None` for one of which no seed was finished.
#[derive(Default)]
pub struct Outcome {
    pub runs: Vec<Option<Run>>,
    pub interrupted: bool,
}

impl Outcome {
    /// Of so many scenarios that were interrupted before they began.
    pub fn nothing(scenarios: usize) -> Self {
        Self { runs: (0..scenarios).map(|_| None).collect(), interrupted: true }
    }
}

/// Runs all seeds of all scenarios.
pub fn run_all(scenarios: &[Scenario]) -> Outcome {
    let cancelled = interrupt_flag();
    let progress_ns = Arc::new(AtomicU64::new(0));
    let total_ns = scenarios.iter().map(|s| s.duration.ns * s.seeds.len() as u64).sum();
    let watcher = Watcher::start(Arc::clone(&progress_ns), total_ns);

    let jobs: Vec<(usize, u64)> =
        scenarios.iter().enumerate().flat_map(|(i, s)| s.seeds.iter().map(move |&seed| (i, seed))).collect();
    // One job a task: seeds take unequal times, and all of a run's order is restored below.
    let finished: Vec<_> = jobs
        .par_iter()
        .with_max_len(1)
        .map(|&(i, seed)| {
            // Of many short jobs each would otherwise begin, and see only then that it need not.
            if cancelled.load(Relaxed) {
                return None;
            }
            let is_first = scenarios[i].seeds[0] == seed;
            let options = Options {
                traced_flows_per_group: if is_first { TRACED_FLOWS_PER_GROUP } else { 0 },
                cancelled: Some(cancelled),
                progress_ns: Some(&progress_ns),
            };
            tandem_sim::run(&scenarios[i], seed, options).map(|result| (i, result))
        })
        .collect();
    watcher.stop();

    let mut by_scenario: Vec<Vec<_>> = scenarios.iter().map(|_| Vec::new()).collect();
    for (i, result) in finished.into_iter().flatten() {
        by_scenario[i].push(result);
    }
    let runs = scenarios
        .iter()
        .zip(by_scenario)
        .map(|(s, seeds)| (!seeds.is_empty()).then(|| Run::from_seeds(s, "sim", s.seeds.len(), seeds)))
        .collect();
    Outcome { runs, interrupted: cancelled.load(Relaxed) }
}

/// Runs all seeds of a scenario in real time, one after the other: there is one machine.
pub fn run_in_kernel(scenario: &Scenario) -> Result<Outcome, Failure> {
    let cancelled = interrupt_flag();
    let progress_ns = Arc::new(AtomicU64::new(0));
    let watcher = Watcher::start(Arc::clone(&progress_ns), scenario.duration.ns * scenario.seeds.len() as u64);
    let mut seeds = Vec::new();
    let mut failure = None;
    for (i, &seed) in scenario.seeds.iter().enumerate() {
        let options = tandem_testbed::Options {
            traced_flows_per_group: if i == 0 { TRACED_FLOWS_PER_GROUP } else { 0 },
            cancelled: Some(cancelled),
            progress_ns: Some(&progress_ns),
        };
        match tandem_testbed::run(scenario, seed, options) {
            Ok(Some(result)) => seeds.push(result),
            Ok(None) => break,
            Err(e) => {
                failure = Some(e);
                break;
            }
        }
    }
    watcher.stop();
    if let Some(e) = failure {
        return Err(Failure::Failed(e.into()));
    }
    // Real hosts have delays of their own: none is added.
    let real = Scenario { send_jitter: Span::default(), ..scenario.clone() };
    let run = (!seeds.is_empty()).then(|| Run::from_seeds(&real, "kernel", scenario.seeds.len(), seeds));
    Ok(Outcome { runs: vec![run], interrupted: cancelled.load(Relaxed) })
}

/// Set by the first Ctrl-C or SIGTERM; the second ends the program at once.
fn interrupt_flag() -> &'static AtomicBool {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let handler = || {
            if INTERRUPTED.swap(true, Relaxed) {
                std::process::exit(130);
            }
        };
        // Without a handler an interrupt ends the program at once, which is no worse than before.
        let _ = ctrlc::set_handler(handler);
    });
    &INTERRUPTED
}

/// Draws the bar from another thread, so that the simulations only count.
struct Watcher {
    done: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watcher {
    fn start(progress_ns: Arc<AtomicU64>, total_ns: u64) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let thread = std::io::stderr().is_terminal().then(|| {
            let done = Arc::clone(&done);
            thread::spawn(move || {
                let bar = ProgressBar::new(total_ns / 1_000_000).with_style(
                    ProgressStyle::with_template("{bar:40} {percent:>3} % of simulated time, {eta} left")
                        .expect("valid"),
                );
                while !done.load(Relaxed) {
                    bar.set_position(progress_ns.load(Relaxed) / 1_000_000);
                    thread::park_timeout(Duration::from_millis(100));
                }
                bar.finish_and_clear();
            })
        });
        Self { done, thread }
    }

    fn stop(mut self) {
        self.done.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The bar is decoration: its failure is no failure of the run.
            let _ = thread.join();
        }
    }
}
