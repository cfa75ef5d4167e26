// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much is done: shown, or a share for a caller that asked for it.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use crate::Job;

const INTERVAL: Duration = Duration::from_millis(100);

/// Ends the showing, also when the work panics.
struct AtEnd<'a> {
    done: &'a AtomicBool,
    shower: thread::Thread,
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.done.store(true, Relaxed);
        self.shower.unpark();
    }
}

pub struct Progress<'a>(&'a [Job<'a>]);

impl<'a> Progress<'a> {
    pub fn new(jobs: &'a [Job]) -> Self {
        Self(jobs)
    }

    /// Does `work` and shows meanwhile, unless `quiet`, how far it is, from another thread, so that the simulations only count.
    #[cfg(not(target_family = "wasm"))]
    pub fn show_while(&self, quiet: bool, work: impl FnOnce()) {
        if quiet {
            return work();
        }
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            // The work goes on if nobody shows it, too.
            let shower = thread::Builder::new().spawn_scoped(scope, || self.show(&done));
            let _end = shower.map(|shower| AtEnd { done: &done, shower: shower.thread().clone() });
            work();
        });
    }

    /// There is nowhere to show it.
    #[cfg(target_family = "wasm")]
    pub fn show_while(&self, _quiet: bool, work: impl FnOnce()) {
        work();
    }

    /// Does `work` in another thread, and calls `watch` meanwhile, and at the end, with the share that is done.
    pub fn tell_while(&self, watch: &dyn Fn(f64), work: impl FnOnce() + Send) {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let end = AtEnd { done: &done, shower: thread::current() };
            scope.spawn(move || {
                let _end = end;
                work();
            });
            while !done.load(Relaxed) {
                watch(self.share());
                thread::park_timeout(INTERVAL);
            }
        });
        watch(self.share());
    }

    #[cfg(not(target_family = "wasm"))]
    fn show(&self, done: &AtomicBool) {
        let shown = crate::Shown::new(false);
        while !done.load(Relaxed) {
            shown.tell(self.share(), "");
            thread::park_timeout(INTERVAL);
        }
    }

    /// Share of all work that is done.
    fn share(&self) -> f64 {
        let (mut done, mut all) = (0.0, 0.0);
        for job in self.0 {
            done += job.weight() * job.progress_ns.load(Relaxed).min(job.duration_ns()) as f64;
            all += job.weight() * job.duration_ns() as f64;
        }
        if all > 0.0 { done / all } else { 1.0 }
    }
}
