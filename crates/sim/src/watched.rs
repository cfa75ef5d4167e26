// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP flows whose senders someone looks at after each thing that happens to them.

use std::{cell::RefCell, rc::Rc};

use tandem_engine::{Counters, EngineError, Options, Transfers, refuse_foreign_controllers, refuse_quic};
use tandem_network::End;
use tandem_results::{FlowSample, SeedResult};
use tandem_scenario::Scenario;
use tandem_tcp::Sender;

use crate::{
    endpoints::{Endpoints, NewFlow, Port},
    packet::Header,
    run_with,
    tcp::Tcp,
};

/// The sender after an ACK or a timer.
pub struct Look<'a> {
    /// ns since the start of the run.
    pub now: u64,
    /// Its place among all flows.
    pub flow: usize,
    /// As it is now, when it has sent what it could.
    pub sender: &'a Sender,
    /// Packets in flight before it sent that: what the controller was told.
    pub in_flight: u64,
    tcp: &'a Tcp,
}

impl Look<'_> {
    /// As a trace has it.
    pub fn sample(&self) -> FlowSample {
        FlowSample { in_flight_packets: self.in_flight as u32, ..self.tcp.windows() }
    }
}

/// Who looks.
pub type Watch = Rc<RefCell<dyn FnMut(Look)>>;

struct Watched {
    tcp: Box<Tcp>,
    flow: usize,
    watch: Watch,
}

impl Watched {
    fn look(&self, now: u64, sent_before: u64) {
        let sender = &self.tcp.sender;
        let in_flight = sender.in_flight().saturating_sub(sender.counters.sent - sent_before);
        (self.watch.borrow_mut())(Look { now, flow: self.flow, sender, in_flight, tcp: &self.tcp });
    }
}

impl Endpoints for Watched {
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        let sent = self.tcp.sender.counters.sent;
        let rtt_ns = self.tcp.on_packet(at, header, port);
        if at == End::Senders {
            self.look(port.now, sent);
        }
        rtt_ns
    }

    fn on_timer(&mut self, at: End, port: &mut Port) -> u64 {
        let sent = self.tcp.sender.counters.sent;
        let next = self.tcp.on_timer(at, port);
        if at == End::Senders {
            self.look(port.now, sent);
        }
        next
    }

    fn are_apart(&self) -> bool {
        self.tcp.are_apart()
    }

    fn counters(&self) -> Counters {
        self.tcp.counters()
    }

    fn srtt_us(&self) -> Option<u64> {
        self.tcp.srtt_us()
    }

    fn windows(&self) -> FlowSample {
        self.tcp.windows()
    }

    fn transfers(&self) -> Option<&Transfers> {
        self.tcp.transfers()
    }
}

/// As [`run`](crate::run), with someone who looks at those flows that are TCP connections and of which `is_watched` says so, by their place.
///
/// # Errors
/// As [`run`](crate::run).
pub fn run_watched(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    is_watched: &dyn Fn(usize) -> bool,
    watch: Watch,
) -> Result<Option<SeedResult>, EngineError> {
    refuse_foreign_controllers(scenario)?;
    refuse_quic(scenario)?;
    if let Some(group) = scenario.groups.iter().find(|group| group.source.tcp().is_some_and(|tcp| tcp.handshake)) {
        let message = format!("`{}` has `handshake`, of which nothing is recorded here: leave it out", group.name);
        return Err(EngineError::refused(message));
    }
    let make = |flow: &NewFlow| -> Option<Box<dyn Endpoints>> {
        if !is_watched(flow.index) {
            return None;
        }
        Some(Box::new(Watched { tcp: Tcp::of(flow)?, flow: flow.index, watch: Rc::clone(&watch) }))
    };
    run_with(scenario, seed, options, &make)
}
