// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does a host keep the contract of the controllers?
//!
//! A host logs its calls as [`Event`]s. [`Check`] plays them against the controller, compares what came of each call, and holds the order of
//! the calls against the [`Rule`]s of the contract. A host in Rust needs no log: in its tests it calls a [`Recorder`] in place of an
//! `Instance`. `docs/embedding.md` describes the log.
//!
//! ```
//! use std::sync::Arc;
//! use tandem_conform::Recorder;
//! use tandem_controllers::{Conn, INFINITE_SSTHRESH, MAX_WINDOW, Params, find};
//!
//! let params = Arc::new(Params::new(find("reno")?));
//! let mut conn = Conn {
//!     snd_cwnd: 10,
//!     snd_ssthresh: INFINITE_SSTHRESH,
//!     snd_cwnd_clamp: MAX_WINDOW,
//!     mss: 1448,
//!     is_cwnd_limited: 1,
//!     ..Conn::default()
//! };
//! let mut controller = Recorder::new(&params, &mut conn);
//! controller.cong_avoid(&mut conn, 2);
//! // A host that lets the clock run back breaks a rule.
//! conn.now_us = 1_000;
//! controller.cong_avoid(&mut conn, 2);
//! conn.now_us = 500;
//! controller.cong_avoid(&mut conn, 2);
//! assert!(!controller.check().problems().is_empty());
//! # Ok::<(), tandem_controllers::UnknownController>(())
//! ```
//!
//! A golden trace is the other way round: [`golden::play`] plays events on a host that keeps the contract, and compares what the controller
//! does with numbers that were worked out by hand.
//!
//! The contract and the controllers are those of [`tandem_controllers`].

mod check;
pub mod contract;
mod event;
pub mod golden;
mod recorder;
mod replay;
mod rules;

pub use check::{Check, Problem};
pub use event::{Event, Expected, Probed, Rate, Shown, StateName};
pub use recorder::Recorder;
pub use replay::EventError;
pub use rules::Rule;
