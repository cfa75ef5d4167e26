// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links: a rate, a queue with its discipline, random loss; and a wireless cell, whose links share a channel. No clock of its own and no I/O: the simulator drives it with
//! simulated time, a link emulator with the machine's.
//!
//! All times are nanoseconds since the start. Calls must come in order of time.

pub mod agenda;
mod codel;
mod link;
mod loss;
mod measure;
mod red;
mod ring;
mod rng;
mod stats;
mod tally;
pub mod wlan;

pub use link::{Drop, Link, Offer};
pub use measure::{QueueSamples, distribution, histogram};
pub use ring::Ring;
pub use rng::{Rng, Stream, access_ns, start_ns};
pub use stats::LinkStats;
pub use tally::Tally;
