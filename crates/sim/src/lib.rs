// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet-level simulator: deterministic, and fast because a waiting packet costs no event.
//!
//! [`Sim`] is the engine; [`run`] takes one seed of a scenario to its [`SeedResult`]. The same scenario and seed gives the same result on every
//! machine, whatever else runs and however many seeds run beside it.
//!
//! A run takes one of two paths, which give the same result to the last bit. One goes event by event (`world.rs`) and knows every network. Where all
//! flows pass one link there and one link back, which is the usual question, the other (`windows.rs`) takes each end for as long as the other cannot
//! affect it: flow by flow, in loops that handle only what a usual packet meets. It halves the instructions per packet.
//!
//! ```
//! use tandem_engine::Options;
//! use tandem_scenario::file::{Overrides, parse};
//!
//! let text = r#"
//!     duration = "10s"
//!     warmup = "2s"
//!     [dumbbell]
//!     rate = "10mbit"
//!     rtt = "40ms"
//!     queue = "1bdp"
//!     [[flows]]
//!     controller = "compound"
//! "#;
//! let scenario = parse(text, "one-flow.toml", "one-flow", &Overrides::default())?;
//! let result = tandem_sim::run(&scenario, 1, Options::default())?.expect("nobody interrupts it");
//! // 1448 of 1500 bytes are payload.
//! assert!((9.0..=9.66).contains(&result.flows[0].goodput_mbps));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [tandem-batch](../tandem_batch/index.html) runs many scenarios and seeds on all cores, [`tandem_results`] sums them up, and
//! [tandem-tcp](../tandem_tcp/index.html) is the TCP in it.

mod connections;
mod endpoints;
mod flow;
mod handshake;
mod media;
mod net;
mod packet;
mod prefetch;
mod tcp;
mod udp;
mod unanswered;
mod watched;
mod windows;
mod world;

pub use endpoints::{Endpoints, Make, NewFlow, Port};
pub use net::UDP_HEADER_BYTES;
pub use packet::Header;

use tandem_engine::{
    Engine, EngineError, Options, Warning, refuse_foreign_controllers, refuse_kernel_controllers, refuse_quic,
};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;

pub use watched::{Look, Watch, run_watched};
pub use world::{Clockwork, World};

/// The packet-level simulator.
pub struct Sim;

impl Engine for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn description(&self) -> &'static str {
        "Packet-level simulator"
    }

    fn arithmetic(&self) -> &'static str {
        env!("TANDEM_ARITHMETIC")
    }

    fn check(&self, scenario: &Scenario, _force: bool) -> Result<Vec<Warning>, EngineError> {
        refuse_foreign_controllers(scenario)?;
        refuse_quic(scenario)?;
        Ok(Vec::new())
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        run(scenario, seed, options)
    }
}

/// One seed at time 0, for a caller that looks at the samples while it runs: call [`World::advance`] up to the scenario's
/// duration, then [`World::result`].
///
/// # Errors
/// If a flow uses a congestion control that is not ours, or QUIC.
pub fn start<'a>(scenario: &'a Scenario, seed: u64, options: Options<'a>) -> Result<World<'a>, EngineError> {
    refuse_foreign_controllers(scenario)?;
    refuse_quic(scenario)?;
    Ok(World::new(scenario, seed, options, &|_| None, Clockwork::Fastest))
}

/// Runs one seed; `None` if it was cancelled.
///
/// # Errors
/// If a flow uses a congestion control that is not ours, or QUIC.
pub fn run(scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
    Ok(start(scenario, seed, options)?.run())
}

/// As [`run`], event by event: what the fast way is held against.
///
/// # Errors
/// As [`run`].
pub fn run_by_events(scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
    refuse_foreign_controllers(scenario)?;
    refuse_quic(scenario)?;
    Ok(World::new(scenario, seed, options, &|_| None, Clockwork::Events).run())
}

/// As [`run`], with endpoints that `make` has for some flows; for those with a controller of the QUIC stack it must have them.
///
/// # Errors
/// If a flow uses a congestion control that only the kernel has.
pub fn run_with(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    make: &Make,
) -> Result<Option<SeedResult>, EngineError> {
    refuse_kernel_controllers(scenario)?;
    Ok(World::new(scenario, seed, options, make, Clockwork::Fastest).run())
}
