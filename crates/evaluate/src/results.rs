// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assessment for programs.

use serde::Serialize;

use crate::{assessment::Assessment, baseline::Comparison};

/// What made an assessment.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Origin<'a> {
    /// Of the program.
    pub version: &'a str,
    /// That the program is built from.
    pub commit: &'a str,
    /// Makes it again.
    pub command: &'a str,
}

#[derive(Serialize)]
struct Results<'a> {
    #[serde(flatten)]
    origin: &'a Origin<'a>,
    #[serde(flatten)]
    assessment: &'a Assessment,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'a Comparison>,
}

/// What `tandem evaluate --json` prints; with `baseline` also what differs from a kept report.
///
/// # Errors
/// If a figure cannot be written as JSON.
pub fn json(
    assessment: &Assessment,
    origin: &Origin,
    baseline: Option<&Comparison>,
) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&Results { origin, assessment, baseline })? + "\n")
}
