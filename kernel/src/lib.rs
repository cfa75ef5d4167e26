// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion controllers in the Linux kernel, through eBPF `struct_ops`.
//!
//! [`load`] registers a controller for every program on the machine until [`unload`] or a reboot; [`attach`] for as long as the
//! returned value lives; [`list`] shows what is loaded; [`read_flows`] the connections that use it; [`check`] what this kernel has
//! and lacks. The eBPF side is `kernel/` at the root of the repository, built from the same `controllers/` as the simulator.

mod bpffs;
mod check;
mod error;
mod flow;
mod leftovers;
mod messages;
pub mod netns;
mod object;
mod registry;
// Public for the tests only.
#[doc(hidden)]
pub mod replay;
mod sysctl;
mod watch;

pub use check::{Check, Feature, Verdict, check, features};
pub use error::Error;
pub use flow::{Flow, read_flows};
pub use leftovers::remove_leftovers;
pub use object::{Attached, attach, check_loadable, loadable};
#[doc(hidden)]
pub use object::{refused, verified_instructions};
pub use registry::{Loaded, Unloaded, list, load, unload};
pub use sysctl::{available, default_controller};
pub use watch::{Sample, Watcher};
