// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios over real Linux TCP.

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
