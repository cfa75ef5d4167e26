// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network carries the same packets in the same way under any driver: a host in virtual time, which deals with each event
//! when it is due, or a host with a clock, which looks now and then and finds what has happened meanwhile.

mod common;

use common::{MTU, codel, spec};
use tandem_network::{Alarm, Contents, DropReason, End, Event, Network, Packet, Rng, Route, Stream, wired_links};
use tandem_scenario::{Aqm, Limit, LinkConfig, Loss, Topology, aqm::Red, units::LossRate};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Numbered {
    number: u32,
    flow: u32,
    bytes: u32,
    to: End,
    place: u32,
}

/// Near the sender only the number is left.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Number(u32);

impl From<Numbered> for Number {
    fn from(packet: Numbered) -> Self {
        Self(packet.number)
    }
}

impl Packet for Numbered {
    type Returning = Number;

    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn place(&self) -> u32 {
        self.place
    }

    fn set_place(&mut self, place: u32) {
        self.place = place;
    }
}

/// What became of the packets, in the order in which it happened: time, number and, for drops, why.
#[derive(Debug, Default, PartialEq)]
struct Log {
    arrivals: Vec<(u64, u32)>,
    drops: Vec<(u64, u32, DropReason)>,
}

impl Contents<Numbered> for Log {
    fn dropped(&mut self, now: u64, packet: Numbered, reason: DropReason) {
        self.drops.push((now, packet.number, reason));
    }

    fn copied(&mut self, packet: Numbered) -> Numbered {
        packet
    }
}

impl Log {
    fn note(&mut self, now: u64, event: Event<Numbered>) {
        match event {
            Event::AtReceiver(_, packet) => self.arrivals.push((now, packet.number)),
            Event::AtSender(_, Number(number)) => self.arrivals.push((now, number)),
            Event::Alarm(_) => panic!("nobody has set one"),
        }
    }
}

/// Three hops with a discipline each, and a way back with random loss. The second flow joins at the second hop; the third
/// sends against the others. Each has its own delay outside the links, and jitter.
fn network(seed: u64) -> Network<Numbered> {
    let red = Aqm::Red(Red { min_packets: 2.0, max_packets: 8.0, max_p: 0.1, weight: 0.1, ecn: false });
    let link = |aqm| spec(Limit::Packets(20), aqm);
    let lossy = LinkConfig { loss: Loss::Bernoulli(LossRate(0.05)), ..link(Aqm::DropTail) };
    let topology =
        Topology { links: vec![link(Aqm::DropTail), link(red), link(codel()), lossy], ..Topology::default() };
    let route = |(flow, (forward, back)): (usize, (&[usize], &[usize]))| {
        let mut route = Route::new(forward, back, Rng::new(seed, Stream::Flow(flow)));
        route.access_ns = 1_000_000 * flow as u64;
        route.send_jitter_ns = 200_000;
        route
    };
    let ways: [(&[usize], &[usize]); 3] = [(&[0, 1, 2], &[3]), (&[1], &[3]), (&[3], &[2, 1, 0])];
    let links = wired_links(&topology, MTU, 0, &(0..u64::MAX), seed);
    Network::new(links, None, ways.into_iter().enumerate().map(route).collect())
}

/// 2000 packets, in bursts now and then, and when each is sent.
fn sent(seed: u64) -> Vec<(u64, Numbered)> {
    let mut rng = Rng::new(seed, Stream::FlowStart(0));
    let mut at = 0;
    let packet = |number| {
        at += if rng.chance(0.5) { 0 } else { rng.below(1_000_000) };
        let to = if rng.chance(0.5) { End::Receivers } else { End::Senders };
        let (flow, bytes) = (rng.below(3) as u32, 52 + rng.below(1449) as u32);
        (at, Numbered { number, flow, bytes, to, place: 0 })
    };
    (0..2000).map(packet).collect()
}

fn send(network: &mut Network<Numbered>, now: u64, packet: Numbered, log: &mut Log) {
    network.send(now, packet.flow as usize, packet.to, packet, log);
}

/// Wakes itself for each packet that it sends, as the simulator does.
fn in_virtual_time(seed: u64) -> Log {
    let (mut network, mut log) = (network(seed), Log::default());
    let mut packets = sent(seed).into_iter().peekable();
    network.wake(Alarm::Host, 0);
    while let Some((now, event)) = network.advance(1 << 50, &mut log) {
        if event != Event::Alarm(Alarm::Host) {
            log.note(now, event);
            continue;
        }
        while let Some((_, packet)) = packets.next_if(|(at, _)| *at <= now) {
            send(&mut network, now, packet, &mut log);
        }
        network.wake(Alarm::Host, packets.peek().map_or(1 << 61, |(at, _)| *at));
    }
    log
}

/// Looks when it has something to send, at a few other times, and for the last time long after everything is over.
fn by_the_clock(seed: u64) -> Log {
    let (mut network, mut log) = (network(seed), Log::default());
    let mut looks = Rng::new(seed, Stream::FlowStart(1));
    let look = |network: &mut Network<Numbered>, log: &mut Log, now| {
        while let Some((due, event)) = network.advance(now, log) {
            log.note(due, event);
        }
    };
    let mut last = 0;
    for (at, packet) in sent(seed) {
        if looks.chance(0.2) {
            look(&mut network, &mut log, last + looks.below(at - last + 1));
        }
        look(&mut network, &mut log, at);
        send(&mut network, at, packet, &mut log);
        last = at;
    }
    look(&mut network, &mut log, 1 << 50);
    log
}

#[test]
fn both_ways_of_driving_give_the_same_times_and_drops() {
    for seed in 1..=20 {
        let (virtual_time, clock) = (in_virtual_time(seed), by_the_clock(seed));
        assert_eq!(virtual_time, clock, "seed {seed}");
        assert_eq!(clock.arrivals.len() + clock.drops.len(), 2000, "seed {seed}");
        let has = |reason| clock.drops.iter().any(|(.., why)| *why == reason);
        assert!(has(DropReason::Queue) && has(DropReason::Random), "seed {seed}");
    }
}

/// 75 bytes at 12 Mbit/s take 50 us, and a link 10 ms: a packet of the first flow on the way back arrives at 10.05 ms, one of
/// the second flow sent at the same time behind it 50 us and, by its delay outside the links, 1 ms later. Jitter is off.
#[test]
fn delays_outside_the_links_are_a_flow_s_own() {
    let topology = Topology { links: vec![spec(Limit::Packets(20), Aqm::DropTail)], ..Topology::default() };
    let route = |flow: usize| {
        let mut route = Route::new(&[], &[0], Rng::new(1, Stream::Flow(flow)));
        route.access_ns = 1_000_000 * flow as u64;
        route
    };
    let links = wired_links(&topology, MTU, 0, &(0..u64::MAX), 1);
    let (mut network, mut log) = (Network::new(links, None, vec![route(0), route(1)]), Log::default());
    for flow in 0..2 {
        let packet = Numbered { number: flow, flow, bytes: 75, to: End::Senders, place: 0 };
        send(&mut network, 0, packet, &mut log);
    }
    while let Some((now, event)) = network.advance(1 << 50, &mut log) {
        log.note(now, event);
    }
    assert_eq!(log.arrivals, [(10_050_000, 0), (11_100_000, 1)]);
    assert_eq!([0, 1].map(|flow| network.base_rtt_ns(flow)), [10_000_000, 11_000_000]);
}
