// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worst paths for a controller.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

use pyo3::prelude::*;
use tandem_batch::Batch;
use tandem_engines::ENGINES;
use tandem_evaluate::Origin;
use tandem_scenario::units::Span;
use tandem_search::{Asked, Budget, Plan, PosedError, Progress, Results, Words, hunt};
use tandem_sim::Sim;

use crate::{
    elsewhere::{Where, run_where},
    error::{failed, of_file, usage},
    run::parsed,
};

/// What is looked for, as in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    controller: String,
    worst: String,
    over: String,
    baseline: Option<String>,
    differ: Option<String>,
    /// Such as `2min`.
    budget: Option<String>,
    evaluations: Option<u32>,
    least: Option<f64>,
    finds: usize,
    knife_edge: bool,
    seed: u64,
    /// The command line that finds the same.
    command: String,
}

impl Wanted {
    fn words(&self) -> Words<'_> {
        Words {
            contender: &self.controller,
            worst: &self.worst,
            over: &self.over,
            baseline: self.baseline.as_deref(),
            differ: self.differ.as_deref(),
        }
    }

    fn budget(&self) -> PyResult<Budget> {
        match (parsed::<Span>(self.budget.as_deref())?, self.evaluations) {
            (Some(_), Some(_)) => Err(usage("give either budget or evaluations")),
            (_, Some(0)) => Err(usage("evaluations=0: give 1 or more")),
            (_, Some(points)) => Ok(Budget::Evaluations(points)),
            (time, None) => Ok(Budget::Time(time.unwrap_or(Span::from_secs(120)))),
        }
    }

    fn checked(&self) -> PyResult<()> {
        match self.least {
            _ if self.baseline.is_some() && self.differ.is_some() => Err(usage("give either baseline or differ")),
            Some(least) if !(least > 0.0 && least <= 1e3) => {
                Err(usage(format!("least={least}: give a share above 0, such as 0.1")))
            }
            _ if self.finds > 100 => Err(usage(format!("finds={}: give 0 to 100", self.finds))),
            _ => Ok(()),
        }
    }
}

/// What a search found.
#[pyclass(module = "tandem_cc", frozen)]
pub struct Searched(Results);

#[pyfunction]
pub fn search(py: Python, wanted: Wanted, place: Where, progress: Option<Py<PyAny>>) -> PyResult<Searched> {
    wanted.checked()?;
    let budget = wanted.budget()?;
    let posed = py.detach(|| wanted.words().pose(&Sim, ENGINES)).map_err(|e| match e {
        PosedError::Words(words) => usage(words),
        PosedError::Space(error) => of_file(error),
    })?;
    let least = wanted.least.unwrap_or(posed.question.worst.usual_limit());
    let asked = Asked { limit: least, finds: wanted.finds, knife_edge: wanted.knife_edge, seed: wanted.seed };
    let plan = Plan { budget, asked, is_random: false };
    let engines = [&Sim, posed.other_engine.unwrap_or(&Sim)];
    let results = run_where(py, &place, engines, progress, |[own, other], batch, watch| {
        let compared = posed.compared(own, other);
        // Where points are counted, of the looking, which is the most of it.
        let (looked, begun) = (AtomicUsize::new(0), Instant::now());
        let told = |progress| {
            if let Progress::Looked(points, _) = progress {
                looked.store(points, Relaxed);
            }
        };
        // Each batch of runs is a small part, and tells its own share.
        let watch_all = |_: f64| {
            watch(match budget {
                Budget::Evaluations(all) => looked.load(Relaxed) as f64 / f64::from(all),
                Budget::Time(time) => begun.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9),
            });
        };
        let batch = Batch { watch: Some(&watch_all), ..*batch };
        let done = hunt(&posed.space, &compared, &plan, batch, &told)?;
        let origin =
            Origin { version: env!("CARGO_PKG_VERSION"), commit: env!("TANDEM_COMMIT"), command: &wanted.command };
        Ok(Results::new(&posed.space, &compared, &done, least, Path::new(""), &origin))
    })?;
    Ok(Searched(results))
}

#[pymethods]
impl Searched {
    fn json(&self) -> PyResult<String> {
        self.0.json().map_err(failed)
    }

    /// Names and scenarios of the finds.
    fn scenarios(&self) -> Vec<(&str, &str)> {
        self.0.finds.iter().map(|found| (found.name.as_str(), found.scenario.as_str())).collect()
    }

    fn __str__(&self) -> String {
        self.0.text()
    }

    fn __repr__(&self) -> String {
        format!("SearchResult({}, worst {}: {} finds)", self.0.contender, self.0.worst, self.0.finds.len())
    }
}
