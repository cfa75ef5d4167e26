// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ns-2 results in experiments/reference/ns2: one row per run. experiments/reference/ns2/README.md describes the set-up.

use std::path::Path;

use serde::Deserialize;

use super::read;

/// One run. Rates are Mb/s of payload; group A are the flows of `label`, group B Reno flows.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ns2Run {
    /// What group A ran: a module and its parameters.
    pub label: String,
    #[serde(rename = "nA")]
    pub flows_a: u32,
    #[serde(rename = "nB")]
    pub flows_b: u32,
    #[serde(rename = "nR")]
    pub flows_r: u32,
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
    /// Over the whole run, warm-up included.
    #[serde(rename = "fullA")]
    pub whole_goodput_a_mbps: f64,
    /// Likewise of the flows in the other direction.
    #[serde(rename = "fullR")]
    pub whole_goodput_r_mbps: f64,
    /// Reductions of the windows of group A in the whole run.
    #[serde(rename = "cutsA")]
    pub reductions_a: u32,
    #[serde(rename = "util")]
    pub utilisation: f64,
    #[serde(rename = "meanq")]
    pub queue_mean_packets: f64,
}

/// The cycles of the window between losses that one module showed at one rate, in blanc_cycles.csv.
#[derive(Debug, Deserialize)]
pub(crate) struct Ns2Cycles {
    #[serde(rename = "type")]
    pub label: String,
    #[serde(rename = "mu")]
    pub rate_mbps: f64,
    /// `3:1=840;2:1=3`.
    patterns: String,
}

impl Ns2Cycles {
    /// The cycle that was seen most often.
    pub fn commonest(&self) -> Option<String> {
        let counted = self.patterns.split(';').filter_map(|p| p.split_once('='));
        let counted = counted.filter_map(|(kind, count)| Some((count.parse::<u32>().ok()?, kind.to_owned())));
        counted.max_by_key(|(count, _)| *count).map(|(_, kind)| kind)
    }
}

/// The runs of one experiment; `reference` is the folder of all reference data.
pub(crate) fn runs(reference: &Path, experiment: &str) -> anyhow::Result<Vec<Ns2Run>> {
    read(&reference.join("ns2").join(experiment).with_extension("csv"))
}

/// The cycles of the experiment `blanc`.
pub(crate) fn cycles(reference: &Path) -> anyhow::Result<Vec<Ns2Cycles>> {
    read(&reference.join("ns2/blanc_cycles.csv"))
}

/// Compound TCP as Lachlan Andrew's module has it, which takes a round's smallest RTT.
pub(crate) const COMPOUND: &str = "compound@rtt_gain=0";
/// CTCP-TUBE as that module has it.
pub(crate) const COMPOUND_TUBE: &str = "compound_tube@rtt_gain=0";

/// The ns-2 module that each controller is compared with.
pub(crate) fn label(controller: &str) -> &'static str {
    match controller {
        "reno" => "reno",
        COMPOUND => "la30",
        COMPOUND_TUBE => "tube",
        other => panic!("no ns-2 results for {other}"),
    }
}

/// The quantity that a figure varies.
pub(crate) type Axis = fn(&Ns2Run) -> f64;

/// The values of the axis, in order, each once.
pub(crate) fn points(rows: &[Ns2Run], axis: Axis) -> Vec<f64> {
    let mut values: Vec<f64> = rows.iter().map(axis).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// A column of the runs of one label at one point, in the order of their seeds.
pub(crate) fn column(rows: &[Ns2Run], label: &str, axis: Axis, point: f64, value: impl Fn(&Ns2Run) -> f64) -> Vec<f64> {
    rows.iter().filter(|r| r.label == label && axis(r) == point).map(value).collect()
}
