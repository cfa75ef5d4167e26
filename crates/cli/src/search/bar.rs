// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a search is.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use tandem_batch::Shown;
use tandem_scenario::units::Span;
use tandem_search::{Judge, JudgeError, Judged, Point};

use crate::terminal::is_quiet;

/// Goes away when it is dropped.
pub struct Bar {
    shown: Shown,
    /// How many paths are looked at; `None`: as many as the time allows.
    points: Option<usize>,
    begun: Instant,
    budget: Duration,
    /// The share that was told last, and what was said.
    share: Cell<f64>,
    words: RefCell<String>,
}

impl Bar {
    pub fn new(points: Option<usize>, budget: Span) -> Self {
        Self {
            shown: Shown::new(is_quiet()),
            points,
            begun: Instant::now(),
            budget: Duration::from_nanos(budget.ns),
            share: Cell::new(0.0),
            words: RefCell::default(),
        }
    }

    /// This many paths were looked at, and this is the largest violation.
    pub fn looked(&self, points: usize, worst: Option<f64>) {
        self.share.set(self.points.map_or(0.0, |all| points as f64 / all as f64));
        let worst = worst.map_or(String::new(), |worst| format!(", the worst {:.1} %", 100.0 * worst));
        self.words.replace(format!("{points} paths{worst}"));
        self.tell("");
    }

    /// This many of the worst points were looked at more closely.
    pub fn settling(&self, done: usize, all: usize) {
        self.share.set(done as f64 / all.max(1) as f64);
        self.words.replace(format!("find {} of up to {all} is made small", done + 1));
        self.tell("");
    }

    /// The judge, with a bar that moves with each of its answers.
    pub fn beside<'a>(&'a self, judge: &'a dyn Judge) -> impl Judge + 'a {
        Beside { bar: self, judge, tried: Cell::new(0) }
    }

    /// Of what was asked for, or of the time where that is what counts.
    fn tell(&self, before: &str) {
        let of_time = || self.begun.elapsed().as_secs_f64() / self.budget.as_secs_f64().max(1e-9);
        let share = if self.points.is_some() { self.share.get() } else { of_time().min(1.0) };
        self.shown.tell(share, &format!("{before}{}", self.words.borrow()));
    }
}

struct Beside<'a> {
    bar: &'a Bar,
    judge: &'a dyn Judge,
    tried: Cell<usize>,
}

impl Judge for Beside<'_> {
    fn judge(&self, points: &[Point], seeds: &[u64]) -> Result<Option<Vec<Option<Judged>>>, JudgeError> {
        self.tried.set(self.tried.get() + points.len());
        self.bar.tell(&format!("{} smaller or near paths, ", self.tried.get()));
        self.judge.judge(points, seeds)
    }
}
