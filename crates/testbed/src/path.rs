// SPDX-License-Identifier: MIT OR Apache-2.0
//! The network between the two ends, with the packets' contents. It knows times, but no clock and no device.
//!
//! The network works out a packet's whole way from the time when it was read: how late the emulator looks does not change
//! when the packet is due at a link or at the other end, so lateness does not add up over hops.

use std::collections::VecDeque;

use slab::Slab;
pub use tandem_network::End;
use tandem_network::{Contents, DropReason, Ecn, Event, Link, Network, Rng, Route, Stream};
use tandem_scenario::{Aqm, LinkConfig, Loss, Topology, units::Rate};

use crate::{delivered::Delivered, ip};

/// Both ends; `end as usize` is an end's place.
pub const ENDS: [End; 2] = [End::Senders, End::Receivers];

/// An IP packet on its way.
#[derive(Debug)]
pub struct Packet {
    /// Longer than the packet; used again for others.
    pub buffer: Box<[u8]>,
    pub bytes: u32,
    pub flow: u32,
    pub to: End,
}

impl Packet {
    pub fn new(buffer: Box<[u8]>, bytes: usize, flow: usize, to: End) -> Self {
        Self { buffer, bytes: bytes as u32, flow: flow as u32, to }
    }

    pub fn contents(&self) -> &[u8] {
        &self.buffer[..self.bytes as usize]
    }
}

/// What the network carries in place of a packet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ticket {
    /// Where the path keeps the packet.
    key: u32,
    bytes: u32,
    place: u32,
    conversation: u32,
    ecn: Ecn,
}

impl tandem_network::Packet for Ticket {
    type Returning = Self;

    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn place(&self) -> u32 {
        self.place
    }

    fn set_place(&mut self, place: u32) {
        self.place = place;
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn conversation(&self) -> u32 {
        self.conversation
    }
}

/// The packets that are under way.
#[derive(Debug, Default)]
struct Store {
    packets: Slab<Packet>,
    /// Buffers of dropped packets, and those that the ends have too many of.
    spare: Vec<Box<[u8]>>,
    /// Until when a full queue may be full of packets that a pause of the emulator had held up, ns.
    suspect_until: u64,
    /// Packets that queues dropped until then.
    drops_after_pauses: u64,
}

impl Contents<Ticket> for Store {
    fn dropped(&mut self, now: u64, ticket: Ticket, reason: DropReason) {
        self.drops_after_pauses += u64::from(reason == DropReason::Queue && now < self.suspect_until);
        self.spare.push(self.packets.remove(ticket.key as usize).buffer);
    }

    fn copied(&mut self, ticket: Ticket) -> Ticket {
        let Packet { buffer, bytes, flow, to } = &self.packets[ticket.key as usize];
        let copy = Packet { buffer: buffer.clone(), bytes: *bytes, flow: *flow, to: *to };
        Ticket { key: self.packets.insert(copy) as u32, ..ticket }
    }
}

pub struct Path {
    /// Until [`Self::begin`] its links have no rate and no queue.
    pub network: Network<Ticket>,
    store: Store,
    /// By end: due there by now, in order, since when.
    pub arrived: [VecDeque<(u64, Packet)>; 2],
    /// Since when, and by end, if it is asked for.
    delivered: Option<(u64, [Delivered; 2])>,
}

impl Path {
    /// A path over this topology with one route for each flow. Nothing but the propagation delay is there at first.
    pub fn new(topology: &Topology, routes: Vec<Route>) -> Self {
        Self {
            network: Network::new(topology.links.iter().map(delay_alone).collect(), None, routes),
            store: Store::default(),
            arrived: Default::default(),
            delivered: None,
        }
    }

    /// From now on packets go through these links. Before, connections are made over the propagation delay alone, so that no
    /// lost SYN changes how a connection begins.
    pub fn begin(&mut self, links: Vec<Link<Ticket>>) {
        assert_eq!(links.len(), self.network.links.len(), "the links of the network that the path was made for");
        self.network.links = links;
    }

    /// Packets that the hosts sent before now may come in one burst: drops until `time`, ns, are counted apart.
    pub fn suspect_until(&mut self, time: u64) {
        self.store.suspect_until = self.store.suspect_until.max(time);
    }

    /// How many packets queues dropped in the times that [`Self::suspect_until`] named.
    pub fn drops_after_pauses(&self) -> u64 {
        self.store.drops_after_pauses
    }

    /// Buffers that no packet uses.
    pub fn spare(&mut self) -> &mut Vec<Box<[u8]>> {
        &mut self.store.spare
    }

    /// Counts the packets that arrive from `now` on.
    pub fn count_from(&mut self, now: u64) {
        self.delivered = Some((now, Default::default()));
    }

    /// What has arrived at an end; nothing if it was not counted.
    pub fn delivered(&self, end: End) -> Delivered {
        self.delivered.as_ref().map_or_else(Delivered::default, |(_, ends)| ends[end as usize].clone())
    }

    /// A flow's two-way propagation delay, ns.
    pub fn base_rtt_ns(&self, flow: usize) -> u64 {
        self.network.base_rtt_ns(flow)
    }

    /// When something is next due anywhere, ns; [`NEVER`](tandem_network::agenda::NEVER) if nothing is under way.
    pub fn next(&self) -> u64 {
        self.network.next_at()
    }

    /// A host sends a packet. `now` is not before any time that [`Self::advance`] was given.
    pub fn send(&mut self, now: u64, packet: Packet) {
        let Packet { bytes, flow, to, .. } = packet;
        let (ecn, conversation) = (ip::ecn(packet.contents()), ip::conversation(packet.contents()));
        let key = self.store.packets.insert(packet) as u32;
        let ticket = Ticket { key, bytes, place: 0, conversation, ecn };
        self.network.send(now, flow as usize, to, ticket, &mut self.store);
    }

    /// Lets everything happen that is due until `now`; a packet that reaches its end goes to `arrived`.
    pub fn advance(&mut self, now: u64) {
        while let Some((time, event)) = self.network.advance(now, &mut self.store) {
            match event {
                Event::AtReceiver(_, ticket) | Event::AtSender(_, ticket) => self.arrive(time, ticket),
                Event::Alarm(_) => unreachable!("nobody sets an alarm here"),
            }
        }
    }

    fn arrive(&mut self, now: u64, ticket: Ticket) {
        let mut packet = self.store.packets.remove(ticket.key as usize);
        if ticket.ecn != ip::ecn(&packet.buffer) {
            ip::set_ecn(&mut packet.buffer, ticket.ecn);
        }
        if let Some((since, ends)) = &mut self.delivered {
            ends[packet.to as usize].count(now.saturating_sub(*since), packet.contents());
        }
        self.arrived[packet.to as usize].push_back((now, packet));
    }
}

/// A link with the same delay that sends every packet at once and loses none.
fn delay_alone(spec: &LinkConfig) -> Link<Ticket> {
    let rate = Rate { bps: u64::MAX };
    let spec = LinkConfig { rate, aqm: Aqm::DropTail, loss: Loss::None, effects: None, ..spec.clone() };
    Link::new(&spec, 0, 0..0, Rng::new(0, Stream::Link(0)))
}

#[cfg(test)]
mod tests;
