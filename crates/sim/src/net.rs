// SPDX-License-Identifier: MIT OR Apache-2.0
//! What lies between the hosts: the network in virtual time, and what its packets leave behind while they are under way.

use tandem_network::{Alarm, Contents, DropReason, End, Event, Network, Route, wired_links, wlan::Air};
use tandem_scenario::Scenario;

use crate::{
    packet::{Kind, NO_SACK, PackedAck, Packet, SackStore},
    receiver::AckOut,
};

pub struct Net {
    pub network: Network<Packet>,
    pub sacks: SackStore,
    ack_bytes: u16,
    data_bytes: u16,
}

impl tandem_network::Packet for Packet {
    type Returning = PackedAck;

    #[inline]
    fn flow(&self) -> usize {
        self.flow as usize
    }

    #[inline]
    fn to(&self) -> End {
        if self.kind == Kind::Ack { End::Senders } else { End::Receivers }
    }

    #[inline]
    fn bytes(&self) -> u32 {
        u32::from(self.bytes)
    }

    #[inline]
    fn hop(&self) -> usize {
        usize::from(self.hop)
    }

    #[inline]
    fn pass_link(&mut self) {
        self.hop += 1;
    }
}

impl Contents<Packet> for SackStore {
    #[inline]
    fn dropped(&mut self, _now: u64, packet: Packet, _reason: DropReason) {
        self.take(packet.sack);
    }
}

impl Net {
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let topology = &scenario.network;
        let measured = scenario.warmup.ns..scenario.duration.ns;
        let mut routes = Route::of_flows(scenario, seed);
        for (route, group) in routes.iter_mut().zip(scenario.group_of_flow()) {
            if !scenario.groups[group].source.sets_own_rate() {
                route.send_jitter_ns = scenario.send_jitter.ns;
            }
        }
        let links = wired_links(topology, scenario.mtu, &measured, seed);
        Self {
            network: Network::new(links, Air::of(topology, &measured, seed), routes),
            sacks: SackStore::default(),
            ack_bytes: tandem_scenario::HEADER_BYTES as u16,
            data_bytes: scenario.mtu as u16,
        }
    }

    /// The next thing that a flow or the host must deal with, if it comes by `end`, ns.
    #[inline]
    pub fn advance(&mut self, end: u64) -> Option<(u64, Event<Packet>)> {
        self.network.advance(end, &mut self.sacks)
    }

    /// Sets when a flow's timer is next due.
    #[inline]
    pub fn wake(&mut self, flow: usize, time: u64) {
        self.network.wake(Alarm::Flow(flow), time);
    }

    /// Brings a flow's timer forward to `time`.
    #[inline]
    pub fn wake_by(&mut self, flow: usize, time: u64) {
        self.network.wake_by(Alarm::Flow(flow), time);
    }

    /// A sender sends a segment.
    #[inline]
    pub fn send_data(&mut self, now: u64, flow: usize, seq: u64, kind: Kind) {
        let (bytes, sack) = (self.data_bytes, NO_SACK);
        let packet = Packet { seq, flow: flow as u32, sack, bytes, hop: 0, kind, dsack: false };
        self.network.send(now, packet, &mut self.sacks);
    }

    /// A receiver sends an ACK.
    #[inline]
    pub fn send_ack(&mut self, now: u64, flow: usize, ack: AckOut) {
        let sack = ack.blocks.map_or(NO_SACK, |blocks| self.sacks.keep(blocks));
        let AckOut { next_expected: seq, dsack, .. } = ack;
        let packet = Packet { seq, flow: flow as u32, sack, bytes: self.ack_bytes, hop: 0, kind: Kind::Ack, dsack };
        self.network.send(now, packet, &mut self.sacks);
    }
}
