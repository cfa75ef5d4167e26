// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judges a congestion controller by the criteria of RFC 9743 (BCP 133), sections 5 to 7.
//!
//! The criteria are files in experiments/rfc9743, or in another [`Suite`], in the format of the papers' files: paths, a measure, and limits with their owner.
//! The controller that is judged stands in them as `contender`. [`criteria`] reads them for a controller, [`evaluate`] runs them, and an
//! [`Assessment`] has the answers.
//!
//! ```
//! use tandem_batch::Batch;
//! use tandem_evaluate::{NEIGHBOURS_OF_ALL, criteria, evaluate};
//! use tandem_papers::Form;
//! use tandem_sim::Sim;
//!
//! let wanted = criteria("reno", &["7.4".to_owned()], &NEIGHBOURS_OF_ALL)?;
//! let assessment = evaluate("reno", &wanted, Form::Smoke, &Sim, &Batch::default(), None)?;
//! assert_eq!(assessment.rows[0].section, "7.4");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_papers`] reads and judges files of this form, [`tandem_batch`] runs them, [`tandem_engine`] is the interface of engines.

mod assessment;
mod baseline;
mod document;
mod form;
mod junit;
mod real_tcp;
mod results;
mod suite;
mod text;

pub use assessment::{Answer, Asked, AskedPoint, Assessment, Row, Worst, evaluate};
pub use baseline::{AnotherSuite, Baseline, Comparison};
pub use document::{markdown, pictures};
pub use form::Fact;
pub use junit::junit;
pub use real_tcp::{Agreement, AskedThere, OverRealTcp, RealTcp, obstacles};
pub use results::{Origin, json};
pub use suite::{
    NEIGHBOURS_OF_ALL, Question, RFC_9743, Suite, SuiteError, Unposed, criteria, from_anywhere, from_folder, questions,
    unposed,
};
pub use text::text;
