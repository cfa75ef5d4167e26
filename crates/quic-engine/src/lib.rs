// SPDX-License-Identifier: MIT OR Apache-2.0
//! A real QUIC stack as an engine: noq's endpoints, without sockets, in the simulator's virtual time, over the project's network.
//!
//! The same scenario and seed gives the same result on any system. A group with `transport = "tcp"` is the simulator's own TCP, beside the
//! others on the same path.
//!
//! ```
//! use tandem_engine::{Engine, Options};
//! use tandem_quic_engine::Quic;
//! use tandem_scenario::file::{Overrides, parse};
//!
//! let text = r#"
//!     duration = "3s"
//!     warmup = "1s"
//!     [dumbbell]
//!     rate = "10mbit"
//!     rtt = "20ms"
//!     queue = "1bdp"
//!     [[flows]]
//!     controller = "compound"
//! "#;
//! let scenario = parse(text, "one.toml", "one", &Overrides::default())?;
//! let _warnings = Quic.check(&scenario, false)?;
//! let result = Quic.run(&scenario, 1, Options::default())?.expect("nobody cancelled it");
//! assert!(result.flows[0].goodput_mbps > 5.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_quic`] has the controllers in QUIC stacks, [`tandem_sim`] the simulator, [`tandem_engine`] what engines share.

mod config;
mod flow;
mod peer;

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use tandem_engine::{Engine, EngineError, Options, Warning, refuse_kernel_controllers};
use tandem_results::SeedResult;
use tandem_scenario::{CongestionControl, Ecn, Honesty, Recovery, Scenario, TcpSource, Transport, USUAL_ACK_EVERY};
use tandem_sim::{Endpoints, NewFlow, UDP_HEADER_BYTES, run_with};

use flow::QuicFlow;

/// RFC 9000 section 14: QUIC needs datagrams of this size, bytes.
const MIN_DATAGRAM_BYTES: u32 = 1200;

/// Real QUIC in virtual time.
pub struct Quic;

impl Engine for Quic {
    fn name(&self) -> &'static str {
        "quic"
    }

    fn description(&self) -> &'static str {
        "Real QUIC (noq) in virtual time; needs no root, runs on any system"
    }

    fn arithmetic(&self) -> &'static str {
        env!("TANDEM_ARITHMETIC")
    }

    fn check(&self, scenario: &Scenario, _force: bool) -> Result<Vec<Warning>, EngineError> {
        check(scenario)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        run_stack(scenario, seed, options)
    }

    /// An estimate: each packet is built, encrypted, decrypted and read.
    fn weight(&self) -> f64 {
        20.0
    }
}

fn check(scenario: &Scenario) -> Result<Vec<Warning>, EngineError> {
    refuse_kernel_controllers(scenario)?;
    if datagram_bytes(scenario) < MIN_DATAGRAM_BYTES {
        return Err(EngineError::refused(format!(
            "QUIC needs datagrams of {MIN_DATAGRAM_BYTES} bytes (RFC 9000 section 14): an mtu of {} at least",
            MIN_DATAGRAM_BYTES + UDP_HEADER_BYTES
        )));
    }
    let mut warnings = Vec::new();
    for group in &scenario.groups {
        let Some(source) = group.source.tcp() else { continue };
        if !is_quic(source) {
            if let CongestionControl::Noq(_) = source.controller {
                return Err(EngineError::refused(format!(
                    "`{}` is the QUIC stack's own, and `{}` has `transport = \"tcp\"`: leave that out",
                    source.controller, group.name
                )));
            }
            continue;
        }
        if group.source.short().is_some() {
            return Err(EngineError::refused(format!(
                "`{}` has `short`, a connection for each transfer, and QUIC's flows have one for all: run it with --engine sim or kernel",
                group.name
            )));
        }
        if source.recovery != Recovery::Prr {
            return Err(EngineError::refused(format!(
                "`{}` has `recovery = \"rate-halving\"`, which is for TCP: leave it out, or give it `transport = \"tcp\"`",
                group.name
            )));
        }
        if source.ack_every != USUAL_ACK_EVERY || source.receiver != Honesty::Honest {
            return Err(EngineError::refused(format!(
                "`{}` has `ack_every` or `receiver`, which are for TCP: leave them out, or give it `transport = \"tcp\"`",
                group.name
            )));
        }
        if let CongestionControl::Tandem(params) = &source.controller
            && params.controller().counts_marks()
        {
            return Err(EngineError::refused(format!(
                "`{}` counts ECN marks, but QUIC stacks do not report their number: run it with --engine sim, or give it \
                 `transport = \"tcp\"`",
                group.name
            )));
        }
        if source.ecn != Ecn::Off {
            return Err(EngineError::refused(format!(
                "`{}` has `ecn`, and QUIC's datagrams are not marked here: leave it out, or give it `transport = \"tcp\"`",
                group.name
            )));
        }
        if !source.pacing && !group.source.sets_own_rate() {
            warnings.push(Warning("QUIC always paces what it sends, though `pacing` is off".into()));
        }
    }
    warnings.dedup();
    Ok(warnings)
}

fn run_stack(scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
    check(scenario)?;
    let stack = Stack { scenario, seed, origin: Instant::now(), broken: Arc::default() };
    let result = run_with(scenario, seed, options, &|flow| stack.endpoints(flow))?;
    match stack.broken.get() {
        None => Ok(result),
        Some(why) => Err(EngineError::failed(format!("a QUIC connection broke in the middle, seed {seed}: {why}"))),
    }
}

/// Bytes of a full QUIC packet.
fn datagram_bytes(scenario: &Scenario) -> u32 {
    scenario.mtu - UDP_HEADER_BYTES
}

fn is_quic(source: &TcpSource) -> bool {
    source.transport != Some(Transport::Tcp)
}

struct Stack<'a> {
    scenario: &'a Scenario,
    seed: u64,
    /// The stack takes times of this kind; only their differences matter.
    origin: Instant,
    /// Why the first connection ended that did.
    broken: Arc<OnceLock<String>>,
}

impl Stack<'_> {
    /// The endpoints of a flow that QUIC carries.
    fn endpoints(&self, flow: &NewFlow) -> Option<Box<dyn Endpoints>> {
        let source = flow.source().tcp().filter(|source| is_quic(source))?;
        let setup = config::Setup {
            source,
            datagram_bytes: datagram_bytes(self.scenario) as u16,
            unit_bytes: self.scenario.mss(),
            seed: [self.seed, flow.index as u64],
        };
        Some(Box::new(QuicFlow::new(&setup, flow.transfers()?, self.origin, self.broken.clone())))
    }
}
