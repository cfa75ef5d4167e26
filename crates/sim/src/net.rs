// SPDX-License-Identifier: MIT OR Apache-2.0
//! What lies between the hosts: the network in virtual time, and what its packets leave behind while they are under way.

use tandem_network::{Alarm, Contents, DropReason, Ecn, End, Event, Network, Route, wired_links, wlan::Air};
use tandem_scenario::Scenario;
use tandem_tcp::{
    AckOut,
    segment::{stamp, stamp_ends},
};

use crate::packet::{Carried, DATAGRAM, Header, NO_SACK, Packet};

/// UDP (8) and IPv4 (20).
pub const UDP_HEADER_BYTES: u32 = 28;

pub struct Net {
    pub network: Network<Packet>,
    pub carried: Carried,
    ack_bytes: u32,
    data_bytes: u32,
    /// The timestamp of what is sent before `stamp_until`, ns: a division for each segment would cost more.
    stamp: u32,
    stamp_until: u64,
}

impl tandem_network::Packet for Packet {
    type Returning = Header;

    #[inline]
    fn bytes(&self) -> u32 {
        self.bytes
    }

    #[inline]
    fn place(&self) -> u32 {
        self.place
    }

    #[inline]
    fn set_place(&mut self, place: u32) {
        self.place = place;
    }

    fn ecn(&self) -> Ecn {
        self.header.ecn()
    }

    fn mark(&mut self) {
        self.header.mark();
    }
}

impl Contents<Packet> for Carried {
    #[inline]
    fn dropped(&mut self, _now: u64, packet: Packet, _reason: DropReason) {
        match packet.header.sack() {
            DATAGRAM => drop(self.datagrams.take(packet.header.seq())),
            place => drop(self.feedback.take(place)),
        }
    }

    fn copied(&mut self, packet: Packet) -> Packet {
        let header = match packet.header.sack() {
            DATAGRAM => Header::new(self.datagrams.copy(packet.header.seq()), DATAGRAM, 0),
            place => packet.header.with_sack(self.feedback.copy(place)),
        };
        Packet { header, ..packet }
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
        let links = wired_links(topology, scenario.mtu, 0, &measured, seed);
        Self {
            network: Network::new(links, Air::of(topology, &measured, seed), routes),
            carried: Carried::default(),
            ack_bytes: tandem_scenario::HEADER_BYTES,
            data_bytes: scenario.mtu,
            stamp: NO_SACK,
            stamp_until: 0,
        }
    }

    /// The next thing that a flow or the host must deal with, if it comes by `end`, ns.
    #[inline]
    pub fn advance(&mut self, end: u64) -> Option<(u64, Event<Packet>)> {
        self.network.advance(end, &mut self.carried)
    }

    /// Sets when a flow's timer is next due.
    #[inline]
    pub fn wake(&mut self, flow: usize, time: u64) {
        self.network.wake(Alarm::Flow(flow), time);
    }

    /// A sender sends a segment, with what it says about ECN in the upper bits.
    #[inline(always)]
    pub fn send_data(&mut self, now: u64, flow: usize, seq: u64) {
        if now >= self.stamp_until {
            (self.stamp, self.stamp_until) = (stamp(now), stamp_ends(now));
        }
        let packet = Packet { header: Header::new(seq, self.stamp, 0), bytes: self.data_bytes, place: 0 };
        self.network.send(now, flow, End::Receivers, packet, &mut self.carried);
    }

    /// A UDP source sends a packet of so many bytes.
    pub fn send_udp(&mut self, now: u64, flow: usize, number: u64, bytes: u32) {
        let packet = Packet { header: Header::new(number, NO_SACK, 0), bytes, place: 0 };
        self.network.send(now, flow, End::Receivers, packet, &mut self.carried);
    }

    /// An end sends a datagram. On the wire it has the headers of UDP and IPv4, too.
    pub fn send_datagram(&mut self, now: u64, flow: usize, to: End, datagram: Vec<u8>) {
        let bytes = datagram.len() as u32 + UDP_HEADER_BYTES;
        let number = self.carried.datagrams.keep(datagram);
        let packet = Packet { header: Header::new(number, DATAGRAM, 0), bytes, place: 0 };
        self.network.send(now, flow, to, packet, &mut self.carried);
    }

    /// A receiver sends an ACK.
    #[inline(always)]
    pub fn send_ack(&mut self, now: u64, flow: usize, ack: AckOut) {
        let sack = ack.feedback.map_or(NO_SACK, |feedback| self.carried.feedback.keep(feedback));
        let header = Header::new(ack.next_expected, sack, ack.flags);
        let packet = Packet { header, bytes: self.ack_bytes, place: 0 };
        self.network.send(now, flow, End::Senders, packet, &mut self.carried);
    }
}
