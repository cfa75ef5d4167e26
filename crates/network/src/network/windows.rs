// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fast way through a network in which all flows pass one link there and another one back.
//!
//! What a sender does matters to receivers no sooner than the forward link's delay later, and what a receiver does to senders no sooner than that
//! of the link back. So a host can deal with one end for a window of that length, flow by flow and without an agenda, before it looks at the other
//! (conservative synchronisation: Chandy and Misra 1979; the delays are its lookahead). Each link and each flow meets what it meets in
//! [`Network::advance`], in the same order, to the last tie.

use super::{Network, Way};
use crate::{Contents, End, Link, Packet, Ring, sends::Sends};

/// Such a network's two links, and how long the ends are of no matter to each other.
#[derive(Debug, Clone, Copy)]
pub struct Lookahead {
    /// From what a sender does until the receivers may meet it, ns.
    pub forward_ns: u64,
    /// From what a receiver does until the senders may meet it, ns.
    pub back_ns: u64,
    forward: usize,
    back: usize,
}

/// The numbers of a flow's two steps, to its sender and to its receiver.
fn places_of(flow: usize) -> [u32; 2] {
    [2 * flow as u32, 2 * flow as u32 + 1]
}

/// The flow of such a step.
#[inline(always)]
fn flow_at(place: u32) -> usize {
    place as usize / 2
}

impl<P: Packet> Way<P> {
    /// A packet has left the link back.
    #[inline(always)]
    fn on_way_back(&mut self, time: u64, packet: P) {
        let time = self.at_sender(time);
        if self.to_sender.ring.is_empty() {
            self.due_at_sender = self.due_at_sender.min(time);
        }
        self.to_sender.ring.push((time, packet.into()));
    }
}

/// The receivers' end of such a network.
pub struct Receivers<'a, P: Packet> {
    pipe: &'a mut Ring<(u64, P)>,
    back: &'a mut Link<P>,
    /// Does the link back come first of two links that have something at the same time?
    is_back_first: bool,
    ways: &'a mut [Way<P>],
}

impl<P: Packet> Receivers<'_, P> {
    /// The next packet that reaches its receiver by `until`, ns, with that time and its flow. It stays until it is [taken](Self::take).
    #[inline(always)]
    pub fn first(&self, until: u64) -> Option<(u64, usize, P)> {
        let (now, packet) = self.pipe.first()?;
        (now <= until).then(|| (now, flow_at(packet.place()), packet))
    }

    /// Takes it.
    #[inline(always)]
    pub fn take(&mut self) {
        self.pipe.skip();
    }

    /// A receiver's packet, when a packet has reached it.
    #[inline(always)]
    pub fn answer(&mut self, now: u64, flow: usize, packet: P, contents: &mut impl Contents<P>) {
        match self.back.pass(now, packet.bytes()) {
            Some(time) => self.ways[flow].on_way_back(time, packet),
            None => self.answer_unusual(now, flow, packet, contents),
        }
    }

    #[inline(never)]
    fn answer_unusual(&mut self, now: u64, flow: usize, mut packet: P, contents: &mut impl Contents<P>) {
        let Self { back, is_back_first, ways, .. } = self;
        if !back.keeps_packets() {
            let way = &mut ways[flow];
            return back.carry(now, packet, contents, |time, packet| way.on_way_back(time, packet));
        }
        packet.set_place(places_of(flow)[End::Senders as usize]);
        if let Some(time) = back.pass_heard(now, &packet) {
            return ways[flow].on_way_back(time, packet);
        }
        let until = before_arrival(*is_back_first, now);
        let on_way = |time, packet: P| ways[flow_at(packet.place())].on_way_back(time, packet);
        back.carry_one_kept((until, now), packet, contents, on_way);
    }
}

/// A packet reaches its receiver at `now`: what the link back does by the time that this returns comes before that. Of two links that have something
/// at the same time, that with the lower number comes first.
#[inline(always)]
fn before_arrival(is_back_first: bool, now: u64) -> u64 {
    if is_back_first { now } else { now.saturating_sub(1) }
}

impl<P: Packet> Network<P> {
    /// `None` if this network is of another kind: a wireless cell, links that do not keep packets in order, several links on a way, flows in both directions.
    pub fn lookahead(&self) -> Option<Lookahead> {
        let links_of = |way: &Way<P>| match (way.route.links(End::Receivers), way.route.links(End::Senders)) {
            (&[forward], &[back]) if forward != back => Some((forward as usize, back as usize)),
            _ => None,
        };
        let (forward, back) = links_of(self.ways.first()?)?;
        if self.air.is_some() || self.ways.iter().any(|way| links_of(way) != Some((forward, back))) {
            return None;
        }
        let (there, home) = (&self.links[forward], &self.links[back]);
        let access_ns = self.ways.iter().map(|way| way.route.access_ns).min()?;
        let has_own_place = |flow: usize| self.ways[flow].first_steps.map(|(place, _)| place) == places_of(flow);
        debug_assert!((0..self.ways.len()).all(has_own_place), "each way has a step to each end");
        Some(Lookahead { forward_ns: there.least_delay()?, back_ns: home.least_delay()? + access_ns, forward, back })
    }

    /// How many full packets the forward link sends in `time_ns`.
    pub fn packets_in(&self, ahead: Lookahead, time_ns: u64) -> u64 {
        time_ns / self.links[ahead.forward].full_packet_ns()
    }

    /// The network's note on a packet that this flow's sender sends.
    #[inline(always)]
    pub fn place_of(&self, flow: usize) -> u32 {
        self.ways[flow].first_steps[End::Receivers as usize].0
    }

    /// Offers to the forward link what senders have sent, and lets happen there what is due by `until`, ns.
    pub fn carry(&mut self, ahead: Lookahead, sends: &mut Sends<P>, until: u64, contents: &mut impl Contents<P>) {
        let (link, pipe) = (&mut self.links[ahead.forward], &mut self.link_ends[ahead.forward].ring);
        let on_way = |time, packet| pipe.push((time, packet));
        if link.keeps_packets() {
            return link.carry_kept(sends, until, contents, on_way);
        }
        let mut on_way = on_way;
        sends.drain(|now, packet| link.carry(now, packet, contents, &mut on_way));
    }

    /// What receivers meet, and how they answer, in one hand.
    #[inline(always)]
    pub fn receivers(&mut self, ahead: Lookahead) -> Receivers<'_, P> {
        let Self { links, link_ends, ways, .. } = self;
        let pipe = &mut link_ends[ahead.forward].ring;
        Receivers { pipe, back: &mut links[ahead.back], is_back_first: ahead.back < ahead.forward, ways }
    }

    /// The next packet that reaches its receiver by `until`, ns, with that time and its flow.
    #[inline(always)]
    pub fn at_receiver(&mut self, ahead: Lookahead, until: u64) -> Option<(u64, usize, P)> {
        let pipe = &mut self.link_ends[ahead.forward].ring;
        let (now, packet) = pipe.first().filter(|&(at, _)| at <= until)?;
        pipe.pop();
        Some((now, flow_at(packet.place()), packet))
    }

    /// When the next packet reaches a receiver, of those that have left the forward link, ns.
    pub fn next_at_receivers(&self, ahead: Lookahead) -> Option<u64> {
        self.link_ends[ahead.forward].ring.first().map(|(at, _)| at)
    }

    /// A packet reaches its receiver at `now`: lets happen at the link back what comes before that.
    #[inline(always)]
    pub fn serve_back_before_arrival(&mut self, ahead: Lookahead, now: u64, contents: &mut impl Contents<P>) {
        self.serve(ahead.back, before_arrival(ahead.back < ahead.forward, now), contents);
    }

    /// Lets happen at the link back what is due by `until`, ns.
    pub fn serve_back(&mut self, ahead: Lookahead, until: u64, contents: &mut impl Contents<P>) {
        self.serve(ahead.back, until, contents);
    }

    /// A receiver's packet. What the link back does by then has happened.
    #[inline(always)]
    pub fn send_back(
        &mut self,
        ahead: Lookahead,
        now: u64,
        flow: usize,
        mut packet: P,
        contents: &mut impl Contents<P>,
    ) {
        packet.set_place(self.ways[flow].first_steps[End::Senders as usize].0);
        let way = &mut self.ways[flow];
        let link = &mut self.links[ahead.back];
        link.carry(now, packet, contents, |time, packet| way.on_way_back(time, packet));
    }

    /// What is on its way to this flow's sender, of what has left the link back, with the times, ns, when it arrives there.
    #[inline(always)]
    pub fn to_sender(&mut self, flow: usize) -> &mut Ring<(u64, P::Returning)> {
        &mut self.ways[flow].to_sender.ring
    }

    /// Nothing is due at this flow's sender before this time, ns: neither a packet nor what the host has [set](Self::set_due_at_sender).
    #[inline(always)]
    pub fn due_at_sender(&self, flow: usize) -> u64 {
        self.ways[flow].due_at_sender
    }

    /// Nothing is due at this flow's sender before `time`, ns, but what the link back sends on its way there from now on.
    #[inline(always)]
    pub fn set_due_at_sender(&mut self, flow: usize, time: u64) {
        self.ways[flow].due_at_sender = time;
    }

    /// When a link whose discipline decides at departure has something to do; [`NEVER`](crate::agenda::NEVER): nothing waits.
    pub fn next_at_links(&self, ahead: Lookahead) -> u64 {
        self.links[ahead.forward].next_at().min(self.links[ahead.back].next_at())
    }

    /// A link back whose discipline decides at departure becomes free, as often as it does by `until`, ns.
    #[inline(always)]
    fn serve(&mut self, link: usize, until: u64, contents: &mut impl Contents<P>) {
        let Self { links, ways, .. } = self;
        let link: &mut Link<P> = &mut links[link];
        if link.keeps_packets() {
            link.serve_until(until, contents, |time, packet| ways[flow_at(packet.place())].on_way_back(time, packet));
        }
    }
}
