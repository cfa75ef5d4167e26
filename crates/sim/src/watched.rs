// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TCP flow whose sender someone looks at after each thing that happens to it.

use std::{cell::RefCell, rc::Rc};

use tandem_engine::{Counters, EngineError, Options, Transfers, refuse_kernel_controllers, refuse_quic};
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
    /// As it is now, when it has sent what it could.
    pub sender: &'a Sender,
    /// Packets in flight before it sent that: what the controller was told.
    pub in_flight: u64,
}

/// Who looks.
pub type Watch = Rc<RefCell<dyn FnMut(Look)>>;

struct Watched {
    tcp: Box<Tcp>,
    watch: Watch,
}

impl Watched {
    fn look(&self, now: u64, sent_before: u64) {
        let sender = &self.tcp.sender;
        let in_flight = sender.in_flight().saturating_sub(sender.counters.sent - sent_before);
        (self.watch.borrow_mut())(Look { now, sender, in_flight });
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

/// As [`run`](crate::run), with someone who looks at the first flow, which is a TCP connection.
///
/// # Errors
/// As [`run`](crate::run).
pub fn run_watched(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    watch: Watch,
) -> Result<Option<SeedResult>, EngineError> {
    refuse_kernel_controllers(scenario)?;
    refuse_quic(scenario)?;
    let make = |flow: &NewFlow| -> Option<Box<dyn Endpoints>> {
        if flow.index > 0 {
            return None;
        }
        Some(Box::new(Watched { tcp: Tcp::of(flow)?, watch: Rc::clone(&watch) }))
    };
    run_with(scenario, seed, options, &make)
}
