// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of a batch that are made elsewhere: Python hands out the jobs, and each thread of the batch waits for its own without Python's lock.

use std::{
    sync::{
        Mutex, MutexGuard,
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use pyo3::{
    prelude::*,
    types::{PyBytes, PyCFunction},
};
use tandem_batch::{Batch, Elsewhere, Store};
use tandem_engine::{Engine, EngineError, Options};

use crate::{error::with_causes, run::watched};

/// A waiting thread looks this often whether its run was cancelled, and asks jobs that do not tell of their end.
const POLL: Duration = Duration::from_millis(100);

/// Where runs are made: this machine's cores, or the place behind a `tandem_cc.jobs.Jobs`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Where {
    jobs: Option<Py<PyAny>>,
    /// Runs at a time; one for each core if not given.
    workers: Option<usize>,
}

/// Does the work of one run: what a worker does.
#[pyfunction]
pub fn run_job<'py>(py: Python<'py>, job: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let answer = py.detach(|| tandem_batch::run_job(job, |name| tandem_engines::find(name).ok()));
    Ok(PyBytes::new(py, &answer.map_err(with_causes)?))
}

/// Hands out jobs.
struct Office<'a> {
    jobs: &'a Py<PyAny>,
    /// What Python raised first.
    raised: Mutex<Option<PyErr>>,
}

impl Office<'_> {
    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn carry(&self, job: &[u8], options: Options) -> Result<Option<Vec<u8>>, EngineError> {
        self.answer(job, options).map_err(|e| {
            let words = e.to_string();
            self.raised().get_or_insert(e);
            EngineError::failed(words)
        })
    }

    /// `None` if the run was cancelled.
    fn answer(&self, job: &[u8], options: Options) -> PyResult<Option<Vec<u8>>> {
        let (ended, wait) = channel::<()>();
        let still = ended.clone();
        let (job, tells) = Python::attach(|py| {
            // Nobody may listen any more.
            let tell = PyCFunction::new_closure(py, None, None, move |_, _| ended.send(()).is_ok())?;
            let submitted = self.jobs.call_method1(py, "submit", (PyBytes::new(py, job), tell))?;
            submitted.extract::<(Py<PyAny>, bool)>(py)
        })?;
        while wait.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
            if options.is_cancelled() {
                Python::attach(|py| self.jobs.call_method1(py, "cancel", (&job,)))?;
                return Ok(None);
            }
            let is_over = || Python::attach(|py| self.jobs.call_method1(py, "is_over", (&job,))?.extract::<bool>(py));
            if !tells && is_over()? {
                break;
            }
        }
        drop(still);
        Python::attach(|py| self.jobs.call_method1(py, "answer", (job,))?.extract(py)).map(Some)
    }
}

/// Takes the share that is done, in the calling thread, which looks out for Ctrl-C.
pub type Watch<'a> = dyn Fn(f64) + Sync + 'a;

/// Does work in these engines, here or elsewhere, that a batch with the user's store does, without Python's lock. Ctrl-C ends it; `progress` is
/// called with the share that is done.
pub fn run_where<T: Send, const N: usize>(
    py: Python,
    place: &Where,
    engines: [&'static dyn Engine; N],
    progress: Option<Py<PyAny>>,
    work: impl FnOnce([&dyn Engine; N], &Batch, &Watch) -> anyhow::Result<T> + Send,
) -> PyResult<T> {
    let office = place.jobs.as_ref().map(|jobs| Office { jobs, raised: Mutex::new(None) });
    let carry = |job: &[u8], options: Options| match &office {
        Some(office) => office.carry(job, options),
        None => Ok(None),
    };
    let done = watched(py, progress, |cancelled, tell| {
        let store = Store::of_user(|warning| eprintln!("{warning}"));
        let batch = Batch {
            cancelled: Some(cancelled),
            watch: Some(tell),
            store: store.as_ref(),
            by_task: store.is_some(),
            workers: place.workers,
            ..Batch::default()
        };
        if office.is_none() {
            return work(engines.map(|engine| engine as &dyn Engine), &batch, tell);
        }
        let there = engines.map(|engine| Elsewhere { engine, carry: &carry });
        work(there.each_ref().map(|engine| engine as &dyn Engine), &batch, tell)
    });
    match office.and_then(|office| office.raised().take()) {
        Some(raised) if done.is_err() => Err(raised),
        _ => done,
    }
}
