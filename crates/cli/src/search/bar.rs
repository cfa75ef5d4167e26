// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a search is.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use tandem_batch::Shown;
use tandem_scenario::units::Span;
use tandem_search::Progress;

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

    /// The search is this far.
    pub fn tell(&self, progress: Progress) {
        match progress {
            Progress::Looked(points, worst) => {
                self.share.set(self.points.map_or(0.0, |all| points as f64 / all as f64));
                let worst = worst.map_or(String::new(), |worst| format!(", the worst {:.1} %", 100.0 * worst));
                self.words.replace(format!("{points} paths{worst}"));
                self.show("");
            }
            Progress::Settling(done, all) => {
                self.share.set(done as f64 / all.max(1) as f64);
                self.words.replace(format!("find {} of up to {all} is made small", done + 1));
                self.show("");
            }
            Progress::Tried(points) => self.show(&format!("{points} smaller or near paths, ")),
        }
    }

    /// Of what was asked for, or of the time where that is what counts.
    fn show(&self, before: &str) {
        let of_time = || self.begun.elapsed().as_secs_f64() / self.budget.as_secs_f64().max(1e-9);
        let share = if self.points.is_some() { self.share.get() } else { of_time().min(1.0) };
        self.shown.tell(share, &format!("{before}{}", self.words.borrow()));
    }
}
