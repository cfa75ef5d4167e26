// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tests of several crates share: hosts of controllers, random cases, C programs.

pub mod c;
pub mod contract;
pub mod invariant;
pub mod layout;
pub mod random;
pub mod trace;

use std::io::{Write, stderr};

/// Says that the calling test cannot run on this machine; it should return then.
///
/// libtest knows no such outcome and counts it as passed: `scripts/test.sh` looks for these lines and counts them as skipped.
/// Give the reason and the mend.
pub fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not eprintln!, which libtest keeps to itself. One write, lest two threads' lines mix.
    let _ = stderr().write_all(format!("SKIPPED: {test}: {reason}\n").as_bytes());
}
