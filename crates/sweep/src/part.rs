// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of the data set: the rows of some hundred tasks that follow each other, in one file.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use arrow_array::{Array, RecordBatch, cast::AsArray};
use arrow_schema::SchemaRef;
use tandem_tables::{concatenated, read_sealed, write_sealed};

use crate::{
    error::{KeyError, StoreError},
    task::{Key, Task},
};

/// Tasks whose rows share a file.
pub const PART_TASKS: usize = 1024;

/// A part that is being filled.
pub struct Part {
    path: PathBuf,
    /// Where each task's rows stand.
    places: HashMap<Key, usize>,
    rows: BTreeMap<usize, RecordBatch>,
    /// Tasks that are still to come.
    pub missing: usize,
    /// Has it rows that the file has not?
    is_dirty: bool,
}

impl Part {
    /// The part of these tasks, with the rows that its file has. The name of the file depends on the tasks alone, so that a process that
    /// continues the sweep finds it.
    pub fn open(folder: &Path, tasks: &[Task]) -> Result<Self, StoreError> {
        let mut hasher = blake3::Hasher::new();
        for task in tasks {
            hasher.update(task.key.to_string().as_bytes());
        }
        let path = folder.join(format!("{}.parquet", &hasher.finalize().to_hex()[..16]));
        let places: HashMap<Key, usize> = tasks.iter().enumerate().map(|(i, task)| (task.key, i)).collect();
        let mut rows = BTreeMap::new();
        if path.exists() {
            for (key, batch) in read_part(&path, None)?.1.iter().map(by_key).collect::<Result<Vec<_>, _>>()?.concat() {
                places.get(&key).map(|place| rows.insert(*place, batch));
            }
        }
        Ok(Self { path, places, rows, missing: 0, is_dirty: false })
    }

    /// Takes the rows of a task.
    pub fn add(&mut self, key: Key, rows: RecordBatch) {
        if let Some(&place) = self.places.get(&key) {
            self.is_dirty |= self.rows.insert(place, rows).is_none();
        }
    }

    /// Writes the file, if it lacks rows. It has the old ones or all at any time.
    pub fn write(&mut self, schema: &SchemaRef) -> Result<(), StoreError> {
        if self.is_dirty {
            let batch = concatenated(schema, &self.rows.values().cloned().collect::<Vec<_>>())?;
            write_sealed(&self.path, schema.clone(), &[batch]).map_err(StoreError::Write)?;
            self.is_dirty = false;
        }
        Ok(())
    }
}

/// The schema and the rows of a file of the data set; with `names` those columns alone.
///
/// # Errors
/// If it is not as it was written.
pub fn read_part(path: &Path, names: Option<&[&str]>) -> Result<(SchemaRef, Vec<RecordBatch>), StoreError> {
    read_sealed(path, names).map_err(StoreError::Damaged)
}

/// The keys of the rows, one for each.
pub fn keys(batch: &RecordBatch) -> Result<Vec<Key>, KeyError> {
    let column = batch.column_by_name("key").and_then(|column| column.as_string_opt::<i32>());
    let column = column.filter(|column| column.null_count() == 0).ok_or(KeyError::NoColumn)?;
    column.iter().flatten().map(str::parse).collect()
}

/// The rows of each task, which stand together.
pub fn by_key(batch: &RecordBatch) -> Result<Vec<(Key, RecordBatch)>, KeyError> {
    let (keys, mut start) = (keys(batch)?, 0);
    let slice = |same: &[Key]| {
        let rows = batch.slice(start, same.len());
        start += same.len();
        (same[0], rows)
    };
    Ok(keys.chunk_by(|a, b| a == b).map(slice).collect())
}
