// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network: links with a rate, a queue with its discipline, and random loss; the pipes behind them; a wireless cell, whose
//! links share a channel; routes. It has no clock of its own and does no I/O: the simulator drives it in virtual time, a link
//! emulator by the machine's clock, and both forward packets through the same code.
//!
//! All times are nanoseconds since the start. Calls must come in order of time.
//!
//! A link says of each packet when it leaves, or that it is dropped. At 12 Mb/s 1500 bytes take a millisecond:
//!
//! ```
//! use tandem_network::{Link, Offer, Packet, Rng, Stream};
//! use tandem_scenario::{Aqm, Limit, LinkConfig, Loss, units::Span};
//!
//! #[derive(Debug, Clone, Copy, Default)]
//! struct Plain;
//! impl Packet for Plain {
//!     type Returning = Plain;
//!     fn bytes(&self) -> u32 {
//!         1500
//!     }
//!     fn place(&self) -> u32 {
//!         0
//!     }
//!     fn set_place(&mut self, _: u32) {}
//! }
//!
//! let config = LinkConfig {
//!     name: "link".into(),
//!     from: 0,
//!     to: 1,
//!     rate: "12mbit".parse()?,
//!     delay: Span::from_ms(10),
//!     limit: Limit::Packets(1),
//!     aqm: Aqm::DropTail,
//!     loss: Loss::None,
//!     effects: None,
//! };
//! let mut link = Link::new(&config, 1500, 0..u64::MAX, Rng::new(1, Stream::Link(0)));
//! let mut departs = |now_ns| match link.offer(now_ns, 1500, &mut Plain) {
//!     Offer::Departs(at_ns) => Some(at_ns),
//!     _ => None,
//! };
//! assert_eq!(departs(0), Some(1_000_000), "on the wire at once");
//! assert_eq!(departs(0), Some(2_000_000), "one waits");
//! assert_eq!(departs(0), None, "the queue is full");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_scenario`] describes a network; [tandem-sim](../tandem_sim/index.html) and [tandem-testbed](../tandem_testbed/index.html) drive one.

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
