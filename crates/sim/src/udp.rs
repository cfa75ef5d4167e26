// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP: packets at a constant rate, and what they meet on their way.

use tandem_engine::{ConstantRate, Counters, Quality};
use tandem_network::End;

use crate::{
    endpoints::{Endpoints, NewFlow, Port},
    packet::Header,
    unanswered::Unanswered,
};

pub struct Udp {
    source: ConstantRate,
    packet_bytes: u32,
    packets: Unanswered,
}

impl Udp {
    pub fn of(flow: &NewFlow) -> Option<Box<dyn Endpoints>> {
        let NewFlow { scenario, index, group, .. } = *flow;
        let source = flow.applications.constant_rate(index, group)?;
        let packet_bytes = flow.source().packet_bytes(scenario.mtu);
        Some(Box::new(Self { source, packet_bytes, packets: Unanswered::of(scenario) }))
    }
}

impl Endpoints for Udp {
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        debug_assert!(at == End::Receivers, "nothing answers");
        self.packets.arrive(port.now, header.seq());
        None
    }

    /// Sends what is due.
    fn on_timer(&mut self, at: End, port: &mut Port) -> u64 {
        debug_assert!(at == End::Senders, "receivers have nothing to do");
        if self.source.is_due(port.now) {
            port.send_udp(self.packets.send(port.now), self.packet_bytes);
            self.source.sent();
        }
        self.source.next()
    }

    fn are_apart(&self) -> bool {
        true
    }

    fn counters(&self) -> Counters {
        self.packets.counters()
    }

    fn quality(&self) -> Option<&Quality> {
        Some(&self.packets.quality)
    }
}
