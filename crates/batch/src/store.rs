// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results that were finished, on disk, so that an interrupted batch goes on where it was.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::Mutex,
};

use anyhow::Context;
use tandem_scenario::{Scenario, result::SeedResult};

use crate::lock;

/// What a result depends on: engine, scenario, seed, and how many flows are traced. Two that differ in their names only are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

/// What the keys of a task's seeds have in common, worked out once: a scenario may have many seeds.
pub(crate) struct TaskKey(blake3::Hasher);

impl TaskKey {
    pub(crate) fn new(engine: &str, scenario: &Scenario) -> Self {
        // Every field that an engine reads is in the debug text, parameters included.
        let Scenario { name: _, seeds: _, duration, warmup, mtu, send_jitter, sample_interval, network, groups } =
            scenario;
        let text = format!(
            "{engine} {duration:?} {warmup:?} {mtu} {send_jitter:?} {sample_interval:?} {network:?} {groups:?}"
        );
        let mut hasher = blake3::Hasher::new();
        hasher.update(text.as_bytes());
        Self(hasher)
    }

    pub(crate) fn of_seed(&self, seed: u64, traced_flows_per_group: usize) -> Key {
        let mut hasher = self.0.clone();
        hasher.update(format!(" {seed} {traced_flows_per_group}").as_bytes());
        Key(*hasher.finalize().as_bytes())
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A file of results: a line each, `KEY JSON`. The first line names the program, for another may work out others.
pub struct Store {
    file: Mutex<File>,
    /// Where each result's JSON is in the file: offset and length.
    known: HashMap<String, (u64, usize)>,
}

impl Store {
    /// Opens `path`, or makes it. What another build of this program left there is dropped.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let program = program().context("cannot read this program's own file")?;
        Self::open_of(path, &program).with_context(|| format!("cannot keep results in `{}`", path.display()))
    }

    fn open_of(path: &Path, program: &str) -> anyhow::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        file.try_lock().context("another run is using it; wait for that, or choose another folder with --out")?;
        let (mut known, mut whole) = (HashMap::new(), 0);
        let mut lines = BufReader::new(&file);
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap_or(0) > 0 && line.ends_with('\n') {
            let is_header = whole == 0;
            match line.trim_end().split_once(' ') {
                Some((name, build)) if is_header && (name, build) == (HEADER, program) => {}
                Some((key, json)) if !is_header => {
                    known.insert(key.to_owned(), (whole + key.len() as u64 + 1, json.len()));
                }
                _ => break,
            }
            whole += line.len() as u64;
            line.clear();
        }
        // What is not a whole line was being written when the program ended.
        file.set_len(whole)?;
        if whole == 0 {
            writeln!(file, "{HEADER} {program}")?;
        }
        Ok(Self { file: Mutex::new(file), known })
    }

    pub(crate) fn get(&self, key: Key) -> Option<SeedResult> {
        let &(offset, length) = self.known.get(&key.to_string())?;
        let mut json = vec![0; length];
        let mut file = lock(&self.file);
        // What is written goes to the end all the same.
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut json)).ok()?;
        serde_json::from_slice(&json).ok()
    }

    pub(crate) fn put(&self, key: Key, result: &SeedResult) -> anyhow::Result<()> {
        let line = format!("{key} {}\n", serde_json::to_string(result).context("a result as JSON")?);
        lock(&self.file).write_all(line.as_bytes()).context("cannot write to the store of results: is the disk full?")
    }
}

const HEADER: &str = "tandem-results";

/// The program that runs, by its content: whatever was built otherwise may work out other results.
fn program() -> io::Result<String> {
    let bytes = fs::read(std::env::current_exe()?)?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> Key {
        Key([n; 32])
    }

    fn result(seed: u64) -> SeedResult {
        // A number that has no short decimal form.
        SeedResult { seed, cpu_s: 0.1 + 0.2, ..SeedResult::default() }
    }

    #[test]
    fn what_was_put_is_there_after_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/results");
        Store::open_of(&path, "one").unwrap().put(key(1), &result(7)).unwrap();
        let store = Store::open_of(&path, "one").unwrap();
        let back = store.get(key(1)).unwrap();
        assert_eq!((back.seed, back.cpu_s), (7, 0.1 + 0.2));
        assert!(store.get(key(2)).is_none());
    }

    #[test]
    fn another_programs_results_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        Store::open_of(&path, "one").unwrap().put(key(1), &result(7)).unwrap();
        assert!(Store::open_of(&path, "one").unwrap().get(key(1)).is_some());
        assert!(Store::open_of(&path, "two").unwrap().get(key(1)).is_none());
        assert!(Store::open_of(&path, "one").unwrap().get(key(1)).is_none());
    }

    #[test]
    fn a_line_cut_short_costs_that_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let store = Store::open_of(&path, "one").unwrap();
        store.put(key(1), &result(1)).unwrap();
        store.put(key(2), &result(2)).unwrap();
        drop(store);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let store = Store::open_of(&path, "one").unwrap();
        assert!(store.get(key(1)).is_some() && store.get(key(2)).is_none());
        store.put(key(2), &result(2)).unwrap();
        drop(store);
        let store = Store::open_of(&path, "one").unwrap();
        assert!(store.get(key(1)).is_some() && store.get(key(2)).is_some());
    }

    #[test]
    fn two_runs_do_not_write_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let first = Store::open_of(&path, "one").unwrap();
        assert!(Store::open_of(&path, "one").is_err());
        drop(first);
        assert!(Store::open_of(&path, "one").is_ok());
    }
}
