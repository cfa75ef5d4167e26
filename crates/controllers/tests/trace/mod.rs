// SPDX-License-Identifier: MIT OR Apache-2.0
//! Golden traces: the text format of `vectors/README.md`, and the host that plays one.

// Each test that includes this module uses its own part of it.
#![allow(dead_code, unused_imports)]

mod format;
mod host;

pub use format::{Command, Expected, parse};
pub use host::Host;
