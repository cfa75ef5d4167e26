// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network: links, the pipes behind them, routes, and the agenda of what arrives when.
//!
//! It has no clock. A host that simulates lets it jump from event to event; a host that emulates asks it at the machine's
//! time for all that is due by then. Each packet is worked out from the time when it was due, never from the time when the
//! host looked, so a host that looks late does not change when anything is due further on.

use std::ops::Range;

use tandem_scenario::{Link as LinkSpec, Network as Topology};

use crate::{
    Contents, DropReason, End, Link, Offer, Packet, Ring, Rng, Route, Stream,
    agenda::{Agenda, NEVER},
    wlan::{AP, Air, Delivered},
};

/// Something that the host must deal with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<P: Packet> {
    /// A packet has reached its receiver.
    AtReceiver(P),
    /// A packet of this flow has reached its sender.
    AtSender(usize, P::Returning),
    /// The alarm that the host set is due. It stays due until the host sets it anew.
    Alarm(Alarm),
}

/// What a host can ask to be woken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alarm {
    /// A timer of this flow.
    Flow(usize),
    /// The host's own, one for all.
    Host,
}

/// Sources of the agenda are numbered: two a link, two a flow, then the host's own. Of those due at the same time, the one
/// with the lowest number comes first.
enum Source {
    /// A packet reaches the far end of the link: a receiver, or the next link.
    LinkEnd(usize),
    /// The link is free for the next waiting packet.
    LinkFree(usize),
    /// A packet reaches the flow's sender.
    Sender(usize),
    Alarm(Alarm),
}

/// `P` is what the host calls a packet.
#[derive(Debug)]
pub struct Network<P: Packet> {
    agenda: Agenda,
    /// Those with a rate of their own, which come first; what is numbered beyond them goes over the air.
    pub links: Vec<Link<P>>,
    /// The wireless cell, if there is one.
    pub air: Option<Air<P>>,
    /// By flow.
    routes: Vec<Route>,
    /// By link: what is on its way to the far end, and when it arrives.
    link_ends: Vec<Ring<(u64, P)>>,
    /// By flow: what has left its last link on the way to the sender. Each flow has its own delay from there.
    to_sender: Vec<Ring<(u64, P::Returning)>>,
    /// Sources of the agenda before those of the flows.
    first_flow: usize,
}

/// The wired links of a topology. `mtu` in bytes; `measured` is the part of the run that counts in statistics, ns.
pub fn wired_links<P: Packet>(topology: &Topology, mtu: u32, measured: &Range<u64>, seed: u64) -> Vec<Link<P>> {
    let link = |(i, spec): (usize, &LinkSpec)| Link::new(spec, mtu, measured.clone(), Rng::new(seed, Stream::Link(i)));
    let over_air = |i: usize| topology.cell.as_ref().is_some_and(|cell| i == cell.uplink || i == cell.downlink);
    topology.links.iter().enumerate().filter(|&(i, _)| !over_air(i)).map(link).collect()
}

impl<P: Packet> Network<P> {
    /// A network of these links, of which the cell's are the last, with one route for each flow.
    pub fn new(links: Vec<Link<P>>, air: Option<Air<P>>, routes: Vec<Route>) -> Self {
        let all_links = links.len() + if air.is_some() { Air::<P>::LINKS } else { 0 };
        Self {
            agenda: Agenda::new(2 * all_links + 2 * routes.len() + 1),
            first_flow: 2 * all_links,
            link_ends: (0..all_links).map(|_| Ring::default()).collect(),
            to_sender: routes.iter().map(|_| Ring::default()).collect(),
            links,
            air,
            routes,
        }
    }

    /// A flow's two-way propagation delay, ns.
    pub fn base_rtt_ns(&self, flow: usize) -> u64 {
        let route = &self.routes[flow];
        let links = route.links(End::Receivers).iter().chain(route.links(End::Senders));
        route.access_ns + links.filter_map(|&l| self.links.get(l as usize)).map(|link| link.delay).sum::<u64>()
    }

    #[inline]
    fn number(&self, source: Source) -> usize {
        match source {
            Source::LinkEnd(l) => 2 * l,
            Source::LinkFree(l) => 2 * l + 1,
            Source::Sender(f) => self.first_flow + 2 * f,
            Source::Alarm(Alarm::Flow(f)) => self.first_flow + 2 * f + 1,
            Source::Alarm(Alarm::Host) => self.first_flow + 2 * self.routes.len(),
        }
    }

    #[inline]
    fn source(&self, number: usize) -> Source {
        let (index, is_first) = (number / 2, number.is_multiple_of(2));
        let Some(flow) = index.checked_sub(self.first_flow / 2) else {
            return if is_first { Source::LinkEnd(index) } else { Source::LinkFree(index) };
        };
        if flow == self.routes.len() {
            Source::Alarm(Alarm::Host)
        } else if is_first {
            Source::Sender(flow)
        } else {
            Source::Alarm(Alarm::Flow(flow))
        }
    }

    /// When something is next due anywhere, ns; [`NEVER`] if nothing is under way and no alarm is set.
    #[inline]
    pub fn next_at(&self) -> u64 {
        self.agenda.next().0
    }

    /// Sets when the host is woken; [`NEVER`] switches the alarm off.
    #[inline]
    pub fn wake(&mut self, alarm: Alarm, time: u64) {
        self.set(Source::Alarm(alarm), time);
    }

    /// Brings an alarm forward to `time`; never puts it off, for a timer that fires early looks for itself.
    #[inline]
    pub fn wake_by(&mut self, alarm: Alarm, time: u64) {
        self.agenda.bring_forward(self.number(Source::Alarm(alarm)), time);
    }

    #[inline]
    fn set(&mut self, source: Source, time: u64) {
        self.agenda.set(self.number(source), time);
    }

    /// Lets happen what is due until the host has something to do, and returns that with its time; `None` if nothing is due
    /// by `until` any more.
    #[inline]
    pub fn advance(&mut self, until: u64, contents: &mut impl Contents<P>) -> Option<(u64, Event<P>)> {
        loop {
            let (now, number) = self.agenda.next();
            if now > until {
                return None;
            }
            match self.source(number) {
                Source::LinkEnd(link) => {
                    let (packet, next) = take(&mut self.link_ends[link]);
                    self.set(Source::LinkEnd(link), next);
                    if self.is_at_receiver(&packet) {
                        return Some((now, Event::AtReceiver(packet)));
                    }
                    self.send(now, packet, contents);
                }
                Source::LinkFree(link) => self.on_link_free(now, link, contents),
                Source::Sender(flow) => {
                    let (packet, next) = take(&mut self.to_sender[flow]);
                    self.set(Source::Sender(flow), next);
                    return Some((now, Event::AtSender(flow, packet)));
                }
                Source::Alarm(alarm) => return Some((now, Event::Alarm(alarm))),
            }
        }
    }

    #[inline]
    fn is_at_receiver(&self, packet: &P) -> bool {
        packet.to() == End::Receivers && packet.hop() == self.routes[packet.flow()].links(End::Receivers).len()
    }

    /// Offers a packet to the next link of its route: a host sends it, or it comes from the link before. `now` must not be
    /// before the time of anything that has already happened.
    #[inline]
    pub fn send(&mut self, now: u64, packet: P, contents: &mut impl Contents<P>) {
        let link = self.routes[packet.flow()].links(packet.to())[packet.hop()] as usize;
        let Some(wired) = self.links.get_mut(link) else { return self.send_over_air(now, link, packet, contents) };
        match wired.offer(now, packet.bytes(), packet) {
            Offer::Departs(departure) => self.depart(link, departure, packet),
            Offer::Waits => self.watch(link),
            Offer::Dropped(reason) => contents.dropped(now, packet, reason),
        }
    }

    /// A packet's last bit leaves a link at `departure`.
    #[inline]
    fn depart(&mut self, link: usize, departure: u64, packet: P) {
        self.arrive(link, departure + self.links[link].delay, packet);
    }

    /// A packet reaches the far end of a link at `time`. If no link is left on its way to a sender, it goes on at once.
    #[inline]
    fn arrive(&mut self, link: usize, time: u64, mut packet: P) {
        packet.pass_link();
        let flow = packet.flow();
        if packet.to() == End::Senders && packet.hop() == self.routes[flow].links(End::Senders).len() {
            return self.approach_sender(flow, time, packet.into());
        }
        let pipe = &mut self.link_ends[link];
        let is_first = pipe.is_empty();
        pipe.push((time, packet));
        if is_first {
            self.set(Source::LinkEnd(link), time);
        }
    }

    #[inline]
    fn approach_sender(&mut self, flow: usize, mut time: u64, packet: P::Returning) {
        let route = &mut self.routes[flow];
        time += route.access_ns;
        if route.send_jitter_ns > 0 {
            time += route.rng.below(route.send_jitter_ns);
        }
        let pipe = &mut self.to_sender[flow];
        let last = pipe.last();
        // Jitter keeps the order.
        time = time.max(last.map_or(0, |(last, _)| last));
        pipe.push((time, packet));
        if last.is_none() {
            self.set(Source::Sender(flow), time);
        }
    }

    /// A link whose discipline decides at departure has become free, or a transmission in the wireless cell begins.
    fn on_link_free(&mut self, now: u64, link: usize, contents: &mut impl Contents<P>) {
        let Some(wired) = self.links.get_mut(link) else { return self.on_transmission(now, contents) };
        let served = wired.serve(now, |packet| contents.dropped(now, packet, DropReason::Queue));
        if let Some((packet, departure)) = served {
            self.depart(link, departure, packet);
        }
        self.watch(link);
    }

    fn watch(&mut self, link: usize) {
        self.set(Source::LinkFree(link), self.links[link].serve_at().unwrap_or(NEVER));
    }

    /// Offers a packet to its sender in the wireless cell.
    #[inline(never)]
    fn send_over_air(&mut self, now: u64, link: usize, packet: P, contents: &mut impl Contents<P>) {
        let Some(air) = &mut self.air else { return };
        let sender = if link == air.downlink { AP } else { self.routes[packet.flow()].station };
        if air.cell.offer(now, sender, packet.bytes(), packet) {
            self.watch_air();
        } else {
            contents.dropped(now, packet, DropReason::Queue);
        }
    }

    #[inline(never)]
    fn on_transmission(&mut self, now: u64, contents: &mut impl Contents<P>) {
        let Some(air) = &mut self.air else { return };
        let delivered = air.cell.serve(|packet| contents.dropped(now, packet, DropReason::Random));
        let (uplink, downlink) = (air.uplink, air.downlink);
        if let Some(Delivered { packet, sender, at }) = delivered {
            self.arrive(if sender == AP { downlink } else { uplink }, at, packet);
        }
        self.watch_air();
    }

    fn watch_air(&mut self) {
        if let Some(air) = &self.air {
            self.set(Source::LinkFree(air.uplink), air.cell.next_at());
        }
    }
}

/// The first of a pipe that the agenda has woken, and when the next is due.
#[inline]
fn take<T: Copy + Default>(pipe: &mut Ring<(u64, T)>) -> (T, u64) {
    let (_, packet) = pipe.pop().expect("the agenda wakes only pipes that hold something");
    (packet, pipe.first().map_or(NEVER, |(time, _)| time))
}
