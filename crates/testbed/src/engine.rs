// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real Linux TCP as an engine.

use std::borrow::Cow;

use tandem_engine::{Engine, EngineError, Options, Warning, refuse_noq_controllers, refuse_quic};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;

use crate::{Error, Namespace, capacity};

/// Real Linux TCP over an emulated path, in real time.
pub struct Kernel;

impl Engine for Kernel {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn description(&self) -> &'static str {
        "Real Linux TCP over an emulated path, in real time; needs root"
    }

    fn arithmetic(&self) -> &'static str {
        env!("TANDEM_ARITHMETIC")
    }

    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
        refuse_quic(scenario)?;
        refuse_noq_controllers(scenario)?;
        let warnings = capacity::check(scenario, force)?;
        // Only a try tells whether this process may make one.
        Namespace::new()?;
        Ok(warnings)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        Ok(crate::run(scenario, seed, options)?)
    }

    fn needs_machine(&self) -> bool {
        true
    }

    /// Real hosts have delays of their own: only what a file gives is added.
    fn as_run<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        Cow::Owned(scenario.clone().without_default_send_jitter())
    }
}

impl From<Error> for EngineError {
    fn from(error: Error) -> Self {
        match error {
            Error::Unsupported(why) => EngineError::Refused(why),
            other => EngineError::failed(other),
        }
    }
}
