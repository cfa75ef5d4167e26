// SPDX-License-Identifier: MIT OR Apache-2.0
#![allow(dead_code)]

use std::fmt::Debug;

use tandem_network::{Link, Offer, Rng, Stream};
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
    }
}

pub fn link<P: Copy + Debug + Send + 'static>(spec: &LinkConfig) -> Link<P> {
    seeded(spec, 1)
}

pub fn seeded<P: Copy + Debug + Send + 'static>(spec: &LinkConfig, seed: u64) -> Link<P> {
    Link::new(spec, MTU, 0..u64::MAX, Rng::new(seed, Stream::Link(0)))
}

pub fn drop_tail<P: Copy + Debug + Send + 'static>(limit: Limit) -> Link<P> {
    link(&spec(limit, Aqm::DropTail))
}

pub fn codel() -> Aqm {
    Aqm::Codel(Codel { target: Span::from_ms(5), interval: Span::from_ms(100) })
}

/// Packets are numbers. Drives a link as a host does: serves it whenever it becomes free before the next arrival.
pub struct Driven {
    pub link: Link<usize>,
    /// (packet, when its last bit left), in the order of departure.
    pub departures: Vec<(usize, u64)>,
    /// (packet, when).
    pub drops: Vec<(usize, u64)>,
    pub offered: usize,
}

impl Driven {
    pub fn new(link: Link<usize>) -> Self {
        Self { link, departures: vec![], drops: vec![], offered: 0 }
    }

    pub fn serve_until(&mut self, now: u64) {
        while let Some(at) = self.link.serve_at().filter(|&at| at <= now) {
            let drops = &mut self.drops;
            self.departures.extend(self.link.serve(at, |packet| drops.push((packet, at))));
        }
    }

    /// Packets are numbered in the order in which they are offered.
    pub fn offer(&mut self, now: u64, bytes: u32) -> Offer {
        self.serve_until(now);
        let packet = self.offered;
        self.offered += 1;
        let offer = self.link.offer(now, bytes, packet);
        match offer {
            Offer::Departs(at) => self.departures.push((packet, at)),
            Offer::Dropped(_) => self.drops.push((packet, now)),
            Offer::Waits => {}
        }
        offer
    }
}
