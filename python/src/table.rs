// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table that data frames take without a copy, by Arrow's PyCapsule interface.

use std::path::PathBuf;

use arrow_array::{
    Array, RecordBatch, RecordBatchIterator,
    cast::AsArray,
    ffi::FFI_ArrowSchema,
    ffi_stream::FFI_ArrowArrayStream,
    types::{Float32Type, Float64Type, UInt32Type, UInt64Type},
};
use arrow_schema::{DataType, SchemaRef};
use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    types::{PyCapsule, PyDict, PyList},
};

use crate::error::failed;

/// Rows that a notebook shows.
const SHOWN_ROWS: usize = 20;

#[pyclass(module = "tandem_cc", frozen)]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// One table of batches whose columns may differ.
    pub fn united(batches: &[RecordBatch]) -> PyResult<Self> {
        let (schema, batches) = tandem_tables::united(batches).map_err(failed)?;
        Ok(Self { schema, batches })
    }

    /// The cells of a column, in order.
    fn cells<'py>(&self, py: Python<'py>, index: usize, rows: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let columns = self.batches.iter().map(|batch| batch.column(index));
        let cells = columns.flat_map(|column| (0..column.len()).map(move |row| cell(py, column, row)));
        cells.take(rows).collect()
    }
}

#[pymethods]
impl Table {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer that has one schema only to ignore another.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let missing = || PyKeyError::new_err(format!("there is no column `{column}`: {}", self.columns().join(", ")));
        let (index, _) = self.schema.column_with_name(column).ok_or_else(missing)?;
        PyList::new(py, self.cells(py, index, usize::MAX)?)
    }

    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: Vec<Bound<PyDict>> = (0..self.__len__()).map(|_| PyDict::new(py)).collect();
        for (index, field) in self.schema.fields().iter().enumerate() {
            for (row, cell) in rows.iter().zip(self.cells(py, index, usize::MAX)?) {
                row.set_item(field.name(), cell)?;
            }
        }
        PyList::new(py, rows)
    }

    fn write_parquet(&self, py: Python, path: PathBuf) -> PyResult<()> {
        py.detach(|| tandem_tables::write_parquet(&path, self.schema.clone(), &self.batches)).map_err(failed)
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.__len__(), self.columns().join(", "))
    }

    fn _repr_html_(&self, py: Python) -> PyResult<String> {
        let row = |tag: &str, cells: Vec<String>| {
            let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
            format!("<tr>{cells}</tr>")
        };
        let header = row("th", self.columns().into_iter().map(escaped).collect());
        let columns = (0..self.schema.fields().len()).map(|i| self.cells(py, i, SHOWN_ROWS));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let shown = self.__len__().min(SHOWN_ROWS);
        let text = |cell: &Bound<PyAny>| if cell.is_none() { String::new() } else { escaped(&cell.to_string()) };
        let body = (0..shown).map(|i| row("td", columns.iter().map(|cells| text(&cells[i])).collect()));
        let (body, rows) = (body.collect::<String>(), self.__len__());
        Ok(format!("<table><thead>{header}</thead><tbody>{body}</tbody></table><p>{shown} of {rows} rows</p>"))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A cell as in Python; null is None.
fn cell<'py>(py: Python<'py>, column: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any(),
        other => return Err(failed(format!("a column of type {other} is not known"))),
    })
}
