// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tests of several crates share: golden traces, random cases, C programs, and what a busy machine must not decide.

pub mod c;
mod child;
pub mod damage;
pub mod invariant;
pub mod layout;
mod machine;
pub mod random;
mod real_tcp;
pub mod trace;
mod wait;

use std::io::{Write, stderr};

pub use child::{Running, copy_program, output};
pub use machine::take_controllers;
pub use real_tcp::trusted_run;
pub use wait::{PATIENCE, wait_until};

/// Says that the calling test cannot run on this machine; it should return then.
///
/// libtest knows no such outcome and counts it as passed: `scripts/test.sh` looks for these lines and counts them as skipped.
/// Give the reason and the fix.
pub fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not eprintln!, which libtest keeps to itself. One write, lest two threads' lines mix.
    let _ = stderr().write_all(format!("SKIPPED: {test}: {reason}\n").as_bytes());
}
