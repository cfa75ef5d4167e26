// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--engine` and `--force`, for every command that runs scenarios.

use std::str::FromStr;

use tandem_engine::{Engine, EngineError};
use tandem_engines::{ENGINES, find};
use tandem_scenario::Scenario;

use crate::{failure::Failure, terminal::warn};

#[derive(clap::Args)]
pub struct EngineArgs {
    #[arg(id = "engine", long, value_name = "ENGINE,...", default_value = "sim", help = help())]
    pub engines: Engines,

    /// Run even if this machine is unlikely to keep up in real time
    #[arg(long)]
    pub force: bool,
}

/// Built from the list, so that a new engine is one line there and nowhere else.
fn help() -> String {
    let names = ENGINES.iter().map(|e| e.name()).collect::<Vec<_>>().join(", ");
    format!(
        "The engine: {names}; several, separated by commas, run one after another, and their results stand side by side. \
         `tandem list engines` describes them"
    )
}

/// One engine or several, each once.
#[derive(Clone)]
pub struct Engines(Vec<&'static dyn Engine>);

impl FromStr for Engines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut engines: Vec<&'static dyn Engine> = Vec::new();
        for name in text.split(',').map(str::trim) {
            let engine = find(name).map_err(|e| e.to_string())?;
            if engines.iter().any(|other| other.name() == name) {
                return Err(format!("engine `{name}` is named twice; name each once"));
            }
            engines.push(engine);
        }
        Ok(Self(engines))
    }
}

impl Engines {
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Engine> {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The engine of this name, if it was asked for.
    pub fn get(&self, name: &str) -> Option<&'static dyn Engine> {
        self.iter().find(|engine| engine.name() == name)
    }
}

impl EngineArgs {
    /// Asks each engine whether it can run all of these scenarios. To be called before anything is run or written.
    pub fn check(&self, scenarios: &[Scenario]) -> Result<(), Failure> {
        self.engines.iter().try_for_each(|engine| check(engine, scenarios, self.force))
    }
}

/// Asks an engine whether it can run all of these scenarios, and shows its doubts, each once.
pub fn check<'a>(
    engine: &dyn Engine,
    scenarios: impl IntoIterator<Item = &'a Scenario>,
    force: bool,
) -> Result<(), Failure> {
    let mut warnings = Vec::new();
    for scenario in scenarios {
        let doubts = engine.check(scenario, force).map_err(|e| failure(e, scenario))?;
        warnings.extend(doubts.into_iter().map(|doubt| doubt.to_string()));
    }
    warnings.dedup();
    warnings.iter().for_each(|line| warn(line));
    Ok(())
}

fn failure(error: EngineError, scenario: &Scenario) -> Failure {
    match error {
        EngineError::Refused(why) => Failure::usage(format!("{}: {why}", scenario.name)),
        EngineError::Failed(cause) => Failure::Failed(anyhow::anyhow!(cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_separated_by_commas_and_named_once() {
        let names = |text: &str| text.parse::<Engines>().map(|e| e.iter().map(|e| e.name()).collect::<Vec<_>>());
        assert_eq!(names("sim"), Ok(vec!["sim"]));
        assert_eq!(names("model, sim"), Ok(vec!["model", "sim"]));
        assert!(names("sim,model,sim").unwrap_err().contains("`sim` is named twice"));
        assert!(names("sim,modle").unwrap_err().contains("did you mean `model`?"));
        assert!(names("").is_err());
    }
}
