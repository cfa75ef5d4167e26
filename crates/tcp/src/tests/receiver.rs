// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a receiver answers: RFC 2018, RFC 2883, RFC 5681 section 4.2.

use crate::{
    Config, Ecn, Honesty, NEVER,
    receiver::{AckOut, Receiver},
    segment::{AGAIN, Block, CWR, ECE, ECN_FIELD, ECT_0, ECT_1, Feedback},
    tests::wire::reno,
};

const MS: u64 = 1_000_000;

/// The first `n` segments, in order.
fn receive(receiver: &mut Receiver, n: u64) {
    for seq in 0..n {
        receiver.on_data(0, seq);
    }
}

fn blocks(ack: &AckOut) -> Vec<(u64, u64)> {
    let all = ack.feedback.as_ref().and_then(Feedback::blocks).copied().unwrap_or_default();
    all.iter().filter(|b| b.start < b.end).map(|&Block { start, end }| (start, end)).collect()
}

/// The third case of RFC 2018's examples [RFC 2018 4], in segments: 1, 3, 5, 7 are lost, then 3 and 1 come late.
#[test]
fn sack_blocks_of_rfc_2018() {
    let mut receiver = Receiver::new(true);
    // (segment, next expected, blocks)
    type Row = (u64, u64, &'static [(u64, u64)]);
    let table: [Row; 6] = [
        (0, 1, &[]),
        (2, 1, &[(2, 3)]),
        (4, 1, &[(4, 5), (2, 3)]),
        (6, 1, &[(6, 7), (4, 5), (2, 3)]),
        (3, 1, &[(2, 5), (6, 7)]),
        (1, 5, &[(6, 7)]),
    ];
    for (seq, next_expected, expected) in table {
        let ack = receiver.on_data(0, seq).expect("acknowledged at once");
        assert_eq!((ack.next_expected, blocks(&ack).as_slice(), ack.flags), (next_expected, expected, 0), "{seq}");
    }
}

/// Beside timestamps there is room for three [RFC 2018 3]; the most recent ones stay.
#[test]
fn three_blocks_at_most() {
    let mut receiver = Receiver::new(false);
    let acks: Vec<AckOut> = [1, 3, 5, 7, 9].map(|seq| receiver.on_data(0, seq).unwrap()).to_vec();
    assert_eq!(blocks(&acks[4]), [(9, 10), (7, 8), (5, 6)]);
    // The forgotten ones have arrived none the less: once the holes are filled all is acknowledged.
    let last = [0, 2, 4, 6, 8].map(|seq| receiver.on_data(0, seq).unwrap())[4];
    assert_eq!((last.next_expected, blocks(&last).len()), (10, 0));
}

/// [RFC 2883 4]
#[test]
fn duplicates_are_reported_at_once() {
    let mut receiver = Receiver::new(true);
    receive(&mut receiver, 40);
    receiver.on_data(0, 42);
    for duplicate in [0, 39, 42] {
        let ack = receiver.on_data(0, duplicate).expect("acknowledged at once");
        let reported = ack.feedback.and_then(|feedback| feedback.duplicate);
        assert_eq!((reported, ack.next_expected, blocks(&ack)), (Some(duplicate), 40, vec![(42, 43)]));
    }
}

/// 16 ACKs of their own, then one for two, or for one after 40 ms. [RFC 1122 4.2.3.2]
#[test]
fn delayed_acks() {
    let mut receiver = Receiver::new(true);
    assert!((0..16).all(|seq| receiver.on_data(0, seq).is_some()));
    assert_eq!(receiver.on_data(7 * MS, 16), None);
    assert_eq!(receiver.ack_deadline, 47 * MS);
    assert_eq!(receiver.on_data(8 * MS, 17).map(|ack| ack.next_expected), Some(18));
    assert_eq!(receiver.ack_deadline, NEVER);
    assert_eq!(receiver.on_data(9 * MS, 18), None);
    assert_eq!(receiver.on_ack_deadline().next_expected, 19);
    assert_eq!(receiver.ack_deadline, NEVER);
}

/// No ACK is delayed as long as something is missing, nor that of the segment that fills the hole [RFC 5681 4.2] or a part of it
/// [RFC 6582 5].
#[test]
fn nothing_is_delayed_while_something_is_missing() {
    let mut receiver = Receiver::new(true);
    receive(&mut receiver, 16);
    assert_eq!(receiver.on_data(0, 16), None);
    for (seq, next_expected) in [(20, 17), (17, 18), (18, 19), (19, 21)] {
        let ack = receiver.on_data(0, seq).expect("acknowledged at once");
        assert_eq!(ack.next_expected, next_expected);
        assert_eq!(receiver.ack_deadline, NEVER, "the ACK said all");
    }
    assert_eq!(receiver.on_data(0, 21), None, "delayed again");
}

/// Far beyond the hole, and back over the ring's seams.
#[test]
fn wide_holes() {
    for width in [1u64, 62, 63, 64, 65, 127, 1000, 5000] {
        for first in [0u64, 1, 63, 64, 100] {
            let mut receiver = Receiver::new(false);
            receive(&mut receiver, first);
            // The last one, then every second one, then the rest but the hole, which comes last.
            let rest = (first + 1..first + width).filter(|s| s % 2 == 0);
            let order =
                std::iter::once(first + width).chain(rest).chain((first + 1..first + width).filter(|s| s % 2 == 1));
            for seq in order {
                assert_eq!(receiver.on_data(0, seq).unwrap().next_expected, first, "{width} from {first}");
            }
            let last = receiver.on_data(0, first).unwrap();
            assert_eq!((last.next_expected, blocks(&last).len()), (first + width + 1, 0), "{width} from {first}");
        }
    }
}

/// However far beyond all others a segment lies, none is taken for one that has come before.
#[test]
fn what_lies_far_beyond_is_no_duplicate() {
    for seq in 102..3000 {
        let mut receiver = Receiver::new(false);
        for near in 1..=100 {
            receiver.on_data(0, near);
        }
        let ack = receiver.on_data(0, seq).expect("acknowledged at once");
        let duplicate = ack.feedback.and_then(|feedback| feedback.duplicate);
        assert_eq!((duplicate, blocks(&ack)), (None, vec![(seq, seq + 1), (1, 101)]));
    }
}

/// ECE on every ACK from the first mark on until a segment says CWR; a mark on that very segment begins it anew. [RFC 3168 6.1.3]
#[test]
fn marks_are_echoed_until_the_sender_has_slowed_down() {
    let mut receiver = Receiver::new(false);
    let segments = [ECT_0, ECN_FIELD, ECT_0, AGAIN, ECT_0 | CWR, ECT_0, ECN_FIELD, ECN_FIELD | CWR, ECT_0 | CWR];
    let echoes = segments.into_iter().zip(0..).map(|(bits, seq)| receiver.on_data(0, bits | seq).unwrap().flags);
    assert_eq!(echoes.collect::<Vec<_>>(), [0, ECE, ECE, ECE, 0, 0, ECE, ECE, 0]);
    assert_eq!(receiver.next_expected, 9);
}

/// Linux answers at once to a first mark and to CWR, because the sender may wait with a window of one segment.
#[test]
fn news_about_marks_are_not_delayed() {
    let mut receiver = Receiver::new(true);
    receive(&mut receiver, 16);
    assert_eq!(receiver.on_data(0, ECN_FIELD | 16).map(|ack| ack.flags), Some(ECE));
    assert_eq!(receiver.on_data(0, ECN_FIELD | 17), None);
    assert_eq!(receiver.on_ack_deadline().flags, ECE);
    assert_eq!(receiver.on_data(0, ECT_0 | CWR | 18).map(|ack| (ack.flags, ack.next_expected)), Some((0, 19)));
}

/// The first mark after a packet without one is acknowledged at once, others in pairs [RFC 9768 3.2.2.5.1]; each ACK has the count
/// [RFC 9768 3.2.2].
#[test]
fn marks_are_counted() {
    let source = Config { ecn: Ecn::Accurate, delayed_acks: true, ..reno() };
    let mut receiver = Receiver::of(&source);
    (0..16).for_each(|seq| assert!(receiver.on_data(0, seq | ECT_1).is_some_and(|ack| ack.feedback.is_none())));
    let mut marks =
        |seq: u64, field| receiver.on_data(0, seq | field).map(|ack| (ack.feedback.unwrap().marks, ack.flags & ECE));
    let told = [ECN_FIELD, ECN_FIELD, ECN_FIELD, ECT_1, ECT_1, ECN_FIELD];
    let told: Vec<_> = (16..).zip(told).map(|(seq, field)| marks(seq, field)).collect();
    assert_eq!(told, [Some((1, 0)), None, Some((3, 0)), None, Some((3, 0)), Some((4, 0))]);
}

/// After the first 16, which are acknowledged one by one, this many share an ACK.
#[test]
fn segments_share_an_ack() {
    for every in [1, 3, 8] {
        let mut receiver = Receiver::of(&Config { delayed_acks: true, ack_every: every, ..reno() });
        receive(&mut receiver, 16);
        let acks = (16..16 + 24).filter(|&n| receiver.on_data(0, n).is_some()).count();
        assert_eq!(acks, 24 / every as usize);
    }
}

/// Segments 1 and 3 are lost: their receiver acknowledges them when 2 and 4 come, and tells of no hole.
#[test]
fn early_acks_hide_losses() {
    let mut receiver = Receiver::of(&Config { delayed_acks: false, receiver: Honesty::EarlyAcks, ..reno() });
    for (seq, next_expected) in [(0, 1), (2, 3), (4, 5), (5, 6)] {
        let ack = receiver.on_data(0, seq).expect("acknowledged at once");
        assert_eq!((ack.next_expected, blocks(&ack)), (next_expected, vec![]), "{seq}");
    }
    // An old one that comes late changes nothing.
    assert_eq!(receiver.on_data(0, 1).expect("acknowledged at once").next_expected, 6);
}

/// Neither in the one bit of RFC 3168 nor in the count of RFC 9768.
#[test]
fn marks_are_hidden() {
    for (ecn, honesty, is_told) in [
        (Ecn::Rfc3168, Honesty::Honest, true),
        (Ecn::Rfc3168, Honesty::HidesMarks, false),
        (Ecn::Accurate, Honesty::HidesMarks, false),
    ] {
        let mut receiver = Receiver::of(&Config { delayed_acks: false, ecn, receiver: honesty, ..reno() });
        let ack = receiver.on_data(0, ECN_FIELD).expect("acknowledged at once");
        assert_eq!(ack.flags != 0, is_told);
        assert_eq!(ack.feedback.map_or(0, |feedback| feedback.marks), 0);
    }
}
