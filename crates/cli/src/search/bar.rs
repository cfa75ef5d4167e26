// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a search is, on a terminal.

use std::{
    cell::Cell,
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use tandem_scenario::units::Span;
use tandem_search::{Judge, JudgeError, Judged, Point};

use crate::terminal::is_quiet;

/// Goes away when it is dropped.
pub struct Bar {
    bar: ProgressBar,
    /// How many paths are looked at; `None`: as many as the time allows.
    points: Option<usize>,
    begun: Instant,
    budget: Duration,
}

const STEPS: f64 = 1e4;

impl Bar {
    pub fn new(points: Option<usize>, budget: Span) -> Self {
        let is_shown = !is_quiet() && std::io::stderr().is_terminal();
        let bar = if is_shown { ProgressBar::new(STEPS as u64) } else { ProgressBar::hidden() };
        let style =
            ProgressStyle::with_template("{bar:40} {percent:>3} %, {prefix}{msg}").expect("the template is valid");
        Self { bar: bar.with_style(style), points, begun: Instant::now(), budget: Duration::from_nanos(budget.ns) }
    }

    /// This many paths were looked at, and this is the largest violation.
    pub fn looked(&self, points: usize, worst: Option<f64>) {
        self.set(self.points.map(|all| points as f64 / all as f64));
        let worst = worst.map_or(String::new(), |worst| format!(", the worst {:.1} %", 100.0 * worst));
        self.bar.set_message(format!("{points} paths{worst}"));
    }

    /// This many of the worst points were looked at more closely.
    pub fn settling(&self, done: usize, all: usize) {
        self.set(self.points.map(|_| done as f64 / all.max(1) as f64));
        self.bar.set_message(format!("find {} of up to {all} is made small", done + 1));
    }

    /// The judge, with a bar that moves with each of its answers.
    pub fn beside<'a>(&'a self, judge: &'a dyn Judge) -> impl Judge + 'a {
        Beside { bar: self, judge, tried: Cell::new(0) }
    }

    /// A share of what was asked for; `None`: it is the time that counts.
    fn set(&self, share: Option<f64>) {
        let of_time = || self.begun.elapsed().as_secs_f64() / self.budget.as_secs_f64().max(1e-9);
        self.bar.set_position((STEPS * share.unwrap_or_else(of_time).min(1.0)) as u64);
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
        if self.bar.points.is_none() {
            self.bar.set(None);
        }
        self.bar.bar.set_prefix(format!("{} smaller or near paths, ", self.tried.get()));
        self.judge.judge(points, seeds)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
