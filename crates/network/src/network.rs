// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network: links, the pipes behind them, routes, and the agenda of what arrives when.
//!
//! It has no clock. A host that simulates lets it jump from event to event; a host that emulates asks it at the machine's
//! time for all that is due by then. Each packet is worked out from the time when it was due, never from the time when the
//! host looked, so a host that looks late does not change when anything is due further on.

mod windows;

use std::ops::Range;

use tandem_scenario::{LinkConfig, Topology};

use crate::{
    Contents, DropReason, End, Link, Offer, Packet, Rng, Route, Stream,
    agenda::{Agenda, NEVER},
    effects::Arriving,
    pipe::Pipe,
    wlan::{AP, Air, Delivered},
};

pub use windows::{Lookahead, Receivers};

/// Something that the host must deal with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<P: Packet> {
    /// A packet of this flow has reached its receiver.
    AtReceiver(usize, P),
    /// A packet of this flow has reached its sender.
    AtSender(usize, P::Returning),
    /// The alarm that the host set is due. It stays due until the host sets it anew.
    Alarm(Alarm),
}

/// What a host can ask to be woken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alarm {
    /// The timer of this flow's that belongs to this end.
    Flow(usize, End),
    /// The host's own, one for all.
    Host,
}

/// Sources of the agenda are numbered: two a link, [`OF_A_FLOW`] a flow, then the host's own. Of those due at the same time, the one with the lowest
/// number comes first.
enum Source {
    /// A packet reaches the far end of the link: a receiver, or the next link.
    LinkEnd(usize),
    /// The link is free for the next waiting packet.
    LinkFree(usize),
    /// A packet reaches the flow's sender.
    Sender(usize),
    Alarm(Alarm),
}

/// Sources of a flow: packets that reach its sender, the timer at the senders' end, the timer at the receivers' end.
const OF_A_FLOW: usize = 3;

/// `P` is what the host calls a packet.
#[derive(Debug)]
pub struct Network<P: Packet> {
    agenda: Agenda,
    /// Those with a rate of their own, which come first; what is numbered beyond them goes over the air.
    pub links: Vec<Link<P>>,
    /// The wireless cell, if there is one.
    pub air: Option<Air<P>>,
    /// By flow.
    ways: Vec<Way<P>>,
    /// All links that flows pass, way by way: a packet's place is the one that it is at.
    steps: Vec<Step>,
    /// By link: what is on its way to the far end, and when it arrives.
    link_ends: Vec<Pipe<P>>,
    /// What a link with effects has just sent on its way; empty between calls.
    arriving: Vec<Arriving<P>>,
    /// Sources of the agenda that are links', which come before those of the flows.
    of_links: usize,
}

/// One link of a flow's way to one end. Packets hold the number of a step, for which nothing needs to be looked up.
#[derive(Debug, Clone, Copy)]
struct Step {
    link: u32,
    flow: u32,
    then: Then,
}

/// What comes after a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The next step.
    Link,
    Receiver,
    Sender,
}

/// A flow's way there and back.
#[derive(Debug)]
struct Way<P: Packet> {
    route: Route,
    /// By end that packets travel to: the first step and its number.
    first_steps: [(u32, Step); 2],
    /// What has left the last link on the way to the sender. Each flow has its own delay from there.
    to_sender: Pipe<P::Returning>,
    /// When the last of those that keep their order reaches the sender, ns.
    in_order_until: u64,
    /// Nothing is due at the sender before, ns, where the host goes by windows.
    due_at_sender: u64,
}

impl<P: Packet> Way<P> {
    /// When a packet reaches the sender that leaves the last link on the way there at `time`, ns: later, but never before one that left earlier.
    #[inline(always)]
    fn at_sender(&mut self, mut time: u64) -> u64 {
        let Way { route, in_order_until, .. } = self;
        time += route.access_ns;
        if route.send_jitter_ns > 0 {
            time += route.rng.below(route.send_jitter_ns);
        }
        time = time.max(*in_order_until);
        *in_order_until = time;
        time
    }
}

/// The wired links of a topology. `mtu` in bytes; the run begins at `origin`, ns; `measured` is the part of it that counts in
/// statistics, ns.
pub fn wired_links<P: Packet>(
    topology: &Topology,
    mtu: u32,
    origin: u64,
    measured: &Range<u64>,
    seed: u64,
) -> Vec<Link<P>> {
    let link = |(i, spec): (usize, &LinkConfig)| {
        let link = Link::new(spec, mtu, measured.clone(), Rng::new(seed, Stream::Link(i)));
        link.with_effects(spec, origin, Rng::new(seed, Stream::Effects(i)))
    };
    let over_air = |i: usize| topology.cell.as_ref().is_some_and(|cell| i == cell.uplink || i == cell.downlink);
    topology.links.iter().enumerate().filter(|&(i, _)| !over_air(i)).map(link).collect()
}

impl<P: Packet> Network<P> {
    /// A network of these links, of which the cell's are the last, with one route for each flow.
    pub fn new(links: Vec<Link<P>>, air: Option<Air<P>>, routes: Vec<Route>) -> Self {
        let all_links = links.len() + if air.is_some() { Air::<P>::LINKS } else { 0 };
        let mut steps = Vec::new();
        let way = |(flow, route): (usize, Route)| {
            let first_steps = [End::Senders, End::Receivers].map(|to| add_steps(&mut steps, flow, &route, to));
            Way { route, first_steps, to_sender: Pipe::default(), in_order_until: 0, due_at_sender: NEVER }
        };
        let ways: Vec<Way<P>> = routes.into_iter().enumerate().map(way).collect();
        Self {
            agenda: agenda(all_links, ways.len(), &steps),
            of_links: 2 * all_links,
            link_ends: (0..all_links).map(|_| Pipe::default()).collect(),
            links,
            air,
            ways,
            steps,
            arriving: Vec::new(),
        }
    }

    /// A flow's two-way propagation delay, ns.
    pub fn base_rtt_ns(&self, flow: usize) -> u64 {
        let route = &self.ways[flow].route;
        let links = route.links(End::Receivers).iter().chain(route.links(End::Senders));
        route.access_ns + links.filter_map(|&l| self.links.get(l as usize)).map(|link| link.delay).sum::<u64>()
    }

    #[inline]
    fn number(&self, source: Source) -> usize {
        match source {
            Source::LinkEnd(l) => 2 * l,
            Source::LinkFree(l) => 2 * l + 1,
            Source::Sender(f) => self.of_links + OF_A_FLOW * f,
            Source::Alarm(Alarm::Flow(f, End::Senders)) => self.of_links + OF_A_FLOW * f + 1,
            Source::Alarm(Alarm::Flow(f, End::Receivers)) => self.of_links + OF_A_FLOW * f + 2,
            Source::Alarm(Alarm::Host) => self.of_links + OF_A_FLOW * self.ways.len(),
        }
    }

    #[inline]
    fn source(&self, number: usize) -> Source {
        let Some(of_flows) = number.checked_sub(self.of_links) else {
            let link = number / 2;
            return if number.is_multiple_of(2) { Source::LinkEnd(link) } else { Source::LinkFree(link) };
        };
        let flow = of_flows / OF_A_FLOW;
        match of_flows % OF_A_FLOW {
            _ if flow == self.ways.len() => Source::Alarm(Alarm::Host),
            0 => Source::Sender(flow),
            1 => Source::Alarm(Alarm::Flow(flow, End::Senders)),
            _ => Source::Alarm(Alarm::Flow(flow, End::Receivers)),
        }
    }

    /// When something is next due anywhere, ns; [`NEVER`](crate::agenda::NEVER) if nothing is under way and no alarm is set.
    #[inline]
    pub fn next_at(&self) -> u64 {
        self.agenda.next().0
    }

    /// Sets when the host is woken; [`NEVER`](crate::agenda::NEVER) switches the alarm off.
    #[inline]
    pub fn wake(&mut self, alarm: Alarm, time: u64) {
        self.set(Source::Alarm(alarm), time);
    }

    #[inline]
    fn set(&mut self, source: Source, time: u64) {
        self.agenda.set(self.number(source), time);
    }

    /// Lets happen what is due until the host has something to do, and returns that with its time; `None` if nothing is due
    /// by `until` any more. An agenda of thousands of sources holds some weeks, and `until` lies within them: to cut it here would cost each
    /// event four instructions.
    #[inline]
    pub fn advance(&mut self, until: u64, contents: &mut impl Contents<P>) -> Option<(u64, Event<P>)> {
        debug_assert!(until <= self.agenda.latest(), "{until} ns is beyond the time of any event");
        loop {
            let (now, number) = self.agenda.first();
            if now > until {
                return None;
            }
            match self.source(number) {
                Source::LinkEnd(link) => {
                    let (mut packet, next) = self.link_ends[link].take();
                    self.agenda.set(number, next);
                    let step = self.steps[packet.place() as usize];
                    if step.then == Then::Receiver {
                        return Some((now, Event::AtReceiver(step.flow as usize, packet)));
                    }
                    packet.set_place(packet.place() + 1);
                    self.offer(now, self.steps[packet.place() as usize], packet, contents);
                }
                Source::LinkFree(link) => self.on_link_free(now, link, contents),
                Source::Sender(flow) => {
                    let (packet, next) = self.ways[flow].to_sender.take();
                    self.agenda.set(number, next);
                    return Some((now, Event::AtSender(flow, packet)));
                }
                Source::Alarm(alarm) => return Some((now, Event::Alarm(alarm))),
            }
        }
    }

    /// A host at the other end sends a packet of this flow to the end `to`. `now` must not be before the time of anything that
    /// has already happened.
    #[inline(always)]
    pub fn send(&mut self, now: u64, flow: usize, to: End, mut packet: P, contents: &mut impl Contents<P>) {
        let (place, step) = self.ways[flow].first_steps[to as usize];
        packet.set_place(place);
        self.offer(now, step, packet, contents);
    }

    /// Offers a packet to the link of its step.
    #[inline(always)]
    fn offer(&mut self, now: u64, step: Step, mut packet: P, contents: &mut impl Contents<P>) {
        let link = step.link as usize;
        let Some(wired) = self.links.get_mut(link) else { return self.send_over_air(now, step, packet, contents) };
        match wired.offer(now, packet.bytes(), &mut packet) {
            Offer::Departs(departure) => {
                let arrival = departure + wired.delay;
                self.arrive(step, arrival, packet);
            }
            Offer::Begins => self.serve_with_effects(now, link, contents),
            Offer::Waits => self.watch(link),
            Offer::Dropped(reason) => contents.dropped(now, packet, reason),
        }
    }

    /// A packet reaches the far end of a link at `time`. If no link is left on its way to a sender, it goes on at once.
    #[inline(always)]
    fn arrive(&mut self, step: Step, time: u64, packet: P) {
        if step.then == Then::Sender {
            return self.approach_sender(step.flow as usize, time, packet.into());
        }
        if self.link_ends[step.link as usize].push(time, packet) {
            self.set(Source::LinkEnd(step.link as usize), time);
        }
    }

    #[inline(always)]
    fn approach_sender(&mut self, flow: usize, time: u64, packet: P::Returning) {
        let way = &mut self.ways[flow];
        let time = way.at_sender(time);
        if way.to_sender.push(time, packet) {
            self.set(Source::Sender(flow), time);
        }
    }

    /// A link whose discipline decides at departure has become free, or a transmission in the wireless cell begins.
    fn on_link_free(&mut self, now: u64, link: usize, contents: &mut impl Contents<P>) {
        let Some(wired) = self.links.get_mut(link) else { return self.on_transmission(now, contents) };
        if wired.has_effects() {
            return self.serve_with_effects(now, link, contents);
        }
        let served = wired.serve(now, |packet| contents.dropped(now, packet, DropReason::Queue));
        if let Some((packet, departure)) = served {
            let arrival = departure + wired.delay;
            self.arrive(self.steps[packet.place() as usize], arrival, packet);
        }
        self.watch(link);
    }

    fn watch(&mut self, link: usize) {
        self.set(Source::LinkFree(link), self.links[link].next_at());
    }

    /// A link with effects has become free, or must release what it holds.
    #[inline(never)]
    fn serve_with_effects(&mut self, now: u64, link: usize, contents: &mut impl Contents<P>) {
        let mut arriving = std::mem::take(&mut self.arriving);
        let dropped = |packet| contents.dropped(now, packet, DropReason::Queue);
        self.links[link].serve_with_effects(now, dropped, |packet| arriving.push(packet));
        for Arriving { packet, at, in_order, twice } in arriving.drain(..) {
            self.arrive_with_effects(at, in_order, packet);
            if twice {
                self.arrive_with_effects(at, in_order, contents.copied(packet));
            }
        }
        self.arriving = arriving;
        self.watch(link);
    }

    /// As [`Self::arrive`], but packets that are sent later may arrive earlier.
    fn arrive_with_effects(&mut self, mut time: u64, in_order: bool, packet: P) {
        let step = self.steps[packet.place() as usize];
        let (link, flow) = (step.link as usize, step.flow as usize);
        if step.then != Then::Sender {
            if self.link_ends[link].insert(time, packet) {
                self.set(Source::LinkEnd(link), time);
            }
            return;
        }
        let Way { route, to_sender, in_order_until, .. } = &mut self.ways[flow];
        time += route.access_ns + route.rng.below(route.send_jitter_ns);
        if in_order {
            time = time.max(*in_order_until);
            *in_order_until = time;
        }
        if to_sender.insert(time, packet.into()) {
            self.set(Source::Sender(flow), time);
        }
    }

    /// Offers a packet to its sender in the wireless cell.
    #[inline(never)]
    fn send_over_air(&mut self, now: u64, step: Step, packet: P, contents: &mut impl Contents<P>) {
        let Some(air) = &mut self.air else { return };
        let sender = if step.link as usize == air.downlink { AP } else { self.ways[step.flow as usize].route.station };
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
        if let Some(Delivered { packet, at, .. }) = delivered {
            self.arrive(self.steps[packet.place() as usize], at, packet);
        }
        self.watch_air();
    }

    fn watch_air(&mut self) {
        if let Some(air) = &self.air {
            self.set(Source::LinkFree(air.uplink), air.cell.next_at());
        }
    }
}

/// An agenda for the sources in the order of their numbers. Each packet changes the times of link ends and senders; but nothing ever waits
/// at the end of a link from which all go on to their senders.
fn agenda(links: usize, flows: usize, steps: &[Step]) -> Agenda {
    let (link_ends, senders, others) = (0, 1, 2);
    let is_used = |link| steps.iter().any(|step| step.link as usize == link && step.then != Then::Sender);
    let of_link = |link| [if is_used(link) { link_ends } else { others }, others];
    let mut branches: Vec<usize> = (0..links).flat_map(of_link).collect();
    branches.extend([senders, others, others].repeat(flows));
    branches.push(others);
    Agenda::new(&branches)
}

/// Appends a flow's steps to an end. Returns the number of the first, and it. A way without links, which nothing may be sent on, has none.
fn add_steps(steps: &mut Vec<Step>, flow: usize, route: &Route, to: End) -> (u32, Step) {
    let first = steps.len();
    let end = if to == End::Senders { Then::Sender } else { Then::Receiver };
    let step = |&link: &u32| Step { link, flow: flow as u32, then: Then::Link };
    steps.extend(route.links(to).iter().map(step));
    if let Some(last) = steps[first..].last_mut() {
        last.then = end;
    }
    let nowhere = Step { link: u32::MAX, flow: flow as u32, then: end };
    (first as u32, steps.get(first).copied().unwrap_or(nowhere))
}
