// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress of the advice: one bar on a terminal, a line every ten seconds elsewhere.

use std::{
    io::IsTerminal,
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use tandem_advise::Doing;

use crate::terminal::{is_quiet, warn};

const STEPS: f64 = 1e4;
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Shows it until its end.
pub enum Shown {
    Nothing,
    Bar(ProgressBar),
    /// When the last line was written.
    Lines(Mutex<Instant>),
}

impl Shown {
    pub fn new() -> Self {
        if is_quiet() {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::new(Instant::now()));
        }
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %, at most {eta} left; {msg}");
        Self::Bar(ProgressBar::new(STEPS as u64).with_style(style.expect("the template is valid")))
    }

    pub fn tell(&self, doing: Doing) {
        match self {
            Self::Nothing => {}
            Self::Bar(bar) => {
                bar.set_message(words(doing));
                bar.set_position((STEPS * doing.share) as u64);
            }
            Self::Lines(last) => {
                let mut last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if last.elapsed() >= BETWEEN_LINES {
                    *last = Instant::now();
                    warn(&format!("tandem: {:.0} %; {}", 100.0 * doing.share, words(doing)));
                }
            }
        }
    }

    /// Leaves the terminal as it was.
    pub fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// `path 3 of 7: with a queue of 4bdp (10000 packets)`.
fn words(doing: Doing) -> String {
    let path = if doing.path.is_empty() { "as it is given".to_owned() } else { format!("with {}", doing.path) };
    format!("path {} of {}: {path}", doing.number, doing.paths)
}
