// SPDX-License-Identifier: MIT OR Apache-2.0
//! One connection over a scripted path: what is sent when, worked out by hand from the RFCs.

mod ecn;
mod fast_recovery;
mod flight;
mod limits;
mod paws;
mod property;
mod rate;
mod rate_halving;
mod receiver;
mod reordering;
mod slow_start;
mod tail;
mod timeout;
mod undo;
mod ways;
mod wire;
