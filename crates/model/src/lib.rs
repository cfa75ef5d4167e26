// SPDX-License-Identifier: MIT OR Apache-2.0
//! The analytical model of an isolated Compound TCP connection.
//!
//! From the rate and RTT of a link, its buffer, and the law's constants it tells what one connection with endless data
//! does there: the phases between two losses, the oscillation of its window, throughput and backlog. S2 is Blanc, Collange,
//! Avrachenkov, *Modelling an isolated Compound TCP connection*, 2009, whose equation numbers the comments cite; S0 and S1
//! are the papers of Compound TCP that `docs/controllers/compound.md` names.
//!
//! Two models stand side by side. [`published()`] is S2's: fluid, immediately in the oscillation's steady state, one packet lost per
//! loss. [`followed()`] goes from loss to loss, round by round, and is the more accurate one: it takes a few microseconds.
//!
//! [`steady`] is the model of another law, `compound_steady`: of flows that share a link.
//!
//! Inside, windows are packets and times are packet times, one packet's transmission at the bottleneck.
//!
//! ```
//! use tandem_model::{Arithmetic, Law, Path, followed};
//! use tandem_scenario::units::Span;
//!
//! // S2's path: a gigabit, 50 ms, a buffer of 100 packets of 1500 bytes.
//! let path = Path {
//!     rate: "1gbit".parse()?,
//!     rtt: Span::from_ms(50),
//!     buffer_packets: 100.0,
//!     packet_bytes: 1500,
//!     access_rate: None,
//! };
//! let prediction = followed(&path, &Law::default(), Arithmetic::Tandem)?;
//! // The oscillation does not fit the buffer: S2 reads some 75 % of the link off its figure.
//! assert!((0.7..0.8).contains(&prediction.utilisation));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_controllers`] has the same law as code, [tandem-sim](../tandem_sim/index.html) simulates it packet by packet.

mod asked;
mod connection;
mod course;
mod cycles;
pub mod engine;
mod epoch;
pub mod follow;
mod followed;
pub mod inverse;
mod law;
pub mod loss_cycle;
pub mod observed;
pub mod oscillation;
mod path;
mod prediction;
mod published;
pub mod queue;
pub mod response;
pub mod rounds;
pub mod rule;
pub mod steady;
mod sweep;
pub mod totals;
pub mod window;

pub use asked::{AskedError, asked};
pub use connection::Connection;
pub use course::{WindowPoint, windows_over_time};
pub use engine::Model;
pub use followed::{followed, followed_with};
pub use law::{Arithmetic, CONTROLLER, Law, ModelError};
pub use path::Path;
pub use prediction::{Phase, Prediction, case};
pub use published::{oscillation as published_oscillation, published, published_window};
pub use sweep::{Answer, Cell, plane, sweep};
