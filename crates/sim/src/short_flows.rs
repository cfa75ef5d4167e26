// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short flows: a connection for each transfer, one after the other. Handshakes are left out.

use tandem_engine::{Counters, Due, Transfers};
use tandem_network::End;
use tandem_results::FlowSample;
use tandem_tcp::{AckOut, Config};

use crate::{
    endpoints::{Endpoints, NewFlow, Port},
    packet::Header,
    tcp::{self, Tcp},
};

pub struct Short {
    tcp: Tcp,
    /// What each connection is made from.
    config: Config,
}

impl Short {
    pub fn of(flow: &NewFlow) -> Option<Box<dyn Endpoints>> {
        flow.source().short()?;
        let config = tcp::config(flow.source().tcp()?, flow.scenario.mss());
        Some(Box::new(Self { tcp: Tcp::new(&config, flow)?, config }))
    }

    /// A segment has arrived. Returns the ACK to send now, if any. That of a transfer's last segment is not delayed: it has the PSH flag, and
    /// Linux acknowledges such a segment when the program reads it.
    fn on_data(&mut self, now: u64, segment: u64) -> Option<AckOut> {
        let Tcp { sender, receiver, .. } = &mut self.tcp;
        let ack = receiver.on_data(now, segment);
        ack.or_else(|| (receiver.next_expected == sender.data_end()).then(|| receiver.on_ack_deadline()))
    }
}

impl Endpoints for Short {
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        match at {
            End::Receivers => {
                let ack = self.on_data(port.now, header.segment());
                self.tcp.answer(ack, port);
                None
            }
            End::Senders => self.tcp.on_ack(header, port),
        }
    }

    /// A new connection begins at both ends at once, so both have one timer.
    fn on_timer(&mut self, _at: End, port: &mut Port) -> u64 {
        match self.tcp.transfers.on_time(port.now) {
            Due::Nothing => {}
            Due::Stop => self.tcp.sender.stop(),
            Due::Begin(segments) => {
                let Tcp { sender, receiver, .. } = &mut self.tcp;
                sender.renew(&self.config, port.now);
                *receiver = receiver.renewed();
                self.tcp.give(segments.unwrap_or(0), port);
            }
        }
        self.tcp.on_receiver_timer(port).min(self.tcp.on_sender_timer(port))
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
