// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference data: runs of ns-2, ns-3 and Linux's L4S in experiments/reference.

pub(crate) mod l4s;
pub(crate) mod ns2;
pub(crate) mod ns3;

use std::path::Path;

use anyhow::Context;
use serde::de::DeserializeOwned;

/// Reads a table of runs.
pub(crate) fn read<R: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<R>> {
    let what = || format!("cannot read {}", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(what)?;
    reader.deserialize().collect::<Result<_, _>>().with_context(what)
}
