// SPDX-License-Identifier: MIT OR Apache-2.0
//! DualPI2 by RFC 9332 appendix A. 1500 bytes take 1 ms.

mod common;

use common::{Driven, MS, MTU, link, spec};
use tandem_network::Ecn;
use tandem_scenario::{Aqm, Limit, aqm::DualPi2, units::Span};

fn dualpi2() -> DualPi2 {
    let us = |us: u64| Span { ns: us * 1000 };
    DualPi2 {
        target: us(15_000),
        update: us(16_000),
        alpha: 0.16,
        beta: 3.2,
        k: 2.0,
        min_threshold: us(800),
        range: us(400),
        min_packets: 1,
        classic_share: 0.1,
        ecn: true,
    }
}

fn driven(dualpi2: DualPi2) -> Driven {
    Driven::new(link(&spec(Limit::Packets(10_000), Aqm::DualPi2(dualpi2))))
}

/// Offers a packet with this ECN field; returns its number.
fn offer(driven: &mut Driven, now: u64, ecn: Ecn) -> usize {
    driven.ecn = ecn;
    driven.offer(now, MTU);
    driven.offered - 1
}

/// The packet in transmission is 0. Of those that wait, the two L4S ones go first: the marked one came from another L4S queue.
/// [RFC 9332 2.2] [RFC 9332 2.3] [RFC 9332 2.4] [RFC 9331 5.1]
#[test]
fn l4s_packets_go_first() {
    let mut driven = driven(dualpi2());
    for ecn in [Ecn::NotCapable, Ecn::NotCapable, Ecn::Capable, Ecn::Scalable, Ecn::Marked] {
        offer(&mut driven, 0, ecn);
    }
    driven.serve_until(u64::MAX);
    let order: Vec<usize> = driven.departures.iter().map(|(packet, _)| *packet).collect();
    assert_eq!(order, [0, 3, 4, 1, 2]);
}

/// Both queues are always full. Of ten bytes the Classic queue gets one, in turn. [RFC 9332 4.2.2]
#[test]
fn the_classic_queue_has_its_share() {
    let mut driven = driven(dualpi2());
    let classic: Vec<usize> = (0..300).map(|_| offer(&mut driven, 0, Ecn::NotCapable)).collect();
    (0..1000).for_each(|_| _ = offer(&mut driven, 0, Ecn::Scalable));
    driven.serve_until(200 * MS);
    let sent = driven.departures.iter().filter(|(packet, _)| classic.contains(packet)).count();
    assert!((19..=21).contains(&sent), "{sent}");
}

/// L4S packets that come just when the one before begins to be sent wait for 1 ms: (1000 - 800) / 400 = 1/2 of them are marked. With RFC
/// 9332's least length they are not, for none of them meets another one waiting. [RFC 9332 A.1]
#[test]
fn the_l4s_queue_marks_by_its_ramp() {
    for (min_packets, least, most) in [(0, 499, 500), (1, 0, 0)] {
        let mut driven = driven(DualPi2 { min_packets, ..dualpi2() });
        offer(&mut driven, 0, Ecn::Scalable);
        (0..1000).for_each(|ms| _ = offer(&mut driven, ms * MS, Ecn::Scalable));
        driven.serve_until(u64::MAX);
        let marked = driven.marked.len();
        assert!((least..=most).contains(&marked), "{min_packets}: {marked}");
    }
}

/// A quarter too many Classic packets, and nobody reacts: a fifth must go, with p'^2 = 0.2, and the delay is brought to 15 ms. Of the L4S
/// packets, one in 100, 2 p' = 0.894 are marked; they wait for the one in transmission only. [RFC 9332 2.1] [RFC 9331 5.2]
#[test]
fn the_two_queues_are_coupled() {
    let mut driven = driven(dualpi2());
    let (mut l4s, mut came) = (vec![], vec![]);
    for packet in 0..200_000u64 {
        let now = packet * 4 * MS / 5;
        if packet % 100 == 50 {
            l4s.push((offer(&mut driven, now, Ecn::Scalable), now));
            came.push(now);
        }
        offer(&mut driven, now, Ecn::NotCapable);
        came.push(now);
    }
    driven.serve_until(u64::MAX);
    let late = |number: usize| number > 101_000;
    let share = driven.drops.iter().filter(|(packet, _)| late(*packet)).count() as f64 / 101_000.0;
    // The L4S packets take one hundredth more: (1.25 * 1.01 - 1) / 1.25 = 0.21.
    assert!((share - 0.21).abs() < 0.01, "{share}");
    let is_l4s = |number: &usize| l4s.iter().any(|(packet, _)| packet == number);
    let classic: Vec<f64> = driven
        .departures
        .iter()
        .filter(|(packet, _)| late(*packet) && packet % 20 == 0 && !is_l4s(packet))
        .map(|(packet, left)| (left - came[*packet]) as f64 / 1e6 - 1.0)
        .collect();
    let mean = classic.iter().sum::<f64>() / classic.len() as f64;
    assert!((14.0..16.5).contains(&mean), "{mean}");
    let l4s: Vec<(usize, u64)> = l4s.into_iter().filter(|(packet, _)| late(*packet)).collect();
    let marked = l4s.iter().filter(|(packet, _)| driven.marked.contains(packet)).count() as f64 / l4s.len() as f64;
    assert!((marked - 2.0 * 0.21f64.sqrt()).abs() < 0.03, "{marked}");
    for (packet, sent) in l4s {
        let left = driven.departures.iter().find(|(number, _)| *number == packet).expect("none is dropped").1;
        assert!(left - sent <= 2 * MS, "{}", left - sent);
    }
}

/// Packets with ECT(0) are marked where others are dropped, unless the likelihood is 1/k^2 or more [RFC 9332 A.2], and not with `ecn = false`.
#[test]
fn classic_packets_are_marked() {
    for ecn in [true, false] {
        let mut driven = driven(DualPi2 { ecn, ..dualpi2() });
        let mut marked_before_drops = None;
        // Nobody reacts, so that in the end it comes to overload.
        for packet in 0..20_000u64 {
            offer(&mut driven, packet * 99 * MS / 100, Ecn::Capable);
            if !driven.drops.is_empty() {
                marked_before_drops.get_or_insert(driven.marked.len());
            }
        }
        let marked = marked_before_drops.expect("marks alone do not help");
        assert_eq!((marked > 50, driven.marked.is_empty()), (ecn, !ecn), "{marked}");
    }
}

/// A quarter too many L4S packets that do not react: all are marked, a fifth is dropped, and the wait stays near the Classic target
/// [RFC 9332 4.2.3].
#[test]
fn overload_drops_l4s_packets() {
    let mut driven = driven(dualpi2());
    let mut waits = vec![];
    for packet in 0..100_000u64 {
        let now = packet * 4 * MS / 5;
        offer(&mut driven, now, Ecn::Scalable);
        waits.push(driven.link.wait_ns(now) as f64 / 1e6);
    }
    let share = driven.drops.iter().filter(|(packet, _)| *packet > 50_000).count() as f64 / 50_000.0;
    assert!((share - 0.2).abs() < 0.03, "{share}");
    let mean = waits[50_000..].iter().sum::<f64>() / 50_000.0;
    assert!((10.0..20.0).contains(&mean), "{mean}");
    let sent = driven.departures.iter().filter(|(packet, _)| *packet > 50_000).count();
    let marked = driven.marked.iter().filter(|packet| **packet > 50_000).count();
    assert!(marked * 100 >= sent * 99, "{marked} of {sent}");
}
