// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]

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
pub use sender::{AckIn, Counters, Sender};

/// No time at all; beyond every time, ns.
pub const NEVER: u64 = u64::MAX >> 1;
