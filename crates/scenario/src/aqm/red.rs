// SPDX-License-Identifier: MIT OR Apache-2.0
//! RED's parameters.

use serde::{Deserialize, Serialize};

use crate::{scenario::Limit, units::UnitError};

/// Random Early Detection (Floyd and Jacobson 1993), `gentle` (Floyd 2000).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Red {
    /// Average queue from which packets are dropped.
    pub min_packets: f64,
    /// Average queue at which the drop probability is `max_p`.
    pub max_packets: f64,
    /// Drop probability at the upper threshold.
    pub max_p: f64,
    /// Weight of the queue at an arrival in the average.
    pub weight: f64,
    /// Are ECN-capable packets marked instead, while the average is below twice the maximum?
    pub ecn: bool,
}

/// Keys that are absent follow the queue's limit: min = limit / 6, max = 3 min (Floyd's 1997 note on parameters: max at least
/// 3 min), max_p = 0.1, weight = 0.002 (Floyd and Jacobson 1993).
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// Packets.
    min: Option<f64>,
    /// Packets.
    max: Option<f64>,
    max_p: Option<f64>,
    weight: Option<f64>,
    #[serde(default)]
    pub(super) ecn: bool,
}

impl RedSpec {
    pub(super) fn resolve(self, limit: Limit, mtu: u32) -> Result<Red, UnitError> {
        let min_packets = self.min.unwrap_or(limit.packets(mtu) / 6.0);
        let max_packets = self.max.unwrap_or(3.0 * min_packets);
        let max_p = self.max_p.unwrap_or(0.1);
        let weight = self.weight.unwrap_or(0.002);
        if !(min_packets > 0.0 && max_packets > min_packets) {
            let text = format!("red needs 0 < min < max, not min = {min_packets}, max = {max_packets}");
            return Err(UnitError::new(text));
        }
        if !(max_p > 0.0 && max_p <= 1.0 && weight > 0.0 && weight <= 1.0) {
            let text = format!("red needs max_p and weight above 0, up to 1, not {max_p} and {weight}");
            return Err(UnitError::new(text));
        }
        Ok(Red { min_packets, max_packets, max_p, weight, ecn: self.ecn })
    }
}

impl Red {
    pub(super) fn in_words(self) -> String {
        let Red { min_packets, max_packets, max_p, weight, ecn } = self;
        let marking = if ecn { " marking" } else { "" };
        format!("RED ({min_packets} to {max_packets} packets, at most {max_p}, weight {weight}){marking}")
    }
}
