// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is run and what came of it, whichever engine runs it.
//!
//! A [`Scenario`] is complete and checked: routes are found, buffers are in packets or bytes, parameters are in range.
//! It comes from a TOML file ([`file::load`]) or from [`Dumbbell`], the shorthand that `tandem compare` uses.
//! Engines turn it into one [`result::SeedResult`] a seed; [`result::Run`] sums those up with intervals.

pub mod aqm;
mod cell;
mod dumbbell;
pub mod file;
mod loss;
pub mod matrix;
pub mod result;
mod route;
mod scenario;
pub mod stats;
pub mod units;
pub mod wlan;

pub use aqm::Aqm;
pub use dumbbell::{Dumbbell, FORWARD_LINK, REVERSE_LINK};
pub use file::FileError;
pub use loss::Loss;
pub use route::RouteError;
pub use scenario::{
    CongestionControl, DEFAULT_MTU, Group, HEADER_BYTES, KERNEL_PREFIX, Limit, Link, Network, Scenario, Source,
    TcpSource, Transfer,
};
