// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sweep on the cores of this machine.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use tandem_engine::{Engine, on_threads};

use crate::{
    error::SweepError,
    feeder::Feeder,
    file::Sweep,
    store::{Program, Store},
};

/// How to run.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// Samples over time of all seeds and flows.
    pub traces: bool,
    /// Tasks that run at a time; `None`: one for each core.
    pub workers: Option<usize>,
    /// Set by another thread to end early.
    pub cancelled: Option<&'a AtomicBool>,
    /// Is told, from any thread, how many tasks are done, those that were there before included.
    pub progress: Option<&'a (dyn Fn(usize) + Sync)>,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Tasks that ran.
    pub ran: usize,
    /// Tasks that were there.
    pub found: usize,
    /// Whether it was cancelled before all was done.
    pub interrupted: bool,
}

/// Runs every task that is not in the data set, several at a time; with an engine that needs the machine for itself, one after the other. What
/// was done when an error or an interrupt comes is kept.
///
/// # Errors
/// If a task fails, or a file cannot be written.
pub fn run(
    sweep: &Arc<Sweep>,
    engine: &dyn Engine,
    store: &mut Store,
    program: &Program,
    options: &RunOptions,
) -> Result<Outcome, SweepError> {
    let feeder = Mutex::new(Feeder::new(sweep, engine)?);
    let store = Mutex::new(store);
    let (ran, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let is_cancelled = || options.cancelled.is_some_and(|flag| flag.load(Relaxed));
    let one = || -> Result<bool, SweepError> {
        let Some(task) = lock(&feeder).next(|part| lock(&store).begin(part))? else { return Ok(false) };
        let Some(tables) = task.run(engine, program, options.traces, options.cancelled)? else { return Ok(false) };
        lock(&store).add(&task, &tables)?;
        ran.fetch_add(1, Relaxed);
        if let Some(progress) = options.progress {
            progress(ran.load(Relaxed) + lock(&feeder).found());
        }
        Ok(true)
    };
    let worker = || {
        while !is_cancelled() && lock(&failure).is_none() {
            match one() {
                Ok(true) => {}
                Ok(false) => return,
                Err(e) => drop(lock(&failure).get_or_insert(e)),
            }
        }
    };
    let cores = || thread::available_parallelism().map_or(1, Into::into);
    let workers = if engine.needs_machine() { 1 } else { options.workers.unwrap_or_else(cores) };
    on_threads(workers.max(1), worker);
    let written = lock(&store).write();
    if let Some(e) = lock(&failure).take() {
        return Err(e);
    }
    written?;
    Ok(Outcome { ran: ran.into_inner(), found: lock(&feeder).found(), interrupted: is_cancelled() })
}

/// Another thread's panic comes out when it is joined; until then what it held is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
