// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios over real Linux TCP: an emulated path (a TUN device between namespaces) in real time. [`Kernel`] is the engine, and needs root.
//! Its results have the form of the simulator's, with [`Emulation`](tandem_results::Emulation) beside them, which says how exact the path was.
//!
//! ```no_run
//! use tandem_engine::{Engine, Options};
//! use tandem_scenario::file::{Overrides, parse};
//! use tandem_testbed::Kernel;
//!
//! let text = r#"
//!     duration = "10s"
//!     [dumbbell]
//!     rate = "10mbit"
//!     rtt = "20ms"
//!     queue = "1bdp"
//!     [[flows]]
//!     controller = "kernel:cubic"
//! "#;
//! let scenario = parse(text, "cubic.toml", "cubic", &Overrides::default())?;
//! Kernel.check(&scenario, false)?;
//! let result = Kernel.run(&scenario, 1, Options::default())?.expect("nobody interrupted it");
//! println!("{:.1} Mb/s", result.flows[0].goodput_mbps);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same scenarios run in [tandem-sim](../tandem_sim/index.html); [tandem-kernel](../tandem_kernel/index.html) loads Tandem's controllers.

mod addresses;
mod attention;
mod capacity;
mod controllers;
mod delivered;
mod descriptors;
mod emulator;
mod engine;
mod error;
mod ip;
mod lab;
mod namespace;
mod netlink;
mod path;
mod priority;
mod receive_window;
mod record;
mod renewal;
mod run;
#[cfg(test)]
mod scripted;
mod shell;
mod socket;
mod traffic;
mod trust;
mod tun;
mod udp;

pub use controllers::clean_up;
pub use delivered::Delivered;
pub use emulator::monotonic_ns;
pub use engine::Kernel;
pub use error::Error;
pub use namespace::Namespace;
pub use run::run;
pub use shell::{Carried, CarriedByLink, Shell};
