// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ctrl-C, SIGTERM and SIGHUP: each ends every command within a second, whatever it is doing.
//!
//! Long work checks [`flag`], ends early and keeps its finished part. Work that does not check is ended from here, after [`GRACE`]: as if
//! nobody had caught the signal, which no command is harmed by. Two things get more time: restoring the machine
//! ([`unbroken`]), as long as it takes; and writing finished results ([`keeping`]), for [`KEEPING`].

use std::{
    process::exit,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use crate::terminal::warn;

/// Time for work that does not see the flag, or sees it late.
const GRACE: Duration = Duration::from_millis(800);
/// Time to write results.
const KEEPING: Duration = Duration::from_secs(5);
/// Time to restore the terminal and print a line.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Interval between checks.
const TICK: Duration = Duration::from_millis(20);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static UNBROKEN: AtomicU32 = AtomicU32::new(0);
static KEPT: AtomicU32 = AtomicU32::new(0);
static AT_END: OnceLock<fn()> = OnceLock::new();

/// Set by the first signal; the second ends the program at once.
pub fn flag() -> &'static AtomicBool {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        // Without a handler a signal ends the program at once, which is no worse.
        let _ = ctrlc::set_handler(on_signal);
    });
    &INTERRUPTED
}

/// Whether a signal has come.
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(SeqCst)
}

/// Restores what the process has changed around it (the terminal) if it is ended from here.
#[cfg(all(feature = "linux", target_os = "linux"))]
pub fn at_end(put_back: fn()) {
    let _ = AT_END.set(put_back);
}

/// Runs in a thread of its own.
fn on_signal() {
    if INTERRUPTED.swap(true, SeqCst) {
        exit(130);
    }
    // Another thread, because this one waits for the second signal.
    let _ = thread::Builder::new().spawn(end_what_goes_on);
}

fn end_what_goes_on() {
    let mut patience = Patience::default();
    while patience.lasts(UNBROKEN.load(SeqCst) > 0, KEPT.load(SeqCst) > 0) {
        thread::sleep(TICK);
    }
    // The reader of standard error may be gone.
    if let Ok(last) = thread::Builder::new().spawn(last_words) {
        let ticks = LAST_WORDS.as_millis() / TICK.as_millis();
        (0..ticks).take_while(|_| !last.is_finished()).for_each(|_| thread::sleep(TICK));
    }
    exit(130);
}

fn last_words() {
    if let Some(put_back) = AT_END.get() {
        put_back();
    }
    warn("tandem: interrupted; the files written are complete");
}

/// How long the command has continued since the signal.
#[derive(Default)]
struct Patience {
    unseen: Duration,
    keeping: Duration,
}

impl Patience {
    /// Another tick has passed.
    fn lasts(&mut self, is_unbroken: bool, is_keeping: bool) -> bool {
        match (is_unbroken, is_keeping) {
            (true, _) => self.unseen = Duration::ZERO,
            (false, true) => self.keeping += TICK,
            (false, false) => self.unseen += TICK,
        }
        self.unseen <= GRACE && self.keeping <= KEEPING
    }
}

/// While it lives, the command does something that may take longer than [`GRACE`].
pub struct Guard(&'static AtomicU32);

impl Guard {
    fn new(count: &'static AtomicU32) -> Self {
        count.fetch_add(1, SeqCst);
        Self(count)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// For work that sees the flag itself and would leave something behind if cut off: runs in the kernel.
pub fn unbroken() -> Guard {
    Guard::new(&UNBROKEN)
}

/// For the time from the end of runs until their results are written.
pub fn keeping() -> Guard {
    Guard::new(&KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of ticks that a command gets for this.
    fn ticks(is_unbroken: bool, is_keeping: bool) -> usize {
        let mut patience = Patience::default();
        (0..100_000).take_while(|_| patience.lasts(is_unbroken, is_keeping)).count()
    }

    #[test]
    fn what_does_not_look_is_ended_within_a_second_and_what_cleans_up_is_not() {
        assert!(ticks(false, false) < 50, "50 ticks are a second");
        assert!((200..=300).contains(&ticks(false, true)), "some seconds for results");
        assert_eq!(ticks(true, false), 100_000);
    }

    #[test]
    fn what_has_cleaned_up_has_its_time_to_end() {
        let mut patience = Patience::default();
        assert!((0..30).all(|_| patience.lasts(false, false)));
        assert!((0..1000).all(|_| patience.lasts(true, false)));
        assert!((0..30).all(|_| patience.lasts(false, false)));
    }
}
