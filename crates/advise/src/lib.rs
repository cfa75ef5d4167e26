// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which congestion controller to run on a path, and why. docs/advise.md states the rule for users.
//!
//! 1. What is known of the path is a [`Known`], from a user or from files ([`measured`]). [`Known::cases`] makes complete paths of it:
//!    the usual one, and others that differ in one value that is not known.
//! 2. [`Machine`] says what a machine runs now ([`Present`]) and could run: [`candidates`].
//! 3. [`Question::answers`] simulates the candidates on each path, seed by seed, until the rule can decide. An [`Answer`] has the
//!    [`Decision`] and what it rests on.
//!
//! An [`Advice`] puts the answers together: what to switch on, and all of it as JSON.
//!
//! The caller chooses the engine, may cancel, and gets what was finished by then.

mod advice;
mod candidate;
mod case;
mod cures;
mod error;
mod known;
mod machine;
pub mod measured;
mod progress;
mod question;
mod repeated;
mod rule;
mod start;
mod trial;
mod turn;

pub use advice::{Advice, Origin};
pub use candidate::{Candidate, Present, candidates};
pub use case::{Assumed, Case, Neighbours};
pub use error::AdviseError;
pub use known::{Given, Known};
pub use machine::{Machine, Port, Tools, Way, send_command};
pub use progress::{Doing, Watch};
pub use question::{Answer, Answers, Question};
pub use repeated::Repeated;
pub use rule::{Decision, Goal, Judged, Limits, Why, usual_delay_limit};
pub use start::StartUp;
