// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a sweep does not grow with its length.
#![expect(unsafe_code)]

#[allow(dead_code)]
mod common;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use common::{PROGRAM, sweep};
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;
use tandem_sim::Sim;
use tandem_sweep::{PART_TASKS, RunOptions, Store, run};

/// The system's allocator, which counts the bytes that are in use.
struct Counted;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: the system's allocator keeps the contract; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(in_use, Relaxed);
        // SAFETY: the caller's promises are those that it asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above; the pointer is from `alloc`, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Simulates once, and gives that result ever after: this is about those who keep the books.
struct Canned(OnceLock<SeedResult>);

impl Engine for Canned {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn description(&self) -> &'static str {
        "The same result each time"
    }

    fn arithmetic(&self) -> &'static str {
        "of a test"
    }

    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
        Sim.check(scenario, force)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let simulate = || Sim.run(scenario, seed, options).expect("it can be simulated").expect("nobody cancels it");
        Ok(Some(SeedResult { seed, ..self.0.get_or_init(simulate).clone() }))
    }
}

/// The most bytes in use while this many points run, beside those in use before.
fn most_bytes(points: usize) -> usize {
    let text = format!(
        "[scenario]\nduration = '600ms'\nwarmup = '100ms'\n\
        [scenario.dumbbell]\nrate = '5mbit'\nrtt = '20ms'\nqueue = '20p'\n[[scenario.flows]]\ncontroller = 'reno'\n\
        [random]\npoints = {points}\n[random.values]\n'dumbbell.rate' = {{ from = '2mbit', to = '9mbit' }}\n"
    );
    let (folder, engine) = (tempfile::tempdir().unwrap(), Canned(OnceLock::new()));
    let before = IN_USE.load(Relaxed);
    MOST.store(before, Relaxed);
    let sweep = sweep(&text);
    let survey = sweep.survey(&engine, false).unwrap();
    let mut store = Store::open(folder.path(), &sweep, &engine, &survey.schema, false).unwrap();
    let options = RunOptions { workers: Some(1), ..RunOptions::default() };
    let outcome = run(&sweep, &engine, &mut store, &PROGRAM, &options).unwrap();
    // Of seven million rates some are drawn twice.
    assert!(outcome.ran > points * 99 / 100, "{}", outcome.ran);
    MOST.load(Relaxed) - before
}

#[test]
fn memory_does_not_grow_with_the_number_of_runs() {
    let _ = most_bytes(10);
    let few = most_bytes(2 * PART_TASKS);
    let many = most_bytes(8 * PART_TASKS);
    let a_run = (many as f64 - few as f64) / (6 * PART_TASKS) as f64;
    // A key alone has 16 bytes. The name of a part's file is on a list when the sweep goes on, this much for 1024 runs.
    assert!(a_run < 2.0, "{few} bytes, {many} bytes: {a_run:.1} bytes a run");
}
