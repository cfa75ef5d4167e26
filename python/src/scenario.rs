// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios from files and from dictionaries, by one schema.

use std::path::PathBuf;

use pyo3::{
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use tandem_scenario::{
    DumbbellSpec, ScenarioSpec,
    file::{Overrides, load},
};
use toml::{Table, Value};

use crate::error::{at_key, of_file, usage};

#[pyclass(module = "tandem_cc", frozen)]
pub struct Scenario(pub tandem_scenario::Scenario);

#[pymethods]
impl Scenario {
    #[staticmethod]
    #[pyo3(signature = (path, seeds=None, first_seed=None))]
    fn from_file(path: PathBuf, seeds: Option<u32>, first_seed: Option<u64>) -> PyResult<Self> {
        load(&path, &overrides(seeds, first_seed)).map(Self).map_err(of_file)
    }

    #[staticmethod]
    #[pyo3(signature = (table, seeds=None, first_seed=None))]
    fn from_dict(table: &Bound<PyDict>, seeds: Option<u32>, first_seed: Option<u64>) -> PyResult<Self> {
        let mut spec: ScenarioSpec = read(table, "scenario")?;
        let name = spec.name.get_or_insert_with(|| "scenario".to_owned()).clone();
        let checked = overrides(seeds, first_seed).apply(&mut spec).and_then(|()| spec.check());
        checked.map(Self).map_err(|e| at_key(&name, &e.key, &e.message))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.0.seeds.clone()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration.as_secs_f64()
    }

    #[getter]
    fn warmup_s(&self) -> f64 {
        self.0.warmup.as_secs_f64()
    }

    fn __str__(&self) -> String {
        tandem_report::setup(&self.0)
    }

    fn __repr__(&self) -> String {
        format!("Scenario({:?}, {} s, seeds {:?})", self.0.name, self.duration_s(), self.0.seeds)
    }
}

/// What goes before a scenario's own words.
pub fn overrides(seeds: Option<u32>, first_seed: Option<u64>) -> Overrides {
    Overrides { seeds, first_seed, ..Overrides::default() }
}

#[pyfunction]
pub fn check_dumbbell(table: &Bound<PyDict>) -> PyResult<()> {
    read::<DumbbellSpec>(table, "path").map(drop)
}

/// What a dictionary says, with the file's words if it is wrong. `name` is for messages.
pub fn read<T: DeserializeOwned>(table: &Bound<PyDict>, name: &str) -> PyResult<T> {
    let table = Value::Table(table_of(table, name)?);
    serde_path_to_error::deserialize(table).map_err(|e| {
        let parts = e.path().iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        });
        let key = parts.collect::<Vec<_>>().join(".");
        at_key(name, &key, e.inner().message())
    })
}

/// The dictionary as a file would have it. None is as good as nothing.
pub fn table_of(dict: &Bound<PyDict>, place: &str) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in dict {
        let key: String =
            key.extract().map_err(|_| usage(format!("{place}: the key {key} is not a text: write it as one")))?;
        if !value.is_none() {
            let value = value_of(&value, &format!("{place}.{key}"))?;
            table.insert(key, value);
        }
    }
    Ok(table)
}

fn value_of(value: &Bound<PyAny>, place: &str) -> PyResult<Value> {
    let items = |items: Vec<Bound<PyAny>>| {
        let place = |i: usize| format!("{place}.{i}");
        items.iter().enumerate().map(|(i, item)| value_of(item, &place(i))).collect::<PyResult<Vec<_>>>()
    };
    if let Ok(flag) = value.cast::<PyBool>() {
        Ok(Value::Boolean(flag.is_true()))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::String(text.extract()?))
    } else if let Ok(whole) = value.cast::<PyInt>() {
        Ok(Value::Integer(whole.extract()?))
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Ok(Value::Float(number.value()))
    } else if let Ok(dict) = value.cast::<PyDict>() {
        Ok(Value::Table(table_of(dict, place)?))
    } else if let Ok(list) = value.cast::<PyList>() {
        Ok(Value::Array(items(list.iter().collect())?))
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        Ok(Value::Array(items(tuple.iter().collect())?))
    } else if let Ok(path) = value.extract::<PathBuf>() {
        Ok(Value::String(path.to_string_lossy().into_owned()))
    } else {
        let kind = value.get_type();
        Err(usage(format!(
            "{place}: a {} cannot be a value of a scenario: give a text, number, list or dictionary",
            kind.name()?
        )))
    }
}
