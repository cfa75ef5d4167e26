// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fast retransmit and recovery: RFC 5681 section 3.2, RFC 3042, RFC 6675, RFC 6937.
//!
//! Reno throughout: ssthresh is half the window. RTT 100 ms. All ACKs of a round come at once unless `packet_ns` spaces them.

use tandem_controllers::State;

use super::wire::{MS, Wire, reno};
use crate::{Config, segment::Feedback};

/// The first of ten is lost. Each of the first two duplicate ACKs lets a new segment go (10, 11: limited transmit), the third
/// sends segment 0 again. From then on PRR halves the rate: of the 6 ACKs that follow, the 2nd and the 4th let one go (12,
/// 13); at the last, 5 = ssthresh are in flight, and none goes.
/// Next round: 10, 11 are SACKed (14, 15 keep 5 in flight), then 0 fills the hole. All up to 12 is acknowledged, so recovery
/// is over with the window at ssthresh, and the ACKs of 0, 12, 13 let one go each. [RFC 3042 2] [RFC 5681 3.2]
#[test]
fn one_loss() {
    let mut wire = Wire::new(&reno()).losing(&[(0, 1)]);
    wire.give(1000);
    wire.run_until_ms(299);
    wire.assert_sent(
        "0: 0x 1-9
         100: 10-11 0* 12-13
         200: 14-18",
    );
    let sender = &wire.sender;
    assert_eq!((sender.conn.snd_cwnd, sender.conn.snd_ssthresh, sender.state), (5, 5, State::Open));
    assert_eq!(sender.board.in_flight(), 5);
    assert_eq!((sender.counters.window_reductions, sender.counters.timeouts, sender.counters.retransmits), (1, 0, 1));
    // Reno afterwards: one segment a round. The ACKs of 0, 12, 13 have counted 3 of 5 already.
    wire.run_until_ms(300);
    assert_eq!(wire.window_at_ms(300), 6);
}

/// What Linux tells a controller (`pkts_acked` of `struct ack_sample`): the packets that leave the front of the window, SACKed before or not. In
/// `one_loss` eleven ACKs SACK one segment each, and that of segment 0 acknowledges twelve by number. An ACK that only SACKs what was sent
/// again says nothing: no RTT either (Karn).
#[test]
fn a_controller_hears_of_packets_when_the_front_of_the_window_has_passed_them() {
    let told = |loses: &[(u64, u32)], ms: u64| {
        let mut wire = Wire::new(&reno()).losing(loses);
        wire.give(1000);
        wire.run_until_ms(ms);
        let acks = wire.sender.controller.recent_acks();
        acks.map(|ack| (ack.pkts_acked, ack.rtt_us / 1000)).collect::<Vec<_>>()
    };
    let [sacked, usual] = [(0, 100), (1, 100)];
    assert_eq!(told(&[(0, 1)], 299), [vec![sacked; 11], vec![(12, 0)], vec![usual; 2]].concat());
    // Segment 2 is sent again in the first round of the repair, but 0 is lost twice: the SACK of 2 is not told.
    let twice = told(&[(0, 1), (0, 2), (2, 1)], 249);
    assert!(twice.iter().all(|&(acked, rtt_ms)| acked == 0 && rtt_ms == 100), "{twice:?}");
}

/// Segments of a millisecond, so that the k-th duplicate ACK comes at 101 + k ms, and a window of 20: PRR lets one go at every
/// second ACK, from the retransmission at the third on, evenly through the round. In flight at the end: 10. [RFC 6937 3]
/// [RFC 9937 6.1] [RFC 9937 6.2] [RFC 9937 6.3]
#[test]
fn proportional_rate_reduction_paces_one_for_two() {
    let mut wire = Wire::new(&Config { initial_window: 20, ..reno() }).losing(&[(0, 1)]);
    wire.packet_ns = MS;
    wire.give(1000);
    wire.run_until_ms(209);
    // ssthresh = 10. In flight falls by one with each ACK and rises with each segment: 12 before the 17th ACK, 10 before the
    // 19th, where nothing more may go. The ACKs of 20 and 21 find 9 in flight (29, 30), that of 0 ends the recovery (31),
    // and then each ACK lets one go: 22 was sent at 106 ms, so 101 ms later comes its ACK.
    wire.assert_sent(
        "0: 0x 1-19
         102: 20
         103: 21
         104: 0*
         106: 22
         108: 23
         110: 24
         112: 25
         114: 26
         116: 27
         118: 28
         203: 29
         204: 30
         205: 31
         207: 32
         209: 33",
    );
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.board.in_flight()), (10, 10));
}

/// Four of 20 are lost. The ACKs of 0, 1, 2 open the window to 23 (20 to 25), two duplicates let 26, 27 go, the third starts
/// the one recovery: ssthresh = 11. From there each SACK makes the holes below it losses, and PRR sends 11 for 23 delivered:
/// all four retransmissions are out within the same round, and all is repaired in the next, with 11 in flight. [RFC 6582 3.2]
#[test]
fn several_losses_in_a_window_are_one_reduction_and_one_round() {
    let source = Config { initial_window: 20, ..reno() };
    let mut wire = Wire::new(&source).losing(&[(3, 1), (8, 1), (9, 1), (14, 1)]);
    wire.give(1000);
    wire.run_until_ms(299);
    wire.assert_sent(
        "0: 0-2 3x 4-7 8-9x 10-13 14x 15-19
         100: 20-27 3* 8-9* 14* 28-29
         200: 30-40",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 0, 4));
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (11, 11));
    assert_eq!((wire.sender.state, wire.sender.board.in_flight()), (State::Open, 11));
}

/// Segment 14 is sent in the first recovery, after the data that ends it, and lost: a new loss, so a second reduction, from 5
/// to 2. In the second recovery 3 are in flight with ssthresh 2: the retransmission, then one for what is delivered. [RFC 6675 5]
#[test]
fn losses_in_successive_windows_are_two_reductions() {
    let mut wire = Wire::new(&reno()).losing(&[(0, 1), (14, 1)]);
    wire.give(1000);
    wire.run_until_ms(499);
    wire.assert_sent(
        "0: 0x 1-9
         100: 10-11 0* 12-13
         200: 14x 15-18
         300: 19-20 14*
         400: 21-22",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (2, 0, 2));
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (2, 2));
}

/// The retransmission is lost too. Segment 12, sent after it, is SACKed without it: sent again at once, a round later and
/// without a timeout. [RFC 5681 4.3] would reduce twice; Linux, and so we, once.
#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let mut wire = Wire::new(&reno()).losing(&[(0, 1), (0, 2)]);
    wire.give(1000);
    wire.run_until_ms(399);
    wire.assert_sent(
        "0: 0x 1-9
         100: 10-11 0*x 12-13
         200: 14-15 0* 16-17
         300: 18-22",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 0, 2));
    assert_eq!((wire.sender.state, wire.sender.board.in_flight()), (State::Open, 5));
}

/// Every second segment of 20 is lost, which leaves fewer than ssthresh = 10 in flight: the window is rebuilt as in slow start
/// (the reduction bound), never by a burst. No ACK lets more than two segments go. [RFC 9937 6.2]
#[test]
fn heavy_loss_is_no_burst() {
    let lost: Vec<(u64, u32)> = (0..20).step_by(2).map(|seq| (seq, 1)).collect();
    let mut wire = Wire::new(&Config { initial_window: 20, ..reno() }).losing(&lost);
    wire.packet_ns = MS;
    wire.give(1000);
    wire.run_until_ms(700);
    for burst in wire.sent[20..].chunk_by(|a, b| a.at == b.at) {
        assert!(burst.len() <= 2, "{} segments at once:\n{}", burst.len(), wire.timeline());
    }
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 0, 10));
}

/// All but the last of ten are lost. 27 ms after its SACK nothing is in flight, and the window is rebuilt as in slow start: 1, 2, 4, and the two
/// that are left [RFC 9937 6.2]. In the end it is the threshold, though nothing is in flight [RFC 9937 6.4].
#[test]
fn the_window_after_a_recovery_is_the_threshold() {
    let mut wire = Wire::new(&reno());
    wire.loses = Box::new(|seq, nth| seq < 9 && nth == 1);
    wire.give(10);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-8x 9
         127: 0*
         227: 1-2*
         327: 3-6*
         427: 7-8*",
    );
    let sender = &wire.sender;
    assert_eq!((sender.conn.snd_cwnd, sender.conn.snd_ssthresh, sender.state), (5, 5, State::Open));
    assert_eq!(sender.counters.timeouts, 0);
}

/// Lost ACKs are no lost data: the last of ten acknowledges all, and the window opens by ten.
#[test]
fn lost_acks_cost_nothing() {
    let mut wire = Wire::new(&reno());
    wire.loses_ack = Box::new(|n| n < 10);
    wire.give(40);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-9
         100: 10-29
         200: 30-39",
    );
    assert_eq!(wire.sender.counters.retransmits, 0);
}

/// Duplicates that the network makes carry no SACK: none of them is a loss.
#[test]
fn copies_made_by_the_network_are_no_loss() {
    let mut wire = Wire::new(&reno());
    wire.copies = Box::new(|_, _| 4);
    wire.give(30);
    wire.run_to_end();
    assert_eq!((wire.sender.counters.retransmits, wire.sender.counters.window_reductions), (0, 0));
    // Three of the four copies of each segment are reported as such.
    assert_eq!(
        wire.acks.iter().filter(|(_, ack)| ack.feedback.is_some_and(|f: Feedback| f.duplicate.is_some())).count(),
        90
    );
}
