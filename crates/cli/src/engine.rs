// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can run a scenario.

use clap::ValueEnum;
use tandem_model::engine::Isolated;
use tandem_scenario::{Scenario, result::Run};

use crate::{
    Failure,
    output::note,
    runner::{self, Outcome},
};

/// An engine; its documentation is what `--help` and `tandem list engines` say of it.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Packet-level simulator
    Sim,
    /// Real Linux TCP over an emulated path, in real time; needs root
    Kernel,
    /// Analytical model: one bulk flow of `compound` on one drop-tail link
    Model,
}

impl Engine {
    pub fn name(self) -> String {
        self.possible().get_name().to_owned()
    }

    pub fn what(self) -> String {
        self.possible().get_help().map_or(String::new(), ToString::to_string)
    }

    fn possible(self) -> clap::builder::PossibleValue {
        self.to_possible_value().expect("no engine is hidden")
    }

    fn run(self, scenario: &Scenario) -> Result<Outcome, Failure> {
        match self {
            Engine::Sim => runner::run_all(std::slice::from_ref(scenario)),
            Engine::Kernel => runner::run_in(&runner::Kernel, std::slice::from_ref(scenario)),
            Engine::Model => {
                let isolated = Isolated::new(scenario).map_err(Failure::usage)?;
                // Its seeds differ in nothing.
                let result = isolated.run(scenario.seeds[0], true);
                let run = Run::from_seeds(scenario, &self.name(), 1, vec![result]);
                Ok(Outcome { runs: vec![Some(run)], interrupted: false })
            }
        }
    }

    /// Is this a scenario that the engine can run? `force`: even if this machine is unlikely to keep up.
    fn check(self, scenario: &Scenario, force: bool) -> Result<(), Failure> {
        if let (Engine::Sim | Engine::Model, Some(controller)) = (self, scenario.needs_kernel()) {
            return Err(Failure::usage(format!(
                "`{controller}` is the kernel's own, which this engine does not have: run it with --engine kernel"
            )));
        }
        match self {
            Engine::Sim => Ok(()),
            Engine::Kernel => {
                let warnings = tandem_testbed::check(scenario, force).map_err(Failure::usage)?;
                // Whoever may not do this had better know before another engine has run for minutes.
                tandem_testbed::Namespace::new().map_err(anyhow::Error::from)?;
                warnings.iter().for_each(|warning| note(warning));
                Ok(())
            }
            Engine::Model => Isolated::new(scenario).map(|_| ()).map_err(Failure::usage),
        }
    }
}

/// Runs a scenario in each engine; a run of several is called by its engine too. Nothing runs unless all can.
pub fn run_in_each(engines: &[Engine], scenario: &Scenario, force: bool) -> Result<Outcome, Failure> {
    engines.iter().try_for_each(|engine| engine.check(scenario, force))?;
    let mut all = Outcome { runs: Vec::new(), interrupted: false };
    for engine in engines {
        let outcome = if all.interrupted { Outcome::nothing(1) } else { engine.run(scenario)? };
        all.interrupted |= outcome.interrupted;
        all.runs.extend(outcome.runs);
    }
    if engines.len() > 1 {
        for run in all.runs.iter_mut().flatten() {
            run.name = format!("{}, {}", run.name, run.engine);
        }
    }
    Ok(all)
}
