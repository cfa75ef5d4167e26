// SPDX-License-Identifier: MIT OR Apache-2.0
//! The recovery of Linux 2.4 and 2.6, FACK and rate halving, worked out by hand from its rules: at every second ACK of a recovery the
//! window falls by one, and it is never more than one above what is in flight; what lies three or more below the highest SACKed segment is
//! lost; the retransmission timeout is the only timer.
//!
//! Unless a test says otherwise: Reno, whose ssthresh is half the window, and an RTT of 100 ms. All ACKs of a round come at once unless
//! `packet_ns` spaces them.

use std::sync::Arc;

use tandem_controllers::{Params, State, find};

use super::wire::{MS, Wire, reno};
use crate::{Config, Recovery};

fn halving(initial_window: u32) -> Config {
    Config { initial_window, recovery: Recovery::RateHalving, ..reno() }
}

fn ten_segments(lost: &[(u64, u32)]) -> Wire {
    let mut wire = Wire::new(&halving(10)).losing(lost);
    wire.give(10);
    wire.run_to_end();
    wire
}

/// The first of ten is lost. Two duplicate ACKs let a new segment go each, the third sends segment 0 again: 12 are out, 3 SACKed and 1
/// lost, so the window is 8 + 1. Of the 6 ACKs that follow, the 2nd, 4th and 6th let one go (12 to 14), and 6 are in flight.
/// Next round: the ACK of 10 lowers the window to 5, that of 11 lets 15 go, and that of segment 0 ends the recovery: all before 12
/// is acknowledged. The window is ssthresh, and each ACK lets one go.
#[test]
fn one_loss() {
    let mut wire = Wire::new(&halving(10)).losing(&[(0, 1)]);
    wire.give(1000);
    wire.run_until_ms(299);
    wire.assert_sent(
        "0: 0x 1-9
         100: 10-11 0* 12-14
         200: 15-19",
    );
    let sender = &wire.sender;
    assert_eq!((sender.conn.snd_cwnd, sender.conn.snd_ssthresh, sender.state), (5, 5, State::Open));
    assert_eq!(sender.board.in_flight(), 5);
    assert_eq!((sender.counters.window_reductions, sender.counters.timeouts, sender.counters.retransmits), (1, 0, 1));
    // Reno afterwards: the ACKs of 12, 13, 14 have counted 3 of 5; that which ended the recovery does not count.
    wire.run_until_ms(300);
    assert_eq!(wire.window_at_ms(300), 6);
}

/// A millisecond for each segment, so that the k-th duplicate ACK comes at 101 + k ms, and a window of 20: one goes at every second ACK
/// after the retransmission at 104 ms, for the whole round, and 11 are in flight then. The ACKs of 20, 21 and 0 leave the window at 10.
#[test]
fn one_goes_for_two() {
    let mut wire = Wire::new(&halving(20)).losing(&[(0, 1)]);
    wire.packet_ns = MS;
    wire.give(1000);
    wire.run_until_ms(208);
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
         120: 29
         204: 30
         205: 31
         207: 32",
    );
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.board.in_flight()), (10, 10));
}

/// As before, with CUBIC, which gives up three tenths, and whose module ends the halving at ssthresh: the window falls from 19 to 14 at
/// the ACKs of 105, 107, ... 113 ms, and from then on each ACK lets one go.
#[test]
fn some_controllers_stop_at_ssthresh() {
    let controller = Arc::new(Params::new(find("cubic").unwrap()));
    let mut wire = Wire::new(&Config { controller, ..halving(20) }).losing(&[(0, 1)]);
    wire.packet_ns = MS;
    wire.give(1000);
    wire.run_until_ms(120);
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
         115: 27
         116: 28
         117: 29
         118: 30
         119: 31
         120: 32",
    );
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (14, 14));
}

/// Four of 20 are lost. The ACKs of 0, 1, 2 open the window to 23 (20 to 25), two duplicates let 26, 27 go, and the ACK of 6 starts the
/// one recovery: ssthresh = 11. A hole is lost once the third segment above it is SACKed: 3 by 6, 8 by 11, 9 by 12, 14 by 17. Each
/// loss takes one from the window besides the halving: 16 ACKs later it is 15, and at the end of the recovery, the ACK of 14, it is 8.
/// That is below ssthresh, so the ACK of 30 opens it by one, as in slow start.
#[test]
fn each_loss_lowers_the_window_and_slow_start_raises_it() {
    let mut wire = Wire::new(&halving(20)).losing(&[(3, 1), (8, 1), (9, 1), (14, 1)]);
    wire.give(1000);
    wire.run_until_ms(199);
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (15, 11));
    wire.run_until_ms(299);
    wire.assert_sent(
        "0: 0-2 3x 4-7 8-9x 10-13 14x 15-19
         100: 20-27 3* 28 8-9* 29 14* 30
         200: 31-39",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 0, 4));
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (9, 11));
    assert_eq!((wire.sender.state, wire.sender.board.in_flight()), (State::Open, 9));
}

/// Every second of 40 is lost: 20 leave the window at once, and the halving takes half of the rest. It ends at about a quarter, half of
/// ssthresh, without a burst.
#[test]
fn half_a_window_lost_leaves_a_quarter() {
    let lost: Vec<(u64, u32)> = (0..40).step_by(2).map(|seq| (seq, 1)).collect();
    let mut wire = Wire::new(&halving(40)).losing(&lost);
    wire.packet_ns = MS;
    wire.give(1000);
    wire.run_until_ms(400);
    assert_eq!(wire.sender.conn.snd_ssthresh, 20);
    let least = wire.windows.iter().map(|w| w.1).min().unwrap();
    assert!((9..=11).contains(&least), "{least}");
    for burst in wire.sent[40..].chunk_by(|a, b| a.at == b.at) {
        assert!(burst.len() <= 2, "{} segments at once:\n{}", burst.len(), wire.timeline());
    }
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 0, 20));
}

/// The retransmission of 0 is lost. New data that was sent after it, 12, is SACKed without it: it goes again, a round later and without a
/// timeout (Linux took that from the rate-halving paper). 6 are in flight before that round: 10 and 11 leave 5, the SACK of 12 finds the
/// loss and leaves 3 + 1, and 13 and 14 leave 3. The ACKs of 15 and of 0 let one go each; then slow start opens the window to 4.
#[test]
fn a_lost_retransmission_is_found_by_new_data() {
    let mut wire = Wire::new(&halving(10)).losing(&[(0, 1), (0, 2)]);
    wire.give(1000);
    wire.run_until_ms(399);
    wire.assert_sent(
        "0: 0x 1-9
         100: 10-11 0*x 12-14
         200: 15 0* 16
         300: 17-20",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 0, 2));
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (4, 5));
}

/// Without new data nothing tells of a lost retransmission but the timeout, 100 + 200 ms after it.
#[test]
fn a_lost_retransmission_without_new_data_waits_for_the_timeout() {
    let mut wire = Wire::new(&halving(10)).losing(&[(0, 1), (0, 2)]);
    wire.give(5);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0x 1-4
         100: 0*x
         400: 0*",
    );
    assert_eq!((wire.sender.counters.timeouts, wire.sender.counters.retransmits), (1, 2));
}

/// 14 is sent in the first recovery and lost: a recovery repairs what was sent before it began, so that is a second one. The SACKs of 15
/// and 16 let 19 and 20 go. That of 17 is three above 14: the window, 5 until then, is 3 + 1, and ssthresh 2. That of 18 lowers it to 3.
#[test]
fn losses_in_successive_windows_are_two_reductions() {
    let mut wire = Wire::new(&halving(10)).losing(&[(0, 1), (14, 1)]);
    wire.give(1000);
    wire.run_until_ms(399);
    wire.assert_sent(
        "0: 0x 1-9
         100: 10-11 0* 12-13 14x
         200: 15-18
         300: 19-20 14*",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (2, 0, 2));
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (3, 2));
}

/// The end of the data, where too little follows a loss: there is no probe, and no timer gives a hole up. The timeout of 100 + 200 ms
/// counts from the last ACK that acknowledged something.
#[test]
fn losses_at_the_end_wait_for_the_timeout() {
    ten_segments(&[(9, 1)]).assert_sent(
        "0: 0-8 9x
         400: 9*",
    );
    ten_segments(&[(7, 1)]).assert_sent(
        "0: 0-6 7x 8-9
         400: 7*",
    );
    let wire = ten_segments(&[(8, 1), (9, 1)]);
    wire.assert_sent(
        "0: 0-7 8-9x
         400: 8*
         500: 9*",
    );
    // A window of 18 (10 and 8 ACKs): ssthresh 9, and slow start from 1.
    assert_eq!((wire.sender.counters.timeouts, wire.sender.counters.window_reductions), (1, 1));
    assert_eq!((wire.sender.conn.snd_ssthresh, wire.sender.conn.snd_cwnd), (9, 3));
}

/// In recovery an ACK that only SACKs loses the first unacknowledged segment, however few follow it: that of 9 cannot say so of 8, behind 2, but
/// 10 and 11 can, once 2 has been repaired.
#[test]
fn second_hole_near_the_end() {
    let mut wire = Wire::new(&halving(10)).losing(&[(2, 1), (8, 1)]);
    wire.give(12);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-1 2x 3-7 8x 9
         100: 10-11 2*
         200: 8*",
    );
    assert_eq!((wire.sender.counters.window_reductions, wire.sender.counters.timeouts, wire.now), (1, 0, 300 * MS));
}

/// The whole first window is lost, and so is the second copy of 1. While a timeout is repaired, no SACK says so: each of them lets another
/// segment go, in a window of 2, and after 1 s 1 goes again. That is another loss.
#[test]
fn after_a_timeout_everything_goes_again_and_the_next_loss_is_a_timeout() {
    let mut wire = Wire::new(&halving(10));
    wire.loses = Box::new(|seq, nth| seq < 10 && nth == 1 || seq == 1 && nth == 2);
    wire.give(12);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-9x
         1000: 0*
         1100: 1*x 2*
         1200: 3*
         1300: 4*
         1400: 5*
         1500: 6*
         1600: 7*
         1700: 8*
         1800: 9*
         1900: 10
         2000: 11
         2100: 1*",
    );
    assert_eq!((wire.sender.counters.timeouts, wire.sender.counters.window_reductions), (2, 2));
}
