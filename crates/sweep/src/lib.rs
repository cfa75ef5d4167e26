// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many scenarios from one, and their results as one data set that grows. docs/sweeps.md describes it for users.
//!
//! - [`Sweep`] reads a file and enumerates its [`Task`]s: a scenario's text, a seed, and a key that stands for both and for the program's
//!   arithmetic.
//! - [`Task::run_text`] is a pure function: it can be called in any process, on any machine that has the same arithmetic.
//! - [`Store`] is the data set in a folder. It takes results in any order, knows which are there, and is whole at any time.
//! - [`run`] does all that on the cores of this machine. It takes runs of other commands from the store of finished runs.
//! - [`Feeder`] hands out tasks to be run elsewhere; [`to_bytes`] and [`from_bytes`] take their results from one process to another.
//! - [`means`] sums the data set up by any two columns; [`figures`] are charts of that.
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use tandem_sim::Sim;
//! use tandem_sweep::{Program, RunOptions, Store, Sweep, means, run};
//!
//! let text = r#"
//!     [scenario]
//!     duration = "2s"
//!     warmup = "500ms"
//!     [scenario.dumbbell]
//!     rate = "5mbit"
//!     rtt = "20ms"
//!     queue = "20p"
//!     [[scenario.flows]]
//!     controller = "reno"
//!     [grid]
//!     "dumbbell.rate" = ["5mbit", "10mbit"]
//! "#;
//! let sweep = Arc::new(Sweep::parse(text, "rates.toml", Path::new("."))?);
//! let survey = sweep.survey(&Sim, false)?;
//! let folder = tempfile::tempdir()?;
//! let mut store = Store::open(folder.path(), &sweep, &Sim, &survey.schema, false)?;
//! let program = Program { version: "1", commit: "none" };
//! assert_eq!(run(&sweep, &Sim, &mut store, &program, &RunOptions::default())?.ran, 2);
//! let goodputs = means(folder.path(), "goodput_mbps", "dumbbell.rate_bps", None, 0)?;
//! assert_eq!(goodputs.x.numbers(), Some(vec![5e6, 1e7]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_batch`] runs a list of scenarios without a data set, [`tandem_tables`] makes the rows, [`tandem_report`] draws them.

mod bundle;
mod charts;
mod column;
mod draw;
mod error;
mod feeder;
mod file;
mod key_path;
mod key_table;
mod local;
mod means;
mod part;
mod place;
mod point;
mod quantity;
mod store;
mod task;

pub use bundle::{from_bytes, to_bytes};
pub use charts::{Pair, PairError, figures};
pub use column::{Column, Kind};
pub use error::{BundleError, KeyError, StoreError, SummaryError, SweepError, TaskError};
pub use feeder::Feeder;
pub use file::Sweep;
pub use key_path::{KeyPath, KeyPathError};
pub use local::{Outcome, RunOptions, run};
pub use means::{Axis, Means, axis, column_names, groups_of_a_task, means};
pub use part::{PART_TASKS, read_part};
pub use place::key_at_place;
pub use point::MAX_RUNS;
pub use store::{GROUPS_FOLDER, Program, Store, group_files};
pub use task::{Key, Survey, SurveyError, Tables, Task};
