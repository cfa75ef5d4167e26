// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links against a slow queue of events, and the conservation of packets, under random arrivals.

mod common;

use std::collections::VecDeque;

use common::{Driven, MS, codel, seeded, spec};
use proptest::prelude::*;
use tandem_scenario::{Aqm, Limit, Loss, aqm::Red, units::LossRate};
use tandem_testing::random::fixed;

/// A drop-tail queue as one would draw it: a server and a line before it, one event for each departure.
struct SlowQueue {
    limit: Limit,
    in_service: Option<(usize, u64)>,
    line: VecDeque<(usize, u64)>,
    departures: Vec<(usize, u64)>,
    drops: Vec<(usize, u64)>,
    waiting_packet_ns: u64,
    now: u64,
}

/// 1500 bytes take 1 ms; test packets are multiples of 3 bytes, so that this is exact.
fn service_ns(bytes: u64) -> u64 {
    bytes / 3 * 2000
}

impl SlowQueue {
    fn advance(&mut self, to: u64) {
        while let Some((packet, end)) = self.in_service.filter(|&(_, end)| end <= to) {
            self.waiting_packet_ns += self.line.len() as u64 * (end - self.now);
            self.now = end;
            self.departures.push((packet, end));
            self.in_service = self.line.pop_front().map(|(next, bytes)| (next, end + service_ns(bytes)));
        }
        self.waiting_packet_ns += self.line.len() as u64 * (to - self.now);
        self.now = to;
    }

    fn arrive(&mut self, packet: usize, at: u64, bytes: u64) {
        self.advance(at);
        let in_line: u64 = self.line.iter().map(|(_, bytes)| bytes).sum();
        let fits = match self.limit {
            Limit::Packets(n) => self.line.len() < n as usize,
            Limit::Bytes(n) => in_line + bytes <= n,
        };
        match self.in_service {
            None => self.in_service = Some((packet, at + service_ns(bytes))),
            Some(_) if fits => self.line.push_back((packet, bytes)),
            Some(_) => self.drops.push((packet, at)),
        }
    }
}

/// (time since the last arrival in microseconds, thirds of bytes); many at the same time, many at the very end of another.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = prop_oneof![Just(0u64), Just(1000), Just(500), 0..5000u64];
    let size = prop_oneof![Just(500u32), Just(500), Just(250), 17..501u32];
    proptest::collection::vec((gap, size), 1..400)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1..50u32).prop_map(Limit::Packets), (1500..60_000u64).prop_map(Limit::Bytes)]
}

fn discipline() -> impl Strategy<Value = Aqm> {
    prop_oneof![
        Just(Aqm::DropTail),
        Just(codel()),
        Just(Aqm::Red(Red { min_packets: 2.0, max_packets: 6.0, max_p: 0.1, weight: 0.1, ecn: false })),
    ]
}

proptest! {
    #![proptest_config(fixed(500))]

    #[test]
    fn random_packets_meet_the_slow_queue(arrivals in arrivals(), limit in limit()) {
        let mut slow = SlowQueue {
            limit,
            in_service: None,
            line: VecDeque::new(),
            departures: vec![],
            drops: vec![],
            waiting_packet_ns: 0,
            now: 0,
        };
        let mut fast = Driven::new(seeded(&spec(limit, Aqm::DropTail), 1));
        let mut at = 0;
        for (packet, (gap_us, thirds)) in arrivals.into_iter().enumerate() {
            at += gap_us * 1000;
            slow.arrive(packet, at, 3 * u64::from(thirds));
            fast.offer(at, 3 * thirds);
            prop_assert_eq!(fast.link.waiting(at), slow.line.len());
        }
        slow.advance(at + 1000 * MS);
        prop_assert_eq!(&fast.departures, &slow.departures);
        prop_assert_eq!(&fast.drops, &slow.drops);
        prop_assert_eq!(fast.link.stats.waiting_packet_ns, slow.waiting_packet_ns);
        let sent_ns: u64 = fast.link.stats.busy_ns;
        prop_assert!(sent_ns <= slow.departures.last().unwrap().1);
    }

    /// Every packet offered has departed, is in transmission, waits, was dropped or was lost; those that depart do so in the
    /// order in which they came, one at a time.
    #[test]
    fn random_packets_are_conserved_and_keep_their_order(
        arrivals in arrivals(), limit in limit(), aqm in discipline(), loss in 0.0..0.3f64, seed in 1..1000u64,
    ) {
        let spec = tandem_scenario::LinkConfig { loss: Loss::Bernoulli(LossRate(loss)), ..spec(limit, aqm) };
        let mut driven = Driven::new(seeded(&spec, seed));
        let mut at = 0;
        for (gap_us, thirds) in arrivals {
            at += gap_us * 1000;
            driven.offer(at, 3 * thirds);
            let waiting = driven.link.waiting(at);
            // Departures may be known ahead: those still to come are the one in transmission and the ones that wait.
            let begun = driven.departures.len() - if aqm == codel() { 0 } else { waiting };
            prop_assert_eq!(driven.offered, begun + waiting + driven.drops.len());
            if let Limit::Packets(n) = limit {
                prop_assert!(waiting <= n as usize);
            }
        }
        driven.serve_until(u64::MAX);
        prop_assert_eq!(driven.link.waiting(u64::MAX), 0);
        prop_assert_eq!(driven.offered, driven.departures.len() + driven.drops.len());
        let stats = &driven.link.stats;
        prop_assert_eq!(stats.offered_packets as usize, driven.offered);
        prop_assert_eq!((stats.queue_drops + stats.random_losses) as usize, driven.drops.len());
        for pair in driven.departures.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1, "{:?}", pair);
        }
    }
}
