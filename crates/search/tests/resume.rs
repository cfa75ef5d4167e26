// SPDX-License-Identifier: MIT OR Apache-2.0
//! A search whose time ends, begun again: what it ran is not run again.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use tandem_batch::{
    Batch, Clock,
    store::{Limits, Store},
};
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_results::SeedResult;
use tandem_scenario::{Scenario, units::Span};
use tandem_search::{ByRuns, Explorer, Question, Side, Space, Worst};
use tandem_sim::Sim;

const SPACE: &str = r#"
title = "Rates"
[length]
round_trips = 100
packets_most = 5_000
[parameters]
rate = { from = "1mbit", to = "4mbit", scale = "log" }
rtt = { from = "20ms", to = "40ms", scale = "log" }
[scenario.dumbbell]
rate = "{rate}"
rtt = "{rtt}"
queue = "10p"
[[scenario.flows]]
controller = "contender"
"#;

const GENERATIONS: usize = 4;

/// The simulator, counted. After `most` runs the time is up.
struct Counting {
    runs: AtomicUsize,
    most: usize,
    is_over: AtomicBool,
}

impl Engine for Counting {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn description(&self) -> &'static str {
        "Counts its runs"
    }

    fn arithmetic(&self) -> &'static str {
        Sim.arithmetic()
    }

    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
        Sim.check(scenario, force)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let result = Sim.run(scenario, seed, Options { cancelled: None, ..options });
        if self.runs.fetch_add(1, Relaxed) + 1 >= self.most {
            self.is_over.store(true, Relaxed);
        }
        result
    }
}

/// What a search had found when it ended, and how many runs it made itself.
fn searched(store: &Store, most: usize) -> (String, usize, usize) {
    let engine = Counting { runs: AtomicUsize::new(0), most, is_over: AtomicBool::new(false) };
    let (space, clock) =
        (Space::parse(SPACE, "rates.toml").unwrap(), Clock::new(Span::from_secs(1_000_000), Some(&engine.is_over)));
    let side = |controller| Side { controller, engine: &engine };
    // Another worker could go on while the last run of the first ends.
    let batch = Batch { store: Some(store), workers: Some(1), quiet: true, ..Batch::default() };
    let judge = ByRuns {
        space: &space,
        contender: side("reno"),
        baseline: side("cubic"),
        question: &Question { worst: Worst::Utilisation, either_way: false },
        batch,
        clock: &clock,
        packets: &AtomicU64::new(0),
    };
    let mut explorer = Explorer::new(&space, 1, 0.1, false, Vec::new());
    while explorer.generations < GENERATIONS && explorer.step(&judge).unwrap() {}
    (format!("{:?}", explorer.archive), explorer.generations, engine.runs.into_inner())
}

#[test]
fn a_search_goes_on_where_its_time_ended() {
    let new = || {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::USUAL, |warning| panic!("{warning}")).unwrap();
        (folder, store)
    };
    let ((_once, once), (_often, often)) = (new(), new());
    let (found, generations, whole) = searched(&once, usize::MAX);
    assert_eq!(generations, GENERATIONS);
    // Twice in the midst of a generation, which is 16 paths with two controllers on each at least.
    let (mut ran, mut reached) = (0, Vec::new());
    for most in [whole / 3, whole / 3, usize::MAX] {
        let (now, generations, runs) = searched(&often, most);
        ran += runs;
        reached.push(generations);
        assert_eq!(now == found, generations == GENERATIONS);
    }
    assert!(reached[0] < reached[1] && reached[1] < GENERATIONS, "{reached:?}");
    assert_eq!(ran, whole, "nothing ran twice");
}
