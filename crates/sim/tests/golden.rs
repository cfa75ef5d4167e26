// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's results, to the last digit: of the small scenarios in `golden/`, which have every key, and of the examples in `scenarios/`.
//! A change of the simulator that mends no fault moves none of them. One that does names in its commit which it moves, and why.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use serde::Serialize;
use tandem_engine::Options;
use tandem_results::{Run, SeedResult};
use tandem_scenario::{
    Scenario, ScenarioSpec,
    file::{Overrides, load},
};
use toml::{Table, Value};

const SEEDS: [u64; 3] = [1, 2, 3];

/// Keys that no scenario of the simulator can have: what carries the data is a choice of the QUIC engine.
const OF_OTHER_ENGINES: [&str; 1] = ["flows.transport"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The scenario files of a folder, in order.
fn scenarios_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

fn scenario(path: &Path) -> Scenario {
    load(path, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// All of a result but the time that it took.
fn run(scenario: &Scenario, seed: u64) -> SeedResult {
    let result = tandem_sim::run(scenario, seed, Options::default()).unwrap().expect("not cancelled");
    SeedResult { cpu_s: 0.0, ..result }
}

fn hash(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap();
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

/// The seeds as `run --json` sums them up; what the cautions say in words is no result.
fn summary(scenario: &Scenario, seeds: Vec<SeedResult>) -> Run {
    Run { cautions: Vec::new(), ..Run::from_seeds(scenario, "sim", SEEDS.len(), seeds) }
}

/// In order: `NAME SEED HASH`, one line for each run, and `NAME summary HASH`; on all cores.
fn hashes() -> Vec<String> {
    let own = scenarios_of(&folder());
    assert!(own.len() >= 30);
    let examples = scenarios_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios"));
    let named = |prefix: &'static str, files: Vec<PathBuf>| {
        files.into_iter().map(move |path| {
            let name = format!("{prefix}{}", path.file_stem().unwrap().to_string_lossy());
            (name, scenario(&path))
        })
    };
    let scenarios: Vec<(String, Scenario)> = named("", own).chain(named("scenarios/", examples)).collect();
    let jobs: Vec<(usize, u64)> = (0..scenarios.len()).flat_map(|i| SEEDS.map(|seed| (i, seed))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || jobs.get(next.fetch_add(1, Relaxed));
        std::iter::from_fn(take).map(|&(i, seed)| (i, run(&scenarios[i].1, seed))).collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut results: BTreeMap<usize, Vec<SeedResult>> = BTreeMap::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for (i, result) in workers.into_iter().flat_map(|worker| worker.join().unwrap()) {
            results.entry(i).or_default().push(result);
        }
    });
    let of_one = |(i, seeds): (usize, Vec<SeedResult>)| {
        let (name, scenario) = &scenarios[i];
        let mut lines: Vec<String> = seeds.iter().map(|s| format!("{name} {} {}", s.seed, hash(s))).collect();
        lines.push(format!("{name} summary {}", hash(&summary(scenario, seeds))));
        lines
    };
    let mut lines: Vec<String> = results.into_iter().flat_map(of_one).collect();
    lines.sort();
    lines
}

#[test]
fn results_are_the_same_to_the_last_digit() {
    let path = folder().join("hashes.txt");
    let found = hashes();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, found.join("\n") + "\n").unwrap();
        return;
    }
    let text = fs::read_to_string(&path).unwrap();
    let known: BTreeSet<&str> = text.lines().collect();
    let run_of = |line: &str| line.rsplit_once(' ').unwrap().0.to_owned();
    let moved: Vec<String> = found.iter().filter(|line| !known.contains(line.as_str())).map(|l| run_of(l)).collect();
    let gone = known.len() + moved.len() - found.len();
    assert!(
        moved.is_empty() && gone == moved.len(),
        "{} results are not those of {} (scenario, and seed or summary): {}; {} of its lines are of no run.\nIf a mended fault moves \
         them, renew the file: UPDATE_GOLDEN=1 cargo test -p tandem-sim --test golden. Say in the commit which moved, and why.",
        moved.len(),
        path.display(),
        moved.join(", "),
        gone.saturating_sub(moved.len()),
    );
}

/// Each key of the tables of a file, as `flows.controller`; arrays do not count.
fn keys(prefix: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                found.insert(path.clone());
                keys(&path, value, found);
            }
        }
        Value::Array(array) => array.iter().for_each(|value| keys(prefix, value, found)),
        _ => {}
    }
}

/// Puts a key that nobody knows into each table of a file in turn, and calls `judge` with the path of that table.
fn with_an_unknown_key(root: &Table, judge: &mut impl FnMut(&str, &Table)) {
    fn walk(prefix: &str, root: &Table, place: &mut Vec<String>, judge: &mut impl FnMut(&str, &Table)) {
        let mut changed = Value::Table(root.clone());
        let here = place.iter().fold(&mut changed, |value, step| match value {
            Value::Array(array) => &mut array[step.parse::<usize>().unwrap()],
            value => &mut value[step.as_str()],
        });
        let steps: Vec<(String, bool)> = match here {
            Value::Table(table) => {
                let steps = table.keys().map(|key| (key.clone(), true)).collect();
                table.insert("no-such-key".into(), 1.into());
                judge(prefix, changed.as_table().unwrap());
                steps
            }
            Value::Array(array) => (0..array.len()).map(|i| (i.to_string(), false)).collect(),
            _ => Vec::new(),
        };
        for (step, is_key) in steps {
            let path = match (is_key, prefix) {
                (false, _) => prefix.to_owned(),
                (true, "") => step.clone(),
                (true, _) => format!("{prefix}.{step}"),
            };
            place.push(step);
            walk(&path, root, place, judge);
            place.pop();
        }
    }
    walk("", root, &mut Vec::new(), judge);
}

/// What the reader of scenarios says that it knows when it meets an unknown key: `expected one of `a`, `b``.
fn known_keys(message: &str) -> Option<Vec<&str>> {
    let list = message.split_once("expected one of ")?.1.lines().next()?;
    Some(list.split(", ").map(|key| key.trim_matches('`')).collect())
}

#[test]
fn the_set_has_every_key_of_the_schema() {
    let mut has = BTreeSet::new();
    let mut may_have: BTreeMap<String, String> = BTreeMap::new();
    for path in scenarios_of(&folder()) {
        let text = fs::read_to_string(&path).unwrap();
        let root: Table = text.parse().unwrap();
        keys("", &Value::Table(root.clone()), &mut has);
        with_an_unknown_key(&root, &mut |table, changed| {
            let Err(error) = toml::from_str::<ScenarioSpec>(&changed.to_string()) else { return };
            for key in known_keys(&error.to_string()).unwrap_or_default() {
                let key = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
                may_have.insert(key, path.display().to_string());
            }
        });
    }
    // If the reader said its lists in other words, nothing would be found.
    assert!(may_have.len() >= 90, "{} keys are known: {:?}", may_have.len(), may_have.keys());
    // An effect belongs to a link, whose name is a step of the path.
    let general = |key: &str| match key.split_once('.').filter(|(first, _)| *first == "effects") {
        Some((_, rest)) => format!("effects.LINK.{}", rest.split_once('.').map_or("", |(_, key)| key)),
        None => key.to_owned(),
    };
    let has: BTreeSet<String> = has.iter().map(|key| general(key)).collect();
    let missing: Vec<String> = may_have.keys().map(|key| general(key)).filter(|key| !has.contains(key)).collect();
    let missing: BTreeSet<&str> =
        missing.iter().map(String::as_str).filter(|key| !OF_OTHER_ENGINES.contains(key)).collect();
    assert!(missing.is_empty(), "no file of {} has these keys: {missing:?}", folder().display());
}

#[test]
fn the_set_has_every_controller_and_every_kind_of_queue() {
    let texts: Vec<String> = scenarios_of(&folder()).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let somewhere = |word: &str| texts.iter().any(|text| text.contains(word));
    for controller in &tandem_controllers::CONTROLLERS {
        let name = controller.name;
        assert!(
            somewhere(&format!("\"{name}\"")),
            "{}: no file has the controller {name}: write {name}.toml there",
            folder().display()
        );
    }
    for kind in tandem_scenario::aqm::NAMES {
        assert!(somewhere(&format!("\"{kind}\"")), "{}: no file has the queue {kind}", folder().display());
    }
}
