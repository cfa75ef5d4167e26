// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a sweep is done, on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal::is_quiet;

/// Goes away when it is dropped.
pub struct Bar(ProgressBar);

impl Bar {
    pub fn new(tasks: usize) -> Self {
        let bar = if is_quiet() || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(tasks as u64)
        };
        let style = ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {eta} left");
        Self(bar.with_style(style.expect("the template is valid")))
    }

    /// This many runs are done.
    pub fn set(&self, done: usize) {
        self.0.set_position(done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
