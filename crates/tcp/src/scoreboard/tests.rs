// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scoreboard alone, and its audit for the tests of whole connections.

use super::*;

impl Scoreboard {
    /// Counts everything again from the flags alone and compares; `una..nxt` is all that may carry flags.
    pub(crate) fn audit(&self) {
        let flags = |seq: u64| self.segments.get(seq).flags();
        let all: Vec<u64> = (self.una..self.nxt).map(flags).collect();
        let with = |mask: u64| all.iter().filter(|&&f| f & mask != 0).count() as u64;
        assert_eq!((with(SACKED), with(LOST), with(RETRANSMITTED)), (self.sacked, self.lost, self.retransmitted));
        // In flight: neither SACKed nor lost, or lost and sent again.
        let in_flight = all.iter().filter(|&&f| f & (SACKED | LOST) == 0 || f & RETRANSMITTED != 0).count() as u64;
        assert_eq!(in_flight, self.in_flight());
        for (seq, f) in (self.una..).zip(&all) {
            assert!(
                f & SACKED == 0 || f & (LOST | RETRANSMITTED) == 0,
                "{seq} is SACKed, hence neither lost nor under way"
            );
            assert!(
                f & RETRANSMITTED == 0 || f & LOST != 0 && f & AMBIGUOUS != 0,
                "{seq} was sent again without being lost"
            );
            assert!(*f == 0 || seq < self.flagless_from, "{seq} has flags beyond the mark");
            let waits = f & (LOST | RETRANSMITTED) == LOST;
            let is_found = seq >= self.retransmit_from || self.lost_again.iter().any(|again| again.0 == seq);
            assert!(!waits || is_found, "{seq} waits for retransmission below the mark");
            if f & RETRANSMITTED != 0 {
                let sent = self.segments.get(seq).sent();
                let watched = self.retransmissions.iter().any(|r| (r.sent, r.seq) == (sent, seq));
                assert!(watched, "the retransmission of {seq} is not watched");
            }
        }
        for seq in self.una..self.judged {
            assert!(flags(seq) & (SACKED | LOST) != 0, "{seq} is judged, and neither SACKed nor lost");
        }
        let judged = (self.una..self.judged).filter(|&seq| flags(seq) & SACKED != 0).count() as u64;
        assert!(self.judged < self.una || judged == self.sacked_below_judged);
    }
}

fn sent(n: u64) -> Scoreboard {
    let mut board = Scoreboard::new();
    (0..n).for_each(|i| assert_eq!(board.send_new(i), i));
    board
}

fn sack(ranges: &[(u64, u64)]) -> Blocks {
    let mut blocks = Blocks::default();
    ranges.iter().enumerate().for_each(|(i, &(start, end))| blocks[i] = Block { start, end });
    blocks
}

/// [RFC 6675 3] [RFC 6675 4]
#[test]
fn a_segment_is_lost_when_three_above_it_are_sacked() {
    let mut board = sent(10);
    for (end, lost) in [(2, 0), (3, 0), (4, 1)] {
        let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(1, end)])));
        assert_eq!(board.detect_losses(&delivered, false), lost, "SACKed 1..{end}");
    }
    // 10 sent, 3 SACKed, 1 lost.
    assert_eq!(board.in_flight(), 6);
    assert_eq!(board.retransmit_lost(20), Some(0));
    assert_eq!(board.in_flight(), 7);
}

/// [RFC 6675 4]
#[test]
fn several_holes_are_found_at_once() {
    let mut board = sent(12);
    let delivered = board.on_ack(u64::MAX, 1, Some(&sack(&[(9, 12), (6, 8), (3, 4)])));
    // Above 1, 2, 4, 5 and 8 are at least three SACKed segments.
    assert_eq!(board.detect_losses(&delivered, false), 5);
    let again: Vec<_> = std::iter::from_fn(|| board.retransmit_lost(50)).collect();
    assert_eq!(again, [1, 2, 4, 5, 8]);
}

/// [RFC 8985 6.1]
#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut board = sent(8);
    let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(1, 5)])));
    assert_eq!(board.detect_losses(&delivered, false), 1);
    assert_eq!(board.retransmit_lost(100), Some(0));
    // Sent before the retransmission: says nothing of it.
    let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(1, 8)])));
    assert_eq!(board.detect_losses(&delivered, false), 0);
    board.nxt = 8;
    assert_eq!(board.send_new(101), 8);
    let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(1, 9)])));
    assert_eq!(board.detect_losses(&delivered, false), 1);
    assert_eq!(board.retransmit_lost(200), Some(0));
}

/// [RFC 6298 3] [RFC 7323 4.1]
#[test]
fn ambiguous_acks_tell_no_rtt() {
    let mut board = sent(5);
    let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(1, 5)])));
    assert_eq!(delivered.newest_sent, Some(4));
    board.detect_losses(&delivered, false);
    board.retransmit_lost(100);
    let delivered = board.on_ack(u64::MAX, 5, None);
    assert_eq!((delivered.segments, delivered.newest_sent, delivered.oldest_sent), (1, None, None));
    assert_eq!(board.in_flight(), 0);
}

/// [RFC 6675 5.1] [RFC 2018 5]
#[test]
fn a_timeout_loses_all_but_the_sacked() {
    let mut board = sent(6);
    board.on_ack(u64::MAX, 1, Some(&sack(&[(3, 4)])));
    board.lose_all();
    assert_eq!(board.in_flight(), 0);
    let again: Vec<_> = std::iter::from_fn(|| board.retransmit_lost(50)).collect();
    assert_eq!(again, [1, 2, 4, 5]);
    assert_eq!(board.in_flight(), 4);
}

/// Ten segments at 0 to 9 and two at 100 and 101. 4 and 5 are SACKed at 50, so that the RTT is 45, and 0 goes again at 60, 1 at 110. At a
/// timeout at 130 the first is lost whenever it was sent; 1, 10 and 11 are younger than 45 and under way; the rest is lost. [RFC 8985 6.3] [RFC 8985 4]
#[test]
fn a_timeout_spares_what_is_younger_than_the_rtt() {
    let mut board = sent(10);
    let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(4, 6)])));
    board.reordering.adapt(50, &delivered);
    assert_eq!(board.lose_below(4), 4);
    assert_eq!((board.retransmit_lost(60), board.retransmit_lost(110)), (Some(0), Some(1)));
    assert_eq!((board.send_new(100), board.send_new(101)), (10, 11));
    board.lose_old(130);
    board.audit();
    assert_eq!((board.in_flight(), board.lost, board.retransmitted), (3, 8, 1));
    let again: Vec<u64> = std::iter::from_fn(|| board.retransmit_lost(130)).collect();
    assert_eq!(again, [0, 2, 3, 6, 7, 8, 9]);
    // What is SACKed above the young ones shows them to be lost, as any hole.
    let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(11, 12)])));
    board.detect_losses(&delivered, true);
    board.audit();
    assert_eq!(board.retransmit_lost(131), Some(10));
}

/// Step 4: a quarter of the smallest RTT, one more for a round with a D-SACK, back to one after 16 recoveries without; never more than the
/// smoothed RTT. [RFC 8985 6.2]
#[test]
fn the_reordering_window_adapts() {
    let mut board = sent(40);
    board.reordering.retransmits = 10;
    let window = |board: &Scoreboard| board.reordering.window_ns(100, 110);
    let mut end = 0;
    // An ACK at `now` for one more segment, which was sent at the time of its number.
    let mut ack = |board: &mut Scoreboard, now: u64| {
        end += 1;
        let delivered = board.on_ack(u64::MAX, end, None);
        board.reordering.adapt(now, &delivered);
    };
    assert!(board.reordering.note_duplicate(false));
    ack(&mut board, 5);
    assert_eq!(window(&board), 25, "nothing has been seen to come late");
    board.note_late(0);
    board.reordering.note_duplicate(true);
    ack(&mut board, 5);
    assert_eq!(window(&board), 25, "a probe is a guess");
    board.reordering.note_duplicate(false);
    assert_eq!(window(&board), 25, "not before something is delivered");
    ack(&mut board, 5);
    assert_eq!(window(&board), 50);
    // Segments 3 and 4 were sent before, and a D-SACK that comes with them says nothing of the wider window; segment 5 was sent since.
    board.reordering.note_duplicate(false);
    ack(&mut board, 8);
    board.reordering.note_duplicate(false);
    ack(&mut board, 8);
    assert_eq!(window(&board), 50);
    board.reordering.note_duplicate(false);
    ack(&mut board, 9);
    assert_eq!(window(&board), 75);
    (0..3).for_each(|_| ack(&mut board, 10));
    (0..3).for_each(|_| assert!(board.reordering.note_duplicate(false)));
    ack(&mut board, 10);
    assert_eq!(window(&board), 100);
    for recovery in 1..=16 {
        assert_eq!(window(&board), 100, "recovery {recovery}");
        board.reordering.note_recovered();
        ack(&mut board, 100);
    }
    assert_eq!(window(&board), 25);
    assert!(board.reordering.note_duplicate(false), "the tenth");
    assert!(!board.reordering.note_duplicate(false), "more copies than retransmissions");
}

/// A recovery may begin with a retransmission of the one before under way. 8 is sent after it, so an ACK of 8 says nothing about it.
#[test]
fn the_first_retransmission_under_way_divides_old_segments_from_new() {
    let mut board = sent(8);
    assert_eq!(board.sent_before_retransmissions(), 8);
    let delivered = board.on_ack(u64::MAX, 0, Some(&sack(&[(1, 5)])));
    board.detect_losses(&delivered, false);
    board.retransmit_lost(100);
    board.send_new(101);
    assert_eq!(board.sent_before_retransmissions(), 8);
    let delivered = board.on_ack(u64::MAX, 9, None);
    board.detect_losses(&delivered, true);
    assert_eq!(board.sent_before_retransmissions(), 9);
}
