// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others measured of Linux's Prague: experiments/reference/l4s/README.md says who, and how.

use std::path::Path;

use serde::Deserialize;

use super::read;

/// One run of a Prague and a CUBIC flow. Goodput in Mb/s.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TwoFlows {
    /// With 1514 bytes a packet.
    pub rate_mbps: f64,
    pub rtt_ms: u32,
    pub prague_mbps: f64,
    pub cubic_mbps: f64,
}

/// One run of two Prague flows. Goodput in Mb/s.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct UnequalRtts {
    /// With 1514 bytes a packet.
    pub rate_mbps: f64,
    pub long_rtt_ms: u32,
    pub short_rtt_ms: u32,
    pub long_mbps: f64,
    pub short_mbps: f64,
}

/// The runs, one for each path.
pub(crate) fn unequal_rtts(reference: &Path) -> anyhow::Result<Vec<UnequalRtts>> {
    read(&reference.join("l4s/unequal_rtts.csv"))
}

/// The runs, those of one path in a row.
pub(crate) fn two_flows(reference: &Path) -> anyhow::Result<Vec<TwoFlows>> {
    read(&reference.join("l4s/two_flows.csv"))
}
