// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for what must come, without waiting for ever.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// How long a test waits for what must come. It only turns a hang into a failure: what is waited for takes seconds on an idle machine,
/// and a minute on one with ten times as much to do as it can.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Between looks.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until something holds. Panics if it never does.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    if !comes_within(PATIENCE, &mut holds) {
        panic!("not within {} s: {what}", PATIENCE.as_secs());
    }
}

/// Looks until something holds, for so long at most, and at least once. Did it?
pub(crate) fn comes_within(patience: Duration, holds: &mut dyn FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        // First, because the look itself may have come late.
        let is_last = Instant::now() >= deadline;
        if holds() {
            return true;
        }
        if is_last {
            return false;
        }
        sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_taken_whatever_the_time_and_no_more_than_needed() {
        let mut looks = 0;
        assert!(!comes_within(Duration::ZERO, &mut || {
            looks += 1;
            false
        }));
        assert_eq!(looks, 1);
        wait_until("the third look", || {
            looks += 1;
            looks == 4
        });
        assert_eq!(looks, 4);
    }
}
