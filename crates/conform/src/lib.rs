// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does a host keep the contract of the controllers?
//!
//! A host logs its calls as [`Event`]s. [`Check`] plays them against the controller, compares what came of each call, and holds the order of
//! the calls against the [`Rule`]s of the contract. A host in Rust needs no log: in its tests it calls a [`Recorder`] in place of an
//! `Instance`. `docs/embedding.md` describes the log.

mod check;
mod event;
mod recorder;
mod replay;
mod rules;

pub use check::{Check, Problem};
pub use event::{Event, Expected, Rate, Shown, StateName};
pub use recorder::Recorder;
pub use rules::Rule;
