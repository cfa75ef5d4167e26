// SPDX-License-Identifier: MIT OR Apache-2.0
#![allow(dead_code)]

use tandem_network::{Ecn, Link, Offer, Packet, Rng, Stream};
use tandem_scenario::{Aqm, Limit, LinkConfig, Loss, aqm::Codel, units::Rate, units::Span};

pub const MTU: u32 = 1500;
pub const MS: u64 = 1_000_000;

/// 12 Mbit/s: 1500 bytes take 1 ms.
pub fn spec(limit: Limit, aqm: Aqm) -> LinkConfig {
    LinkConfig {
        name: "link".into(),
        from: 0,
        to: 1,
        rate: Rate { bps: 12_000_000 },
        delay: Span::from_ms(10),
        limit,
        aqm,
        loss: Loss::None,
        effects: None,
    }
}

pub fn link<P: Packet>(spec: &LinkConfig) -> Link<P> {
    seeded(spec, 1)
}

pub fn seeded<P: Packet>(spec: &LinkConfig, seed: u64) -> Link<P> {
    Link::new(spec, MTU, 0..u64::MAX, Rng::new(seed, Stream::Link(0)))
}

pub fn drop_tail<P: Packet>(limit: Limit) -> Link<P> {
    link(&spec(limit, Aqm::DropTail))
}

pub fn codel() -> Aqm {
    Aqm::Codel(Codel { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: false })
}

/// A packet of which nothing is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plain;

impl Packet for Plain {
    type Returning = Plain;

    fn bytes(&self) -> u32 {
        MTU
    }

    fn place(&self) -> u32 {
        0
    }

    fn set_place(&mut self, _place: u32) {}
}

/// A packet with a number and an ECN field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbered {
    pub number: usize,
    pub ecn: Ecn,
    pub conversation: u32,
}

impl Packet for Numbered {
    type Returning = Numbered;

    fn bytes(&self) -> u32 {
        MTU
    }

    fn place(&self) -> u32 {
        0
    }

    fn set_place(&mut self, _place: u32) {}

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

/// Packets are numbers. Drives a link as a host does: serves it whenever it becomes free before the next arrival.
pub struct Driven {
    pub link: Link<Numbered>,
    /// The ECN field of the packets to come, and their conversation.
    pub ecn: Ecn,
    pub conversation: u32,
    /// Packets that left with a mark.
    pub marked: Vec<usize>,
    /// (packet, when its last bit left), in the order of departure.
    pub departures: Vec<(usize, u64)>,
    /// (packet, when).
    pub drops: Vec<(usize, u64)>,
    pub offered: usize,
}

impl Driven {
    pub fn new(link: Link<Numbered>) -> Self {
        let (ecn, conversation, marked) = (Ecn::NotCapable, 0, vec![]);
        Self { link, ecn, conversation, marked, departures: vec![], drops: vec![], offered: 0 }
    }

    pub fn serve_until(&mut self, now: u64) {
        while let Some(at) = self.link.serve_at().filter(|&at| at <= now) {
            let drops = &mut self.drops;
            let served = self.link.serve(at, |packet| drops.push((packet.number, at)));
            served.into_iter().for_each(|(packet, departure)| self.depart(packet, departure));
        }
    }

    fn depart(&mut self, packet: Numbered, departure: u64) {
        self.departures.push((packet.number, departure));
        if packet.ecn == Ecn::Marked {
            self.marked.push(packet.number);
        }
    }

    /// Packets are numbered in the order in which they are offered.
    pub fn offer(&mut self, now: u64, bytes: u32) -> Offer {
        self.serve_until(now);
        let mut packet = Numbered { number: self.offered, ecn: self.ecn, conversation: self.conversation };
        self.offered += 1;
        let offer = self.link.offer(now, bytes, &mut packet);
        match offer {
            Offer::Departs(at) => self.depart(packet, at),
            Offer::Dropped(_) => self.drops.push((packet.number, now)),
            Offer::Begins | Offer::Waits => {}
        }
        offer
    }
}
