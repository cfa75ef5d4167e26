// SPDX-License-Identifier: MIT OR Apache-2.0
//! The controllers once more, from the papers: real numbers, fractional windows, no thought of speed or integers.
//!
//! They see what the integer controllers' host sees, but keep their own windows and threshold.

mod africa;
mod areno;
mod bic;
mod by_rounds;
mod compound;
mod cubic;
mod fast;
mod fusion;
mod gamma;
mod highspeed;
mod htcp;
mod illinois;
mod meter;
mod pair;
mod plus;
mod rate;
mod reno;
mod scalable;
mod single;
mod vegas;
mod veno;
mod westwood;
mod yeah;

use tandem_controllers::Params;

use africa::Africa;
use areno::Areno;
use bic::Bic;
use by_rounds::ByRounds;
use compound::Compound;
use cubic::Cubic;
use fast::Fast;
use fusion::Fusion;
use highspeed::HighSpeed;
use htcp::Htcp;
use illinois::Illinois;
use reno::Reno;
use scalable::Scalable;
use single::Single;
use vegas::Vegas;
use veno::Veno;
use westwood::Westwood;
use yeah::Yeah;

pub use pair::{Pair, Path, Step};

/// One ACK. Positions are packets since the connection began.
#[derive(Clone, Copy)]
pub struct Ack {
    pub acked: f64,
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
    pub below_low_window: bool,
    pub slow_start: bool,
    /// Packets, before the ACK and after it.
    pub window: f64,
    pub window_after: f64,
    /// Delay window after the ACK, packets.
    pub delay: f64,
}

impl TheirSide {
    pub fn congested(&self) -> bool {
        self.diff >= self.gamma
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Reduction {
    Recovery,
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
    /// Packets acknowledged in recovery, where what RTTs there are must not matter.
    fn recovery_ack(&mut self, _acked: f64) {}
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

/// The reference of a controller; a new controller needs one.
pub fn reference(params: &Params, window: f64, in_flight: u64, now_us: f64) -> Box<dyn Reference> {
    match params.controller().name {
        "reno" => Box::new(Reno::new(params, window)),
        "compound" | "compound_auto" | "compound_tube" | "compound_plus" => {
            Box::new(Compound::new(params, window, in_flight))
        }
        "westwood" => Box::new(ByRounds::new(Westwood::new(params, now_us), window, in_flight, now_us)),
        "fusion" => Box::new(ByRounds::new(Fusion::new(params, now_us), window, in_flight, now_us)),
        "areno" => Box::new(ByRounds::new(Areno::new(params, now_us), window, in_flight, now_us)),
        "vegas" => Box::new(ByRounds::new(Vegas::new(params), window, in_flight, now_us)),
        "fast" => Box::new(ByRounds::new(Fast::new(params), window, in_flight, now_us)),
        "africa" => Box::new(ByRounds::new(Africa::new(params), window, in_flight, now_us)),
        "cubic" => Box::new(Single::new(Cubic::new(params), window, in_flight)),
        "highspeed" => Box::new(Single::new(HighSpeed::new(params), window, in_flight)),
        "bic" => Box::new(Single::new(Bic::new(params), window, in_flight)),
        "htcp" => Box::new(Single::new(Htcp::new(params, now_us), window, in_flight)),
        "illinois" => Box::new(Single::new(Illinois::new(params), window, in_flight)),
        "veno" => Box::new(Single::new(Veno::new(params), window, in_flight)),
        "yeah" => Box::new(Single::new(Yeah::new(params), window, in_flight)),
        "scalable" => Box::new(Single::new(Scalable::new(params), window, in_flight)),
        name => panic!("{name} has no reference"),
    }
}
