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
