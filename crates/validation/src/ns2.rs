// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ns-2 results in experiments/reference/ns2: one row a run. experiments/reference/ns2/README.md describes the set-up.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, de::DeserializeOwned};

/// One run. Rates are Mb/s of payload; group A are the flows of `label`, group B Reno flows.
#[derive(Debug, Clone, Deserialize)]
pub struct Row {
    /// What group A ran: a module and its parameters.
    pub label: String,
    #[serde(rename = "nA")]
    pub flows_a: u32,
    #[serde(rename = "nB")]
    pub flows_b: u32,
    #[serde(rename = "bw")]
    pub rate_mbps: f64,
    #[serde(rename = "rtt")]
    pub rtt_ms: u64,
    #[serde(rename = "buf")]
    pub queue_packets: u32,
    pub loss: f64,
    #[serde(rename = "dur")]
    pub duration_s: u64,
    #[serde(rename = "warm")]
    pub warmup_s: u64,
    #[serde(rename = "goodA")]
    pub goodput_a_mbps: f64,
    #[serde(rename = "goodB")]
    pub goodput_b_mbps: f64,
    #[serde(rename = "util")]
    pub utilisation: f64,
    #[serde(rename = "meanq")]
    pub queue_mean_packets: f64,
}

/// Reads one experiment.
pub fn read<R: DeserializeOwned>(folder: &Path, experiment: &str) -> anyhow::Result<Vec<R>> {
    let path = folder.join(experiment).with_extension("csv");
    let mut reader = csv::Reader::from_path(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let rows: Result<Vec<R>, _> = reader.deserialize().collect();
    rows.with_context(|| format!("{} is not a table of ns-2 results", path.display()))
}

/// The ns-2 module that each controller is compared with.
pub fn label(controller: &str) -> &'static str {
    match controller {
        "reno" => "reno",
        "compound" => "la30",
        "compound_tube" => "tube",
        other => panic!("no ns-2 results for {other}"),
    }
}

/// What a figure varies.
pub type Axis = fn(&Row) -> f64;

/// The values of the axis, in order, each once.
pub fn points(rows: &[Row], axis: Axis) -> Vec<f64> {
    let mut values: Vec<f64> = rows.iter().map(axis).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// A column of the runs of one label at one point, in the order of their seeds.
pub fn column(rows: &[Row], label: &str, axis: Axis, point: f64, value: impl Fn(&Row) -> f64) -> Vec<f64> {
    rows.iter().filter(|r| r.label == label && axis(r) == point).map(value).collect()
}
