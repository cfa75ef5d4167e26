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
