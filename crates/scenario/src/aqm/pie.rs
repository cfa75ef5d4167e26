// SPDX-License-Identifier: MIT OR Apache-2.0
//! PIE's parameters.

use serde::{Deserialize, Serialize};

use crate::{
    scenario::Limit,
    units::{Span, UnitError, seconds},
};

/// Proportional Integral controller Enhanced (RFC 8033).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pie {
    /// The queueing delay that it aims at.
    #[serde(rename = "target_s", serialize_with = "seconds")]
    pub target: Span,
    /// Time between updates of the probability.
    #[serde(rename = "update_s", serialize_with = "seconds")]
    pub update: Span,
    /// A burst of this length passes after a calm time.
    #[serde(rename = "max_burst_s", serialize_with = "seconds")]
    pub max_burst: Span,
    /// Are drops and marks spread (section 5.4)? Otherwise each packet is chosen by chance alone.
    pub derandomise: bool,
    /// Are ECN-capable packets marked instead, while the probability is below 0.1?
    pub ecn: bool,
}

/// Keys that are absent are RFC 8033's: target 15 ms, update 15 ms, max_burst 150 ms, derandomise true.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieSpec {
    target: Option<Span>,
    update: Option<Span>,
    max_burst: Option<Span>,
    derandomise: Option<bool>,
    #[serde(default)]
    pub(super) ecn: bool,
}

impl PieSpec {
    pub(super) fn resolve(self, _limit: Limit, _mtu: u32) -> Result<Pie, UnitError> {
        let target = self.target.unwrap_or(Span::from_ms(15));
        let update = self.update.unwrap_or(Span::from_ms(15));
        let max_burst = self.max_burst.unwrap_or(Span::from_ms(150));
        if target.ns == 0 || update < Span::from_ms(1) {
            let text = format!("pie needs a target above 0 and updates at least 1ms apart, not {target} and {update}");
            return Err(UnitError::new(text));
        }
        let derandomise = self.derandomise.unwrap_or(true);
        Ok(Pie { target, update, max_burst, derandomise, ecn: self.ecn })
    }
}

impl Pie {
    pub(super) fn in_words(self) -> String {
        let marking = if self.ecn { " marking" } else { "" };
        format!("PIE ({} every {}){marking}", self.target.in_words(), self.update.in_words())
    }
}
