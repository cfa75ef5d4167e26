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
//! The caller chooses the engine, and may cancel; the answers finished by then are returned.
//!
//! ```
//! use tandem_advise::{Goal, Known, Limits, Machine, Present, Question, candidates, measured::Measured};
//! use tandem_scenario::units::Span;
//! use tandem_sim::Sim;
//!
//! let known = Known { neighbours: Some("reno:1".parse()?), ..Known::new("10mbit".parse()?, Span::from_ms(20)) };
//! let machine = Machine::default();
//! let present = Present::new(Some(&"reno".parse()?), &machine)?;
//! let candidates = candidates(&["vegas".parse()?], known.flows(), &machine, &present, false)?;
//! let measured = Measured::default();
//! let question = Question {
//!     limits: Limits { stolen: 0.1, added_delay_ms: 10.0, gain: 0.1, goal: Goal::Goodput },
//!     most_seeds: 2,
//!     duration: Some(Span::from_secs(3)),
//!     warmup: Some(Span::from_secs(1)),
//!     ..Question::usual(&known, &measured, &candidates, &present.name, &Sim)
//! };
//! let usual = &known.cases()[..1];
//! let decision = &question.answers(usual)?.answers[0].decision;
//! // Beside a Reno flow, Vegas gives way: nothing gains enough over the default.
//! assert_eq!(decision.chosen, "reno");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_engine`] has the interface of engines, [`tandem_compare`] the length of runs, [`tandem_batch`] runs them,
//! [`tandem_model`] gives the time from loss to loss.

mod advice;
mod candidate;
mod case;
mod contest;
mod cures;
mod doubts;
mod error;
mod headline;
mod known;
mod machine;
pub mod measured;
mod progress;
mod question;
mod remark;
mod repeated;
mod rule;
mod start;
mod stepwise;
mod trial;
mod turn;

pub use advice::{Advice, Origin};
pub use candidate::{Candidate, Present, candidates};
pub use case::{Assumed, Case, Neighbours};
pub use error::{AdviseError, GoalError};
pub use known::{Given, Known};
pub use machine::{Machine, Port, Tools, Way, send_command};
pub use progress::{Doing, Watch};
pub use question::{Answer, Answers, Question};
pub use repeated::Repeated;
pub use rule::{Decision, Elsewhere, Goal, Judged, Limits, Why};
pub use start::StartUp;
pub use stepwise::Stepwise;
