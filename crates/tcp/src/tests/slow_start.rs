// SPDX-License-Identifier: MIT OR Apache-2.0
//! The start of a connection (RFC 6928, RFC 5681 section 3.1).

use super::wire::{MS, Wire, reno};

/// Ten segments at once [RFC 6928 2], then one more for each that is acknowledged: 10, 20, 40, and the 30 that are left.
/// 100 segments take four round trips.
#[test]
fn window_doubles_each_round_without_delayed_acks() {
    let mut wire = Wire::new(&reno());
    wire.give(100);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-9
         100: 10-29
         200: 30-69
         300: 70-99",
    );
    assert_eq!((wire.now, wire.acks.len()), (400 * MS, 100));
    assert_eq!(wire.receiver.next_expected, 100);
}

/// An ACK for two segments opens the window by two, as in Linux [RFC 3465 2.2], so delayed ACKs slow nothing as long as every
/// burst is even.
#[test]
fn delayed_acks_do_not_slow_it() {
    let mut wire = Wire::new(&wire_source());
    wire.give(100);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-9
         100: 10-29
         200: 30-69
         300: 70-99",
    );
    assert_eq!(wire.now, 400 * MS);
    // Each of the first 16 segments has an ACK of its own, the other 84 one for two.
    let at_once: Vec<u64> = wire.acks.iter().take(18).map(|(_, ack)| ack.next_expected).collect();
    assert_eq!(at_once, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20]);
    assert_eq!(wire.acks.len(), 16 + 42);
}

/// The last of 31 segments has no second one to be acknowledged with: its ACK goes after 40 ms (Linux's TCP_DELACK_MIN).
#[test]
fn a_lone_segment_is_acknowledged_after_40_ms() {
    let mut wire = Wire::new(&wire_source());
    wire.give(31);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-9
         100: 10-29
         200: 30",
    );
    let (at, ack) = *wire.acks.last().unwrap();
    assert_eq!((at, ack.next_expected), (290 * MS, 31));
    assert_eq!(wire.now, 340 * MS);
}

/// One packet a millisecond: ACKs come back at that pace, and each lets two segments go.
#[test]
fn serialisation_spreads_the_rounds() {
    let mut wire = Wire::new(&reno());
    wire.packet_ns = MS;
    wire.give(100);
    wire.run_to_end();
    // Segment 0 leaves the wire at 1 ms, its ACK is back at 101 ms; segments 1 to 9 follow a millisecond apart.
    let at = |seq: u64| wire.sent.iter().find(|s| s.seq == seq).unwrap().at / MS;
    assert_eq!([at(0), at(9), at(10), at(11), at(12), at(29)], [0, 0, 101, 101, 102, 110]);
    // Segment 10 is the first on an idle wire: acknowledged 101 ms after 101 ms; the others of the round queue behind it, so
    // the last, 29, leaves the wire at 121 ms. Likewise 30 to 69 leave from 203 ms to 242 ms, and 70 to 99, let go by the ACKs
    // of 30 to 44 from 303 to 317 ms, from 304 to 333 ms. 100 ms later the last is acknowledged.
    assert_eq!([at(30), at(69), at(70), at(99)], [202, 221, 303, 317]);
    assert_eq!(wire.now, 433 * MS);
    assert!(wire.sent.iter().all(|s| s.nth == 1));
}

/// The window grows by what is acknowledged, to exactly 10 + 100. [RFC 5681 3.1]
#[test]
fn window_is_the_initial_one_plus_all_acknowledged() {
    let mut wire = Wire::new(&reno());
    wire.give(1000);
    wire.run_until_ms(300);
    assert_eq!(wire.window_at_ms(300), 10 + 70);
    assert_eq!(wire.sender.board.in_flight(), 80);
}

fn wire_source() -> crate::Config {
    crate::Config { delayed_acks: true, ..reno() }
}
