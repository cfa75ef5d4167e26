// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers by the criteria of RFC 9743, or of another suite.

use arrow_array::StringArray;
use pyo3::prelude::*;
use tandem_evaluate::{Answer, Origin, Suite, SuiteError, evaluate as judge, json, markdown, pictures, text};
use tandem_papers::Form;
use tandem_sim::Sim;
use tandem_tables::Columns;

use crate::{
    elsewhere::{Where, run_where},
    error::{failed, of_file, usage},
    table::Table,
};

/// What is judged, as in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    controller: String,
    against: Vec<String>,
    criteria: Vec<String>,
    suite: String,
    /// `quick` or `full`.
    form: String,
}

/// A controller, judged.
#[pyclass(module = "tandem_cc", frozen)]
pub struct Assessment(tandem_evaluate::Assessment);

#[pyfunction]
pub fn evaluate(py: Python, asked: Asked, place: Where, progress: Option<Py<PyAny>>) -> PyResult<Assessment> {
    let form = match asked.form.as_str() {
        "quick" => Form::Quick,
        "full" => Form::Full,
        other => return Err(usage(format!("form=`{other}`: give `quick` or `full`"))),
    };
    let wrong = |error: SuiteError| match error {
        SuiteError::File(error) => of_file(error),
        other => usage(other),
    };
    let against: Vec<&str> = asked.against.iter().map(String::as_str).collect();
    let suite = Suite::named(&asked.suite).map_err(wrong)?;
    let wanted = suite.criteria(&asked.controller, &asked.criteria, &against).map_err(wrong)?;
    let assessment = run_where(py, &place, [&Sim], progress, |[engine], batch, _| {
        Ok(judge(&asked.controller, &wanted, form, engine, batch, None)?)
    })?;
    Ok(Assessment(assessment.of_suite(&suite, &against)))
}

#[pymethods]
impl Assessment {
    /// Criteria with this answer, as tables write it.
    fn count(&self, answer: &str) -> usize {
        self.0.rows.iter().filter(|row| row.answer.words() == answer).count()
    }

    /// A row for each limit of each criterion.
    fn rows(&self) -> PyResult<Table> {
        let limits = || self.0.rows.iter().flat_map(|row| row.asked.iter().map(move |limit| (row, limit)));
        let mut columns = Columns::default();
        let mut add = |name: &str, cells: Vec<&str>| columns.push(name, StringArray::from(cells));
        add("criterion", limits().map(|(row, _)| row.id.as_str()).collect());
        add("section", limits().map(|(row, _)| row.section.as_str()).collect());
        add("title", limits().map(|(row, _)| row.title.as_str()).collect());
        add("answer", limits().map(|(row, _)| row.answer.words()).collect());
        add("limit", limits().map(|(_, limit)| limit.text.as_str()).collect());
        add("limit_answer", limits().map(|(_, limit)| limit.answer.words()).collect());
        add("found", limits().map(|(_, limit)| limit.finding.as_str()).collect());
        add("source", limits().map(|(_, limit)| limit.owner.as_str()).collect());
        Table::united(&[columns.batch(limits().count()).map_err(failed)?])
    }

    fn json(&self, command: &str) -> PyResult<String> {
        let origin = Origin { version: env!("CARGO_PKG_VERSION"), commit: env!("TANDEM_COMMIT"), command };
        json(&self.0, &origin, None).map_err(failed)
    }

    fn markdown(&self, command: &str, pictures: &str) -> String {
        markdown(&self.0, command, pictures)
    }

    /// File names and drawings.
    fn pictures(&self) -> Vec<(String, String)> {
        pictures(&self.0).collect()
    }

    fn __str__(&self) -> String {
        text(&self.0)
    }

    fn __repr__(&self) -> String {
        let [passed, failed] = [Answer::Passes, Answer::Fails].map(|answer| self.0.count(answer));
        format!("Assessment({}: {passed} passed, {failed} failed)", self.0.contender)
    }
}
