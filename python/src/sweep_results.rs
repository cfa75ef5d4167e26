// SPDX-License-Identifier: MIT OR Apache-2.0
//! What sweeps left in a folder: the data set, its charts, its report.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use tandem_report::{FiguresPage, figures_html};
use tandem_sweep::{Pair, figures, group_files, read_part};

use crate::{
    error::{usage, with_causes},
    run::loads,
    table::Table,
};

/// The rows of all files; with `columns` these only.
#[pyfunction]
#[pyo3(signature = (folder, columns=None))]
pub fn data_set(py: Python, folder: PathBuf, columns: Option<Vec<String>>) -> PyResult<Table> {
    let names: Option<Vec<&str>> = columns.as_ref().map(|names| names.iter().map(String::as_str).collect());
    let batches = py.detach(|| -> anyhow::Result<_> {
        let batches = group_files(&folder)?.into_iter().map(|path| Ok(read_part(&path, names.as_deref())?.1));
        Ok(batches.collect::<anyhow::Result<Vec<_>>>()?.concat())
    });
    Table::united(&batches.map_err(with_causes)?)
}

/// The axes of charts: two columns, or one.
type Axes = Vec<(String, Option<String>)>;

fn charts(folder: &Path, axes: Axes, measures: &[String], swept: &[String]) -> PyResult<Vec<tandem_report::Figure>> {
    let pairs: Vec<Pair> = axes.into_iter().map(|(x, y)| Pair::new(x, y)).collect();
    figures(folder, &pairs, measures, swept).map_err(|e| usage(format!("{:#}", anyhow::Error::from(e))))
}

/// Charts for `plot.py`; without axes those of all pairs of swept columns.
#[pyfunction]
pub fn sweep_charts<'py>(
    py: Python<'py>,
    folder: PathBuf,
    axes: Axes,
    measures: Vec<String>,
    swept: Vec<String>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let figures = py.detach(|| charts(&folder, axes, &measures, &swept))?;
    figures.iter().map(|figure| loads(py, &figure.chart_json())).collect()
}

/// The report as a page. `words` are title, text and call.
#[pyfunction]
pub fn sweep_report(
    py: Python,
    folder: PathBuf,
    measures: Vec<String>,
    swept: Vec<String>,
    words: (String, String, String),
) -> PyResult<String> {
    let (title, text, command) = words;
    let figures = py.detach(|| charts(&folder, Vec::new(), &measures, &swept))?;
    let paragraphs = vec!["Each value is the mean over all rows of the data set that it stands for.".into()];
    Ok(figures_html(&FiguresPage {
        title,
        paragraphs,
        text,
        figures,
        command,
        version: env!("CARGO_PKG_VERSION").into(),
    }))
}
