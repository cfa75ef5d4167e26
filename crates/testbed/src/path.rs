// SPDX-License-Identifier: MIT OR Apache-2.0
//! What lies between the two ends: links, their pipes, routes. Knows times, but no clock and no device.
//!
//! A packet's whole way is worked out from the time when it was read: how late the emulator looks does not change when it is
//! due at a link or at the other end, so lateness does not add up over hops.

use std::collections::VecDeque;

use slab::Slab;
use tandem_network::{
    Drop, Link, Offer, Ring,
    agenda::{Agenda, NEVER},
};
use tandem_scenario::Network;

use crate::delivered::Delivered;

/// The two ends of every flow. Data goes from the senders to the receivers, ACKs go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Senders,
    Receivers,
}

pub const ENDS: [End; 2] = [End::Senders, End::Receivers];

impl End {
    pub fn other(self) -> Self {
        match self {
            End::Senders => End::Receivers,
            End::Receivers => End::Senders,
        }
    }
}

/// An IP packet on its way.
#[derive(Debug)]
pub struct Packet {
    /// Longer than the packet; used again for others.
    pub buffer: Box<[u8]>,
    pub bytes: u32,
    pub flow: u32,
    pub to: End,
    /// Links behind it.
    hop: u32,
}

impl Packet {
    pub fn new(buffer: Box<[u8]>, bytes: usize, flow: usize, to: End) -> Self {
        Self { buffer, bytes: bytes as u32, flow: flow as u32, to, hop: 0 }
    }

    pub fn contents(&self) -> &[u8] {
        &self.buffer[..self.bytes as usize]
    }
}

/// A flow's way.
#[derive(Debug, Clone)]
pub struct Route {
    /// Links to the receiver, and those back.
    pub forward: Vec<usize>,
    pub back: Vec<usize>,
    /// Delay outside the links, ns; spent on the way back, as in the simulator.
    pub access_ns: u64,
}

impl Route {
    fn links(&self, to: End) -> &[usize] {
        match to {
            End::Receivers => &self.forward,
            End::Senders => &self.back,
        }
    }
}

/// Where the path keeps a packet.
pub type Key = usize;
/// What is in a pipe, in order: when it is due at the pipe's end.
type Pipe = Ring<(u64, Key)>;

pub struct Path {
    /// None until [`Self::begin`].
    pub links: Vec<Link<Key>>,
    packets: Slab<Packet>,
    routes: Vec<Route>,
    /// By flow: propagation delay to the senders' end and to the receivers', ns.
    delays: Vec<[u64; 2]>,
    /// By link: on the way to its far end.
    link_ends: Vec<Pipe>,
    /// By flow and end: outside the links.
    approaches: Vec<[Pipe; 2]>,
    /// Sources: two a link (its far end; it is free for the next waiting packet), two a flow (its ends).
    agenda: Agenda,
    /// By end: due there by now, in order, since when.
    pub arrived: [VecDeque<(u64, Packet)>; 2],
    /// Buffers of dropped packets, and what the ends have too many of.
    pub spare: Vec<Box<[u8]>>,
    /// Until when a full queue may be full of what a pause of the emulator had held up.
    suspect_until: u64,
    /// Packets that a full queue dropped until then.
    pub drops_after_pauses: u64,
    /// Since when, and by end, if it is asked for.
    delivered: Option<(u64, [Delivered; 2])>,
}

impl Path {
    /// One route a flow.
    pub fn new(network: &Network, routes: Vec<Route>) -> Self {
        let delay = |links: &[usize]| links.iter().map(|&l| network.links[l].delay.ns).sum();
        Self {
            links: Vec::new(),
            packets: Slab::new(),
            delays: routes.iter().map(|r| [delay(&r.back) + r.access_ns, delay(&r.forward)]).collect(),
            link_ends: network.links.iter().map(|_| Pipe::default()).collect(),
            approaches: routes.iter().map(|_| Default::default()).collect(),
            agenda: Agenda::new(2 * (network.links.len() + routes.len())),
            arrived: Default::default(),
            spare: Vec::new(),
            suspect_until: 0,
            drops_after_pauses: 0,
            delivered: None,
            routes,
        }
    }

    /// From now on packets go through these links. Before, connections are made: nothing but the propagation delay is
    /// there then, so that no lost SYN changes how a connection begins.
    pub fn begin(&mut self, links: Vec<Link<Key>>) {
        assert_eq!(links.len(), self.link_ends.len(), "the links of the network that the path was made for");
        self.links = links;
    }

    /// What the hosts sent before now may come in one burst: drops until `time` are counted apart.
    pub fn suspect_until(&mut self, time: u64) {
        self.suspect_until = self.suspect_until.max(time);
    }

    /// Counts what arrives from `now` on.
    pub fn count_from(&mut self, now: u64) {
        self.delivered = Some((now, Default::default()));
    }

    /// What has arrived at an end; nothing if it was not counted.
    pub fn delivered(&self, end: End) -> Delivered {
        self.delivered.as_ref().map_or_else(Delivered::default, |(_, ends)| ends[end as usize].clone())
    }

    /// A flow's two-way propagation delay.
    pub fn base_rtt_ns(&self, flow: usize) -> u64 {
        self.delays[flow].iter().sum()
    }

    /// When something is next due anywhere; [`NEVER`] if nothing is under way.
    pub fn next(&self) -> u64 {
        self.agenda.next().0
    }

    /// A host sends a packet. `now` is not before any time that [`Self::advance`] was given.
    pub fn send(&mut self, now: u64, packet: Packet) {
        let delay = self.delays[packet.flow as usize][packet.to as usize];
        let key = self.packets.insert(packet);
        if self.links.is_empty() {
            self.approach(now + delay, key);
        } else {
            self.enter_next_link(now, key);
        }
    }

    /// Lets everything happen that is due until `now`; what reaches its end goes to `arrived`.
    pub fn advance(&mut self, now: u64) {
        loop {
            let (time, source) = self.agenda.next();
            if time > now {
                break;
            }
            match self.source(source) {
                Source::LinkEnd(link) => self.on_link_end(time, link),
                Source::LinkFree(link) => self.on_link_free(time, link),
                Source::Approach(flow, end) => {
                    let (key, next) = take(&mut self.approaches[flow][end]);
                    self.agenda.set(source, next);
                    self.arrive(time, key);
                }
            }
        }
    }

    fn source(&self, number: usize) -> Source {
        let (index, which) = (number / 2, number % 2);
        match index.checked_sub(self.link_ends.len()) {
            Some(flow) => Source::Approach(flow, which),
            None if which == 0 => Source::LinkEnd(index),
            None => Source::LinkFree(index),
        }
    }

    fn enter_next_link(&mut self, now: u64, key: Key) {
        let packet = &self.packets[key];
        let link = self.routes[packet.flow as usize].links(packet.to)[packet.hop as usize];
        match self.links[link].offer(now, packet.bytes, key) {
            Offer::Departs(departure) => self.depart(link, departure, key),
            Offer::Waits => self.watch(link),
            Offer::Dropped(why) => {
                self.drops_after_pauses += u64::from(why == Drop::Queue && now < self.suspect_until);
                self.spare.push(self.packets.remove(key).buffer);
            }
        }
    }

    /// A packet leaves a link at `departure`.
    fn depart(&mut self, link: usize, departure: u64, key: Key) {
        let packet = &mut self.packets[key];
        packet.hop += 1;
        let time = departure + self.links[link].delay;
        let route = &self.routes[packet.flow as usize];
        if packet.to == End::Senders && packet.hop as usize == route.back.len() {
            let time = time + route.access_ns;
            return self.approach(time, key);
        }
        let pipe = &mut self.link_ends[link];
        if pipe.is_empty() {
            self.agenda.set(2 * link, time);
        }
        pipe.push((time, key));
    }

    fn approach(&mut self, time: u64, key: Key) {
        let Packet { flow, to, .. } = self.packets[key];
        let (flow, end) = (flow as usize, to as usize);
        let pipe = &mut self.approaches[flow][end];
        if pipe.is_empty() {
            self.agenda.set(2 * (self.link_ends.len() + flow) + end, time);
        }
        pipe.push((time, key));
    }

    fn arrive(&mut self, now: u64, key: Key) {
        let packet = self.packets.remove(key);
        if let Some((since, ends)) = &mut self.delivered {
            ends[packet.to as usize].count(now.saturating_sub(*since), packet.contents());
        }
        self.arrived[packet.to as usize].push_back((now, packet));
    }

    fn on_link_end(&mut self, now: u64, link: usize) {
        let (key, next) = take(&mut self.link_ends[link]);
        self.agenda.set(2 * link, next);
        let packet = &self.packets[key];
        let is_there = packet.hop as usize == self.routes[packet.flow as usize].links(packet.to).len();
        if is_there {
            self.arrive(now, key);
        } else {
            self.enter_next_link(now, key);
        }
    }

    /// A link whose discipline decides at departure has become free.
    fn on_link_free(&mut self, now: u64, link: usize) {
        let Self { spare, packets, links, .. } = self;
        let served = links[link].serve(now, |key| spare.push(packets.remove(key).buffer));
        if let Some((key, departure)) = served {
            self.depart(link, departure, key);
        }
        self.watch(link);
    }

    fn watch(&mut self, link: usize) {
        self.agenda.set(2 * link + 1, self.links[link].serve_at().unwrap_or(NEVER));
    }
}

/// The first of a pipe that the agenda has woken, and when the next is due.
fn take(pipe: &mut Pipe) -> (Key, u64) {
    let (_, key) = pipe.pop().expect("the agenda wakes only pipes that hold something");
    (key, pipe.first().map_or(NEVER, |(time, _)| time))
}

enum Source {
    LinkEnd(usize),
    LinkFree(usize),
    /// Flow and end.
    Approach(usize, usize),
}

#[cfg(test)]
mod tests;
