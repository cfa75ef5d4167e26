// SPDX-License-Identifier: MIT OR Apache-2.0
//! What lies between the hosts: links, the pipes behind them, and the agenda of what arrives when.

use tandem_network::{
    Link, Offer, Ring, Rng, Stream, access_ns,
    wlan::{AP, Cell, Delivered},
};
use tandem_scenario::Scenario;

use crate::{
    agenda::{Agenda, NEVER},
    packet::{Kind, NO_SACK, PackedAck, Packet, SackStore},
    receiver::AckOut,
};

/// Something that can be next. Sources of the agenda are numbered: two a link, two a flow, then the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A packet reaches the far end of the link: a receiver, or the next link.
    LinkEnd(usize),
    /// The link is free for the next waiting packet.
    LinkFree(usize),
    /// An ACK reaches the flow's sender.
    Sender(usize),
    /// A timer of the flow.
    Timer(usize),
    Clock,
}

/// A flow's way through the network.
#[derive(Debug, Clone)]
pub struct Route {
    pub forward: Box<[u32]>,
    pub back: Box<[u32]>,
    /// Delay outside the links, ns; spent on the way back.
    pub access_ns: u64,
    /// Who sends its packets up in a wireless cell.
    station: usize,
    /// What an ACK sets off happens a random time up to this later.
    send_jitter_ns: u64,
    rng: Rng,
}

/// The wireless cell, and which links it is.
pub struct Air {
    pub cell: Cell<Packet>,
    uplink: usize,
    downlink: usize,
}

pub struct Net {
    pub agenda: Agenda,
    /// Those with a rate of their own, which come first; what is numbered beyond them goes over the air.
    pub links: Vec<Link<Packet>>,
    pub cell: Option<Air>,
    pub routes: Vec<Route>,
    pub sacks: SackStore,
    /// Sources of the agenda before those of the flows.
    first_flow: usize,
    /// By link: what is on its way to the far end, and when it arrives.
    link_ends: Vec<Ring<(u64, Packet)>>,
    /// By flow: ACKs that have left their last link. Each flow has its own delay from there.
    to_sender: Vec<Ring<(u64, PackedAck)>>,
    ack_bytes: u16,
    data_bytes: u16,
}

impl Net {
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let flows = scenario.flow_count();
        let links = &scenario.network.links;
        let measured = scenario.warmup.ns..scenario.duration.ns;
        let group_of_flow = scenario.group_of_flow();
        let station_of_flow = scenario.station_of_flow();
        let route = |flow: usize| {
            let group = &scenario.groups[group_of_flow[flow]];
            let mut rng = Rng::new(seed, Stream::Flow(flow));
            let access_ns = access_ns(group, &mut rng);
            let numbers = |route: &[usize]| route.iter().map(|&l| l as u32).collect();
            let station = AP + 1 + station_of_flow[flow];
            let (forward, back) = (numbers(&group.forward), numbers(&group.back));
            let send_jitter_ns = if group.source.sets_own_rate() { 0 } else { scenario.send_jitter.ns };
            Route { forward, back, access_ns, station, send_jitter_ns, rng }
        };
        let cell = &scenario.network.cell;
        let wired = cell.as_ref().map_or(links.len(), |cell| cell.uplink.min(cell.downlink));
        Self {
            agenda: Agenda::new(2 * flows + 2 * links.len() + 1),
            first_flow: 2 * links.len(),
            cell: cell.as_ref().map(|cell| Air {
                cell: Cell::of(cell, links, measured.clone(), seed),
                uplink: cell.uplink,
                downlink: cell.downlink,
            }),
            links: links[..wired]
                .iter()
                .enumerate()
                .map(|(i, l)| Link::new(l, scenario.mtu, measured.clone(), Rng::new(seed, Stream::Link(i))))
                .collect(),
            routes: (0..flows).map(route).collect(),
            sacks: SackStore::default(),
            link_ends: links.iter().map(|_| Ring::default()).collect(),
            to_sender: (0..flows).map(|_| Ring::default()).collect(),
            ack_bytes: tandem_scenario::HEADER_BYTES as u16,
            data_bytes: scenario.mtu as u16,
        }
    }

    #[inline]
    fn number(&self, source: Source) -> usize {
        match source {
            Source::LinkEnd(l) => 2 * l,
            Source::LinkFree(l) => 2 * l + 1,
            Source::Sender(f) => self.first_flow + 2 * f,
            Source::Timer(f) => self.first_flow + 2 * f + 1,
            Source::Clock => self.first_flow + 2 * self.routes.len(),
        }
    }

    /// What is next, and when.
    #[inline]
    pub fn next(&self) -> (u64, Source) {
        let (time, number) = self.agenda.next();
        let first_flow = self.first_flow;
        let source = if number < first_flow {
            if number % 2 == 0 { Source::LinkEnd(number / 2) } else { Source::LinkFree(number / 2) }
        } else {
            let flow = (number - first_flow) / 2;
            if flow == self.routes.len() {
                Source::Clock
            } else if (number - first_flow).is_multiple_of(2) {
                Source::Sender(flow)
            } else {
                Source::Timer(flow)
            }
        };
        (time, source)
    }

    /// Sets when a source is next.
    #[inline]
    pub fn wake(&mut self, source: Source, time: u64) {
        self.agenda.set(self.number(source), time);
    }

    /// Brings a timer forward to `time`; never puts it off, for a timer that fires early looks for itself.
    #[inline]
    pub fn wake_by(&mut self, source: Source, time: u64) {
        if time < self.agenda.time_of(self.number(source)) {
            self.wake(source, time);
        }
    }

    /// A sender sends a segment.
    #[inline]
    pub fn send_data(&mut self, now: u64, flow: usize, seq: u64, kind: Kind) {
        let sack = NO_SACK;
        self.forward(now, Packet { seq, flow: flow as u32, sack, bytes: self.data_bytes, hop: 0, kind, dsack: false });
    }

    /// A receiver sends an ACK.
    #[inline]
    pub fn send_ack(&mut self, now: u64, flow: usize, ack: AckOut) {
        let sack = ack.blocks.map_or(NO_SACK, |blocks| self.sacks.keep(blocks));
        let (seq, dsack) = (ack.next_expected, ack.dsack);
        let bytes = self.ack_bytes;
        self.forward(now, Packet { seq, flow: flow as u32, sack, bytes, hop: 0, kind: Kind::Ack, dsack });
    }

    /// Offers a packet to the next link of its route.
    #[inline]
    fn forward(&mut self, now: u64, packet: Packet) {
        let route = &self.routes[packet.flow as usize];
        let links = if packet.kind == Kind::Ack { &route.back } else { &route.forward };
        let link = links[packet.hop as usize] as usize;
        let Some(wired) = self.links.get_mut(link) else { return self.send_over_air(now, link, packet) };
        match wired.offer(now, u32::from(packet.bytes), packet) {
            Offer::Departs(departure) => self.depart(link, departure, packet),
            Offer::Waits => self.watch(link),
            Offer::Dropped(_) => {
                self.sacks.take(packet.sack);
            }
        }
    }

    /// A packet leaves a link at `departure`: an ACK that has no further link before it to its sender, all others to the far
    /// end of the link.
    #[inline]
    fn depart(&mut self, link: usize, departure: u64, packet: Packet) {
        self.arrive(link, departure + self.links[link].delay, packet);
    }

    /// A packet reaches the far end of a link at `time`.
    #[inline]
    fn arrive(&mut self, link: usize, time: u64, mut packet: Packet) {
        packet.hop += 1;
        let flow = packet.flow as usize;
        if packet.kind == Kind::Ack && usize::from(packet.hop) == self.routes[flow].back.len() {
            return self.approach_sender(flow, time, &packet);
        }
        let pipe = &mut self.link_ends[link];
        let is_first = pipe.is_empty();
        pipe.push((time, packet));
        if is_first {
            self.wake(Source::LinkEnd(link), time);
        }
    }

    #[inline]
    fn approach_sender(&mut self, flow: usize, mut time: u64, ack: &Packet) {
        let route = &mut self.routes[flow];
        time += route.access_ns;
        if route.send_jitter_ns > 0 {
            // The random send delay, in order.
            time += route.rng.below(route.send_jitter_ns);
        }
        let pipe = &mut self.to_sender[flow];
        let last = pipe.last();
        time = time.max(last.map_or(0, |(last, _)| last));
        pipe.push((time, PackedAck::of(ack)));
        if last.is_none() {
            self.wake(Source::Sender(flow), time);
        }
    }

    /// Takes the ACK that has reached the sender of a flow.
    #[inline]
    pub fn take_ack(&mut self, flow: usize) -> PackedAck {
        let pipe = &mut self.to_sender[flow];
        let (_, ack) = pipe.pop().expect("the agenda wakes only pipes that hold something");
        let next = pipe.first().map_or(NEVER, |(time, _)| time);
        self.wake(Source::Sender(flow), next);
        ack
    }

    /// A packet is at the far end of a link. Returns the data that has reached its receiver; all else travels on.
    #[inline]
    pub fn on_link_end(&mut self, now: u64, link: usize) -> Option<Packet> {
        let pipe = &mut self.link_ends[link];
        let (_, packet) = pipe.pop().expect("the agenda wakes only pipes that hold something");
        let next = pipe.first().map_or(NEVER, |(time, _)| time);
        self.wake(Source::LinkEnd(link), next);
        let is_there =
            packet.kind != Kind::Ack && usize::from(packet.hop) == self.routes[packet.flow as usize].forward.len();
        if is_there {
            return Some(packet);
        }
        self.forward(now, packet);
        None
    }

    /// A link whose discipline decides at departure has become free, or a transmission in the wireless cell begins.
    pub fn on_link_free(&mut self, now: u64, link: usize) {
        if link >= self.links.len() {
            return self.on_transmission();
        }
        let sacks = &mut self.sacks;
        let served = self.links[link].serve(now, |dropped| {
            sacks.take(dropped.sack);
        });
        if let Some((packet, departure)) = served {
            self.depart(link, departure, packet);
        }
        self.watch(link);
    }

    fn watch(&mut self, link: usize) {
        self.wake(Source::LinkFree(link), self.links[link].serve_at().unwrap_or(NEVER));
    }

    /// Offers a packet to its sender in the wireless cell.
    #[inline(never)]
    fn send_over_air(&mut self, now: u64, link: usize, packet: Packet) {
        let Some(air) = &mut self.cell else { return };
        let sender = if link == air.downlink { AP } else { self.routes[packet.flow as usize].station };
        if air.cell.offer(now, sender, u32::from(packet.bytes), packet) {
            self.watch_air();
        } else {
            self.sacks.take(packet.sack);
        }
    }

    #[inline(never)]
    fn on_transmission(&mut self) {
        let Some(air) = &mut self.cell else { return };
        let sacks = &mut self.sacks;
        let delivered = air.cell.serve(|given_up| {
            sacks.take(given_up.sack);
        });
        let (uplink, downlink) = (air.uplink, air.downlink);
        if let Some(Delivered { packet, sender, at }) = delivered {
            self.arrive(if sender == AP { downlink } else { uplink }, at, packet);
        }
        self.watch_air();
    }

    fn watch_air(&mut self) {
        if let Some(air) = &self.cell {
            self.wake(Source::LinkFree(air.uplink), air.cell.next_at());
        }
    }
}
