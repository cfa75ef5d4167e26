// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marks instead of losses: RFC 3168 section 6.1, RFC 8511, accurate ECN (RFC 9768). RTT 100 ms; all ACKs of a round come at once.

use std::sync::Arc;

use tandem_controllers::{Params, State, find};

use super::wire::{MS, Wire, losses, reno};
use crate::{
    Config, Ecn,
    segment::{ECT_0, ECT_1},
};

fn wire(ecn: Ecn, initial_window: u32) -> Wire {
    let mut wire = Wire::new(&Config { ecn, initial_window, ..reno() });
    wire.marks = Box::new(|seq| seq == 0);
    wire
}

/// The first of ten is marked, and all ACKs of the round echo it. The window falls from 10 to 5 over the round, a segment for every second
/// ACK; the first one says so (CWR), and its ACK brings nothing back. With the next round the reduction is over: five segments, and one
/// more with the last ACK. [RFC 3168 6.1.2]
#[test]
fn a_mark_halves_the_window_without_a_retransmission() {
    let mut wire = wire(Ecn::Rfc3168, 10);
    wire.give(1000);
    wire.run_until_ms(100);
    assert_eq!((wire.sender.state, wire.sender.conn.snd_ssthresh), (State::Cwr, 5));
    wire.run_until_ms(200);
    wire.assert_sent(
        "0: 0-9
         100: 10-14
         200: 15-20",
    );
    assert_eq!(wire.reduced, [10]);
    let counters = wire.sender.counters;
    assert_eq!((wire.sender.state, counters.window_reductions, counters.retransmits), (State::Open, 1, 0));
}

/// 0.8 of the window with standard TCP, 0.85 with CUBIC. [RFC 8511 3] [RFC 8511 3.1]
#[test]
fn a_mark_takes_less_with_rfc_8511() {
    for (controller, expected) in [("reno", 16), ("cubic", 17)] {
        let controller = Arc::new(Params::new(find(controller).unwrap()));
        let mut wire = Wire::new(&Config { controller, ecn: Ecn::Rfc8511, initial_window: 20, ..reno() });
        wire.marks = Box::new(|seq| seq == 0);
        wire.give(1000);
        wire.run_until_ms(100);
        assert_eq!(wire.sender.conn.snd_ssthresh, expected);
        // A loss takes what it always takes.
        let mut lossy = Wire::new(&Config { ecn: Ecn::Rfc8511, initial_window: 20, ..reno() }).losing(&[(0, 1)]);
        lossy.give(1000);
        lossy.run_until_ms(100);
        assert_eq!(lossy.sender.conn.snd_ssthresh, 10);
    }
}

/// A mark and a loss in one round are one reason to reduce [RFC 3168 6.1.2], but the lost segment goes again, and may not be marked
/// [RFC 3168 6.1.5].
#[test]
fn a_mark_and_a_loss_reduce_once() {
    let mut wire = wire(Ecn::Rfc3168, 10);
    wire.loses = losses(&[(5, 1)]);
    wire.give(1000);
    wire.run_until_ms(290);
    assert_eq!((wire.sender.conn.snd_ssthresh, wire.sender.counters.window_reductions), (5, 1));
    assert_eq!(
        wire.sent.iter().filter(|sent| sent.nth > 1).map(|sent| (sent.at / MS, sent.seq)).collect::<Vec<_>>(),
        [(100, 5)]
    );
    let fields = |wire: &Wire, again: bool| -> Vec<u64> {
        let all = wire.sent.iter().zip(&wire.ecn_fields);
        all.filter(|(sent, _)| (sent.nth > 1) == again).map(|(_, &field)| field).collect()
    };
    assert_eq!(fields(&wire, true), [0]);
    assert!(fields(&wire, false).iter().all(|&field| field == ECT_0));
    wire.run_until_ms(1000);
    assert_eq!((wire.sender.state, wire.sender.counters.retransmits), (State::Open, 1));
}

/// Each round's first mark reduces the window again, down to 2 (reno's least ssthresh). [RFC 3168 6.1.2]
#[test]
fn marks_in_each_round_reduce_in_each_round() {
    let mut wire = Wire::new(&Config { ecn: Ecn::Rfc3168, initial_window: 16, ..reno() });
    wire.marks = Box::new(|_| true);
    wire.give(1000);
    wire.run_until_ms(1500);
    assert_eq!(wire.sender.conn.snd_ssthresh, 2);
    assert!(wire.sender.conn.snd_cwnd <= 3 && wire.sender.counters.retransmits == 0);
}

/// Without ECN nothing says that it may be marked. [RFC 3168 5]
#[test]
fn without_ecn_nothing_is_marked() {
    let mut wire = wire(Ecn::Off, 10);
    wire.give(100);
    wire.run_to_end();
    assert_eq!(wire.sender.counters.window_reductions, 0);
}

fn accurate(controller: &str, settings: &[(&str, f64)], initial_window: u32) -> Wire {
    let mut params = Params::new(find(controller).unwrap());
    settings.iter().for_each(|(name, value)| params.set(name, *value).unwrap());
    let controller = Arc::new(params);
    Wire::new(&Config { controller, ecn: Ecn::Accurate, initial_window, ..reno() })
}

/// Reno takes a mark for a loss whichever feedback tells of it: the windows are those of RFC 3168. But nothing is told the receiver
/// [RFC 9768 3.1.5]; all may be marked by others than L4S queues [RFC 3168 5].
#[test]
fn a_count_of_marks_halves_the_window_of_reno() {
    let mut wire = accurate("reno", &[], 10);
    wire.marks = Box::new(|seq| seq == 0);
    wire.give(1000);
    wire.run_until_ms(200);
    wire.assert_sent(
        "0: 0-9
         100: 10-14
         200: 15-20",
    );
    assert!(wire.reduced.is_empty() && wire.ecn_fields.iter().all(|&field| field == ECT_0));
    assert_eq!((wire.sender.state, wire.sender.counters.window_reductions), (State::Open, 1));
}

/// Each ACK has the count so far, so that a lost one takes no mark with it: 3 of 40, of which the ACKs of two are lost. [RFC 9331 4.2]
#[test]
fn counts_survive_lost_acks() {
    let mut wire = accurate("dctcp", &[("initial_alpha", 0.0), ("g", 1.0)], 40);
    wire.marks = Box::new(|seq| [10, 20, 30].contains(&seq));
    wire.loses_ack = Box::new(|nth| nth == 11 || nth == 21);
    wire.give(1000);
    wire.run_until_ms(100);
    assert_eq!(wire.acks.last().unwrap().1.feedback.map(|feedback| feedback.marks), Some(3));
    // The first mark came with the ACK of two packets, and found alpha = 0 and a window of 50: it took nothing.
    assert_eq!(wire.sender.conn.snd_ssthresh, 50);
}

/// Prague begins with alpha = 1: the first mark halves at once, without rate reduction, and the window grows on. [RFC 9331 4.1] [RFC 9331 4.2]
#[test]
fn prague_sends_ect_1_and_reduces_at_once() {
    let mut wire = accurate("prague", &[], 20);
    wire.marks = Box::new(|seq| seq == 0);
    wire.give(1000);
    wire.run_until_ms(90);
    assert!(wire.sent.len() == 20 && wire.ecn_fields.iter().all(|&field| field == ECT_1));
    // They left within half a millisecond; the first ACK comes at 100 ms.
    wire.step();
    assert_eq!((wire.now / MS, wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (100, 10, 10));
    wire.run_until_ms(150);
    // 19 packets without a mark, from 10: the square grows by 2 each, to 138 and a window of 11.7.
    assert_eq!(wire.sender.conn.snd_cwnd, 11);
}

/// A lost packet goes again, with ECT(1), too [RFC 8311 4.3]; the window is halved once.
#[test]
fn prague_halves_at_a_loss() {
    let mut wire = accurate("prague", &[], 20);
    wire.loses = losses(&[(5, 1)]);
    wire.give(60);
    wire.run_to_end();
    assert_eq!(wire.sender.counters.retransmits, 1);
    assert!(wire.ecn_fields.iter().all(|&field| field == ECT_1));
}

/// Packets count when they are SACKed, and not again when the hole before them is filled. 2 and 21 are lost. The ACK of 2 ends a round, and the
/// next one lasts until 43, sent last before it, is acknowledged: in it 26 to 40 are SACKed, then 21 and 41 to 43 arrive. Of these 19 packets
/// 13 are marked, so with g = 1 the mark of 44 takes 22 * 13/19 / 2 = 7.5 of 22. Counted by number, 21 to 43 would be 23 packets, and 6.2.
/// [RFC 8257 3.3]
#[test]
fn dctcp_counts_a_sacked_packet_once() {
    let mut wire = accurate("dctcp", &[("initial_alpha", 0.0), ("g", 1.0)], 20).losing(&[(2, 1), (21, 1)]);
    // The mark of 3 finds alpha = 0: the reduction, which the loss shares, takes nothing.
    wire.marks = Box::new(|seq| (26..39).contains(&seq) || [3, 44].contains(&seq));
    wire.give(60);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-1 2x 3-19
         100: 20 21x 22-25 2* 26-39
         200: 40 21* 41-59",
    );
    assert_eq!(wire.sender.conn.snd_ssthresh, 14);
    // Each of the sixty once, whichever way it is told.
    let (mut packets, mut marks) = (0, 0);
    for ack in wire.sender.controller.recent_acks() {
        (packets, marks) = (packets + ack.acked_sacked, marks + ack.marked);
        assert_eq!(packets, ack.delivered);
    }
    assert_eq!((packets, marks), (60, 15));
}
