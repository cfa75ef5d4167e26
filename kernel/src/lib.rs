// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion controllers in the Linux kernel, through eBPF `struct_ops`.
//!
//! [`load`] registers a controller for every program on the machine until [`unload`] or a reboot; [`attach`] registers one for as
//! long as the returned value lives. [`list`] shows the loaded controllers, [`read_flows`] the connections that use one, and
//! [`check`] the features that this kernel has and lacks. The eBPF side is in `bpf/`; it compiles the same C headers of
//! [`tandem_controllers`] that the simulator runs.
//!
//! As root:
//!
//! ```no_run
//! let cubic = tandem_controllers::Params::new(tandem_controllers::find("cubic").expect("it is there"));
//! let loaded = tandem_kernel::load(&cubic, "tandem_cubic", false)?;
//! assert_eq!(loaded.controller, "cubic");
//! assert!(tandem_kernel::list()?.iter().any(|one| one.name == "tandem_cubic"));
//! tandem_kernel::unload("tandem_cubic")?;
//! # Ok::<(), tandem_kernel::Error>(())
//! ```

mod bpffs;
mod check;
mod error;
mod flow;
mod form;
mod histograms;
mod jiffies;
mod leftovers;
mod listeners;
mod messages;
mod names;
pub mod netns;
mod object;
#[cfg(feature = "own")]
mod own;
mod registry;
mod restore;
// Public for the tests only.
#[doc(hidden)]
pub mod replay;
pub mod sockops;
mod sysctl;
mod trusted;
mod turn;
mod watch;

pub use check::{Check, Feature, Verdict, check, features};
pub use error::Error;
pub use flow::{Flow, Pacer, read_flows};
#[doc(hidden)]
pub use histograms::{BUCKETS, Bounds, RawHistogram, RawTotals};
pub use histograms::{Histogram, Histograms, Totals};
pub use leftovers::{clean_up, remove_leftovers};
pub use listeners::Listener;
pub use names::usual_name;
pub use object::{Attached, attach, check_loadable, loadable};
#[doc(hidden)]
pub use object::{refused, verified_instructions};
pub use registry::{Loaded, Unloaded, list, load, unload};
pub use sysctl::{available, default_controller};
pub use watch::{Probed, Sample, Watcher, probe};
