// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limits for a controller, and the goal of the choice.

use serde::Serialize;
use tandem_scenario::units::Span;

use crate::error::GoalError;

/// What a controller may do to others and still be advised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limits {
    /// Share of their goodput that neighbours may lose against the reference.
    pub stolen: f64,
    /// By how much the 95th percentile of the queueing delay may exceed the reference's, ms.
    pub added_delay_ms: f64,
    /// The gain that justifies a change, as a share of the default's goodput or other goal.
    pub gain: f64,
    /// The goal.
    pub goal: Goal,
}

impl Limits {
    /// On a path with this RTT, if nobody says otherwise: a tenth, [`usual_delay_limit`], and a gain of a tenth in goodput. Ours.
    pub fn usual(rtt: Span) -> Self {
        let added_delay_ms = usual_delay_limit(rtt).as_secs_f64() * 1e3;
        Self { stolen: 0.1, added_delay_ms, gain: 0.1, goal: Goal::Goodput }
    }
}

/// What a controller is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The highest goodput.
    #[default]
    Goodput,
    /// The lowest round-trip time, propagation and the 95th percentile of the wait in the queue together, of those that keep the goodput.
    Delay,
    /// The highest power: goodput over that time (Kleinrock 1979, ICC).
    Both,
}

impl std::str::FromStr for Goal {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Self, GoalError> {
        match text {
            "goodput" => Ok(Self::Goodput),
            "delay" => Ok(Self::Delay),
            "both" => Ok(Self::Both),
            other => Err(GoalError(other.to_owned())),
        }
    }
}

/// The minimum on short paths, where half the RTT is less than a browser or a call would notice. Ours.
const LEAST_DELAY_LIMIT: Span = Span::from_ms(10);

/// The default limit of the added delay: half the RTT, at least 10 ms. Ours.
pub fn usual_delay_limit(rtt: Span) -> Span {
    Span { ns: rtt.ns / 2 }.max(LEAST_DELAY_LIMIT)
}
