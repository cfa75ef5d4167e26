// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs scenarios for the commands; an interrupt keeps what is done.

use std::{
    borrow::Cow,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use tandem_batch::{Batch, Engine, Options, Sim, Task, Traces};
use tandem_scenario::{
    Scenario,
    result::{Run, SeedResult},
};

use crate::Failure;

/// Flows of each group whose windows are sampled for the report.
const TRACED_FLOWS_PER_GROUP: usize = 8;

/// What came of the scenarios, in their order; `None` for one of which no seed was finished.
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

/// Simulates all seeds of all scenarios.
pub fn run_all(scenarios: &[Scenario]) -> Result<Outcome, Failure> {
    run_in(&Sim, scenarios)
}

/// Runs all seeds of all scenarios in an engine.
pub fn run_in(engine: &dyn Engine, scenarios: &[Scenario]) -> Result<Outcome, Failure> {
    let traces = Traces::FirstSeed(TRACED_FLOWS_PER_GROUP);
    let tasks: Vec<Task> = scenarios.iter().map(|scenario| Task { scenario, engine, traces }).collect();
    let outcome = Batch { cancelled: Some(interrupt_flag()), store: None }.run(&tasks)?;
    let interrupted = outcome.interrupted;
    Ok(Outcome { runs: outcome.into_runs(&tasks), interrupted })
}

/// Real Linux TCP, in real time, one run after the other: there is one machine.
pub struct Kernel;

impl Engine for Kernel {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> anyhow::Result<Option<SeedResult>> {
        let Options { traced_flows_per_group, cancelled, progress_ns } = options;
        let options = tandem_testbed::Options { traced_flows_per_group, cancelled, progress_ns };
        Ok(tandem_testbed::run(scenario, seed, options)?)
    }

    fn needs_machine(&self) -> bool {
        true
    }

    /// Real hosts have delays of their own: none is added.
    fn as_run<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        Cow::Owned(scenario.clone().without_send_jitter())
    }
}

/// Set by the first Ctrl-C or SIGTERM; the second ends the program at once.
pub fn interrupt_flag() -> &'static AtomicBool {
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
