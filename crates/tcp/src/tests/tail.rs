// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses at the end of the data, where fewer than three segments follow: RACK-TLP, RFC 8985, as Linux does it.
//!
//! Ten segments, RTT 100 ms: the first round's ACKs set the RTO to 100 + 200 ms (floor), the probe timeout to 2 * 100 + 2 ms.

use super::wire::{MS, Wire, reno};

fn ten_segments(lost: &[(u64, u32)]) -> Wire {
    let mut wire = Wire::new(&reno()).losing(lost);
    wire.give(10);
    wire.run_to_end();
    wire
}

/// The last segment: with one outstanding the probe leaves 200 ms for a delayed ACK [RFC 8985 7.2], 2 * 100 + 200 ms, but never
/// longer than the RTO, 300 ms. Its plain ACK says that segment 9 is there now, not whether the first copy was lost. The ACK of more
/// data, with no D-SACK before it, does: one reduction. The window is 15 by then, since
/// the application used 10 of 20 for a whole timeout; 7 are left. [RFC 8985 7.4.2]
#[test]
fn probe_repairs_the_last_segment() {
    let mut wire = ten_segments(&[(9, 1)]);
    wire.assert_sent(
        "0: 0-8 9x
         400: 9*",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (0, 0, 1));
    assert_eq!((wire.now, wire.sender.conn.snd_cwnd), (500 * MS, 20));
    // Karn: 9 samples from 0 to 8, none from segment 9.
    assert_eq!(wire.rtts.len(), 9);
    wire.give(2);
    wire.run_to_end();
    assert_eq!((wire.sender.counters.window_reductions, wire.sender.counters.timeouts), (1, 0));
    assert_eq!(wire.sender.conn.snd_ssthresh, 7);
}

/// The tail is late, not lost: the ACK of the first copy comes after the probe has gone, and the D-SACK an RTT later. What is sent after it
/// reduces nothing. [RFC 8985 7.4.2]
#[test]
fn late_tail_reduces_nothing() {
    let mut wire = Wire::new(&reno());
    wire.late_ns = Box::new(|seq, nth| if (seq, nth) == (9, 1) { 320 * MS } else { 0 });
    wire.give(10);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-9
         400: 9*",
    );
    wire.give(10);
    wire.run_to_end();
    assert_eq!((wire.sender.counters.window_reductions, wire.sender.counters.timeouts), (0, 0));
    assert!(wire.sender.conn.snd_cwnd >= 20);
}

/// The path becomes longer by 200 ms while ten segments are under way: the probe is needless, and so would be a reduction.
#[test]
fn longer_path_at_the_tail_reduces_nothing() {
    let mut wire = Wire::new(&reno());
    wire.give(10);
    wire.run_until_ms(150);
    wire.forward_ns = 250 * MS;
    wire.give(10);
    wire.run_to_end();
    assert_eq!((wire.sender.counters.window_reductions, wire.sender.counters.timeouts), (0, 0));
    assert!(wire.sender.counters.retransmits > 0, "a probe has gone");
}

/// It was the ACK that was lost, not the segment: the receiver answers the probe with a D-SACK, and nothing is reduced.
#[test]
fn needless_probe_reduces_nothing() {
    let mut wire = Wire::new(&reno());
    wire.loses_ack = Box::new(|n| n == 10);
    wire.give(10);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-9
         400: 9*",
    );
    assert_eq!((wire.sender.counters.window_reductions, wire.sender.counters.timeouts), (0, 0));
}

/// Two at the end: the probe, 202 ms after the last ACK, is SACKed, so that 8, sent long before, is lost: it goes at once.
/// [RFC 8985 7.2] [RFC 8985 7.4.1]
#[test]
fn probe_reveals_a_longer_tail() {
    let wire = ten_segments(&[(8, 1), (9, 1)]);
    wire.assert_sent(
        "0: 0-7 8-9x
         302: 9*
         402: 8*",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, wire.now), (1, 0, 502 * MS));
}

/// Only two segments follow the hole: too few for DupThresh. After a quarter of the RTT and Linux's 2 ms
/// it is no reordering. [RFC 8985 6.2]
#[test]
fn hole_near_the_end_waits_a_quarter_of_the_rtt() {
    let wire = ten_segments(&[(7, 1)]);
    wire.assert_sent(
        "0: 0-6 7x 8-9
         127: 7*",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, wire.now), (1, 0, 227 * MS));
}

/// In recovery one SACKed segment above a hole is enough, so a second hole near the end waits for nothing.
#[test]
fn second_hole_near_the_end() {
    let wire = ten_segments(&[(2, 1), (8, 1)]);
    wire.assert_sent(
        "0: 0-1 2x 3-7 8x 9
         100: 2* 8*",
    );
    assert_eq!((wire.sender.counters.window_reductions, wire.sender.counters.timeouts, wire.now), (1, 0, 200 * MS));
}

/// All of the second round is lost. The probe, 202 ms after the last ACK, is new data, one more than the window [RFC 8985 7.3]; its SACK
/// tells of the 20 losses. With nothing in flight the recovery is a slow start up to ssthresh = 10: 1, 2, 4, 8, then 10 a
/// round, and no timeout. [RFC 9937 6.2]
#[test]
fn probe_with_new_data_repairs_a_whole_window() {
    let mut wire = Wire::new(&reno());
    wire.loses = Box::new(|seq, nth| (10..30).contains(&seq) && nth == 1);
    wire.give(1000);
    wire.run_until_ms(902);
    wire.assert_sent(
        "0: 0-9
         100: 10-29x
         302: 30
         402: 10*
         502: 11-12*
         602: 13-16*
         702: 17-24*
         802: 25-29* 31-35
         902: 36-45",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 0, 20));
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (10, 10));
}
