// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of Tandem's crates as Python's exceptions, with the same words as on the command line.

use pyo3::{PyErr, import_exception};
use tandem_engine::EngineError;
use tandem_scenario::{FileError, Scenario};

import_exception!(tandem_cc.errors, RunError);
import_exception!(tandem_cc.errors, ScenarioError);
import_exception!(tandem_cc.errors, UsageError);

/// What was asked for makes no sense.
pub fn usage(message: impl std::fmt::Display) -> PyErr {
    UsageError::new_err(message.to_string())
}

/// It made sense, but did not work.
pub fn failed(cause: impl std::fmt::Display) -> PyErr {
    RunError::new_err(cause.to_string())
}

/// The same, with all that led to it.
pub fn with_causes(cause: impl Into<anyhow::Error>) -> PyErr {
    failed(format!("{:#}", cause.into()))
}

/// What is wrong with a scenario file, and where.
pub fn of_file(error: FileError) -> PyErr {
    let (line, column) = error.place.unzip();
    ScenarioError::new_err((error.to_string(), error.path, line, column, None::<String>))
}

/// What is wrong with a scenario that is no file, and at which key, such as `dumbbell.rate`.
pub fn at_key(name: &str, key: &str, message: &str) -> PyErr {
    let place = if key.is_empty() { String::new() } else { format!("{key}: ") };
    let key = (!key.is_empty()).then(|| key.to_owned());
    ScenarioError::new_err((format!("{name}: {place}{message}"), None::<String>, None::<usize>, None::<usize>, key))
}

/// Why an engine does not run a scenario.
pub fn of_engine(error: EngineError, scenario: &Scenario) -> PyErr {
    match error {
        EngineError::Refused(why) => usage(format!("{}: {why}", scenario.name)),
        EngineError::Failed(cause) => failed(cause),
    }
}
