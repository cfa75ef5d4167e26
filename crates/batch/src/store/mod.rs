// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results that were finished, on disk, so that nothing is run twice: by whatever command, from whatever file, of whatever build with the same
//! arithmetic. Any number of processes use it at once.

mod file;
mod place;
mod prune;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::SystemTime,
};

use file::Index;
pub(crate) use file::{packed, unpacked};
pub use place::{VARIABLE, folder};
pub use prune::{Held, Limits, Pruned};
use tandem_results::SeedResult;

use crate::{error::StoreError, key::TaskKey, lock};

/// This many tasks' files are known by heart. The seeds of a task come one after the other, in some threads.
const MOST_KNOWN: usize = 64;
/// A file that is used says so once in this time, because that is a write.
const USE_IS_NOTED_EVERY_S: u64 = 24 * 3600;

/// A folder with a file for each task, that is scenario and engine, named by its [`TaskKey`]: `ENGINE/ab/REST`. When this ends after it has
/// written, and the time has come, it takes out what is beyond the limits.
///
/// What is wrong with a file costs that file's runs, and is told. Nothing here makes a run fail.
pub struct Store {
    folder: PathBuf,
    limits: Limits,
    warn: fn(&str),
    known: Mutex<HashMap<TaskKey, Arc<Index>>>,
    told: Mutex<HashSet<PathBuf>>,
    written_bytes: AtomicU64,
    takes_no_more: AtomicBool,
}

impl Store {
    /// The store in a folder, which is made when there is something to keep. `warn` is told, from any thread, what is wrong with it.
    ///
    /// # Errors
    /// [`StoreError`]: the folder is no place for it.
    pub fn open(folder: &Path, limits: Limits, warn: fn(&str)) -> Result<Self, StoreError> {
        let cannot = |cause| StoreError::Place { folder: folder.to_owned(), cause };
        place::check_owner(folder).map_err(cannot)?;
        if folder.exists() && !folder.is_dir() {
            return Err(cannot(io::Error::other("it is no folder")));
        }
        Ok(Self {
            folder: folder.to_owned(),
            limits,
            warn,
            known: Mutex::default(),
            told: Mutex::default(),
            written_bytes: AtomicU64::new(0),
            takes_no_more: AtomicBool::new(false),
        })
    }

    /// The user's store, with the usual limits; `None` if there is to be none, or `warn` was told why it cannot be used.
    pub fn of_user(warn: fn(&str)) -> Option<Self> {
        let opened = Self::open(&folder()?, Limits::USUAL, warn);
        opened.map_err(|e| warn(&format!("tandem: {}. Nothing is kept", with_cause(&e)))).ok()
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A result in which at least this many flows of each group are traced.
    pub fn get(&self, task: &TaskKey, seed: u64, traced_flows_per_group: usize) -> Option<SeedResult> {
        let path = self.path_of(task);
        let index = self.index(task, &path)?;
        let result = index.get(task, &path, seed, traced_flows_per_group)?;
        let now = SystemTime::now();
        let age = index.used.and_then(|used| now.duration_since(used).ok());
        if age.is_some_and(|age| age.as_secs() > USE_IS_NOTED_EVERY_S) {
            file::touch(&path, now);
            lock(&self.known).remove(task);
        }
        Some(result)
    }

    /// Keeps a result. If that fails, it says so once and keeps no more: the disk may be full.
    pub fn put(&self, task: &TaskKey, seed: u64, traced_flows_per_group: usize, result: &SeedResult) {
        if self.takes_no_more.load(Relaxed) {
            return;
        }
        let path = self.path_of(task);
        let written = file::line_of(task, seed, traced_flows_per_group, result).and_then(|line| {
            file::append(&path, &line)?;
            Ok(line.len() as u64)
        });
        lock(&self.known).remove(task);
        match written {
            Ok(bytes) => drop(self.written_bytes.fetch_add(bytes, Relaxed)),
            // What is in the place of the file: the others are as good as before.
            Err(e) if e.kind() == io::ErrorKind::Other => self.tell_unusable(&path, &e),
            Err(e) => {
                if !self.takes_no_more.swap(true, Relaxed) {
                    let folder = self.folder.display();
                    (self.warn)(&format!(
                        "tandem: cannot keep finished runs in `{folder}`: {e}. From here on none are kept; {VARIABLE}=DIR names another folder"
                    ));
                }
            }
        }
    }

    fn path_of(&self, task: &TaskKey) -> PathBuf {
        let key = task.to_string();
        self.folder.join(task.engine()).join(&key[..2]).join(&key[2..])
    }

    /// What a task's file has. `None`: it cannot be used, which was told.
    fn index(&self, task: &TaskKey, path: &Path) -> Option<Arc<Index>> {
        if let Some(index) = lock(&self.known).get(task) {
            return Some(Arc::clone(index));
        }
        let index = Index::read(task, path).map_err(|e| self.tell_unusable(path, &e)).ok()?;
        if !index.damaged.is_empty() && lock(&self.told).insert(path.to_owned()) {
            (self.warn)(&damage(path, &index.damaged));
        }
        let index = Arc::new(index);
        let mut known = lock(&self.known);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(*task, Arc::clone(&index));
        Some(index)
    }

    fn tell_unusable(&self, path: &Path, cause: &io::Error) {
        if lock(&self.told).insert(path.to_owned()) {
            let path = path.display();
            (self.warn)(&format!(
                "tandem: cannot use the finished runs in `{path}`: {cause}. Its runs are made again each time, until it is removed"
            ));
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let (written, now) = (*self.written_bytes.get_mut(), SystemTime::now());
        if written > 0 && prune::is_due(&self.folder, self.limits, written, now) {
            // The next program tries it again.
            let _ = prune::prune(&self.folder, self.limits, now);
        }
    }
}

/// What a store has, by engine.
///
/// # Errors
/// If the folder cannot be read.
pub fn held(folder: &Path) -> Result<BTreeMap<String, Held>, StoreError> {
    prune::held(folder).map_err(|cause| StoreError::Read { folder: folder.to_owned(), cause })
}

/// Takes out of a store what is beyond the limits at this time: what was not used for too long, then what was used least recently. Runs that
/// another process adds at the same time are safe; what it has read, it has.
///
/// # Errors
/// If the folder cannot be read, or a file cannot be removed.
pub fn prune(folder: &Path, limits: Limits, now: SystemTime) -> Result<Pruned, StoreError> {
    let cannot = |cause| StoreError::Prune { folder: folder.to_owned(), cause };
    place::check_owner(folder).map_err(cannot)?;
    prune::prune(folder, limits, now).map_err(cannot)
}

/// A warning of lines that are not as they were written, with the fix.
fn damage(path: &Path, lines: &[usize]) -> String {
    let numbers = lines.iter().map(usize::to_string).collect::<Vec<_>>();
    let (word, are) = if lines.len() == 1 { ("line", "is") } else { ("lines", "are") };
    let path = path.display();
    format!(
        "tandem: {word} {} of the finished runs in `{path}` {are} damaged, and made again. This takes the damage out: sed -i '{}d' '{path}'",
        numbers.join(", "),
        numbers.join("d;")
    )
}

fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
