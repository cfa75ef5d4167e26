// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data set in a folder: which tasks are there, and where new rows go.
//!
//! `groups/` has a file for each [`PART_TASKS`] tasks of the plan. A file is written anew, under another name that then becomes its own, as
//! its tasks end: so the data set is whole at any time, and nothing in it is there twice. `flows/` and `links/` have a file for each traced
//! task, by key.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tandem_engine::Engine;
use tandem_scenario::bounded;
use tandem_tables::{TEMPORARY_PREFIX, common_schema, concatenated, conformed, write_sealed};
use toml::Value;

use crate::{
    error::StoreError,
    file::Sweep,
    key_table::KeyTable,
    part::{Part, by_key, keys, read_part},
    task::{Key, Tables, Task},
};

/// The folder within the data set with the rows of groups.
pub const GROUPS_FOLDER: &str = "groups";
const FLOWS_FOLDER: &str = "flows";
const LINKS_FOLDER: &str = "links";
/// Kept locked while a sweep writes to the folder.
const LOCK_FILE: &str = ".lock";

/// Rows are written so often, so that a kill costs no more work than this.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// But writing takes at most this share of the time.
const WRITE_SHARE: u32 = 50;

/// The program that makes rows.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// Its version.
    pub version: &'a str,
    /// The commit that it is built from.
    pub commit: &'a str,
}

/// A data set that no other process writes to.
pub struct Store {
    sweep: Arc<Sweep>,
    folder: PathBuf,
    _lock: File,
    schema: SchemaRef,
    traces: bool,
    /// The tasks whose rows are there, or in an open part.
    done: KeyTable,
    /// The parts that wait for tasks, by a number of their own.
    open: BTreeMap<usize, Part>,
    part_of: HashMap<Key, usize>,
    opened: usize,
    last_write: Instant,
    write_interval: Duration,
}

/// The files with the rows of groups, sorted by name; none if there is no data set.
///
/// # Errors
/// If the folder cannot be listed.
pub fn group_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder.join(GROUPS_FOLDER)) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    files.sort();
    Ok(files)
}

impl Store {
    /// Opens the data set in a folder, or makes it. Rows that are there stay. If the sweep has columns that they lack, they get these: with
    /// values, where the sweep has the task, otherwise null. `schema` is that of the sweep's survey. With `traces` a task is done only if its
    /// samples are there, too.
    ///
    /// # Errors
    /// If another sweep is writing to it, or it has files that are no part of a data set.
    pub fn open(
        folder: &Path,
        sweep: &Arc<Sweep>,
        engine: &dyn Engine,
        schema: &SchemaRef,
        traces: bool,
    ) -> Result<Self, StoreError> {
        let cannot = |cause| StoreError::Keep { folder: folder.to_owned(), cause };
        fs::create_dir_all(folder.join(GROUPS_FOLDER)).map_err(cannot)?;
        let mut append = OpenOptions::new();
        bounded::without_waiting(append.create(true).append(true));
        let lock = append.open(folder.join(LOCK_FILE)).map_err(cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(folder.to_owned())),
            // Some network file systems have no locks. There, what two sweeps wrote twice is put right when the next one begins.
            Err(TryLockError::Error(_)) => {}
        }
        [GROUPS_FOLDER, FLOWS_FOLDER, LINKS_FOLDER].iter().for_each(|name| remove_temporary(&folder.join(name)));
        let mut store = Self {
            sweep: Arc::clone(sweep),
            folder: folder.to_owned(),
            _lock: lock,
            schema: schema.clone(),
            traces,
            done: KeyTable::new()?,
            open: BTreeMap::new(),
            part_of: HashMap::new(),
            opened: 0,
            last_write: Instant::now(),
            write_interval: WRITE_INTERVAL,
        };
        store.take_in(engine)?;
        Ok(store)
    }

    /// Number of tasks whose rows are there.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Is nothing there?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Is a task there, with all that is wanted of it?
    ///
    /// # Errors
    /// If temporary files cannot be read, or samples are not as they were written.
    pub fn has(&mut self, key: Key) -> Result<bool, StoreError> {
        Ok(self.done.contains(key.0)? && (!self.traces || self.has_samples(key)?))
    }

    fn has_samples(&self, key: Key) -> Result<bool, StoreError> {
        for kind in [FLOWS_FOLDER, LINKS_FOLDER] {
            let path = self.trace_path(kind, key);
            if !path.try_exists()? {
                return Ok(false);
            }
            read_part(&path, Some(&[]))?;
        }
        Ok(true)
    }

    /// Learns which rows the files have, and gives all files the same columns, and each task one file.
    fn take_in(&mut self, engine: &dyn Engine) -> Result<(), StoreError> {
        let mut files = Vec::new();
        let mut schemas = vec![self.schema.clone()];
        for path in group_files(&self.folder)? {
            let (schema, batches) = read_part(&path, Some(&["key"]))?;
            let mut is_whole = true;
            for batch in &batches {
                let keys = keys(batch).map_err(|cause| StoreError::NoPart { path: path.clone(), cause })?;
                for same in keys.chunk_by(|a, b| a == b) {
                    is_whole &= self.done.insert(same[0].0, 0)?;
                }
            }
            if !schemas.contains(&schema) {
                schemas.push(schema.clone());
            }
            files.push((path, schema, is_whole));
        }
        let other_kind = |cause| StoreError::OtherKind { folder: self.folder.clone(), cause };
        self.schema = common_schema(&schemas).map_err(other_kind)?;
        if files.iter().all(|(_, schema, is_whole)| *is_whole && schema.fields() == self.schema.fields()) {
            return Ok(());
        }
        self.rewrite(files, engine)
    }

    fn rewrite(&mut self, files: Vec<(PathBuf, SchemaRef, bool)>, engine: &dyn Engine) -> Result<(), StoreError> {
        let mut points = self.points_done(engine)?;
        let mut seen = KeyTable::new()?;
        for (path, schema, is_whole) in files {
            let (_, batches) = read_part(&path, None)?;
            let tasks = batches.iter().map(by_key).collect::<Result<Vec<_>, _>>()?.concat();
            let is_good = is_whole && schema.fields() == self.schema.fields();
            let mut all_rows = Vec::new();
            for (key, rows) in tasks {
                if seen.insert(key.0, 0)? && !is_good {
                    let point = points.get(key.0)?.map(|i| self.sweep.point(i as usize)).transpose()?;
                    all_rows.push(self.with_swept(&rows, point.as_ref().map(|point| &*point.values))?);
                }
            }
            if !is_good {
                write_sealed(&path, self.schema.clone(), &[concatenated(&self.schema, &all_rows)?])
                    .map_err(StoreError::Write)?;
            }
        }
        Ok(())
    }

    /// The point of each task of the sweep whose rows are there.
    fn points_done(&mut self, engine: &dyn Engine) -> Result<KeyTable, StoreError> {
        let mut points = KeyTable::new()?;
        for i in 0..self.sweep.points() {
            let keys = self.sweep.point(i)?.keys(engine);
            for key in self.sweep.seeds().map(keys) {
                if self.done.contains(key.0)? {
                    points.insert(key.0, i as u64)?;
                }
            }
        }
        Ok(points)
    }

    /// Rows with the columns of the data set; the swept keys have these values, if they are known.
    fn with_swept(&self, rows: &RecordBatch, values: Option<&[Option<Value>]>) -> Result<RecordBatch, StoreError> {
        let rows = conformed(rows, &self.schema)?;
        let Some(values) = values else { return Ok(rows) };
        let mut arrays = rows.columns().to_vec();
        for (column, value) in self.sweep.columns().zip(values) {
            let place = self.schema.index_of(&column.name)?;
            // What groups have as a column already is as it was run.
            if rows.column(place).null_count() == rows.num_rows() {
                arrays[place] = column.array(value.as_ref(), rows.num_rows());
            }
        }
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }

    /// Begins a part: up to [`PART_TASKS`](crate::PART_TASKS) tasks that follow each other in the sweep. Returns those that are to be run.
    ///
    /// # Errors
    /// If the part's file cannot be read.
    pub fn begin(&mut self, tasks: Vec<Task>) -> Result<Vec<Task>, StoreError> {
        let mut missing = Vec::new();
        for task in &tasks {
            if !self.has(task.key)? {
                missing.push(task.clone());
            }
        }
        if missing.is_empty() {
            return Ok(missing);
        }
        let mut part = Part::open(&self.folder.join(GROUPS_FOLDER), &tasks)?;
        part.missing = missing.len();
        self.part_of.extend(missing.iter().map(|task| (task.key, self.opened)));
        self.open.insert(self.opened, part);
        self.opened += 1;
        Ok(missing)
    }

    /// Takes what a task gave that [`begin`](Self::begin) returned, in any order. It is on disk about a second later, and after
    /// [`write`](Self::write).
    ///
    /// # Errors
    /// If a file cannot be written: the disk may be full.
    pub fn add(&mut self, task: &Task, tables: &Tables) -> Result<(), StoreError> {
        let given = keys(&tables.groups)?;
        if given.iter().any(|key| *key != task.key) {
            return Err(StoreError::OtherArithmetic);
        }
        if let Some((flows, links)) = &tables.samples {
            self.write_samples(FLOWS_FOLDER, task.key, flows)?;
            self.write_samples(LINKS_FOLDER, task.key, links)?;
        }
        let Some(number) = self.part_of.remove(&task.key) else { return Ok(()) };
        let is_new = self.done.insert(task.key.0, 0)?;
        let rows = self.with_swept(&tables.groups, Some(&task.values))?;
        let part = self.open.get_mut(&number).expect("a part waits for the task");
        part.missing -= 1;
        if is_new {
            part.add(task.key, rows);
        }
        if part.missing == 0 {
            part.write(&self.schema)?;
            self.open.remove(&number);
        } else if self.last_write.elapsed() > self.write_interval {
            self.write()?;
        }
        Ok(())
    }

    /// Writes all rows that are not yet on disk.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn write(&mut self) -> Result<(), StoreError> {
        let start = Instant::now();
        self.open.values_mut().try_for_each(|part| part.write(&self.schema))?;
        self.write_interval = WRITE_INTERVAL.max(start.elapsed() * WRITE_SHARE);
        self.last_write = Instant::now();
        Ok(())
    }

    /// In folders by the first digits of the key: a folder with a million files is slow.
    fn trace_path(&self, kind: &str, key: Key) -> PathBuf {
        let key = key.to_string();
        self.folder.join(kind).join(&key[..2]).join(format!("{key}.parquet"))
    }

    fn write_samples(&self, kind: &str, key: Key, samples: &RecordBatch) -> Result<(), StoreError> {
        let path = self.trace_path(kind, key);
        let cannot = |cause| StoreError::WriteSamples { path: path.clone(), cause };
        fs::create_dir_all(path.parent().expect("a file is in a folder")).map_err(|e| cannot(e.into()))?;
        write_sealed(&path, samples.schema(), std::slice::from_ref(samples)).map_err(|e| cannot(e.into()))
    }
}

/// What a kill left: nobody else writes here now.
fn remove_temporary(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX) {
            let _ = fs::remove_file(entry.path());
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_temporary(&entry.path());
        }
    }
}
