// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far long work is, on standard error: a bar on a terminal, a line every ten seconds elsewhere.

use std::{
    io::{IsTerminal, Write},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

const STEPS: f64 = 1e6;
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// When the last line was written. Work after work shares the lines, so that many short ones write some, too.
static LINES: Mutex<Lines> = Mutex::new(Lines { last: None });

/// Shows it until it is dropped.
pub struct Shown(Option<Form>);

struct Form {
    /// Hidden where there is no terminal.
    bar: ProgressBar,
    has_terminal: bool,
}

impl Shown {
    /// Shows nothing if `quiet`.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self(None);
        }
        let has_terminal = std::io::stderr().is_terminal();
        if !has_terminal {
            lines_are_due();
        }
        let bar = if has_terminal { ProgressBar::new(STEPS as u64) } else { ProgressBar::hidden() };
        bar.set_length(STEPS as u64);
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %, {eta} left{msg}");
        Self(Some(Form { bar: bar.with_style(style.expect("the template is valid")), has_terminal }))
    }

    /// This share is done, from 0 to 1; `words` say of what, and may be empty.
    pub fn tell(&self, share: f64, words: &str) {
        let Some(Form { bar, has_terminal }) = &self.0 else { return };
        let words = if words.is_empty() { String::new() } else { format!("; {words}") };
        bar.set_position((STEPS * share.clamp(0.0, 1.0)) as u64);
        if !has_terminal && lines_are_due() {
            let left = HumanDuration(bar.eta());
            // Nobody may read there any more.
            let _ = writeln!(std::io::stderr(), "tandem: {:.0} %, {left:#} left{words}", 100.0 * share);
        }
        bar.set_message(words);
    }

    /// Leaves the terminal as it was.
    pub fn end(&self) {
        if let Some(Form { bar, .. }) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.end();
    }
}

fn lines_are_due() -> bool {
    LINES.lock().unwrap_or_else(PoisonError::into_inner).are_due(Instant::now())
}

/// The time between lines.
struct Lines {
    last: Option<Instant>,
}

impl Lines {
    /// Whether one is to be written now; the first only after ten seconds.
    fn are_due(&mut self, now: Instant) -> bool {
        let is_due = self.last.is_some_and(|last| now.duration_since(last) >= BETWEEN_LINES);
        if is_due || self.last.is_none() {
            self.last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_every_ten_seconds() {
        let begun = Instant::now();
        let mut lines = Lines { last: None };
        let due = (0..45).filter(|&s| lines.are_due(begun + Duration::from_secs(s))).collect::<Vec<_>>();
        assert_eq!(due, [10, 20, 30, 40]);
    }
}
