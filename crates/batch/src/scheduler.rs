// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shares work out among threads, until it is done, one of them fails or somebody cancels it.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use tandem_engine::{Engine, on_threads};

use crate::lock;

/// How many jobs of an engine run at a time: `wanted`, or one for each core; one where a run needs the machine for itself.
pub fn workers(engine: &dyn Engine, wanted: Option<usize>) -> usize {
    if engine.needs_machine() {
        return 1;
    }
    wanted.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into)).max(1)
}

/// Calls `one`, which takes the next job and does it, from up to this many threads until it returns `false`: nothing is left.
///
/// # Errors
/// The first that `one` returns. The other threads end their jobs and begin no more.
pub fn work<E: Send>(
    threads: usize,
    cancelled: Option<&AtomicBool>,
    one: impl Fn() -> Result<bool, E> + Sync,
) -> Result<(), E> {
    let failure: Mutex<Option<E>> = Mutex::new(None);
    let worker = || {
        // With many short jobs, each would otherwise begin, and only then see that it need not.
        while !cancelled.is_some_and(|flag| flag.load(Relaxed)) && lock(&failure).is_none() {
            match one() {
                Ok(true) => {}
                Ok(false) => return,
                Err(e) => drop(lock(&failure).get_or_insert(e)),
            }
        }
    };
    on_threads(threads, worker);
    failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn every_job_is_done_once() {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let one = || {
            let job = next.fetch_add(1, Relaxed);
            if job < 100 {
                lock(&done).push(job);
            }
            Ok::<_, ()>(job < 100)
        };
        work(3, None, one).unwrap();
        let mut done = done.into_inner().unwrap();
        done.sort();
        assert_eq!(done, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_or_the_caller_ends_it() {
        let count = AtomicUsize::new(0);
        let third = || if count.fetch_add(1, Relaxed) == 2 { Err("third") } else { Ok(true) };
        assert_eq!(work(1, None, third), Err("third"));
        assert_eq!(count.load(Relaxed), 3);
        let cancelled = AtomicBool::new(false);
        let cancels = || {
            cancelled.store(true, Relaxed);
            Ok::<_, ()>(true)
        };
        assert_eq!(work(2, Some(&cancelled), cancels), Ok(()));
    }
}
