// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network that reorders: RFC 8985 section 6.2 with Linux's reordering window.
//!
//! Reno in congestion avoidance with a window of 10. Segments of a millisecond, so that the k-th of the first ten (from 0) arrives at 51 + k
//! ms, and its ACK at 101 + k. The smallest RTT is 101 ms, and a quarter of it 25.25 ms.

use tandem_controllers::State;

use super::wire::{MS, Wire, reno};
use crate::Config;

fn wire() -> Wire {
    with_window(10)
}

fn with_window(initial_window: u32) -> Wire {
    let mut wire = Wire::new(&Config { initial_window, ..reno() });
    wire.sender.conn.snd_ssthresh = initial_window;
    wire.packet_ns = MS;
    wire
}

/// By how much first transmissions are late, in half milliseconds.
fn late(wire: &mut Wire, list: &'static [(u64, u64)]) {
    let halves = |seq| list.iter().find(|&&(late, _)| late == seq).map_or(0, |&(_, halves)| halves);
    wire.late_ns = Box::new(move |seq, nth| if nth == 1 { halves(seq) * MS / 2 } else { 0 });
}

/// Segment 0 comes 5.5 ms late, after 1 to 5. Nothing is known of reordering, so the third SACK begins a recovery (104 ms), which halves the
/// window to 5; PRR lets one go for two SACKs (106 ms). At 106.5 ms the ACK of the first copy shows that the recovery was needless:
/// the window is 10 again, of which 6 to 12 are in flight. [RFC 3522 3.2]
#[test]
fn the_first_late_segment_costs_a_recovery_that_is_undone() {
    let mut wire = wire();
    late(&mut wire, &[(0, 11)]);
    wire.give(1000);
    wire.run_until_ms(106);
    assert_eq!((wire.sender.state, wire.sender.conn.snd_ssthresh), (State::Recovery, 5));
    wire.run_until_ms(110);
    wire.assert_sent(
        "0: 0-9
         102: 10
         103: 11
         104: 0*
         106: 12
         106.5: 13-15
         107: 16
         108: 17
         109: 18
         110: 19",
    );
    let sender = &wire.sender;
    assert_eq!((sender.conn.snd_cwnd, sender.conn.snd_ssthresh, sender.state), (10, 10, State::Open));
}

/// The window's smallest RTT is the newest segment's: of two that go 4 ms apart and are acknowledged together after 104 ms, the path has
/// 100. The 16 before them, for which a receiver delays no ACK, had 110.
#[test]
fn a_delayed_ack_does_not_widen_the_window() {
    let mut wire = Wire::new(&Config { delayed_acks: true, ..reno() });
    wire.forward_ns = 60 * MS;
    wire.give(16);
    wire.run_until_ms(400);
    assert_eq!((wire.acks.len(), wire.sender.rtt.min_ns), (16, 110 * MS));
    wire.forward_ns = 50 * MS;
    wire.give(1);
    wire.run_until_ms(404);
    wire.give(1);
    wire.run_until_ms(504);
    assert_eq!((wire.acks.len(), wire.sender.rtt.min_ns), (17, 100 * MS));
}

/// From then on a segment has its RTT and 25 ms. 30 and 60 are overtaken by five, too, and nothing is sent again or reduced for them.
/// [RFC 8985 6.2]
#[test]
fn late_segments_cost_nothing_once_reordering_is_seen() {
    let mut wire = wire();
    late(&mut wire, &[(0, 11), (30, 11), (60, 11)]);
    wire.give(1000);
    wire.run_until_ms(1500);
    let counters = wire.sender.counters;
    assert_eq!((counters.retransmits, counters.window_reductions, counters.timeouts), (1, 1, 0));
    assert!(wire.sender.conn.snd_cwnd > 15, "grown since: {}", wire.sender.conn.snd_cwnd);
}

/// Segment 0 comes after 1 alone: too little for a loss, but reordering is seen. Ten ACKs make the window 11 at 203 ms. Then 12 is lost, which is
/// sent at 103 ms; the RTT of those after it is 102 ms. Seven SACKs are no proof: the segment has its time until 103 +
/// 102 + 25.25 ms, and since no ACK comes then, a timer finds the loss 2 ms later. [RFC 8985 6.2]
#[test]
fn a_loss_is_found_by_time_alone() {
    let mut wire = wire().losing(&[(12, 1)]);
    late(&mut wire, &[(0, 3)]);
    wire.give(1000);
    wire.run_until_ms(300);
    wire.assert_sent(
        "0: 0-9
         102: 10
         102.5: 11
         103: 12x
         104: 13
         105: 14
         106: 15
         107: 16
         108: 17
         109: 18
         110: 19
         203: 20-21
         204: 22
         206: 23
         207: 24
         208: 25
         209: 26
         210: 27
         211: 28
         212: 29
         232.25: 12*",
    );
    assert_eq!((wire.sender.state, wire.sender.conn.snd_ssthresh), (State::Recovery, 5));
    // The retransmission is acknowledged 101 ms later.
    wire.run_until_ms(334);
    assert_eq!((wire.sender.state, wire.sender.conn.snd_cwnd), (State::Open, 5));
    assert_eq!(wire.sender.counters.timeouts, 0);
}

/// A window of 110 fills the path, so an ACK comes each millisecond, and the RTT is 110 ms. 150 is lost, which goes at 141 ms for the ACK of 40.
/// It has its time until 141 + 110 + 25.25 ms, between two ACKs. That at 277 ms finds the loss, and not the timer: so the retransmission
/// goes when a segment has left.
#[test]
fn while_acks_come_they_find_the_loss() {
    let mut wire = with_window(110).losing(&[(150, 1)]);
    late(&mut wire, &[(0, 3)]);
    wire.give(1000);
    wire.run_until_ms(400);
    let sent: Vec<u64> = wire.sent.iter().filter(|s| s.seq == 150).map(|s| s.at).collect();
    assert_eq!(sent, [141 * MS, 277 * MS]);
}

/// A lost retransmission is given the same time. 12* goes at 232.25 ms; 30, the first that is sent after it, at 305 ms, for PRR lets 5 go for
/// 11. When 30 is SACKed at 406 ms, 12* has had 101 + 25.25 ms.
#[test]
fn a_lost_retransmission_is_found_by_time() {
    let mut wire = wire().losing(&[(12, 1), (12, 2)]);
    late(&mut wire, &[(0, 3)]);
    wire.give(1000);
    wire.run_until_ms(405);
    assert_eq!(wire.sender.counters.retransmits, 1);
    wire.run_until_ms(407);
    assert_eq!(
        wire.sent.iter().filter(|s| s.seq == 12).map(|s| s.at).collect::<Vec<_>>(),
        [103 * MS, 232_250_000, 406 * MS]
    );
    wire.run_until_ms(600);
    assert_eq!((wire.sender.counters.timeouts, wire.sender.counters.window_reductions), (0, 1));
}

/// 12 comes 30 ms late: too late for 25.25 ms. It is sent again at 232.25 ms; at 235 ms it comes, and the recovery is undone. The D-SACK of
/// the copy arrives at 333.25 ms, and widens the window to 50.5 ms with the next ACK. 60 may be 30 ms late. [RFC 8985 6.2]
#[test]
fn a_dsack_widens_the_window() {
    let mut wire = wire();
    late(&mut wire, &[(0, 3), (12, 60), (60, 60)]);
    wire.give(1000);
    wire.run_until_ms(234);
    assert_eq!((wire.sender.state, wire.sender.conn.snd_ssthresh), (State::Recovery, 5));
    wire.run_until_ms(236);
    let sender = &wire.sender;
    assert_eq!((sender.state, sender.conn.snd_cwnd, sender.conn.snd_ssthresh), (State::Open, 11, 10));
    wire.run_until_ms(1500);
    let counters = wire.sender.counters;
    assert_eq!((counters.retransmits, counters.window_reductions, counters.timeouts), (1, 1, 0));
}
