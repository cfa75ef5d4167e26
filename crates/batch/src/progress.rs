// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much is done, and how long the rest will take: a bar on a terminal, or a share for a caller that asked for it.

use std::{
    io::IsTerminal,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

#[cfg(not(target_family = "wasm"))]
use indicatif::{ProgressBar, ProgressStyle};

use crate::Job;

#[cfg(not(target_family = "wasm"))]
const STEPS: f64 = 1e6;
const INTERVAL: Duration = Duration::from_millis(100);

/// Ends the drawing, also when the work panics.
struct AtEnd<'a> {
    done: &'a AtomicBool,
    painter: thread::Thread,
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.done.store(true, Relaxed);
        self.painter.unpark();
    }
}

pub struct Progress<'a>(&'a [Job<'a>]);

impl<'a> Progress<'a> {
    pub fn new(jobs: &'a [Job]) -> Self {
        Self(jobs)
    }

    /// Does `work` and draws meanwhile unless `quiet`, from another thread, so that the simulations only count.
    pub fn draw_while(&self, quiet: bool, work: impl FnOnce()) {
        if quiet || !std::io::stderr().is_terminal() {
            return work();
        }
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            // The work goes on without a bar, too.
            let painter = thread::Builder::new().spawn_scoped(scope, || self.draw(&done));
            let _end = painter.map(|painter| AtEnd { done: &done, painter: painter.thread().clone() });
            work();
        });
    }

    /// Does `work` in another thread, and calls `watch` meanwhile, and at the end, with the share that is done.
    pub fn tell_while(&self, watch: &dyn Fn(f64), work: impl FnOnce() + Send) {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let end = AtEnd { done: &done, painter: thread::current() };
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

    /// Without a terminal nothing is drawn.
    #[cfg(target_family = "wasm")]
    fn draw(&self, _: &AtomicBool) {}

    #[cfg(not(target_family = "wasm"))]
    fn draw(&self, done: &AtomicBool) {
        let bar = ProgressBar::new(STEPS as u64).with_style(
            ProgressStyle::with_template("{bar:40} {percent:>3} %, {eta} left").expect("the template is valid"),
        );
        while !done.load(Relaxed) {
            bar.set_position((STEPS * self.share()) as u64);
            thread::park_timeout(INTERVAL);
        }
        bar.finish_and_clear();
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
