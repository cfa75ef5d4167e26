// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios over real Linux TCP.

pub mod emulator;
mod error;
pub mod namespace;
pub mod netlink;
pub mod path;
pub mod tun;

pub use error::Error;
