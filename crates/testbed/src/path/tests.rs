// SPDX-License-Identifier: MIT OR Apache-2.0
//! When packets arrive, worked out by hand. At 12 Mb/s a packet of 1500 bytes takes 1 ms.

use tandem_network::{Rng, Stream, agenda::NEVER, wired_links};
use tandem_scenario::{
    Aqm, Limit, LinkConfig, Loss,
    aqm::Codel,
    units::{Rate, Span},
};

use super::*;

const MS: u64 = 1_000_000;
const MTU: u32 = 1500;

/// 12 Mb/s, 10 ms, 2 packets.
fn link() -> LinkConfig {
    LinkConfig {
        name: "link".into(),
        from: 0,
        to: 1,
        rate: Rate { bps: 12_000_000 },
        delay: Span::from_ms(10),
        limit: Limit::Packets(2),
        aqm: Aqm::DropTail,
        loss: Loss::None,
        effects: None,
    }
}

fn route(forward: &[usize], back: &[usize]) -> Route {
    Route::new(forward, back, Rng::new(1, Stream::Flow(0)))
}

/// `route([0], [1])` with a delay outside the links.
fn distant(access_ns: u64) -> Route {
    let mut route = route(&[0], &[1]);
    route.access_ns = access_ns;
    route
}

fn topology(links: &[LinkConfig]) -> Topology {
    Topology { links: links.to_vec(), ..Topology::default() }
}

fn path_before_begin(links: &[LinkConfig], routes: Vec<Route>) -> Path {
    Path::new(&topology(links), routes)
}

fn path(links: &[LinkConfig], routes: Vec<Route>) -> Path {
    let mut path = path_before_begin(links, routes);
    path.begin(wired_links(&topology(links), MTU, 0, &(0..NEVER), 1));
    path
}

/// A packet that is known by its first byte.
fn packet(mark: u8, bytes: usize, flow: usize, to: End) -> Packet {
    Packet::new(vec![mark; MTU as usize].into_boxed_slice(), bytes, flow, to)
}

/// A full one to the receivers.
fn full(mark: u8, flow: usize) -> Packet {
    packet(mark, 1500, flow, End::Receivers)
}

/// Looks at `now` only; what has arrived there: when it was due, and which.
fn arrivals(path: &mut Path, now: u64, end: End) -> Vec<(u64, u8)> {
    path.advance(now);
    path.arrived[end as usize].drain(..).map(|(at, packet)| (at, packet.contents()[0])).collect()
}

#[test]
fn packets_take_their_time_on_the_wire_one_after_the_other() {
    let mut path = path(&[link(), link()], vec![route(&[0], &[1])]);
    path.send(0, full(1, 0));
    path.send(0, full(2, 0));
    assert_eq!(path.next(), 11 * MS);
    assert_eq!(arrivals(&mut path, 11 * MS, End::Receivers), [(11 * MS, 1)]);
    assert_eq!(path.next(), 12 * MS);
    assert_eq!(arrivals(&mut path, 20 * MS, End::Receivers), [(12 * MS, 2)]);
    assert_eq!(path.next(), NEVER);
    // The link has been idle meanwhile. An ACK of 75 bytes takes 50 us.
    path.send(30 * MS, packet(3, 75, 0, End::Senders));
    assert_eq!(arrivals(&mut path, 50 * MS, End::Senders), [(40 * MS + 50_000, 3)]);
}

#[test]
fn a_full_queue_drops_the_newest() {
    let mut path = path(&[link(), link()], vec![route(&[0], &[1])]);
    // One in transmission, two wait.
    (1..=4).for_each(|mark| path.send(0, full(mark, 0)));
    assert_eq!(path.spare().len(), 1);
    assert_eq!(path.spare()[0][0], 4);
    // 1 ms later there is room again.
    path.advance(MS);
    path.send(MS, full(5, 0));
    let all = arrivals(&mut path, 100 * MS, End::Receivers);
    assert_eq!(all, [(11 * MS, 1), (12 * MS, 2), (13 * MS, 3), (14 * MS, 5)]);
    assert_eq!(path.spare().len(), 1);
}

#[test]
fn a_buffer_of_bytes_holds_bytes() {
    let mut spec = link();
    spec.limit = Limit::Bytes(3100);
    let mut path = path(&[spec, link()], vec![route(&[0], &[1])]);
    // In transmission 1500; 1500 and 1500 wait; 101 more would be 3101, 100 are 3100.
    (1..=3).for_each(|mark| path.send(0, full(mark, 0)));
    path.send(0, packet(4, 101, 0, End::Receivers));
    path.send(0, packet(5, 100, 0, End::Receivers));
    assert_eq!(path.spare().iter().map(|b| b[0]).collect::<Vec<_>>(), [4]);
    assert_eq!(arrivals(&mut path, 100 * MS, End::Receivers).len(), 4);
}

#[test]
fn before_the_run_begins_there_is_delay_alone() {
    let mut path = path_before_begin(&[link(), link()], vec![distant(5 * MS)]);
    (1..=10).for_each(|mark| path.send(0, full(mark, 0)));
    let all = arrivals(&mut path, 100 * MS, End::Receivers);
    assert_eq!(all, (1..=10).map(|mark| (10 * MS, mark)).collect::<Vec<_>>());
    path.send(100 * MS, packet(11, 52, 0, End::Senders));
    assert_eq!(arrivals(&mut path, 200 * MS, End::Senders), [(115 * MS, 11)]);
    assert_eq!(path.base_rtt_ns(0), 25 * MS);
}

/// What entered before the links were there is not counted by them, and arrives as it would have.
#[test]
fn what_is_under_way_when_the_run_begins_arrives() {
    let mut path = path_before_begin(&[link(), link()], vec![route(&[0], &[1])]);
    path.send(0, full(1, 0));
    path.begin(wired_links(&topology(&[link(), link()]), MTU, 0, &(0..NEVER), 1));
    path.send(5 * MS, full(2, 0));
    assert_eq!(arrivals(&mut path, 100 * MS, End::Receivers), [(10 * MS, 1), (16 * MS, 2)]);
}

/// Three links in a row; the emulator looks only at the end: each hop still counts from when the packet was due there.
#[test]
fn lateness_does_not_add_up_over_hops() {
    let mut path = path(&[link(), link(), link(), link()], vec![route(&[0, 1, 2], &[3]), route(&[1], &[3])]);
    path.send(0, full(1, 0));
    path.send(0, full(2, 0));
    // Another flow uses the second link when the first packet comes there, at 11 ms: for 0.5 ms more.
    path.advance(10 * MS + 500_000);
    path.send(10 * MS + 500_000, full(3, 1));
    let all = arrivals(&mut path, 1000 * MS, End::Receivers);
    // Flow 1: 10.5 + 1 + 10. Flow 0: waits until 11.5, arrives at the third at 22.5 and 23.5, at the end 11 later.
    assert_eq!(all, [(21 * MS + 500_000, 3), (33 * MS + 500_000, 1), (34 * MS + 500_000, 2)]);
}

/// Its own delay outside the links is spent on the way back, where it delays no other flow's ACKs.
#[test]
fn the_access_delay_is_a_flow_s_own() {
    let routes = vec![distant(7 * MS), route(&[0], &[1])];
    let mut path = path(&[link(), link()], routes);
    path.send(0, full(1, 0));
    path.send(0, packet(2, 75, 0, End::Senders));
    path.send(0, packet(3, 75, 1, End::Senders));
    assert_eq!(arrivals(&mut path, 100 * MS, End::Receivers), [(11 * MS, 1)]);
    assert_eq!(arrivals(&mut path, 100 * MS, End::Senders), [(10 * MS + 100_000, 3), (17 * MS + 50_000, 2)]);
    assert_eq!((path.base_rtt_ns(0), path.base_rtt_ns(1)), (27 * MS, 20 * MS));
}

/// Up to 3 ms, drawn for each, and none overtakes another; packets to the receivers have none.
#[test]
fn what_returns_is_late_by_the_send_jitter() {
    let mut jittery = route(&[0], &[1]);
    jittery.send_jitter_ns = 3 * MS;
    let back = LinkConfig { limit: Limit::Packets(100), ..link() };
    let mut path = path(&[link(), back], vec![jittery]);
    path.send(0, full(0, 0));
    assert_eq!(arrivals(&mut path, 20 * MS, End::Receivers), [(11 * MS, 0)]);
    // An ACK each 10 ms: it would arrive 10.05 ms later.
    let due = |number: u64| 20 * MS + number * 10 * MS + 10_050_000;
    let mut late_ns = Vec::new();
    for number in 0..100 {
        path.send(20 * MS + number * 10 * MS, packet(number as u8, 75, 0, End::Senders));
        let [(at, mark)] = arrivals(&mut path, due(number) + 3 * MS, End::Senders)[..] else { panic!("one each") };
        assert_eq!(mark, number as u8);
        late_ns.push(at - due(number));
    }
    assert!(late_ns.iter().all(|late| *late < 3 * MS));
    let (least, most) = (late_ns.iter().min().unwrap(), late_ns.iter().max().unwrap());
    assert!(*least < MS / 2 && *most > 5 * MS / 2, "{least} to {most} ns");
    // A hundred at once, 50 us apart.
    (0..100).for_each(|number| path.send(2000 * MS, packet(number, 75, 0, End::Senders)));
    let marks: Vec<u8> = arrivals(&mut path, 3000 * MS, End::Senders).into_iter().map(|(_, mark)| mark).collect();
    assert_eq!(marks, (0..100).collect::<Vec<u8>>());
}

/// CoDel (RFC 8289) lets a short queue pass: its packets leave as without it, though the link is asked at each departure.
#[test]
fn a_link_that_decides_at_departure_is_asked_then() {
    let mut spec = link();
    spec.aqm = Aqm::Codel(Codel { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: false });
    spec.limit = Limit::Packets(1000);
    let mut path = path(&[spec, link()], vec![route(&[0], &[1])]);
    (1..=3).for_each(|mark| path.send(0, full(mark, 0)));
    assert_eq!(path.next(), MS);
    assert_eq!(arrivals(&mut path, 50 * MS, End::Receivers), [(11 * MS, 1), (12 * MS, 2), (13 * MS, 3)]);
    // 200 ms of packets: they wait for longer than 5 ms, for longer than 100 ms.
    (0..200).for_each(|mark| path.send(100 * MS, full(mark, 0)));
    let arrived = arrivals(&mut path, 1000 * MS, End::Receivers).len();
    assert!(!path.spare().is_empty());
    assert_eq!(arrived + path.spare().len(), 200);
}

/// Drops in the time that a pause makes suspect are told apart; random losses are no queue's.
#[test]
fn drops_after_a_pause_are_counted() {
    let mut path = path(&[link(), link()], vec![route(&[0], &[1])]);
    (1..=5).for_each(|mark| path.send(0, full(mark, 0)));
    assert_eq!((path.spare().len(), path.drops_after_pauses()), (2, 0));
    path.advance(50 * MS);
    path.suspect_until(60 * MS);
    path.suspect_until(55 * MS);
    (1..=6).for_each(|mark| path.send(59 * MS, full(mark, 0)));
    assert_eq!((path.spare().len(), path.drops_after_pauses()), (5, 3));
    path.advance(100 * MS);
    (1..=4).for_each(|mark| path.send(100 * MS, full(mark, 0)));
    assert_eq!((path.spare().len(), path.drops_after_pauses()), (6, 3));
}

#[test]
fn counts_what_arrives_once_asked() {
    let mut path = path(&[link(), link()], vec![route(&[0], &[1])]);
    path.send(0, full(1, 0));
    path.advance(20 * MS);
    assert_eq!(path.delivered(End::Receivers).packets, 0);
    path.count_from(20 * MS);
    path.send(20 * MS, full(2, 0));
    path.send(1015 * MS, full(3, 0));
    path.advance(2000 * MS);
    let delivered = path.delivered(End::Receivers);
    assert_eq!((delivered.packets, delivered.payload_mbit_by_second.len()), (2, 2));
    assert_eq!(path.delivered(End::Senders).packets, 0);
}
