// SPDX-License-Identifier: MIT OR Apache-2.0
//! An IEEE 802.11 cell: stations and an access point that share one channel by DCF.
//!
//! Nothing is simulated slot by slot: who transmits next, and when, follows from the backoffs as soon as the channel is
//! free, so a transmission costs one call of [`Cell::serve`], whether it succeeds or not.

mod air;
mod cell_samples;
mod dcf;
mod phy;
mod station;
mod stats;

pub use air::Air;
pub use cell_samples::CellSamples;
pub use dcf::{AP, Cell, CellConfig, Delivered};
pub use phy::Phy;
pub use stats::{CellStats, Direction};
