// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keeps what libbpf prints, which explains failures, for our own messages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// One load at a time, so that its messages are its own.
static TURN: Mutex<()> = Mutex::new(());

/// Keeps what libbpf says while it lives.
pub struct Messages {
    _turn: MutexGuard<'static, ()>,
}

fn keep(_: PrintLevel, line: String) {
    LINES.lock().unwrap_or_else(PoisonError::into_inner).push(line);
}

impl Messages {
    pub fn listen() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        LINES.lock().unwrap_or_else(PoisonError::into_inner).clear();
        set_print(Some((PrintLevel::Info, keep)));
        Self { _turn: turn }
    }

    pub fn text(&self) -> String {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).concat()
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        set_print(None);
    }
}

/// The last lines of what the verifier said, if it was the verifier that said no.
pub fn verifier_log(messages: &str) -> Option<String> {
    let (_, rest) = messages.split_once("-- BEGIN PROG LOAD LOG --")?;
    let log = rest.split("-- END PROG LOAD LOG --").next().unwrap_or(rest);
    let lines: Vec<&str> = log.lines().filter(|l| !l.trim().is_empty()).collect();
    let (before, last) = lines.split_at(lines.len().saturating_sub(12));
    // With the line of the source that the last of these belong to.
    let source =
        before.iter().rev().find(|l| l.starts_with("; ")).filter(|_| !last.iter().any(|l| l.starts_with("; ")));
    Some(source.into_iter().chain(last).copied().collect::<Vec<_>>().join("\n"))
}

/// libbpf's last complaint, without its own name.
pub fn last_line(messages: &str) -> Option<&str> {
    messages.lines().rev().map(|l| l.trim_start_matches("libbpf: ").trim()).find(|l| !l.is_empty())
}
