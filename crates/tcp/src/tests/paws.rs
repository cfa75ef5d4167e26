// SPDX-License-Identifier: MIT OR Apache-2.0
//! PAWS (RFC 7323 section 5): what a receiver drops for its age, and what the sender makes of it.

use std::collections::BTreeSet;

use tandem_controllers::State;

use super::wire::{MS, Wire, reno};
use crate::{
    receiver::{AckOut, Receiver},
    segment::{AGAIN, DATA_FLAGS, Feedback, SEQ_AND_FLAGS, sent_ms, stamped},
};

/// The rules of RFC 7323 as they stand, with Linux's tick: every segment counts, not only retransmissions. [`Wire`] holds each receiver to it.
#[derive(Default)]
pub struct Reference {
    recent_ms: u64,
    pub last_ack: u64,
    next_expected: u64,
    beyond: BTreeSet<u64>,
}

impl Reference {
    /// Returns the next expected segment after this one has arrived.
    pub fn on_data(&mut self, now: u64, segment: u64) -> u64 {
        let (seq, sent) = (segment & SEQ_AND_FLAGS & !DATA_FLAGS, sent_ms(now, segment));
        let is_in_window = seq + 1 >= self.last_ack;
        if sent + 1 >= self.recent_ms && is_in_window {
            if seq <= self.last_ack {
                self.recent_ms = self.recent_ms.max(sent);
            }
            self.beyond.insert(seq);
            while self.beyond.remove(&self.next_expected) {
                self.next_expected += 1;
            }
        }
        self.next_expected
    }
}

/// All segments of this page arrive at this time.
const NOW: u64 = 10_000 * MS;

/// A segment arrives that was sent at `ms`.
fn arrive(receiver: &mut Receiver, segment: u64, ms: u64) -> Option<AckOut> {
    receiver.on_data(NOW, stamped(segment, ms * MS))
}

/// The number, the first SACK block, and the segment that came twice.
fn says(ack: Option<AckOut>) -> (u64, Option<(u64, u64)>, Option<u64>) {
    let ack = ack.expect("acknowledged at once");
    let block = ack.feedback.as_ref().and_then(Feedback::blocks).map(|blocks| (blocks[0].start, blocks[0].end));
    (ack.next_expected, block, ack.feedback.and_then(|feedback| feedback.duplicate))
}

/// 1 is lost and 2 is late. 3 and 4 have arrived; then the retransmission of 1, which was sent at 100 ms and leaves 2 to be expected.
fn with_two_missing() -> Receiver {
    let mut receiver = Receiver::new(false);
    for seq in [0, 3, 4] {
        arrive(&mut receiver, seq, seq);
    }
    assert_eq!(says(arrive(&mut receiver, AGAIN | 1, 100)), (2, Some((3, 5)), None));
    receiver
}

/// The RFC would drop 2 if it was sent at 99 ms; Linux allows for one tick. [RFC 7323 5.3]
#[test]
fn older_than_the_last_at_the_left_edge_by_more_than_a_tick() {
    for (sent, next_expected) in [(2, 2), (98, 2), (99, 5), (100, 5)] {
        let mut receiver = with_two_missing();
        assert_eq!(says(arrive(&mut receiver, 2, sent)).0, next_expected, "sent at {sent} ms");
    }
}

/// What is dropped leaves no trace but an ACK, which says D-SACK if the number of the segment is below its own. [RFC 7323 5.3]
/// [RFC 2883 4.3]
#[test]
fn a_dropped_segment_is_answered_with_a_duplicate() {
    let mut receiver = with_two_missing();
    assert_eq!(says(arrive(&mut receiver, 2, 2)), (2, Some((3, 5)), None));
    assert_eq!(says(arrive(&mut receiver, 6, 6)), (2, Some((3, 5)), None));
    assert_eq!(says(arrive(&mut receiver, 0, 0)), (2, Some((3, 5)), Some(0)));
    assert_eq!(says(arrive(&mut receiver, AGAIN | 2, 110)), (5, None, None));
    // 5 is not held up by what 6 was dropped for, and 6 is still missing.
    assert_eq!(says(arrive(&mut receiver, 5, 5)), (5, None, None));
    assert_eq!(says(arrive(&mut receiver, AGAIN | 5, 120)), (6, None, None));
    assert_eq!(says(arrive(&mut receiver, AGAIN | 6, 120)), (7, None, None));
}

/// Only what arrives at the left edge sets TS.Recent: not 2*, which is beyond it. [RFC 7323 4.3]
#[test]
fn a_retransmission_beyond_the_left_edge_sets_nothing() {
    let mut receiver = Receiver::new(false);
    for (segment, sent) in [(0, 0), (3, 3), (AGAIN | 2, 100)] {
        arrive(&mut receiver, segment, sent);
    }
    assert_eq!(says(arrive(&mut receiver, 1, 1)), (4, None, None));
    assert_eq!(says(arrive(&mut receiver, 4, 4)), (5, None, None));
}

/// The edge is the number of the last ACK sent. 16 waits for its ACK, so that 17 is beyond the edge: 18 is taken. Of old segments the one just
/// before the edge sets TS.Recent; earlier ones are out of the window. [RFC 7323 4.3]
#[test]
fn the_left_edge_is_that_of_the_last_ack() {
    for (again, is_dropped) in [(17, false), (16, true), (15, true), (14, false)] {
        let mut receiver = Receiver::new(true);
        (0..16).for_each(|seq| assert!(arrive(&mut receiver, seq, seq).is_some()));
        if again == 17 {
            assert_eq!(arrive(&mut receiver, 16, 16), None);
        }
        arrive(&mut receiver, AGAIN | again, 100);
        let next = receiver.next_expected;
        arrive(&mut receiver, next, next);
        assert_eq!(receiver.next_expected == next, is_dropped, "after {again}*");
    }
}

/// The stamp wraps after 2^22 ms. [RFC 7323 3.2] [RFC 7323 5.4]
#[test]
fn the_time_of_sending_is_told_across_the_wrap() {
    const WRAP: u64 = 1 << 22;
    for sent in [0, 1, WRAP - 1, WRAP, 3 * WRAP + 5] {
        for age in [0, 1, 100, WRAP - 1] {
            let data = stamped(7 | AGAIN, sent * MS + 999_999);
            assert_eq!(sent_ms((sent + age) * MS, data), sent, "age {age}");
        }
    }
}

/// Segments of 1 ms, 100 ms, a window of 10. 0 is lost; 5 is 100 ms late. The third SACK begins a recovery (104 ms), which halves the window. 0*
/// arrives at 155 ms. 5 comes at 156 ms and is dropped, for 0* was sent later. 5 is lost since 6 was SACKed (107 ms), and proportional rate reduction
/// sends one for two SACKs, then up to 5: 5* arrives at 158 ms, and with it 11 is the last in order. No late copy has filled a hole
/// and none has come twice, so nothing is undone.
#[test]
fn a_late_segment_is_dropped_after_a_retransmission() {
    let mut wire = Wire::new(&reno()).losing(&[(0, 1)]);
    wire.sender.conn.snd_ssthresh = 10;
    wire.packet_ns = MS;
    wire.late_ns = Box::new(|seq, nth| if (seq, nth) == (5, 1) { 100 * MS } else { 0 });
    wire.give(1000);
    wire.run_until_ms(215);
    wire.assert_sent(
        "0: 0x 1-9
         102: 10
         103: 11
         104: 0*
         107: 5*
         110: 12
         203: 13
         204: 14
         205: 15
         208: 16
         211: 17",
    );
    let acks: Vec<_> = wire.acks.iter().map(|(at, ack)| (at / MS, ack.next_expected)).collect();
    assert_eq!(acks[8..], [(153, 0), (154, 0), (155, 5), (156, 5), (158, 12), (161, 13)]);
    assert!(wire.acks.iter().all(|(_, ack)| ack.feedback.is_none_or(|feedback| feedback.duplicate.is_none())));
    let sender = &wire.sender;
    assert_eq!((sender.state, sender.conn.snd_cwnd, sender.counters.retransmits), (State::Open, 5, 2));
}
