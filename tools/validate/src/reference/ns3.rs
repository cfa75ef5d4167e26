// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ns-3 results in experiments/reference/ns3: one row per run. experiments/reference/ns3/README.md describes the set-up.

use std::path::Path;

use serde::Deserialize;

use super::read;

/// One run of a saturated cell. Rates are Mb/s of packets of 1500 bytes.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ns3Run {
    pub phy: String,
    pub data_mbps: f64,
    pub ack_mbps: f64,
    pub stations: u32,
    /// 1 if the access point sends, too.
    pub ap_sends: u32,
    pub throughput_mbps: f64,
    pub ap_mbps: f64,
    pub jain: f64,
}

/// The runs of saturated cells; `reference` is the folder of all reference data.
pub(crate) fn runs(reference: &Path) -> anyhow::Result<Vec<Ns3Run>> {
    read(&reference.join("ns3/saturation.csv"))
}

/// One run of Reno flows through a queue discipline.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct QueueRun {
    pub queue: String,
    /// 1 if flows and queue use ECN.
    pub ecn: u32,
    pub flows: u32,
    pub goodput_mbps: f64,
    /// From a packet's arrival at the queue until it is sent, the mean.
    pub wait_ms: f64,
    /// Share of the packets that arrived.
    pub drop_rate: f64,
    /// Share of the packets that arrived.
    pub mark_rate: f64,
}

/// The runs of queue disciplines, those of one discipline in a row.
pub(crate) fn queue_runs(reference: &Path) -> anyhow::Result<Vec<QueueRun>> {
    read(&reference.join("ns3/queues.csv"))
}
