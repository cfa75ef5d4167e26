// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiled part of the Python package `tandem_cc`: Python's types on the one side, Tandem's crates on the other.
//!
//! `tandem_cc/_native.pyi` documents it for users and their editors.

mod advise;
mod controller;
mod elsewhere;
mod error;
mod evaluate;
mod measured;
mod model;
mod papers;
mod result;
mod run;
mod scenario;
mod search;
mod sweep;
mod sweep_results;
mod table;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name is that of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::advise::advise;
    #[pymodule_export]
    use crate::controller::{Connection, Controller, ControllerInfo, Parameter, View, controllers};
    #[pymodule_export]
    use crate::elsewhere::run_job;
    #[pymodule_export]
    use crate::evaluate::{Assessment, evaluate};
    #[pymodule_export]
    use crate::measured::measured;
    #[pymodule_export]
    use crate::model::model;
    #[pymodule_export]
    use crate::papers::{Finding, PaperExperiment, list_papers, run_papers};
    #[pymodule_export]
    use crate::result::Outcome;
    #[pymodule_export]
    use crate::run::{compare, run};
    #[pymodule_export]
    use crate::scenario::{Scenario, check_dumbbell};
    #[pymodule_export]
    use crate::search::{Searched, search};
    #[pymodule_export]
    use crate::sweep::{Sweep, SweepDriver, run_bundle};
    #[pymodule_export]
    use crate::sweep_results::{data_set, sweep_charts, sweep_report};
    #[pymodule_export]
    use crate::table::Table;
}
