// SPDX-License-Identifier: MIT OR Apache-2.0
//! Experiments over real TCP: the runs that they need, and how far these are from the simulator.
//!
//! The engine itself is the caller's. A run takes as long as what it emulates, so each is kept as soon as it is done.

mod comparison;
mod missing;
mod runs;

pub(crate) use comparison::KernelForm;
pub use comparison::{Difference, KernelComparison};
pub use missing::{Missing, doubts, measure, measure_shared, missing, obstacle};
pub use runs::{RealTcpRun, RealTcpRuns, WindowSample, bottleneck, scenario_key};
