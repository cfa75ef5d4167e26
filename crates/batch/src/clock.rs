// SPDX-License-Identifier: MIT OR Apache-2.0
//! When to stop.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use tandem_scenario::units::Span;

/// Stops when the time is up, and when the caller cancels.
pub struct Clock<'a> {
    end: Instant,
    cancelled: Option<&'a AtomicBool>,
    stop: AtomicBool,
}

/// Ends the watching, also when the work panics.
struct AtEnd<'a> {
    done: &'a AtomicBool,
    watcher: Option<Thread>,
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.done.store(true, Relaxed);
        self.watcher.iter().for_each(Thread::unpark);
    }
}

impl<'a> Clock<'a> {
    /// It begins now.
    pub fn new(time: Span, cancelled: Option<&'a AtomicBool>) -> Self {
        Self { end: Instant::now() + Duration::from_nanos(time.ns), cancelled, stop: AtomicBool::new(false) }
    }

    /// Runs `work`, which ends early when the clock has stopped. Without `obeys_time` only the caller can stop it.
    pub fn watch<T>(&self, obeys_time: bool, work: impl FnOnce(&AtomicBool) -> T) -> T {
        let done = AtomicBool::new(false);
        let look = || {
            let is_late = obeys_time && Instant::now() >= self.end;
            if is_late || self.is_cancelled() {
                self.stop.store(true, Relaxed);
            }
        };
        // Work that begins too late must not end before the watcher looks.
        look();
        thread::scope(|scope| {
            let watcher = thread::Builder::new().spawn_scoped(scope, || {
                while !done.load(Relaxed) {
                    look();
                    thread::park_timeout(Duration::from_millis(20));
                }
            });
            let _end = AtEnd { done: &done, watcher: watcher.ok().map(|watcher| watcher.thread().clone()) };
            work(&self.stop)
        })
    }

    /// One that ends after this share of what is left, and when the caller cancels.
    pub fn part(&self, share: f64) -> Self {
        let end = Instant::now() + self.left().mul_f64(share.clamp(0.0, 1.0));
        Self { end, cancelled: self.cancelled, stop: AtomicBool::new(false) }
    }

    /// How much time is left.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Whether the caller cancelled, and not the time.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_some_and(|flag| flag.load(Relaxed))
    }

    /// Whether nothing more is to be begun.
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || self.left().is_zero()
    }
}
