// SPDX-License-Identifier: MIT OR Apache-2.0
//! The controllers once more, from the papers: real numbers, fractional windows, no thought of speed or integers.
//!
//! They see what the integer controllers' host sees, but keep their own windows and threshold. Each controller's stands in
//! `tests/oracles/NAME.rs` as `ORACLE`, which the build script lists for every controller.

#[path = "../oracles/shared/by_rounds.rs"]
mod by_rounds;
#[path = "../oracles/shared/ctcp.rs"]
mod ctcp;
#[path = "../oracles/shared/gamma.rs"]
mod gamma;
#[path = "../oracles/shared/meter.rs"]
mod meter;
#[path = "../oracles/shared/plus.rs"]
mod plus;
#[path = "../oracles/shared/rate.rs"]
mod rate;
#[path = "../oracles/shared/single.rs"]
mod single;

// `mod NAME` of each, and their list: `ORACLES`, by name.
include!(concat!(env!("OUT_DIR"), "/oracles.rs"));

use proptest::test_runner::TestCaseResult;
use tandem_controllers::{Controller, Params};
use tandem_testing::invariant::Facts;

use crate::model;

/// A controller as its paper has it.
pub struct Oracle {
    /// What the invariants cannot know.
    pub facts: Facts,
    pub kind: Kind,
}

/// How an oracle is held against the integer controller.
pub enum Kind {
    /// By their windows: the reference for a connection that begins with a window, packets, at a time, us.
    Windows(fn(&Params, f64, f64) -> Box<dyn Reference>),
    /// Step by step, for a controller with a model of the path.
    Model {
        /// A random connection, each step from where rounding led the integer controller.
        play: fn(&Params, &model::Case) -> TestCaseResult,
        /// Without that.
        run_for_long: fn(&Params, model::LongRun) -> TestCaseResult,
    },
}

impl Kind {
    pub const fn model<M: model::Model>() -> Self {
        Self::Model { play: model::play::<M>, run_for_long: model::run_for_long::<M> }
    }
}

/// The oracle of a controller.
pub fn oracle(controller: &Controller) -> &'static Oracle {
    let found = ORACLES.iter().find(|(name, _)| *name == controller.name);
    found.expect("the list has every controller").1
}

/// One ACK. Positions are packets since the connection began.
#[derive(Clone, Copy)]
pub struct Ack {
    pub acked: f64,
    /// Packets newly reported as marked.
    pub marked: f64,
    pub rtt_us: Option<f64>,
    pub una: u64,
    pub nxt: u64,
    pub window_limited: bool,
}

/// Where the integer controller stands. Asked only where rounding can make the difference.
#[derive(Clone, Copy)]
pub struct TheirSide {
    /// Backlog and its threshold, packets.
    pub diff: f64,
    pub gamma: f64,
    pub up_to_low_window: bool,
    pub slow_start: bool,
    /// Packets, before the ACK and after it.
    pub window: f64,
    pub window_after: f64,
    /// Delay window after the ACK, packets.
    pub delay: f64,
}

impl TheirSide {
    /// Where it stands is not to be told.
    pub const UNKNOWN: Self = Self {
        diff: f64::NAN,
        gamma: f64::NAN,
        up_to_low_window: false,
        slow_start: false,
        window: f64::NAN,
        window_after: f64::NAN,
        delay: f64::NAN,
    };

    pub fn congested(&self) -> bool {
        self.diff >= self.gamma
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Reduction {
    Recovery,
    /// A mark, and no loss, is the reason.
    Mark,
    Timeout,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    pub loss: f64,
    pub delay: f64,
}

impl Windows {
    pub fn total(&self) -> f64 {
        self.loss + self.delay
    }
}

/// What a controller shows besides its windows; `None` where it has no such thing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    pub gamma: Option<f64>,
    pub diff: Option<f64>,
    pub base_rtt_us: Option<f64>,
    /// How far rounding may take the integer controller's gamma from this one.
    pub gamma_margin: f64,
    /// How far its RTT, kept in 1/128 us, may take its diff from this one.
    pub diff_margin: f64,
}

pub trait Reference {
    fn windows(&self) -> Windows;
    fn shown(&self) -> Shown;
    /// Packets by which rounding alone may set the two apart where nothing multiplies it.
    fn rounding(&self) -> f64 {
        4.0 // Seen in 20 000 random connections of `reno` and `compound`: 2.5.
    }
    /// The host's clock, before each of the following.
    fn clock(&mut self, _now_us: f64) {}
    /// Packets acknowledged in recovery, where what RTTs there are must not matter. Positions as in [`Ack`].
    fn recovery_ack(&mut self, _acked: f64, _una: u64, _nxt: u64) {}
    /// An ACK outside recovery: sample and growth.
    fn ack(&mut self, ack: &Ack, their_side: TheirSide);
    /// An RTT told in recovery; for most controllers it must not matter.
    fn recovery_sample(&mut self, _rtt_us: f64) {}
    /// The window's reduction and what follows at once. `their_window` is the integer controller's before it.
    fn reduce(&mut self, to: Reduction, their_window: f64);
    /// Takes over the integer controller's windows after a reduction.
    fn adopt(&mut self, windows: Windows, ssthresh: f64);
    /// Recovery, of either kind, is over.
    fn open(&mut self, una: u64, nxt: u64);
    fn undo(&mut self, una: u64, nxt: u64);
    /// All is acknowledged and nothing has been sent for a while; the host allows `window` at most.
    fn restart(&mut self, window: f64, nxt: u64);
}
