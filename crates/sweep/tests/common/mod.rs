// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small sweep, an engine that counts, and what is in a data set.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use arrow_array::{
    Array, RecordBatch,
    cast::AsArray,
    types::{Float64Type, UInt64Type},
};
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;
use tandem_sim::Sim;
use tandem_sweep::{Outcome, Program, RunOptions, Store, Sweep, group_files, run};
use tandem_tables::{read_parquet, united};

pub const PROGRAM: Program = Program { version: "1.2.3", commit: "abc" };

/// Two controllers on each of two paths, two seeds.
pub const SMALL: &str = r#"
[scenario]
duration = "600ms"
warmup = "100ms"
seeds = 2
[scenario.dumbbell]
rate = "5mbit"
rtt = "20ms"
queue = "20p"
[[scenario.flows]]
controller = "reno"
[grid]
"dumbbell.rate" = ["5mbit", "10mbit"]
"flows[0].controller" = ["reno", "compound"]
"#;

/// The simulator, counted; it can cancel after this many runs.
#[derive(Default)]
pub struct Counting {
    pub runs: AtomicUsize,
    pub cancelled: AtomicBool,
    pub cancel_after: Option<usize>,
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
        let runs = self.runs.fetch_add(1, Relaxed) + 1;
        let result = Sim.run(scenario, seed, Options { cancelled: None, ..options });
        if self.cancel_after.is_some_and(|most| runs >= most) {
            self.cancelled.store(true, Relaxed);
        }
        result
    }
}

pub fn sweep(text: &str) -> Arc<Sweep> {
    Arc::new(Sweep::parse(text, "test.toml", Path::new("")).unwrap())
}

/// Sweeps into a folder, and tells how many runs that took.
pub fn sweep_into(folder: &Path, text: &str, traces: bool, cancel_after: Option<usize>) -> (Outcome, usize) {
    let sweep = sweep(text);
    let engine = Counting { cancel_after, ..Counting::default() };
    let survey = sweep.survey(&engine, false).unwrap();
    let mut store = Store::open(folder, &sweep, &engine, &survey.schema, traces).unwrap();
    // Another worker could have done all the rest before the first of them says that it is to end.
    let workers = cancel_after.map(|_| 1);
    let options = RunOptions { traces, workers, cancelled: Some(&engine.cancelled), ..RunOptions::default() };
    let outcome = run(&sweep, &engine, &mut store, &PROGRAM, &options).unwrap();
    (outcome, engine.runs.into_inner())
}

/// All rows of the data set.
pub fn table(folder: &Path) -> Vec<RecordBatch> {
    let files = group_files(folder).unwrap();
    let batches: Vec<RecordBatch> = files.iter().flat_map(|path| read_parquet(path).unwrap().1).collect();
    united(&batches).unwrap().1
}

/// A row for each task and group: columns by name, as text.
pub fn rows(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut rows = Vec::new();
    for batch in table(folder) {
        for row in 0..batch.num_rows() {
            let cell = |column: &dyn Array| {
                if column.is_null(row) {
                    "null".into()
                } else if let Some(texts) = column.as_string_opt::<i32>() {
                    texts.value(row).to_owned()
                } else if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
                    numbers.value(row).to_string()
                } else {
                    column.as_primitive_opt::<UInt64Type>().map_or("?".into(), |n| n.value(row).to_string())
                }
            };
            let names = batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
            rows.push(names.into_iter().zip(batch.columns()).map(|(name, c)| (name, cell(c))).collect());
        }
    }
    rows
}

/// The files of the data set with their bytes.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    group_files(folder).unwrap().iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}
