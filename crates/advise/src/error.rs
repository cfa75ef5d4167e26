// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors.

use tandem_batch::BatchError;
use tandem_compare::CompareError;
use tandem_engine::EngineError;
use tandem_scenario::SpecError;

/// Why there is no advice.
#[derive(Debug, thiserror::Error)]
pub enum AdviseError {
    /// The simulator does not have this controller.
    #[error("`{0}` cannot be simulated, because it is {1}: name one of Tandem's, such as `cubic`")]
    NotSimulated(String, &'static str),
    /// A candidate is named twice.
    #[error("`{0}` is named twice: leave one out")]
    Twice(String),
    /// [`Question::default`](crate::Question::default) is not the name of a candidate.
    #[error("the default is not among the candidates")]
    NoDefault,
    /// The flows make no sense on the path.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The path lacks a value that no measurement has.
    #[error("no {what}: give --{what}, or a measurement that has it ({sources}){read}")]
    Missing {
        /// `rate` or `rtt`.
        what: &'static str,
        /// What tells it.
        sources: &'static str,
        /// What the measurements do tell, after the sentence above: empty without any.
        read: String,
    },
    /// No scenario can be made of the path.
    #[error(transparent)]
    Scenario(#[from] SpecError),
    /// The engine refuses a scenario, or may not run here.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] BatchError),
}

/// What is no goal of a choice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a goal: give `goodput`, `delay` or `both`")]
pub struct GoalError(pub String);

impl AdviseError {
    /// Whether the question was at fault, and not this machine.
    pub fn is_usage(&self) -> bool {
        !matches!(self, AdviseError::Run(_) | AdviseError::Engine(EngineError::Failed(_)))
    }
}
