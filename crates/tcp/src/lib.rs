// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! Around it: [`tandem_controllers`] has the controllers; [tandem-sim](../tandem_sim/index.html) sends its segments over a simulated network;
//! [tandem-conform](../tandem_conform/index.html) holds hosts to the contract.

mod config;
mod cwnd_limited;
mod delivery_rate;
mod loss_recovery;
mod pacing;
mod paws;
mod receiver;
mod scoreboard;
pub mod segment;
mod segment_ring;
mod sender;
#[cfg(test)]
mod tests;

pub use config::{Config, Ecn, Honesty, Recovery};
pub use receiver::{AckOut, Receiver};
pub use sender::{AckIn, Counters, Sender, Train};

/// No time at all; beyond every time, ns.
pub const NEVER: u64 = u64::MAX >> 1;
