// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that are called when a connection of a cgroup begins, and may give it a controller (`bpf/sockops.h`).

mod cgroup;
mod loader;
mod peer;
mod policy;
mod policy_file;
mod trial;

pub use cgroup::Cgroup;
#[doc(hidden)]
pub use loader::programs;
pub(crate) use loader::{can_load, cannot, load, map, open_with, program_mut};
pub use peer::{Peer, Prefix, PrefixError};
pub(crate) use policy::remove_half_loaded;
pub use policy::{Answer, LoadedPolicy, LoadedRule, Question, ask_policy, load_policy, policy, remove_policy};
pub use policy_file::{PolicyError, PolicyFile, Rule, What, WhatError};
pub use trial::{ArmCounts, Connection, Running, RunningArm, Trial, TrialSetup, running};
