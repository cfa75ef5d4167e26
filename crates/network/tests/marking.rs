// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues that mark, and queues for each flow, by their RFCs. 1500 bytes take 1 ms.

mod common;

use common::{Driven, MS, MTU, link, spec};
use tandem_network::Ecn;
use tandem_scenario::{
    Aqm, Limit,
    aqm::{Codel, FqCodel, Pie, Red},
    units::Span,
};

fn marking_codel() -> Codel {
    Codel { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: true }
}

fn driven(limit: u32, aqm: Aqm, ecn: Ecn) -> Driven {
    Driven { ecn, ..Driven::new(link(&spec(Limit::Packets(limit), aqm))) }
}

/// The times are those of the drops in codel.rs: 60 wait, and a packet a millisecond comes. What is marked is sent.
#[test]
fn codel_marks_when_it_would_drop() {
    for (ecn, marks, drops) in [(Ecn::Capable, 8, 0), (Ecn::Scalable, 8, 0), (Ecn::NotCapable, 0, 8)] {
        let mut driven = driven(1000, Aqm::Codel(marking_codel()), ecn);
        (0..60).for_each(|_| _ = driven.offer(0, MTU));
        // A mark does not shorten the queue as a drop does, but the law of times is the same.
        (0..520).for_each(|ms| _ = driven.offer(ms * MS, MTU));
        assert_eq!((driven.marked.len(), driven.drops.len()), (marks, drops), "{ecn:?}");
        assert_eq!(driven.link.stats.marks, marks as u64);
    }
}

/// RED that follows the queue at once. Between the thresholds it marks; above twice the maximum it drops (RFC 3168 section 7).
#[test]
fn red_marks_below_its_limit() {
    let red = Red { min_packets: 5.0, max_packets: 15.0, max_p: 0.1, weight: 1.0, ecn: true };
    let mut driven = driven(1000, Aqm::Red(red), Ecn::Capable);
    (0..100).for_each(|_| _ = driven.offer(0, MTU));
    driven.serve_until(u64::MAX);
    // 30 wait, one is in transmission, and from then on all are dropped.
    assert_eq!((driven.departures.len(), driven.drops.len()), (31, 69));
    assert!(driven.marked.len() > 5 && driven.marked.iter().all(|&packet| packet >= 6), "{:?}", driven.marked);
}

fn pie(ecn: bool) -> Aqm {
    let ms = Span::from_ms;
    Aqm::Pie(Pie { target: ms(15), update: ms(15), max_burst: ms(150), derandomise: true, ecn })
}

/// A quarter more than the link carries, and nobody reacts: a fifth must go, and the controller's integral part brings the delay to its
/// target of 15 ms. Above a probability of 0.1 it drops what it could mark.
#[test]
fn pie_brings_the_delay_to_its_target() {
    let mut driven = driven(10_000, pie(true), Ecn::Capable);
    let (mut waits, mut late_drops) = (vec![], 0);
    for packet in 0..100_000 {
        let now = packet * 4 * MS / 5;
        let before = driven.drops.len();
        driven.offer(now, MTU);
        if now > 40_000 * MS {
            waits.push(driven.link.wait_ns(now) as f64 / 1e6);
            late_drops += driven.drops.len() - before;
        }
    }
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((12.0..18.0).contains(&mean), "{mean}");
    let share = late_drops as f64 / waits.len() as f64;
    assert!((share - 0.2).abs() < 0.01, "{share}");
}

/// A fifth must go, as above, and the probability swings about 0.2. RFC 8033 section 5.4: drops are 0.85 / p packets apart at least, so three
/// while it is below 0.42. Chance alone drops some that follow each other.
#[test]
fn pie_spreads_drops_unless_told_otherwise() {
    let least_gap = |derandomise: bool| {
        let Aqm::Pie(pie) = pie(false) else { unreachable!() };
        let mut driven = driven(10_000, Aqm::Pie(Pie { derandomise, ..pie }), Ecn::NotCapable);
        (0..100_000).for_each(|packet| _ = driven.offer(packet * 4 * MS / 5, MTU));
        let late: Vec<usize> = driven.drops.iter().map(|drop| drop.0).filter(|&packet| packet > 50_000).collect();
        assert!((9_000..11_000).contains(&late.len()), "{}", late.len());
        late.windows(2).map(|pair| pair[1] - pair[0]).min()
    };
    assert!(least_gap(true) >= Some(3), "{:?}", least_gap(true));
    assert_eq!(least_gap(false), Some(1));
}

/// One in a hundred too many: the probability stays near 0.01, and all is marked, nothing dropped; so the queue grows, until it is
/// above 0.1.
#[test]
fn pie_marks_while_the_probability_is_small() {
    let mut driven = driven(100_000, pie(true), Ecn::Capable);
    let mut first_drop = None;
    for packet in 0..20_000u64 {
        driven.offer(packet * 99 * MS / 100, MTU);
        if first_drop.is_none() && !driven.drops.is_empty() {
            first_drop = Some(driven.marked.len());
        }
    }
    assert!(first_drop.is_none_or(|marked| marked > 20), "{first_drop:?}");
    assert!(driven.marked.len() > 20);
}

fn fq_codel(ecn: bool) -> Aqm {
    Aqm::FqCodel(FqCodel { codel: Codel { ecn, ..marking_codel() }, flows: 1024, quantum_bytes: MTU })
}

/// One conversation floods the link; a packet of another every 20 ms waits for the one in transmission at most (RFC 8290 section 4.2:
/// new queues go first).
#[test]
fn fq_codel_lets_a_sparse_flow_pass() {
    let mut driven = driven(1000, fq_codel(false), Ecn::NotCapable);
    let mut sparse = vec![];
    for tick in 0..4000u64 {
        let now = tick * MS / 2;
        driven.conversation = 1;
        driven.offer(now, MTU);
        if tick % 40 == 7 {
            driven.conversation = 2;
            sparse.push((driven.offered, now));
            driven.offer(now, MTU);
        }
    }
    driven.serve_until(u64::MAX);
    for (packet, sent) in sparse {
        let (_, left) = driven.departures.iter().find(|(number, _)| *number == packet).expect("it is never dropped");
        assert!(left - sent <= 2 * MS, "{}", (left - sent) / 1000);
    }
}

/// Two that always have packets, of 1500 and of 300 bytes: equal bytes, so five of the small for one of the large.
#[test]
fn fq_codel_shares_bytes() {
    let mut driven = driven(20_000, fq_codel(false), Ecn::NotCapable);
    for _ in 0..100 {
        driven.conversation = 1;
        driven.offer(0, 1500);
        driven.conversation = 2;
        (0..5).for_each(|_| _ = driven.offer(0, 300));
    }
    // 50 ms: 50 packets' worth of bytes, 25 large and 125 small, except for a turn.
    driven.serve_until(50 * MS);
    let sent: Vec<usize> = driven.departures.iter().map(|(number, _)| number % 6).collect();
    let large = sent.iter().filter(|&&place| place == 0).count();
    assert!((24..=27).contains(&large) && (115..=130).contains(&(sent.len() - large)), "{large} of {}", sent.len());
}

/// A full queue takes from the longest, at its head, not from who comes.
#[test]
fn fq_codel_evicts_from_the_longest() {
    let mut driven = driven(10, fq_codel(false), Ecn::NotCapable);
    driven.conversation = 1;
    // 0 goes at once, 1 to 10 wait.
    (0..11).for_each(|_| _ = driven.offer(0, MTU));
    driven.conversation = 2;
    driven.offer(0, MTU);
    assert_eq!(driven.link.waiting(0), 6);
    driven.serve_until(u64::MAX);
    let dropped: Vec<usize> = driven.drops.iter().map(|drop| drop.0).collect();
    // Half of the ten.
    assert_eq!(dropped, [1, 2, 3, 4, 5]);
    assert_eq!(driven.departures.len(), 7);
}
