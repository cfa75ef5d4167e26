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
    /// The usual [`stolen`](Self::stolen). Ours.
    pub const USUAL_STOLEN: f64 = 0.1;
    /// The usual [`gain`](Self::gain). Ours.
    pub const USUAL_GAIN: f64 = 0.1;
    /// The usual added delay on short paths, where half the RTT is less than a browser or a call would notice. Ours.
    pub const LEAST_USUAL_DELAY: Span = Span::from_ms(10);

    /// On a path with this RTT, if nobody says otherwise: half the RTT of added delay, and goodput as the goal.
    pub fn usual(rtt: Span) -> Self {
        let added_delay = Span { ns: rtt.ns / 2 }.max(Self::LEAST_USUAL_DELAY);
        Self {
            stolen: Self::USUAL_STOLEN,
            added_delay_ms: added_delay.as_secs_f64() * 1e3,
            gain: Self::USUAL_GAIN,
            goal: Goal::default(),
        }
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
