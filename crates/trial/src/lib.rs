// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the connections of a trial show about two congestion controllers, at any time.
//!
//! A [`Record`] is what is known of a connection that has ended; [`batch`] makes a table of many. [`Evidence`] takes them one by one, and has an
//! [`Answer`] after each: the difference of the arms with intervals that hold however often one looks, and whether a guard rail ends the trial.
//! `docs/howto/trial.md` describes both for users.

mod answer;
mod effect;
mod evidence;
mod record;
mod size;
mod ss;
mod text;

pub use answer::{Answer, Guard, Limits, Row, Verdict};
pub use effect::{Assignment, Effect, Interval};
pub use evidence::{Evidence, Plan, Totals};
pub use record::{PeerNames, Record, batch, schema};
pub use size::SizeClass;
pub use ss::as_ss;
pub use text::answer_text;
