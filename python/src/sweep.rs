// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sweeps: read and checked, run on this machine's cores, or task by task on workers elsewhere.

use std::{
    collections::HashMap,
    path::{Path, PathBuf, absolute},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use anyhow::Context;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use tandem_engine::{Engine, EngineError};
use tandem_scenario::FileError;
use tandem_sweep::{
    Feeder, Key, MAX_RUNS, Program, RunOptions, Store, StoreError, Survey, SurveyError, Task, from_bytes, key_at_place,
    run, to_bytes,
};

use crate::{
    error::{at_key, failed, of_file, usage, with_causes},
    run::{beside, engine, warn, watched},
    scenario::table_of,
};

const PROGRAM: Program = Program { version: env!("CARGO_PKG_VERSION"), commit: env!("TANDEM_COMMIT") };
/// What a dictionary is called in messages.
const DICTIONARY: &str = "sweep";

/// A sweep whose scenarios were all read and checked.
#[pyclass(module = "tandem_cc", frozen)]
pub struct Sweep {
    sweep: Arc<tandem_sweep::Sweep>,
    engine: &'static dyn Engine,
    survey: Survey,
}

impl Sweep {
    fn checked(
        py: Python,
        sweep: tandem_sweep::Sweep,
        engine_name: &str,
        max_runs: Option<u64>,
        on_error: impl Fn(FileError) -> PyErr,
    ) -> PyResult<Self> {
        let engine = engine(engine_name)?;
        sweep.check_length(max_runs.unwrap_or(MAX_RUNS)).map_err(&on_error)?;
        let survey = py.detach(|| sweep.survey(engine, false)).map_err(|error| match error {
            SurveyError::File(error) => on_error(error),
            SurveyError::Engine { cause: EngineError::Failed(_), .. } => failed(error),
            SurveyError::Engine { .. } => usage(error),
        })?;
        survey.warnings.iter().try_for_each(|doubt| warn(py, doubt.clone()))?;
        Ok(Self { sweep: Arc::new(sweep), engine, survey })
    }

    fn store(&self, folder: &Path, traces: bool) -> Result<Store, StoreError> {
        Store::open(folder, &self.sweep, self.engine, &self.survey.schema, traces)
    }
}

#[pymethods]
impl Sweep {
    #[staticmethod]
    #[pyo3(signature = (path, engine, seeds, first_seed, max_runs=None))]
    fn from_file(
        py: Python,
        path: PathBuf,
        engine: &str,
        seeds: Option<u32>,
        first_seed: Option<u64>,
        max_runs: Option<u64>,
    ) -> PyResult<Self> {
        // Workers may stand in another folder.
        let path = absolute(&path).map_err(usage)?;
        let sweep = tandem_sweep::Sweep::load(&path).map_err(of_file)?;
        Self::checked(py, sweep.with_seeds(seeds, first_seed), engine, max_runs, of_file)
    }

    #[staticmethod]
    #[pyo3(signature = (table, engine, seeds, first_seed, max_runs=None))]
    fn from_dict(
        py: Python,
        table: &Bound<PyDict>,
        engine: &str,
        seeds: Option<u32>,
        first_seed: Option<u64>,
        max_runs: Option<u64>,
    ) -> PyResult<Self> {
        let text = table_of(table, DICTIONARY)?.to_string();
        let on_error = |error: FileError| match error.place {
            // It is about a file that the dictionary names.
            _ if error.path != DICTIONARY => of_file(error),
            place => {
                at_key(DICTIONARY, &place.map_or_else(String::new, |place| key_at_place(&text, place)), &error.message)
            }
        };
        let here = std::env::current_dir().map_err(failed)?;
        let sweep = tandem_sweep::Sweep::parse(&text, DICTIONARY, &here).map_err(on_error)?;
        Self::checked(py, sweep.with_seeds(seeds, first_seed), engine, max_runs, on_error)
    }

    #[getter]
    fn points(&self) -> usize {
        self.sweep.points()
    }

    #[getter]
    fn runs(&self) -> usize {
        self.survey.tasks
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.engine.name()
    }

    #[getter]
    fn swept_columns(&self) -> Vec<String> {
        self.sweep.columns().map(|column| column.name.clone()).collect()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.survey.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Where workers look for files that scenarios name.
    #[getter]
    fn scenario_folder(&self) -> &Path {
        self.sweep.scenario_folder()
    }

    /// Runs it on this machine's cores. Returns how many runs were made, and how many were there.
    #[pyo3(signature = (folder, traces, workers=None, progress=None))]
    fn run(
        &self,
        py: Python,
        folder: PathBuf,
        traces: bool,
        workers: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(usize, usize)> {
        watched(py, progress, |cancelled, watch| {
            let mut store = self.store(&folder, traces)?;
            let finished = tandem_batch::Store::of_user(|warning| eprintln!("{warning}"));
            let done = AtomicUsize::new(0);
            let count = |runs: usize| done.store(runs, Relaxed);
            let options = RunOptions {
                traces,
                workers,
                cancelled: Some(cancelled),
                finished: finished.as_ref(),
                progress: Some(&count),
            };
            let share = || done.load(Relaxed) as f64 / self.survey.tasks as f64;
            let outcome = beside(watch, share, || run(&self.sweep, self.engine, &mut store, &PROGRAM, &options))?;
            Ok((outcome.ran + outcome.stored, outcome.found))
        })
    }
}

/// A sweep that runs elsewhere: hands out tasks, and keeps what they gave.
#[pyclass(module = "tandem_cc", frozen)]
pub struct SweepDriver(Mutex<Option<Open>>);

struct Open {
    store: Store,
    feeder: Feeder<'static>,
    /// The tasks that were handed out, and have given nothing yet.
    given: HashMap<Key, Task>,
}

impl SweepDriver {
    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn with_open<T: Send>(&self, py: Python, work: impl FnOnce(&mut Open) -> anyhow::Result<T> + Send) -> PyResult<T> {
        let done = py.detach(|| work(self.lock().as_mut().context("the data set was closed")?));
        done.map_err(with_causes)
    }
}

#[pymethods]
impl SweepDriver {
    #[new]
    fn new(py: Python, sweep: &Sweep, folder: PathBuf, traces: bool) -> PyResult<Self> {
        let store = py.detach(|| sweep.store(&folder, traces)).map_err(with_causes)?;
        let feeder = Feeder::new(&sweep.sweep, sweep.engine).map_err(failed)?;
        Ok(Self(Mutex::new(Some(Open { store, feeder, given: HashMap::new() }))))
    }

    /// Up to this many tasks: the scenario's text, and the seed.
    fn take(&self, py: Python, most: usize) -> PyResult<Vec<(String, u64)>> {
        self.with_open(py, |open| {
            let mut tasks = Vec::new();
            while tasks.len() < most {
                let Some(task) = open.feeder.next(|part| open.store.begin(part))? else { break };
                tasks.push((task.text.to_string(), task.seed));
                open.given.insert(task.key, task);
            }
            Ok(tasks)
        })
    }

    /// Keeps what [`run_bundle`] returned.
    fn add(&self, py: Python, answer: &[u8]) -> PyResult<()> {
        self.with_open(py, |open| {
            for (key, tables) in from_bytes(answer)? {
                let other = "a worker has different arithmetic: it must have the same version of this package";
                open.store.add(&open.given.remove(&key).context(other)?, &tables)?;
            }
            Ok(())
        })
    }

    /// Tasks so far that were in the data set before.
    #[getter]
    fn found(&self, py: Python) -> PyResult<usize> {
        self.with_open(py, |open| Ok(open.feeder.found()))
    }

    /// Writes what is not on disk yet, and lets others write to the folder.
    fn close(&self, py: Python) -> PyResult<()> {
        let write = || self.lock().take().map_or(Ok(()), |mut open| open.store.write());
        py.detach(write).map_err(with_causes)
    }
}

/// Runs tasks one after the other: what a worker does.
#[pyfunction]
pub fn run_bundle<'py>(
    py: Python<'py>,
    tasks: Vec<(String, u64)>,
    folder: PathBuf,
    engine_name: &str,
    traces: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let engine = engine(engine_name)?;
    let run_all = || -> anyhow::Result<Vec<u8>> {
        let one = |(text, seed): &(String, u64)| {
            let tables = Task::run_text(text, &folder, *seed, engine, &PROGRAM, traces, None)?;
            tables.context("nobody cancelled it")
        };
        Ok(to_bytes(&tasks.iter().map(one).collect::<anyhow::Result<Vec<_>>>()?)?)
    };
    let bytes = py.detach(run_all).map_err(with_causes)?;
    Ok(PyBytes::new(py, &bytes))
}
