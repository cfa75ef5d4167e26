// SPDX-License-Identifier: MIT OR Apache-2.0
//! CoDel by RFC 8289: target 5 ms, interval 100 ms. 1500 bytes take 1 ms, so n packets that wait are n ms.

mod common;

use common::{Driven, MS, MTU, Numbered, codel, link, spec};
use tandem_network::Offer;
use tandem_scenario::{Limit, LinkConfig, units::Rate};

fn driven() -> Driven {
    Driven::new(link(&spec(Limit::Packets(1000), codel())))
}

/// A packet a millisecond from `from` until `to` ms: as much as the link carries, so that what waits goes on waiting.
fn arrivals(driven: &mut Driven, from_ms: u64, to_ms: u64) {
    for ms in from_ms..to_ms {
        driven.offer(ms * MS, MTU);
    }
}

fn drop_times_ms(driven: &Driven) -> Vec<u64> {
    driven.drops.iter().map(|(_, at)| at / MS).collect()
}

/// 4 waiting packets are 4 ms, below target: no drop in ten seconds.
#[test]
fn nothing_is_dropped_below_target() {
    let mut driven = driven();
    for _ in 0..4 {
        driven.offer(0, MTU);
    }
    arrivals(&mut driven, 0, 10_000);
    driven.serve_until(u64::MAX);
    assert_eq!((driven.drops.len(), driven.departures.len()), (0, 10_004));
}

/// A slow link: each packet waits 120 ms for the one before it, but one packet is no queue to get rid of (section 5.6).
#[test]
fn a_single_waiting_packet_is_never_dropped() {
    let slow = LinkConfig { rate: Rate { bps: 100_000 }, ..spec(Limit::Packets(1000), codel()) };
    let mut driven = Driven::new(link(&slow));
    driven.offer(0, MTU);
    for i in 0..100 {
        driven.offer(i * 120 * MS, MTU);
    }
    assert!(driven.drops.is_empty());
}

/// 60 wait. The packet served at 5 ms is the first to have waited 5 ms, so the first drop comes at 105 ms. The following ones
/// come 100 / sqrt(1), 100 / sqrt(2), ... ms later, each when the link is next free:
/// 205, 275.71, 333.45, 383.45, 428.17, 468.99, 506.79.
#[test]
fn drops_after_an_interval_and_then_at_the_inverse_square_root() {
    let mut driven = driven();
    for _ in 0..60 {
        driven.offer(0, MTU);
    }
    arrivals(&mut driven, 0, 540);
    assert_eq!(drop_times_ms(&driven), [105, 205, 276, 334, 384, 429, 469, 507]);
    // Drops are at the head: the first is the packet that would have been sent at 105 ms.
    assert_eq!(driven.drops[0].0, 105);
}

/// At 105 ms something has always waited 5 ms for 100 ms, unless the wait once fell below target: here at 99 ms.
#[test]
fn one_packet_below_target_starts_the_interval_anew() {
    let mut driven = driven();
    for _ in 0..10 {
        driven.offer(0, MTU);
    }
    // Nothing comes for 8 ms, so that those after the gap wait 2 ms; then 8 at once, and all wait 10 ms again.
    arrivals(&mut driven, 0, 91);
    driven.offer(99 * MS, MTU);
    for _ in 0..8 {
        driven.offer(99 * MS, MTU);
    }
    arrivals(&mut driven, 100, 190);
    assert_eq!(drop_times_ms(&driven), []);
    // The first to have waited 5 ms again is served at about 104 ms; so there is a drop by 210 ms.
    arrivals(&mut driven, 190, 230);
    assert!(matches!(drop_times_ms(&driven)[..], [200..=210]), "{:?}", drop_times_ms(&driven));
}

/// The queue drains and dropping stops. A new queue soon after, within 16 intervals: again an interval without a drop, then
/// the first drop as before, but the next follows at the rate reached last (section 5.4): count resumes at 9 - 1 = 8 after 9
/// drops, hence 100 / sqrt(8) = 35.4 ms. Long after, it starts from 1: 100 ms.
#[test]
fn dropping_resumes_at_the_last_rate() {
    for (start_ms, gap_ms) in [(1000, 36), (5000, 100)] {
        let mut driven = driven();
        for _ in 0..60 {
            driven.offer(0, MTU);
        }
        arrivals(&mut driven, 0, 508);
        // No more arrivals: what is left drains within 52 ms, in which the drop due at 506.79 + 35.36 = 542.14 ms is made, and the
        // one at 575.5 ms is not.
        driven.serve_until(1000 * MS);
        assert_eq!(drop_times_ms(&driven)[7..], [507, 543]);
        for _ in 0..60 {
            driven.offer(start_ms * MS, MTU);
        }
        arrivals(&mut driven, start_ms, start_ms + 250);
        let again = &drop_times_ms(&driven)[9..];
        assert_eq!(again[..2], [start_ms + 105, start_ms + 105 + gap_ms]);
    }
}

/// 1500 bytes take 1200 ns at 10 Gbit/s, 0.8 ns a byte: behind one in transmission and ten that wait are 11 * 1200 ns.
#[test]
fn wait_of_an_arrival() {
    let fast = LinkConfig { rate: Rate { bps: 10_000_000_000 }, ..spec(Limit::Packets(1000), codel()) };
    let mut driven = Driven::new(link(&fast));
    for _ in 0..11 {
        driven.offer(0, MTU);
    }
    assert_eq!(driven.link.wait_ns(0), 13_200);
}

/// The queue's own limit still holds.
#[test]
fn a_full_queue_drops_at_the_tail() {
    let mut driven = Driven::new(link(&spec(Limit::Packets(3), codel())));
    for _ in 0..6 {
        driven.offer(0, MTU);
    }
    assert_eq!(driven.drops, [(4, 0), (5, 0)]);
}

/// A packet that arrives at the very nanosecond at which the link becomes free goes behind those that wait.
#[test]
fn order_is_kept_on_ties() {
    let mut driven = Driven::new(link(&spec(Limit::Packets(1000), codel())));
    for _ in 0..3 {
        driven.offer(0, MTU);
    }
    // The link is free at 1 ms, and nobody has served it yet.
    let mut late = Numbered { number: 3, ..Numbered::default() };
    assert_eq!(driven.link.offer(MS, MTU, &mut late), Offer::Waits);
    driven.serve_until(4 * MS - 1);
    assert_eq!(driven.departures, [(0, MS), (1, 2 * MS), (2, 3 * MS), (3, 4 * MS)]);
    // Idle since 4 ms: goes at once.
    assert_eq!(driven.offer(4 * MS, MTU), Offer::Departs(5 * MS));
}
