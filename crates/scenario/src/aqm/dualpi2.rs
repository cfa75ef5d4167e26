// SPDX-License-Identifier: MIT OR Apache-2.0
//! DualPI2's parameters.

use serde::{Deserialize, Serialize};

use crate::{
    scenario::Limit,
    units::{Span, UnitError, seconds},
};

/// Dual-queue coupled AQM with PI2 (RFC 9332 appendix A): a queue for L4S packets, which have ECT(1) or CE, and a Classic one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DualPi2 {
    /// The queueing delay that it aims at in the Classic queue.
    #[serde(rename = "target_s", serialize_with = "seconds")]
    pub target: Span,
    /// Time between updates of the base probability p'.
    #[serde(rename = "update_s", serialize_with = "seconds")]
    pub update: Span,
    /// Integral gain: what each second above the target adds to p' in an update, 1/s.
    pub alpha: f64,
    /// Proportional gain: what each second of rise adds to p' in an update, 1/s.
    pub beta: f64,
    /// Coupling factor: Classic packets are dropped with p'^2, L4S packets marked with k p' at least.
    pub k: f64,
    /// The wait from which L4S packets are marked whatever the Classic queue does ...
    #[serde(rename = "min_threshold_s", serialize_with = "seconds")]
    pub min_threshold: Span,
    /// ... and how much more it takes until all of them are; 0: a step.
    #[serde(rename = "range_s", serialize_with = "seconds")]
    pub range: Span,
    /// Those that meet fewer L4S packets waiting are marked for the Classic queue's sake alone.
    pub min_packets: u32,
    /// The least share of the link that the Classic queue gets while both wait.
    pub classic_share: f64,
    /// Are Classic packets with ECT(0) marked instead of dropped?
    pub ecn: bool,
}

/// Keys that are absent are those of RFC 9332 appendix A.1 (target, k, min_threshold, range, min_packets) and of Linux's sch_dualpi2
/// (update, alpha, beta, classic_share). Linux marks L4S packets by a step at 1 ms.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Spec {
    target: Option<Span>,
    update: Option<Span>,
    alpha: Option<f64>,
    beta: Option<f64>,
    k: Option<f64>,
    min_threshold: Option<Span>,
    range: Option<Span>,
    /// Packets.
    min_packets: Option<u32>,
    classic_share: Option<f64>,
    #[serde(default = "yes")]
    pub(super) ecn: bool,
}

fn yes() -> bool {
    true
}

impl Default for DualPi2Spec {
    fn default() -> Self {
        Self {
            target: None,
            update: None,
            alpha: None,
            beta: None,
            k: None,
            min_threshold: None,
            range: None,
            min_packets: None,
            classic_share: None,
            ecn: true,
        }
    }
}

impl DualPi2Spec {
    pub(super) fn resolve(self, _limit: Limit, _mtu: u32) -> Result<DualPi2, UnitError> {
        let us = |us: u64| Span { ns: us * 1000 };
        let resolved = DualPi2 {
            target: self.target.unwrap_or(Span::from_ms(15)),
            update: self.update.unwrap_or(Span::from_ms(16)),
            alpha: self.alpha.unwrap_or(0.16),
            beta: self.beta.unwrap_or(3.2),
            k: self.k.unwrap_or(2.0),
            min_threshold: self.min_threshold.unwrap_or(us(800)),
            range: self.range.unwrap_or(us(400)),
            min_packets: self.min_packets.unwrap_or(1),
            classic_share: self.classic_share.unwrap_or(0.1),
            ecn: self.ecn,
        };
        let DualPi2 { target, update, alpha, beta, k, classic_share, .. } = resolved;
        if target.ns == 0 || update < Span::from_ms(1) {
            let text =
                format!("dualpi2 needs a target above 0 and updates at least 1ms apart, not {target} and {update}");
            return Err(UnitError::new(text));
        }
        if !((0.0..=100.0).contains(&alpha) && (0.0..=1000.0).contains(&beta) && (0.1..=100.0).contains(&k)) {
            let text =
                format!("dualpi2 needs alpha 0 to 100, beta 0 to 1000 and k 0.1 to 100, not {alpha}, {beta} and {k}");
            return Err(UnitError::new(text));
        }
        if !(0.0..=0.9).contains(&classic_share) {
            return Err(UnitError::new(format!("dualpi2 needs a classic_share from 0 to 0.9, not {classic_share}")));
        }
        Ok(resolved)
    }
}

impl DualPi2 {
    pub(super) fn in_words(self) -> String {
        let marking = if self.ecn { "" } else { ", dropping in the Classic queue" };
        format!(
            "DualPI2 ({} every {}, k {}, L4S from {} over {}{marking})",
            self.target.in_words(),
            self.update.in_words(),
            self.k,
            self.min_threshold.in_words(),
            self.range.in_words()
        )
    }
}
