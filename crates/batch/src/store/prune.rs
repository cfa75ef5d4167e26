// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keeps the store within its bounds: what was not used for long goes, then what was used least recently.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::file;

/// How large the store may become, and how old what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// On disk.
    pub bytes: u64,
    /// Since it was last used.
    pub age: Duration,
}

const DAY: Duration = Duration::from_secs(24 * 3600);

impl Limits {
    /// 2 GB, 90 days. Ours.
    pub const USUAL: Self = Self { bytes: 2_000_000_000, age: Duration::from_secs(90 * 24 * 3600) };
    /// Nothing stays.
    pub const NOTHING: Self = Self { bytes: 0, age: Duration::ZERO };
}

/// A file takes a whole number of these on disk, bytes: as most file systems have it.
const BLOCK_BYTES: u64 = 4096;
/// When it is too large, it is cut to this share of its bound: so that this is not to be done again soon.
const KEPT_PERCENT: u64 = 90;
/// Beside the files of tasks: what was written since the last look at all of them.
const TALLY: &str = ".written";
/// A look at all files comes once a day, or when this share of the bound was written.
const WRITTEN_PERCENT: u64 = 10;

/// The file of one task.
pub struct TaskFile {
    pub path: PathBuf,
    pub engine: String,
    pub bytes: u64,
    pub used: SystemTime,
}

/// What the store has of one engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// Scenarios that differ in more than seeds and names.
    pub scenarios: u64,
    /// Finished runs.
    pub runs: u64,
    /// On disk.
    pub bytes: u64,
    /// When the scenario was last used that was not for longest.
    pub oldest: Option<SystemTime>,
}

/// What was taken out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Scenarios.
    pub scenarios: u64,
    /// On disk.
    pub bytes: u64,
    /// What is left, on disk.
    pub left_bytes: u64,
}

/// All files of tasks in the store: `ENGINE/ab/REST`. Whatever else is there is nobody's.
pub fn task_files(folder: &Path) -> io::Result<Vec<TaskFile>> {
    let mut files = Vec::new();
    for engine in entries(folder)? {
        let name = engine.file_name().to_string_lossy().into_owned();
        if !engine.file_type()?.is_dir() {
            continue;
        }
        for shelf in entries(&engine.path())?.iter().filter(|shelf| is_hex(&shelf.file_name(), 2)) {
            for entry in entries(&shelf.path())?.iter().filter(|entry| is_hex(&entry.file_name(), 62)) {
                // Another process may have taken it away.
                let Ok(metadata) = fs::symlink_metadata(entry.path()) else { continue };
                files.push(TaskFile {
                    path: entry.path(),
                    engine: name.clone(),
                    bytes: metadata.len().div_ceil(BLOCK_BYTES) * BLOCK_BYTES,
                    used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                });
            }
        }
    }
    Ok(files)
}

/// Of a folder; none, if there is no such folder any more.
fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

fn is_hex(name: &std::ffi::OsStr, digits: usize) -> bool {
    name.len() == digits && name.to_string_lossy().bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What there is, by engine. Reads all files, to count the runs.
pub fn held(folder: &Path) -> io::Result<BTreeMap<String, Held>> {
    let mut engines: BTreeMap<String, Held> = BTreeMap::new();
    for TaskFile { path, engine, bytes, used } in task_files(folder)? {
        let held = engines.entry(engine).or_default();
        held.scenarios += 1;
        held.runs += file::lines(&path).unwrap_or(0);
        held.bytes += bytes;
        held.oldest = Some(held.oldest.map_or(used, |oldest| oldest.min(used)));
    }
    Ok(engines)
}

/// Takes out what is beyond the limits. What another process is writing to at this moment stays.
///
/// # Errors
/// If the folder cannot be listed, or a file cannot be read or removed.
pub fn prune(folder: &Path, limits: Limits, now: SystemTime) -> io::Result<Pruned> {
    let mut files = task_files(folder)?;
    files.sort_by_key(|file| file.used);
    let mut left: u64 = files.iter().map(|file| file.bytes).sum();
    let target = if left > limits.bytes { limits.bytes / 100 * KEPT_PERCENT } else { limits.bytes };
    let mut pruned = Pruned::default();
    for file in files {
        // What was used a moment ago by another's clock is new.
        let is_old = now.duration_since(file.used).is_ok_and(|age| age > limits.age) || limits == Limits::NOTHING;
        if (is_old || left > target) && file::remove(&file.path)? {
            left -= file.bytes;
            pruned.scenarios += 1;
            pruned.bytes += file.bytes;
        }
    }
    let _ = write_tally(folder, now, 0);
    Ok(Pruned { left_bytes: left, ..pruned })
}

/// After a program has written this many bytes: is it time to look at all files? The count goes on from program to program.
pub fn is_due(folder: &Path, limits: Limits, written: u64, now: SystemTime) -> bool {
    let (since, before) = read_tally(folder).unwrap_or((SystemTime::UNIX_EPOCH, 0));
    let written = before.saturating_add(written);
    let is_due = written > limits.bytes / 100 * WRITTEN_PERCENT || now.duration_since(since).is_ok_and(|age| age > DAY);
    if !is_due {
        let _ = write_tally(folder, since, written);
    }
    is_due
}

/// When all files were last looked at, and the bytes that were written since.
fn read_tally(folder: &Path) -> Option<(SystemTime, u64)> {
    let text = tandem_scenario::bounded::read_text(&folder.join(TALLY), 100).ok()?;
    let (seconds, bytes) = text.trim_end().split_once(' ')?;
    let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.parse().ok()?))?;
    Some((since, bytes.parse().ok()?))
}

/// Two programs that write it at once may lose one's count, which is made good within a day.
fn write_tally(folder: &Path, since: SystemTime, bytes: u64) -> io::Result<()> {
    use io::Write;
    let seconds = since.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut file = file::open_itself(fs::OpenOptions::new().write(true).create(true), &folder.join(TALLY))?;
    file.set_len(0)?;
    file.write_all(format!("{seconds} {bytes}\n").as_bytes())
}
