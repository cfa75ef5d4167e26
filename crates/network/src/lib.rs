// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network: links with a rate, a queue with its discipline, and random loss; the pipes behind them; a wireless cell, whose
//! links share a channel; routes. It has no clock of its own and does no I/O: the simulator drives it in virtual time, a link
//! emulator by the machine's clock, and both forward packets through the same code.
//!
//! All times are nanoseconds since the start. Calls must come in order of time.

pub mod agenda;
mod ahead;
pub mod discipline;
mod effects;
mod generate;
mod link;
mod loss;
mod network;
mod packet;
mod pipe;
mod queue_samples;
mod ring;
mod rng;
mod route;
mod sends;
mod stats;
mod tally;
pub mod wlan;

pub use effects::normal_quantile;
pub use generate::{Generated, TraceKind, generate};
pub use link::{Link, Offer};
pub use network::{Alarm, Event, Lookahead, Network, Receivers, wired_links};
pub use packet::{Contents, DropReason, Ecn, End, Packet};
pub use queue_samples::{QueueSamples, Samples, distribution, histogram};
pub use ring::Ring;
pub use rng::{Rng, Stream, access_ns, start_ns};
pub use route::Route;
pub use sends::Sends;
pub use stats::LinkStats;
pub use tally::Tally;
