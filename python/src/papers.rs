// SPDX-License-Identifier: MIT OR Apache-2.0
//! The papers' experiments, run again and judged.

use std::path::Path;

use pyo3::prelude::*;
use tandem_papers::{Experiment, Findings, Form, Seeds, find, ids_of, load, page, source, text};
use tandem_report::sections_html;
use tandem_scenario::FileError;
use tandem_sim::Sim;

use crate::{
    error::{failed, of_file, usage},
    run::{loads, run_tasks},
};

#[pyclass(module = "tandem_cc", get_all, frozen)]
pub struct PaperExperiment {
    id: String,
    title: String,
    claim: String,
    paper: &'static str,
}

#[pymethods]
impl PaperExperiment {
    fn __repr__(&self) -> String {
        format!("PaperExperiment({}: {})", self.id, self.title)
    }
}

#[pyfunction]
pub fn list_papers() -> PyResult<Vec<PaperExperiment>> {
    let entry = |e: &Experiment| PaperExperiment {
        title: e.title().to_owned(),
        claim: e.claim().to_owned(),
        paper: source(&e.id).unwrap_or_default(),
        id: e.id.clone(),
    };
    Ok(tandem_papers::all().map_err(of_file)?.iter().map(entry).collect())
}

/// An experiment and what came of it.
#[pyclass(module = "tandem_cc", frozen)]
pub struct Finding {
    experiment: Experiment,
    findings: Findings,
    call: String,
}

#[pyfunction]
pub fn run_papers(
    py: Python,
    words: Vec<String>,
    quick: bool,
    progress: Option<Py<PyAny>>,
    call: String,
) -> PyResult<Vec<Finding>> {
    let mut experiments = Vec::new();
    for word in &words {
        if word.ends_with(".toml") {
            experiments.extend(load(Path::new(word)).map_err(of_file)?);
            continue;
        }
        let known = ids_of(word).map_err(usage)?.into_iter().filter_map(find);
        experiments.extend(known.collect::<Result<Vec<_>, FileError>>().map_err(of_file)?);
    }
    let form = if quick { Form::Quick } else { Form::Full };
    let found =
        run_tasks(py, progress, |batch| Ok(tandem_papers::run(&experiments, form, Seeds::Auto, &Sim, batch, None)?))?;
    let both = experiments.into_iter().zip(found);
    let finding = |(experiment, findings): (Experiment, Option<Findings>)| {
        Some(Finding { experiment, findings: findings?, call: call.clone() })
    };
    Ok(both.filter_map(finding).collect())
}

#[pymethods]
impl Finding {
    #[getter]
    fn id(&self) -> &str {
        &self.findings.id
    }

    #[getter]
    fn title(&self) -> &str {
        &self.findings.title
    }

    #[getter]
    fn claim(&self) -> &str {
        &self.findings.claim
    }

    #[getter]
    fn verdict(&self) -> &'static str {
        self.findings.verdict.words()
    }

    fn details<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &serde_json::to_string(&self.findings).map_err(failed)?)
    }

    fn chart<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let page = page(&[(&self.experiment, &self.findings)], &self.call, env!("CARGO_PKG_VERSION"));
        let section = page.sections.first().ok_or_else(|| failed("an experiment has a section"))?;
        loads(py, &section.chart_json())
    }

    fn html(&self) -> String {
        sections_html(&page(&[(&self.experiment, &self.findings)], &self.call, env!("CARGO_PKG_VERSION")))
    }

    fn __str__(&self) -> String {
        text(&self.experiment, &self.findings)
    }

    fn __repr__(&self) -> String {
        format!("Finding({}: {})", self.findings.id, self.verdict())
    }
}
