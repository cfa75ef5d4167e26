// SPDX-License-Identifier: MIT OR Apache-2.0

use std::{
    fs::{self, OpenOptions},
    process::{self, Command},
    thread,
    time::Duration,
};

use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_results::Trace;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tempfile::TempDir;

use super::*;

struct Fake;

impl Engine for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn description(&self) -> &'static str {
        "Runs nothing"
    }

    fn arithmetic(&self) -> &'static str {
        "of a test"
    }

    fn check(&self, _: &Scenario, _: bool) -> Result<Vec<Warning>, EngineError> {
        Ok(Vec::new())
    }

    fn run(&self, _: &Scenario, _: u64, _: Options) -> Result<Option<SeedResult>, EngineError> {
        Ok(None)
    }
}

const TEXT: &str = "duration = \"1s\"\nseeds = 3\n[dumbbell]\nrate = \"1mbit\"\nrtt = \"10ms\"\nqueue = \"9p\"\n[[flows]]\ncontroller = \"reno\"\n";

fn key(text: &str) -> TaskKey {
    TaskKey::new(&Fake, &parse(text, "test.toml", "test", &Overrides::default()).unwrap())
}

/// Another scenario for each number.
fn task(n: usize) -> TaskKey {
    key(&TEXT.replace("9p", &format!("{}p", n + 1)))
}

fn result(seed: u64) -> SeedResult {
    // A number that has no short decimal form.
    SeedResult { seed, cpu_s: 0.1 + 0.2, ..SeedResult::default() }
}

/// Warnings are the test's business where it expects one.
fn quiet(_: &str) {}

fn open(folder: &TempDir) -> Store {
    Store::open(folder.path(), Limits::USUAL, quiet).unwrap()
}

fn path(folder: &TempDir, task: &TaskKey) -> PathBuf {
    open(folder).path_of(task)
}

/// The seeds of a task, below 10, that a store opened now has.
fn seeds(folder: &TempDir, task: &TaskKey) -> Vec<u64> {
    let store = open(folder);
    (0..10).filter(|&seed| store.get(task, seed, 0).is_some_and(|result| result.seed == seed)).collect()
}

fn put(folder: &TempDir, task: &TaskKey, seeds: &[u64]) {
    let store = open(folder);
    seeds.iter().for_each(|&seed| store.put(task, seed, 0, &result(seed)));
}

#[test]
fn a_key_is_what_a_scenario_means() {
    let usual = key(TEXT);
    let same = [
        format!("# Words.\nname = \"another\"\n{TEXT}"),
        TEXT.replace("seeds = 3", "seeds = 9"),
        TEXT.replace("1mbit", "1000kbit").replace("\"1s\"", "\"1000ms\""),
        format!("{TEXT}name = \"the flows\"\n"),
    ];
    for text in same {
        assert_eq!(key(&text), usual, "{text}");
    }
    for (part, other) in [("reno", "cubic"), ("reno", "reno@initial_window=4"), ("9p", "8p"), ("10ms", "11ms")] {
        let text = TEXT.replace(part, other);
        if parse(&text, "test.toml", "test", &Overrides::default()).is_ok() {
            assert_ne!(key(&text), usual, "{text}");
        }
    }
    assert_ne!(usual.of_seed(1), usual.of_seed(2));
    assert_eq!(usual.of_seed(1), key(TEXT).of_seed(1));
}

#[test]
fn what_was_put_is_there_after_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let folder_below = folder.path().join("a/b");
    let store = || Store::open(&folder_below, Limits::USUAL, quiet).unwrap();
    assert!(store().get(&task(1), 7, 0).is_none());
    assert!(!folder_below.exists(), "reading makes nothing");
    store().put(&task(1), 7, 0, &result(7));
    let back = store().get(&task(1), 7, 0).unwrap();
    assert_eq!((back.seed, back.cpu_s), (7, 0.1 + 0.2));
    assert!(store().get(&task(1), 8, 0).is_none() && store().get(&task(2), 7, 0).is_none());
}

/// Ten thousand samples over time.
#[test]
fn long_traces_come_back_and_take_less_room_than_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let time_s: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 100.0).collect();
    let traced = SeedResult { trace: Some(Trace { time_s, ..Trace::default() }.into()), ..result(7) };
    open(&folder).put(&task(1), 7, 1, &traced);
    let back = open(&folder).get(&task(1), 7, 1).unwrap();
    assert_eq!(back.trace.unwrap().time_s, traced.trace.as_ref().unwrap().time_s);
    let text = serde_json::to_string(&traced).unwrap().len() as u64;
    assert!(fs::metadata(path(&folder, &task(1))).unwrap().len() * 3 < text * 2, "{text}");
}

#[test]
fn a_traced_result_serves_whoever_wants_no_more_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let traced_and_known = |traced: usize, wanted: usize| {
        store.put(&task(1), 7, traced, &result(7));
        store.get(&task(1), 7, wanted).is_some()
    };
    assert!(!traced_and_known(0, 2));
    assert!(traced_and_known(2, 2) && traced_and_known(0, 2));
    assert!(!traced_and_known(2, usize::MAX));
    assert!(traced_and_known(usize::MAX, 2));
}

/// Cut at each byte, the line that was being written is lost, and no other; the next one is whole.
#[test]
fn a_line_cut_short_costs_that_line() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, &task(1), &[1, 2]);
    let path = path(&folder, &task(1));
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in first..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(seeds(&folder, &task(1)), [1], "{length}");
        put(&folder, &task(1), &[3]);
        assert_eq!(seeds(&folder, &task(1)), [1, 3], "{length}");
    }
}

/// Each bit of the file: the line is told, or it is the last and counts as cut short. Nothing wrong is ever given.
#[test]
fn a_damaged_line_costs_that_line_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, &task(1), &[1, 2]);
    let path = path(&folder, &task(1));
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for bit in 0..8 * whole.len() {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &flipped).unwrap();
        let index = Index::read(&task(1), &path).unwrap();
        let in_first = bit / 8 < first;
        let end_is_lost = bit / 8 == whole.len() - 1;
        // Without the end between them the lines are one; with another end there are three.
        assert_eq!(index.damaged.is_empty(), end_is_lost, "bit {bit}");
        let left = seeds(&folder, &task(1));
        assert!(
            left == [if in_first { 2 } else { 1 }] || (bit / 8 == first - 1 && left.is_empty()),
            "bit {bit}: {left:?}"
        );
        assert_eq!(fs::read(&path).unwrap(), flipped, "nothing is lost");
    }
    assert_eq!(
        damage(Path::new("ab/c"), &[2, 5]),
        "tandem: lines 2, 5 of the finished runs in `ab/c` are damaged, and made again. This takes the damage out: sed -i '2d;5d' 'ab/c'"
    );
}

/// A file of another task under this one's name.
#[test]
fn a_result_of_another_task_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, &task(1), &[1]);
    let [one, other] = [1, 2].map(|n| path(&folder, &task(n)));
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::copy(one, &other).unwrap();
    assert!(seeds(&folder, &task(2)).is_empty());
    assert_eq!(Index::read(&task(2), &other).unwrap().damaged, [1]);
}

/// Links and pipes: nothing is read from them or written to them, and the other files are as good as before.
#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let [victim, dangling] = ["victim", "dangling"].map(|name| folder.path().join(name));
    fs::write(&victim, "precious").unwrap();
    let path = path(&folder, &task(1));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    type Plant = fn(&Path, &Path);
    let symlink: Plant = |to, at| std::os::unix::fs::symlink(to, at).unwrap();
    let hard_link: Plant = |to, at| fs::hard_link(to, at).unwrap();
    let pipe: Plant = |_, at| {
        use rustix::fs::{CWD, FileType, mknodat};
        mknodat(CWD, at, FileType::Fifo, 0o600.into(), 0).unwrap();
    };
    for (plant, to) in [(symlink, &victim), (hard_link, &victim), (symlink, &dangling), (pipe, &victim)] {
        plant(to, &path);
        let store = open(&folder);
        assert!(store.get(&task(1), 1, 0).is_none());
        store.put(&task(1), 1, 0, &result(1));
        store.put(&task(2), 1, 0, &result(1));
        assert!(store.get(&task(2), 1, 0).is_some() && !store.takes_no_more.load(Relaxed));
        assert_eq!(lock(&store.told).len(), 1);
        assert!(file::remove(&path).unwrap());
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(!dangling.exists());
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    let told = Store::open(&path, Limits::USUAL, quiet).err().unwrap();
    assert!(with_cause(&told).ends_with("TANDEM_STORE=DIR names another: it is no folder"), "{told}");
}

/// What the child of the next test does.
const WRITER: &str = "TANDEM_TEST_WRITES_TO";
const LINES: u64 = 200;

fn write_many(folder: &Path, first: u64) {
    let store = Store::open(folder, Limits::USUAL, quiet).unwrap();
    for seed in first..first + LINES {
        store.put(&task(seed as usize % 3), seed, 0, &result(seed));
    }
}

/// Three processes, two threads each, into three files; one of them takes files away meanwhile, but only of what is older than it is.
#[test]
fn several_writers_lose_nothing() {
    if let Some(folder) = std::env::var_os(WRITER) {
        let first: u64 = std::env::var("TANDEM_TEST_FIRST").unwrap().parse().unwrap();
        thread::scope(|scope| {
            let folder = Path::new(&folder);
            for n in 0..2 {
                scope.spawn(move || write_many(folder, first + n * LINES));
            }
        });
        process::exit(0);
    }
    let folder = tempfile::tempdir().unwrap();
    let child = |n: u64| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::tests::several_writers_lose_nothing"])
            .env(WRITER, folder.path())
            .env("TANDEM_TEST_FIRST", (n * 2 * LINES).to_string())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..3).map(child).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = open(&folder);
    let missing: Vec<u64> = (0..6 * LINES).filter(|&s| store.get(&task(s as usize % 3), s, 0).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A prune between a writer's opening of the file and its lock: the line goes to a new file.
#[test]
fn a_writer_outlives_a_prune() {
    let folder = tempfile::tempdir().unwrap();
    let is_done = AtomicBool::new(false);
    let store = open(&folder);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Relaxed) {
                prune(folder.path(), Limits::NOTHING, SystemTime::now()).unwrap();
            }
        });
        (0..300).for_each(|seed| store.put(&task(1), seed, 0, &result(seed)));
        is_done.store(true, Relaxed);
    });
    // After both have ended: a test that fails must not leave the other running.
    assert!(!store.takes_no_more.load(Relaxed) && lock(&store.told).is_empty());
    // What was put after the last look at the files is still there, however much that is.
    put(&folder, &task(1), &[1]);
    assert!(seeds(&folder, &task(1)).contains(&1));
}

/// Puts one run of each of these tasks; the first was used longest ago.
fn aged(folder: &TempDir, now: SystemTime) {
    for n in 0..4 {
        put(folder, &task(n), &[1]);
        let days = Duration::from_secs((4 - n as u64) * 24 * 3600);
        OpenOptions::new().append(true).open(path(folder, &task(n))).unwrap().set_modified(now - days).unwrap();
    }
}

fn left(folder: &TempDir) -> Vec<usize> {
    (0..4).filter(|&n| path(folder, &task(n)).exists()).collect()
}

#[test]
fn what_is_old_goes_and_then_what_was_used_least_recently() {
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    let day = Duration::from_secs(24 * 3600);
    aged(&folder, now);
    let of_age = |days: u32| prune(folder.path(), Limits { age: day * days, ..Limits::USUAL }, now).unwrap();
    assert_eq!(of_age(9), Pruned { scenarios: 0, bytes: 0, left_bytes: 4 * 4096 });
    assert_eq!(of_age(3), Pruned { scenarios: 1, bytes: 4096, left_bytes: 3 * 4096 });
    assert_eq!(left(&folder), [1, 2, 3]);
    let of_size = |bytes| prune(folder.path(), Limits { bytes, ..Limits::USUAL }, now).unwrap();
    assert_eq!(of_size(3 * 4096).scenarios, 0);
    // To nine tenths of it: no more than one file.
    assert_eq!(of_size(2 * 4096).scenarios, 2);
    assert_eq!(left(&folder), [3]);
    // Used long after: not by this clock.
    assert_eq!(prune(folder.path(), Limits { age: day, ..Limits::USUAL }, now - 9 * day).unwrap().scenarios, 0);
    assert_eq!(prune(folder.path(), Limits::NOTHING, now).unwrap().left_bytes, 0);
    assert!(left(&folder).is_empty());
}

#[test]
fn use_keeps_a_result_and_other_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    aged(&folder, now);
    fs::write(folder.path().join("note.txt"), "mine").unwrap();
    assert_eq!(seeds(&folder, &task(0)), [1]);
    let limits = Limits { age: Duration::from_secs(90_000), ..Limits::USUAL };
    prune(folder.path(), limits, now).unwrap();
    assert_eq!(left(&folder), [0, 3]);
    prune(folder.path(), Limits::NOTHING, now).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("note.txt")).unwrap(), "mine");
}

/// Once a day, or when much was written, whichever program wrote it.
#[test]
fn a_look_at_all_files_is_rare() {
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    let limits = Limits { bytes: 1000, age: Duration::from_secs(3600) };
    let is_due = |written, after_s| prune::is_due(folder.path(), limits, written, now + Duration::from_secs(after_s));
    assert!(is_due(1, 0), "never before");
    prune(folder.path(), limits, now).unwrap();
    assert!(!is_due(60, 10) && is_due(60, 20));
    prune(folder.path(), limits, now).unwrap();
    assert!(!is_due(1, 3600) && is_due(1, 25 * 3600));
}

#[test]
fn a_store_that_wrote_looks_after_itself() {
    let folder = tempfile::tempdir().unwrap();
    aged(&folder, SystemTime::now());
    let limits = Limits { age: Duration::from_secs(100_000), ..Limits::USUAL };
    drop(Store::open(folder.path(), limits, quiet).unwrap());
    assert_eq!(left(&folder).len(), 4, "it wrote nothing");
    fs::remove_file(folder.path().join(".written")).unwrap();
    Store::open(folder.path(), limits, quiet).unwrap().put(&task(9), 1, 0, &result(1));
    assert_eq!(left(&folder), [3]);
}

#[test]
fn what_there_is_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    assert!(held(folder.path()).unwrap().is_empty());
    put(&folder, &task(1), &[1, 2, 3]);
    put(&folder, &task(2), &[1]);
    let held = held(folder.path()).unwrap();
    let of_fake = &held["fake"];
    assert_eq!((held.len(), of_fake.scenarios, of_fake.runs, of_fake.bytes), (1, 2, 4, 2 * 4096));
}
