// SPDX-License-Identifier: MIT OR Apache-2.0
//! RACK in a network that reorders (RFC 8985 section 6.2, steps 3 to 5, as Linux has them): once a segment has come after one that was
//! sent later, time alone tells losses, and each round with a D-SACK gives more of it.

use super::{AMBIGUOUS, DUP_THRESH, Delivered, LOST, Retransmission, SACKED, Scoreboard, Segment, Transmission};

/// Linux's tcp_max_reordering.
const MAX_DEGREE: u64 = 300;
/// Linux's bound on the quarters of the smallest RTT.
const MAX_QUARTERS: u64 = 255;
/// Recoveries without a D-SACK until the window shrinks back, RACK.reo_wnd_persist [RFC 8985 6.2].
const PERSISTENCE: u32 = 16;

/// What is known of the network's order.
#[derive(Debug, Clone, Copy)]
pub struct Reordering {
    /// Has the network reordered?
    seen: bool,
    /// How many segments one was overtaken by, at most; at least [`DUP_THRESH`].
    degree: u64,
    /// The time that a segment has beyond its RTT, in quarters of the smallest RTT.
    quarters: u64,
    /// A D-SACK has come that has not widened the window yet.
    has_dsack: bool,
    /// When the window was last widened, ns. What was sent before says nothing of the wider one.
    widened_at: u64,
    /// Recoveries until the window shrinks back.
    persistence: u32,
    /// Segments sent again, and segments that came twice. More of the latter are copies that the network made.
    pub(super) retransmits: u64,
    duplicates: u64,
    /// The delivered segment that was sent last, and the RTT of the one that was delivered last, ns (RACK.segment, RACK.rtt).
    newest: Option<Transmission>,
    rtt_ns: u64,
}

impl Reordering {
    pub(super) fn new() -> Self {
        Self {
            seen: false,
            degree: DUP_THRESH,
            quarters: 1,
            has_dsack: false,
            widened_at: 0,
            persistence: 0,
            retransmits: 0,
            duplicates: 0,
            newest: None,
            rtt_ns: 0,
        }
    }

    /// Has the network reordered?
    #[inline]
    pub fn is_seen(&self) -> bool {
        self.seen
    }

    /// Has a D-SACK come that has not widened the window yet?
    #[inline]
    pub fn has_dsack(&self) -> bool {
        self.has_dsack
    }

    /// Has a segment been overtaken by more than [`DUP_THRESH`]?
    pub fn is_deep(&self) -> bool {
        self.degree > DUP_THRESH
    }

    /// The time that a segment is given beyond its RTT, ns: at most the smoothed RTT.
    pub fn window_ns(&self, min_rtt_ns: u64, srtt_ns: u64) -> u64 {
        (min_rtt_ns / 4 * self.quarters).min(srtt_ns)
    }

    /// A segment has come twice; `answers_probe`: it is the tail loss probe, which was a guess. False if the network made the copy.
    pub fn note_duplicate(&mut self, answers_probe: bool) -> bool {
        self.duplicates += 1;
        if self.duplicates > self.retransmits {
            return false;
        }
        self.has_dsack |= self.seen && !answers_probe;
        true
    }

    /// An ACK at `now` has been taken in, with what it says of duplicates: the window is widened once in a round trip (step 4). [RFC 8985 6.2]
    #[inline]
    pub fn adapt(&mut self, now: u64, delivered: &Delivered) {
        let Some(last) = delivered.last_sent else { return };
        if let Some(sent) = delivered.last_counted {
            self.rtt_ns = now - sent;
        }
        self.newest = self.newest.max(delivered.last_transmission);
        self.has_dsack &= last.sent >= self.widened_at;
        if self.has_dsack {
            self.has_dsack = false;
            self.quarters = (self.quarters + 1).min(MAX_QUARTERS);
            self.widened_at = now;
            self.persistence = PERSISTENCE;
        } else if self.persistence == 0 {
            self.quarters = 1;
        }
    }

    /// RACK.rtt: the RTT of the segment that was delivered last, ns; 0 before the first.
    pub fn rtt_ns(&self) -> u64 {
        self.rtt_ns
    }

    /// The usual ACK has come, which says nothing but this RTT.
    #[inline]
    pub fn note_rtt(&mut self, rtt_ns: u64) {
        self.rtt_ns = rtt_ns;
    }

    /// A recovery has ended, and was needed.
    pub fn note_recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
    }

    /// D-SACKs have shown a recovery to be needless.
    pub fn note_needless(&mut self) {
        self.persistence = (self.persistence + 1).min(PERSISTENCE);
    }

    /// A timeout though three segments were SACKed: the reordering was overestimated.
    pub fn note_timeout(&mut self) {
        self.degree = DUP_THRESH;
    }
}

impl Scoreboard {
    /// `low` was delivered after a segment that was sent later (step 3). [RFC 8985 6.2]
    pub fn note_late(&mut self, low: u64) {
        let highest = if self.sacked > 0 { self.sacked_end } else { self.una };
        self.reordering.seen = true;
        self.reordering.degree = self.reordering.degree.max(highest.saturating_sub(low).min(MAX_DEGREE));
    }

    /// A segment has come twice. Was it sent twice, too? `una` was the first unacknowledged segment before the ACK that says so; of
    /// earlier ones nothing is known any more.
    pub fn reports_retransmission(&mut self, seq: u64, una: u64) -> bool {
        if seq < una {
            return true;
        }
        if seq >= self.nxt || !self.segments.get(seq).has(AMBIGUOUS) {
            return false;
        }
        if self.segments.get(seq).has(SACKED) {
            self.note_late(seq);
        }
        true
    }

    /// One above the last segment that was sent before the first retransmission that is still under way, or before now if there is none.
    pub fn sent_before_retransmissions(&self) -> u64 {
        self.retransmissions.front().map_or(self.nxt, |first| first.nxt)
    }

    /// Segments that have had their time are lost: those sent up to an RTT and `window_ns` before `now`, if one that was sent later has been
    /// delivered (step 5). Returns how many are new. [RFC 8985 6.2]
    pub fn lose_by_time(&mut self, now: u64, window_ns: u64) -> u64 {
        let Reordering { newest, rtt_ns, .. } = self.reordering;
        let latest = now.saturating_sub(rtt_ns + window_ns);
        let mut found = 0;
        self.skip_acknowledged();
        while self.sacked > self.sacked_below_judged {
            let segment = self.segments.get(self.judged);
            if segment.flags() & (SACKED | LOST) == 0 && segment.sent() > latest {
                break;
            }
            found += self.judge_next();
        }
        let was_overtaken = |again: Retransmission| newest.is_some_and(|newest| again.precedes(newest));
        found + self.lose_retransmissions(|again| again.sent <= latest && was_overtaken(again))
    }

    /// Has the next segment to be judged been sent again, later than all that has been delivered? After an undo that copy is still awaited.
    #[inline]
    pub(super) fn waits_for_copy(&self) -> bool {
        let segment = self.segments.get(self.judged);
        let is_open = segment.flags() & (SACKED | LOST | AMBIGUOUS) == AMBIGUOUS;
        is_open && self.reordering.newest.is_some_and(|newest| newest.sent < segment.sent())
    }

    /// When the next segment has had its time, after [`Self::lose_by_time`]; `None` if none is waited for.
    pub fn next_loss_at(&self, window_ns: u64) -> Option<u64> {
        let Reordering { newest, rtt_ns, .. } = self.reordering;
        let hole = (self.sacked > self.sacked_below_judged).then(|| self.segments.get(self.judged).sent());
        let again = self.retransmissions.front().filter(|again| newest.is_some_and(|newest| again.precedes(newest)));
        let sent = hole.into_iter().chain(again.map(|again| again.sent)).min()?;
        Some(sent + rtt_ns + window_ns)
    }

    /// The segments that were lost may only be late: what has not been SACKed is under way once more.
    pub fn take_back_losses(&mut self) {
        for seq in self.una..self.nxt {
            let segment = self.segments.slot(seq);
            *segment = Segment::new(segment.sent(), segment.flags() & (SACKED | AMBIGUOUS));
        }
        (self.lost, self.retransmitted) = (0, 0);
        self.retransmissions.clear();
        (self.judged, self.sacked_below_judged) = (self.una, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a train relies on: of ACKs in a row that come no sooner than the smallest RTT so far, while no D-SACK waits, the last tells of the network's
    /// order all that they tell together.
    #[test]
    fn the_last_ack_of_a_row_tells_the_order_that_all_of_it_tells() {
        // The row's ACKs: how many segments are acknowledged, and how long after its last segment was sent, which was sent a nanosecond after the one before.
        let rows: [&[(u64, u64)]; 4] =
            [&[(1, 50)], &[(2, 50), (4, 70)], &[(3, 60), (9, 54), (10, 55)], &[(5, 50), (6, 60), (20, 51)]];
        // What an earlier part of the connection has left: how wide the window is, for how long, and whether something newer was delivered before.
        let pasts = [(1, 0, None), (7, 0, None), (7, 3, Some(4)), (2, 16, Some(1000))];
        for (row, past) in rows.iter().flat_map(|row| pasts.map(|past| (row, past))) {
            let (quarters, persistence, newest) = past;
            let order = |tells_each: bool| {
                let mut board = Scoreboard::new();
                (0..20).for_each(|now| assert_eq!(board.send_new(now), now));
                let newest = newest.map(|sent| Transmission { sent, seq: 0, again: true });
                board.reordering = Reordering { quarters, persistence, newest, widened_at: 30, ..Reordering::new() };
                for &(end, rtt) in *row {
                    let (first, now) = (board.una, end - 1 + rtt);
                    board.on_usual_ack(end).unwrap();
                    if tells_each {
                        board.adapt_to_row(now, now - 50, first);
                    } else if end == row[row.len() - 1].0 {
                        board.adapt_to_last(now, end - 1, end - 1);
                    }
                }
                format!("{:?}", board.reordering)
            };
            assert_eq!(order(false), order(true), "{row:?} after {past:?}");
        }
    }
}
