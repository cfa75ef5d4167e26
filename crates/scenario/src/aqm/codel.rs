// SPDX-License-Identifier: MIT OR Apache-2.0
//! CoDel's parameters.

use serde::{Deserialize, Serialize};

use crate::{
    scenario::Limit,
    units::{Span, UnitError, seconds},
};

/// Controlled Delay (RFC 8289).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Codel {
    /// The wait that a standing queue may have.
    #[serde(rename = "target_s", serialize_with = "seconds")]
    pub target: Span,
    /// How long a wait above the target must last before a packet is dropped.
    #[serde(rename = "interval_s", serialize_with = "seconds")]
    pub interval: Span,
    /// Are ECN-capable packets marked instead?
    pub ecn: bool,
}

/// Keys that are absent are RFC 8289's: target 5 ms, interval 100 ms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelSpec {
    pub(super) target: Option<Span>,
    pub(super) interval: Option<Span>,
    #[serde(default)]
    pub(super) ecn: bool,
}

impl CodelSpec {
    pub(super) fn resolve(self, _limit: Limit, _mtu: u32) -> Result<Codel, UnitError> {
        let target = self.target.unwrap_or(Span::from_ms(5));
        let interval = self.interval.unwrap_or(Span::from_ms(100));
        if target.ns == 0 || interval <= target {
            let text = format!("codel needs 0 < target < interval, not {target} and {interval}");
            return Err(UnitError::new(text));
        }
        Ok(Codel { target, interval, ecn: self.ecn })
    }
}

impl Codel {
    pub(super) fn in_words(self) -> String {
        let marking = if self.ecn { " marking" } else { "" };
        format!("CoDel ({} in {}){marking}", self.target.in_words(), self.interval.in_words())
    }
}
