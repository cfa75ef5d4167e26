// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong.

use std::{error::Error, io, path::PathBuf};

use arrow_schema::ArrowError;
use tandem_engine::EngineError;
use tandem_scenario::{FileError, SpecError};

/// Why a sweep did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A scenario is not good, or there is no room for temporary files.
    #[error(transparent)]
    File(#[from] FileError),
    /// A task failed.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The data set cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a task gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// Its text is no scenario.
    #[error("the task's scenario")]
    Scenario(#[source] SpecError),
    /// The engine refused the scenario, or failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Its columns make no table.
    #[error(transparent)]
    Columns(#[from] ArrowError),
}

/// What is wrong with a data set, and how to fix it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing can be kept in its folder.
    #[error("cannot keep a data set in `{folder}`; choose another folder with --out", folder = folder.display())]
    Keep {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Another process has it.
    #[error("another sweep is writing to `{}`; wait for it, or choose another folder with --out", .0.display())]
    InUse(PathBuf),
    /// A file in its folder is none of its own.
    #[error("`{path}` is not part of a data set: move it elsewhere", path = path.display())]
    NoPart {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        #[source]
        cause: KeyError,
    },
    /// Its columns and those of the sweep do not go together.
    #[error("the data set in `{folder}` is of another kind; choose another folder with --out", folder = folder.display())]
    OtherKind {
        /// The folder.
        folder: PathBuf,
        /// Which column.
        #[source]
        cause: ArrowError,
    },
    /// A file is not as it was written, or cannot be read.
    #[error("{0}. Move the file elsewhere: the next sweep repeats its runs")]
    Damaged(tandem_tables::FileError),
    /// Rows were not written.
    #[error("cannot write to the data set: is the disk full? What was written before is kept")]
    Write(#[source] tandem_tables::FileError),
    /// Samples were not written.
    #[error("cannot write `{path}`: is the disk full? What was written before is kept", path = path.display())]
    WriteSamples {
        /// Their file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// A task's rows are not those that this program would have made.
    #[error("a worker has different arithmetic: it must run the same version of this program")]
    OtherArithmetic,
    /// Rows have no keys.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A scenario of the sweep is not good, or there is no room for temporary files.
    #[error(transparent)]
    Scenario(#[from] FileError),
    /// Rows do not go together.
    #[error(transparent)]
    Columns(#[from] ArrowError),
    /// The folder cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why rows belong to no task.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// They have no keys.
    #[error("there is no column `key` with text")]
    NoColumn,
    /// What stands there is none.
    #[error("`{0}` is not a key: 32 hexadecimal digits")]
    NoKey(String),
}

/// Why tasks make no bundle of bytes, or bytes none of tasks.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Only some have samples.
    #[error("some tasks of a bundle were traced, and some were not")]
    Mixed,
    /// The bytes have samples of other tasks than rows.
    #[error("a bundle lacks the samples of some tasks")]
    LacksSamples,
    /// Rows have no keys.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The columns of two tasks do not go together, or the bytes are not Arrow's.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Why a measure cannot be summed up over columns.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// The data set cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It has no such column.
    #[error("the data set has no column `{name}`; it has {known}")]
    NoColumn {
        /// The column.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// A column has too many words for an axis.
    #[error("`{name}` has more than {most} different words: no axis can show them")]
    TooManyWords {
        /// The column.
        name: String,
        /// As many could be shown.
        most: usize,
    },
    /// A measure is no column of numbers.
    #[error("`{0}` is not a number: it cannot be drawn")]
    NoNumber(String),
}
