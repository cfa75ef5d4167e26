// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors.

use std::{error::Error, io, path::PathBuf};

use tandem_model::engine::Refusal;
use tandem_scenario::FileError;

/// Why experiments were not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A scenario of an experiment's file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// A run failed, or what is kept of finished runs cannot be read or written.
    #[error(transparent)]
    Batch(Box<dyn Error + Send + Sync>),
}

/// Why a scenario has nothing that a measure could take, or what the measure lacks.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// A group of flows.
    #[error("there is no group {group}: the scenario has {count}, counted from 0")]
    NoGroup {
        /// As in the measure.
        group: usize,
        /// How many the scenario has.
        count: usize,
    },
    /// A link.
    #[error("there is no link `{name}`; there are `{}`", .known.join("`, `"))]
    NoLink {
        /// As in the measure.
        name: String,
        /// Those of the scenario.
        known: Vec<String>,
    },
    /// The length of a stretch.
    #[error("`least_share` and `sustained_loss` need `span_s`, the length of a stretch in seconds")]
    NoSpan,
    /// A time to recover from.
    #[error("`recovery` needs `at_s`, the second at which something happened, or a change of the link")]
    NothingHappened,
    /// The groups below the line.
    #[error("a ratio needs `of`, the groups below the line")]
    NoRatio,
    /// Another measure has `from_start`.
    #[error("`from_start` is for `goodput` without `window_s`")]
    FromStart,
    /// A flow that starts too late.
    #[error("a flow with `from_start` must start before the end")]
    StartsLate,
    /// The model does not know the scenario.
    #[error(transparent)]
    Model(#[from] Refusal),
    /// The type of an oscillation.
    #[error("`feasible` needs `cycle`, the type of the oscillation, such as \"3:1\"")]
    NoCycle,
}

/// Why a record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error("cannot read `{name}`")]
    Read {
        /// The file.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not a record.
    #[error("`{name}` is not a record of an experiment; `tandem papers run --data DIR` writes such files")]
    Json {
        /// The file.
        name: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The experiment has changed since.
    #[error(
        "the record of `{id}` is about other {what} than those in its file: `tandem papers run {id} --data DIR` makes it again"
    )]
    Stale {
        /// The experiment.
        id: String,
        /// Claims or curves.
        what: &'static str,
    },
}

/// Why runs over real TCP cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum RealTcpRunsError {
    /// The file cannot be read.
    #[error("cannot read runs over real TCP from `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file has a line that is not a run.
    #[error("cannot read runs over real TCP from `{}`: line {line} is not a run", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file cannot be written.
    #[error("cannot keep runs over real TCP in `{}`", path.display())]
    Keep {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
