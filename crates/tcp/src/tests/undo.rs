// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reductions that are taken back: RFC 3522 and RFC 4015 (Eifel), RFC 3708 (D-SACK), RFC 5682 (F-RTO), as Linux has them.
//!
//! Reno, RTT 100 ms, nothing takes time on the wire.

use tandem_controllers::State;

use super::wire::{MS, Wire, reno};
use crate::{Config, Recovery};

/// The path's RTT becomes 800 ms when ten segments are acknowledged. 10 to 20 are sent at 100 ms into the long path, a probe of new data 202 ms
/// later, and the timeout comes 300 ms after that: half the window, and 10 again.
fn delayed(lost: &[(u64, u32)]) -> Wire {
    let mut wire = Wire::new(&reno()).losing(lost);
    wire.sender.conn.snd_ssthresh = 10;
    wire.give(1000);
    wire.run_until_ms(99);
    wire.forward_ns = 750 * MS;
    wire.run_until_ms(899);
    wire.assert_sent(&format!(
        "0: 0-9
         100: {}
         302: 21
         602: 10*",
        if lost.is_empty() { "10-20" } else { "10x 11-20" }
    ));
    let sender = &wire.sender;
    assert_eq!((sender.state, sender.conn.snd_cwnd, sender.conn.snd_ssthresh), (State::Loss, 1, 5));
    wire
}

/// At 900 ms the first copy of 10 is acknowledged: nothing was lost. The window is 11 again, and full with 11 to 21. The next nine ACKs let one
/// segment go each, and the eleventh two, since eleven make the window 12. [RFC 4015 3.1]
/// [RFC 5682 4]
#[test]
fn a_spurious_timeout_is_undone() {
    let mut wire = delayed(&[]);
    wire.run_until_ms(1101);
    wire.assert_sent(
        "0: 0-9
         100: 10-20
         302: 21
         602: 10*
         900: 22-32",
    );
    let sender = &wire.sender;
    assert_eq!((sender.state, sender.conn.snd_cwnd, sender.conn.snd_ssthresh), (State::Open, 12, 10));
    assert_eq!((sender.counters.timeouts, sender.counters.retransmits), (1, 1));
}

/// 10 was lost indeed, but 11 was not, nor sent again: the timeout was spurious all the same (step 3b) [RFC 5682 3.1]. Each SACK but the
/// first lets one go. The retransmission fills the hole at 1402 ms, with no recovery of its own.
#[test]
fn a_timeout_is_spurious_if_later_data_arrives() {
    let mut wire = delayed(&[(10, 1)]);
    wire.run_until_ms(1402);
    wire.assert_sent(
        "0: 0-9
         100: 10x 11-20
         302: 21
         602: 10*
         900: 22-30
         1102: 31
         1402: 32",
    );
    let sender = &wire.sender;
    assert_eq!((sender.state, sender.conn.snd_cwnd, sender.conn.snd_ssthresh), (State::Open, 11, 10));
    assert_eq!((sender.counters.window_reductions, sender.counters.retransmits), (1, 1));
}

/// All is lost but the retransmissions: no ACK tells of a first copy, and the window stays where slow start takes it.
#[test]
fn a_true_timeout_is_not_undone() {
    let mut wire = Wire::new(&reno());
    wire.loses = Box::new(|seq, nth| seq < 10 && nth == 1);
    wire.give(1000);
    wire.run_until_ms(1250);
    assert_eq!((wire.sender.state, wire.sender.conn.snd_cwnd, wire.sender.conn.snd_ssthresh), (State::Loss, 4, 5));
}

/// Segment 0 is 120 ms late, and comes 20 ms after its copy, which has ended the recovery with the window at 5. The D-SACK at 220 ms reports the
/// one retransmission: the window is 10 again.
fn copied(recovery: Recovery) -> Wire {
    let mut wire = Wire::new(&Config { recovery, ..reno() });
    wire.late_ns = Box::new(|seq, nth| if (seq, nth) == (0, 1) { 120 * MS } else { 0 });
    wire.give(1000);
    wire.run_until_ms(250);
    wire
}

#[test]
fn a_dsack_for_each_retransmission_undoes_a_recovery_that_is_over() {
    let wire = copied(Recovery::Prr);
    wire.assert_sent(
        "0: 0-9
         100: 10-11 0* 12-13
         200: 14-18
         220: 19-23",
    );
    let sender = &wire.sender;
    assert_eq!((sender.state, sender.conn.snd_cwnd, sender.conn.snd_ssthresh > 10), (State::Open, 10, true));
}

/// Rate halving has no undo here.
#[test]
fn recovery_of_old_is_final() {
    let wire = copied(Recovery::RateHalving);
    assert!(wire.sender.conn.snd_ssthresh == 5 && wire.sent.last().unwrap().at < 220 * MS);
}

/// One of two losses was none: 0 is late, and 1 is lost. The D-SACK of one retransmission is not enough.
#[test]
fn a_loss_beside_a_late_segment_is_not_undone() {
    let mut wire = Wire::new(&reno()).losing(&[(1, 1)]);
    wire.late_ns = Box::new(|seq, nth| if (seq, nth) == (0, 1) { 120 * MS } else { 0 });
    wire.give(1000);
    wire.run_until_ms(250);
    assert_eq!((wire.sender.counters.retransmits, wire.sender.counters.window_reductions), (2, 1));
    assert_eq!((wire.sender.conn.snd_ssthresh, wire.sender.conn.snd_cwnd), (5, 5));
}

/// Losses in successive windows are two recoveries, whose holes are filled by retransmissions. None is undone.
#[test]
fn recoveries_one_after_the_other_are_not_undone() {
    let mut wire = Wire::new(&reno()).losing(&[(0, 1), (14, 1), (15, 1)]);
    wire.give(1000);
    wire.run_until_ms(1000);
    assert_eq!((wire.sender.counters.window_reductions, wire.sender.conn.snd_ssthresh), (2, 2));
}
