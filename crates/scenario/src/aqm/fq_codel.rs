// SPDX-License-Identifier: MIT OR Apache-2.0
//! FQ-CoDel's parameters.

use serde::{Deserialize, Serialize};

use super::{Codel, CodelSpec};
use crate::{
    scenario::Limit,
    units::{Span, UnitError},
};

/// Flow queues with CoDel (RFC 8290).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FqCodel {
    /// Of each queue.
    pub codel: Codel,
    /// Number of queues.
    pub flows: u32,
    /// Bytes that a queue may send in its turn.
    pub quantum_bytes: u32,
}

/// Keys that are absent are RFC 8290's: 1024 queues, a quantum of one full packet, and CoDel's target and interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqCodelSpec {
    target: Option<Span>,
    interval: Option<Span>,
    flows: Option<u32>,
    /// Bytes.
    quantum: Option<u32>,
    #[serde(default)]
    pub(super) ecn: bool,
}

impl FqCodelSpec {
    pub(super) fn resolve(self, limit: Limit, mtu: u32) -> Result<FqCodel, UnitError> {
        let Self { target, interval, ecn, .. } = self;
        let codel = CodelSpec { target, interval, ecn }.resolve(limit, mtu)?;
        let (flows, quantum_bytes) = (self.flows.unwrap_or(1024), self.quantum.unwrap_or(mtu));
        if !(1..=65536).contains(&flows) || !(64..=1 << 20).contains(&quantum_bytes) {
            let text = format!(
                "fq_codel needs flows from 1 to 65536 and a quantum from 64 to 1048576 bytes, not {flows} and {quantum_bytes}"
            );
            return Err(UnitError::new(text));
        }
        Ok(FqCodel { codel, flows, quantum_bytes })
    }
}

impl FqCodel {
    pub(super) fn in_words(self) -> String {
        format!(
            "FQ-CoDel ({} queues, quantum {} bytes, each {})",
            self.flows,
            self.quantum_bytes,
            self.codel.in_words()
        )
    }
}
