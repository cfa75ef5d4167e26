// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drop-tail queues by hand. 12 Mbit/s: 1500 bytes take 1 ms.

mod common;

use common::{MS, MTU, Plain, drop_tail, link, spec};
use tandem_network::{DropReason, Link, Offer, Rng, Stream};
use tandem_scenario::{Aqm, Limit, units::Rate};

const DROPPED: Offer = Offer::Dropped(DropReason::Queue);

#[test]
fn departures_follow_one_another() {
    let mut link = drop_tail(Limit::Packets(100));
    let offers = [0, 0, 0, 2 * MS, 10 * MS].map(|at| link.offer(at, MTU, &mut Plain));
    // The third leaves at 3 ms, the fourth behind it; the fifth finds the link idle.
    assert_eq!(offers, [1, 2, 3, 4, 11].map(|ms| Offer::Departs(ms * MS)));
}

#[test]
fn the_packet_in_transmission_does_not_wait() {
    let mut link = drop_tail(Limit::Packets(100));
    for _ in 0..3 {
        link.offer(0, MTU, &mut Plain);
    }
    let waiting = [0, MS - 1, MS, 2 * MS - 1, 2 * MS, 3 * MS].map(|at| link.waiting(at));
    // At 1 ms the first has left and the second is in transmission.
    assert_eq!(waiting, [2, 2, 1, 1, 0, 0]);
    assert_eq!(link.wait_ns(3 * MS), 0);
}

#[test]
fn a_queue_holds_exactly_its_limit_in_packets() {
    let mut link = drop_tail(Limit::Packets(2));
    let at_once: Vec<Offer> = (0..5).map(|_| link.offer(0, MTU, &mut Plain)).collect();
    // One in transmission and two waiting.
    assert_eq!(at_once[..3], [1, 2, 3].map(|ms| Offer::Departs(ms * MS)));
    assert_eq!(at_once[3..], [DROPPED; 2]);
    // A nanosecond before the first has left there is no room, then there is for one.
    assert_eq!(link.offer(MS - 1, MTU, &mut Plain), DROPPED);
    assert_eq!([link.offer(MS, MTU, &mut Plain), link.offer(MS, MTU, &mut Plain)], [Offer::Departs(4 * MS), DROPPED]);
    assert_eq!((link.stats.offered_packets, link.stats.queue_drops, link.stats.max_waiting), (8, 4, 2));
}

#[test]
fn a_queue_holds_exactly_its_limit_in_bytes() {
    let mut link = drop_tail(Limit::Bytes(3000));
    // 1500 in transmission; 1500 + 1499 wait; there is room for 1 byte more, not for 2.
    assert!([1500, 1500, 1499].iter().all(|&bytes| link.offer(0, bytes, &mut Plain) != DROPPED));
    assert_eq!(link.offer(0, 2, &mut Plain), DROPPED);
    assert_ne!(link.offer(0, 1, &mut Plain), DROPPED);
    assert_eq!(link.offer(0, 1, &mut Plain), DROPPED);
    // At 1 ms the second 1500 bytes go on the wire, and exactly as many fit again.
    assert_eq!(link.offer(MS, 1501, &mut Plain), DROPPED);
    assert_ne!(link.offer(MS, 1500, &mut Plain), DROPPED);
    assert_eq!(link.offer(MS, 1, &mut Plain), DROPPED);
}

/// An idle link takes a packet larger than its queue: that one never waits.
#[test]
fn an_idle_link_takes_any_packet() {
    let mut link = drop_tail(Limit::Bytes(1500));
    assert_eq!(link.offer(0, 9000, &mut Plain), Offer::Departs(6 * MS));
}

/// Rounded to the nearest nanosecond: 12000 bit at 7 Mbit/s are 1714285.71 ns, 416 bit at 1 Gbit/s are 416 ns.
#[test]
fn transmission_times() {
    let time = |bps, bytes| {
        let spec = tandem_scenario::LinkConfig { rate: Rate { bps }, ..spec(Limit::Packets(1), Aqm::DropTail) };
        link::<Plain>(&spec).transmission_ns(bytes)
    };
    assert_eq!(time(7_000_000, 1500), 1_714_286);
    assert_eq!(time(1_000_000_000, 52), 416);
    assert_eq!(time(1_000_000_000, 1500), 12_000);
    assert_eq!(time(100_000_000_000, 1500), 120);
    assert_eq!(time(1, 1500), 12_000_000_000_000);
    assert_eq!(time(1_000_000_000_000, 65_535), 524, "524.28 ns");
}

/// Measured from 10 to 20 ms.
///
/// Three at 9 ms: one is sent until 10 ms (not counted), the next until 11 (1 ms counted, its wait was before), the last
/// until 12 (1 ms; it waits from 9 to 11, of which 1 ms counts).
/// Four at 18.5 ms: sent until 19.5 (1 ms), 20.5 (0.5 ms count), and beyond. They wait 0, 1, 2 and 3 ms, of which 0, 1, 1.5
/// and 1.5 ms count.
#[test]
fn utilisation_and_mean_queue_are_clipped_to_the_measured_part() {
    let spec = spec(Limit::Packets(100), Aqm::DropTail);
    let mut link = Link::new(&spec, MTU, 10 * MS..20 * MS, Rng::new(1, Stream::Link(0)));
    for _ in 0..3 {
        link.offer(9 * MS, MTU, &mut Plain);
    }
    for _ in 0..4 {
        link.offer(18 * MS + MS / 2, MTU, &mut Plain);
    }
    assert_eq!(link.stats.busy_ns, 3 * MS + MS / 2);
    assert_eq!(link.stats.waiting_packet_ns, 5 * MS);
    assert_eq!(link.stats.offered_packets, 4);
    // Three of the four wait for the first. Right after them a packet would have waited for all four.
    assert_eq!((link.stats.max_waiting, link.stats.max_wait_ns), (3, 4 * MS));
}

/// A saturated link is busy all the time, and a queue of 2 has 2 in it: 10 ms of it.
#[test]
fn a_saturated_link() {
    let spec = spec(Limit::Packets(2), Aqm::DropTail);
    let mut link = Link::new(&spec, MTU, 10 * MS..20 * MS, Rng::new(1, Stream::Link(0)));
    for i in 0..300 {
        link.offer(i * MS / 10, MTU, &mut Plain);
    }
    // Right after a packet was taken there are two that wait, and one whose transmission has just begun.
    assert_eq!((link.stats.busy_ns, link.stats.max_wait_ns), (10 * MS, 3 * MS));
    // Ten offers in each millisecond, the first of which is taken as a packet leaves.
    assert_eq!((link.stats.offered_packets, link.stats.queue_drops), (100, 90));
    assert_eq!((link.stats.waiting_packet_ns, link.stats.max_waiting), (20 * MS, 2));
}
