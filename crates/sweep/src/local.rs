// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sweep on the cores of this machine.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use tandem_batch::{work, workers};
use tandem_engine::Engine;

use crate::{
    error::SweepError,
    feeder::Feeder,
    file::Sweep,
    store::{Program, Store},
    task::{Runner, Source},
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
    /// Has what was run before, in any sweep or other command, and keeps what is run now.
    pub finished: Option<&'a tandem_batch::Store>,
    /// Is told, from any thread, how many tasks are done, those that were there before included.
    pub progress: Option<&'a (dyn Fn(usize) + Sync)>,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Tasks that ran.
    pub ran: usize,
    /// Tasks whose results another command, or another sweep, had left.
    pub stored: usize,
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
    let (ran, stored) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let RunOptions { traces, cancelled, finished, .. } = *options;
    let runner = Runner { engine, program, traces, cancelled, finished };
    let one = || -> Result<bool, SweepError> {
        let Some(task) = lock(&feeder).next(|part| lock(&store).begin(part))? else { return Ok(false) };
        let Some((tables, source)) = runner.run(&task.text, &task.folder, task.seed)? else { return Ok(false) };
        lock(&store).add(&task, &tables)?;
        let count = if source == Source::Run { &ran } else { &stored };
        count.fetch_add(1, Relaxed);
        if let Some(progress) = options.progress {
            progress(ran.load(Relaxed) + stored.load(Relaxed) + lock(&feeder).found());
        }
        Ok(true)
    };
    let outcome = work(workers(engine, options.workers), cancelled, one);
    let written = lock(&store).write();
    outcome?;
    written?;
    let interrupted = cancelled.is_some_and(|flag| flag.load(Relaxed));
    let found = lock(&feeder).found();
    Ok(Outcome { ran: ran.into_inner(), stored: stored.into_inner(), found, interrupted })
}

/// Another thread's panic comes out when it is joined; until then what it held is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
