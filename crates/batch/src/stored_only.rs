// SPDX-License-Identifier: MIT OR Apache-2.0
//! An engine that runs nothing.

use std::borrow::Cow;

use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;

/// Stands for another engine without running it: what that engine did before is in the [`Store`](crate::Store), and the rest counts as
/// cancelled.
pub struct StoredOnly<'a>(pub &'a dyn Engine);

impl Engine for StoredOnly<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn description(&self) -> &'static str {
        self.0.description()
    }

    fn arithmetic(&self) -> &'static str {
        self.0.arithmetic()
    }

    fn check(&self, _: &Scenario, _: bool) -> Result<Vec<Warning>, EngineError> {
        Ok(Vec::new())
    }

    fn run(&self, _: &Scenario, _: u64, _: Options) -> Result<Option<SeedResult>, EngineError> {
        Ok(None)
    }

    fn as_run<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        self.0.as_run(scenario)
    }
}
