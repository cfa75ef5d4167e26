// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as tidy tables: Arrow record batches, which data frames take as they are, and Parquet files of those.
//!
//! - [`groups`]: a row for each group of flows of one seed of a run;
//! - [`flows`] and [`links`]: a row for each sample over time;
//! - [`write_parquet`] and [`read_parquet`]: a file of any of them, whole or not there; [`write_sealed`] and [`read_sealed`]: with a checksum;
//! - [`united`]: batches whose columns differ, as one table.
//!
//! Names of columns end in their unit. A value that is missing is null, never 0.
//! docs/reference/result-keys.md describes the columns for users.
//!
//! ```
//! use tandem_results::{FlowResult, LinkResult, SeedResult};
//! use tandem_scenario::file::{Overrides, parse};
//! use tandem_tables::{groups, read_parquet, run_of_seed, write_parquet};
//!
//! let text = r#"
//!     duration = "5s"
//!     warmup = "1s"
//!     [dumbbell]
//!     rate = "10mbit"
//!     rtt = "20ms"
//!     queue = "1bdp"
//!     [[flows]]
//!     controller = "cubic"
//! "#;
//! let scenario = parse(text, "one.toml", "one", &Overrides::default())?;
//! // What an engine returns.
//! let flow = FlowResult { goodput_mbps: 9.5, ..FlowResult::default() };
//! let links = vec![LinkResult::default(); scenario.network.links.len()];
//! let result = SeedResult { seed: 1, flows: vec![flow], links, ..SeedResult::default() };
//!
//! let rows = groups(&scenario, &run_of_seed(&scenario, "by hand", result));
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("groups.parquet");
//! write_parquet(&path, rows.schema(), std::slice::from_ref(&rows))?;
//! assert_eq!(read_parquet(&path)?.1, [rows]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_results`] has what the rows are made of; [tandem-sweep](../tandem_sweep/index.html) keeps a data set of them.

mod columns;
mod files;
mod groups;
mod parquet_file;
mod samples;
mod seal;
mod unite;

pub use columns::Columns;
pub use files::{TEMPORARY_PREFIX, atomically, write_atomically};
pub use groups::{PARAMETER_PREFIX, group_schema, groups, run_of_seed};
pub use parquet_file::{FileError, read_parquet, read_sealed, write_parquet, write_sealed};
pub use samples::{ack_schema, acks, flow_schema, flows, link_schema, links};
pub use unite::{common_schema, concatenated, conformed, united};
