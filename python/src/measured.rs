// SPDX-License-Identifier: MIT OR Apache-2.0
//! A path from measurements.

use std::path::PathBuf;

use pyo3::{prelude::*, types::PyDict};

use crate::error::usage;

/// The values of a path as far as the files tell, as texts; and for each of them what, value, source and how sure it is.
#[pyfunction]
pub fn measured<'py>(py: Python<'py>, files: Vec<PathBuf>) -> PyResult<(Bound<'py, PyDict>, Vec<[String; 4]>)> {
    let path = tandem_advise::measured::read(&files).map_err(usage)?;
    let values = PyDict::new(py);
    values.set_item("rate", path.rate.map(|rate| rate.to_string()))?;
    values.set_item("rtt", path.rtt.map(|rtt| rtt.to_string()))?;
    values.set_item("queue", path.queue.map(|queue| queue.to_string()))?;
    values.set_item("loss", path.loss.map(|loss| loss.0))?;
    let inferred = path.inferred.into_iter().map(|i| [i.what.to_owned(), i.value, i.source, i.surety]);
    Ok((values, inferred.collect()))
}
