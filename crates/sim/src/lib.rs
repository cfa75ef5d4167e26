// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet-level simulator: deterministic, and fast because a waiting packet costs no event.
//!
//! [`run`] takes one seed of a scenario to its [`SeedResult`]. The same scenario and seed gives the same result on every
//! machine, whatever else runs and however many seeds run beside it.

mod clock;
mod cwnd_limited;
mod delivery_rate;
mod flow;
mod net;
mod pacing;
mod packet;
mod prr;
mod receiver;
mod rtt;
mod scoreboard;
mod segment_ring;
mod sender;
#[cfg(test)]
mod tests;
mod world;

use std::sync::atomic::{AtomicBool, AtomicU64};

use tandem_network::agenda;
use tandem_scenario::{Scenario, result::SeedResult};

/// What a caller may want of a run besides its result.
#[derive(Debug, Default, Clone, Copy)]
pub struct Options<'a> {
    /// Samples windows and queues over time: of the first this many flows of each group. 0 = no trace.
    pub traced_flows_per_group: usize,
    /// Set by another thread to end the run early.
    pub cancelled: Option<&'a AtomicBool>,
    /// Counts simulated nanoseconds as they pass.
    pub progress_ns: Option<&'a AtomicU64>,
}

/// Runs one seed; `None` if it was cancelled.
///
/// # Panics
/// If a flow uses a congestion control of the kernel's ([`Scenario::needs_kernel`]).
pub fn run(scenario: &Scenario, seed: u64, options: Options) -> Option<SeedResult> {
    world::World::new(scenario, seed, options).run()
}
