// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the sender knows of each segment under way: sent, SACKed, lost, sent again (RFC 6675), and when.
//!
//! Every step over segments moves a mark forward, so the cost of an ACK is that of what it newly says. What is lost again below such a mark is
//! kept in a heap: with thousands lost, and copies of them, too, going back would cost a window for each.

mod reordering;
mod row;

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use crate::{
    segment::{Block, Blocks},
    segment_ring::SegmentRing,
};
use reordering::Reordering;

const SACKED: u64 = 1;
const LOST: u64 = 2;
/// Sent again, and that copy may still be under way.
const RETRANSMITTED: u64 = 4;
/// Sent again at some time: its ACK tells no RTT (Karn's rule) [RFC 6298 3] [RFC 7323 4.1].
const AMBIGUOUS: u64 = 8;

/// A segment's flags, and above them the time of its last transmission: one word, so that the usual segment costs one access when it
/// is sent and one when it is acknowledged. [RFC 8985 4]
#[derive(Debug, Clone, Copy, Default)]
struct Segment(u64);

impl Segment {
    const FLAG_BITS: u32 = 4;
    const FLAGS: u64 = (1 << Self::FLAG_BITS) - 1;

    #[inline]
    fn new(sent: u64, flags: u64) -> Self {
        Self(sent << Self::FLAG_BITS | flags)
    }

    #[inline]
    fn sent(self) -> u64 {
        self.0 >> Self::FLAG_BITS
    }

    #[inline]
    fn flags(self) -> u64 {
        self.0 & Self::FLAGS
    }

    fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }
}

/// Segments that must be SACKed before a hole below them is a loss at once, DupThresh [RFC 6675 4] [RFC 5681 3.2].
pub const DUP_THRESH: u64 = 3;

/// What the usual ACK says: it acknowledges segments that were sent once, and nothing is SACKed or lost.
#[derive(Debug, Clone, Copy)]
pub struct Usual {
    /// Segments acknowledged, at least 1.
    pub segments: u64,
    /// When the oldest and the newest of them were sent.
    pub oldest_sent: u64,
    pub newest_sent: u64,
}

/// What one ACK newly delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Segments, cumulatively or selectively.
    pub segments: u64,
    /// Did the cumulative ACK advance?
    pub advanced: bool,
    /// When the oldest segment of an unambiguous cumulative ACK was sent; without one, the newest SACKed.
    pub oldest_sent: Option<u64>,
    /// When the newest unambiguous segment was sent.
    pub newest_sent: Option<u64>,
    /// The delivered segment that was sent last ...
    pub last_sent: Option<Transmission>,
    /// ... and if what may have been delivered by an earlier copy is left out.
    last_transmission: Option<Transmission>,
    /// When that segment was sent that was counted last, an earlier copy left out.
    last_counted: Option<u64>,
    /// The lowest segment that had been sent once.
    pub lowest_original: Option<u64>,
}

/// When a segment was last sent, which, and whether it had been sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transmission {
    pub sent: u64,
    pub seq: u64,
    again: bool,
}

/// A retransmission that is watched: when, which, and what was then the next new segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Retransmission {
    sent: u64,
    seq: u64,
    nxt: u64,
}

impl Retransmission {
    /// Was the other one sent later? ACKs that arrive at the same time send at the same time: then new segments tell by what
    /// was next, and lost ones go again from the lowest on.
    fn precedes(&self, other: Transmission) -> bool {
        let first = if other.again { self.seq + 1 } else { self.nxt };
        (other.sent, other.seq) >= (self.sent, first)
    }
}

impl Delivered {
    /// Counts a segment whose last transmission was at `sent`. `latest` is when it must have been sent to be acknowledged
    /// now: what was sent again later was delivered by an earlier copy (step 2). [RFC 8985 6.2]
    #[inline]
    fn count(&mut self, seq: u64, segment: Segment, latest: u64) {
        self.segments += 1;
        let sent = segment.sent();
        let transmission = Transmission { sent, seq, again: segment.has(AMBIGUOUS) };
        self.last_sent = self.last_sent.max(Some(transmission));
        if sent <= latest {
            self.last_transmission = self.last_transmission.max(Some(transmission));
            self.last_counted = Some(sent);
        }
        if !transmission.again {
            self.lowest_original = Some(self.lowest_original.map_or(seq, |lowest| lowest.min(seq)));
        }
    }
}

/// [RFC 6675 3]
#[derive(Debug)]
pub struct Scoreboard {
    /// First segment not cumulatively acknowledged.
    pub una: u64,
    /// Next segment never sent.
    pub nxt: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    segments: SegmentRing<Segment>,
    /// No segment from here on has a flag.
    flagless_from: u64,
    /// All unSACKed segments below it have been found lost.
    judged: u64,
    sacked_below_judged: u64,
    /// No segment from here on has been SACKed.
    sacked_end: u64,
    /// No segment below it waits for retransmission but those that are `lost_again`.
    retransmit_from: u64,
    /// Segments whose copy was lost, the lowest first, and maybe some that no longer wait.
    lost_again: BinaryHeap<Reverse<u64>>,
    /// Retransmissions in the order in which they were made.
    retransmissions: VecDeque<Retransmission>,
    /// The blocks of the last ACK: what they cover is not read again.
    last_blocks: Blocks,
    pub reordering: Reordering,
}

impl Scoreboard {
    pub fn new() -> Self {
        Self {
            una: 0,
            nxt: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            segments: SegmentRing::new(),
            flagless_from: 0,
            judged: 0,
            sacked_below_judged: 0,
            sacked_end: 0,
            retransmit_from: 0,
            lost_again: BinaryHeap::new(),
            retransmissions: VecDeque::new(),
            last_blocks: Blocks::default(),
            reordering: Reordering::new(),
        }
    }

    /// Nothing is outstanding; the next segment is `next`.
    pub fn beginning_at(next: u64) -> Self {
        Self {
            una: next,
            nxt: next,
            flagless_from: next,
            judged: next,
            sacked_end: next,
            retransmit_from: next,
            ..Self::new()
        }
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// Pipe [RFC 6675 4].
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.nxt - self.una - self.sacked - self.lost + self.retransmitted
    }

    /// When the first unacknowledged segment was last sent.
    pub fn una_sent_at(&self) -> u64 {
        self.segments.get(self.una).sent()
    }

    /// Is nothing outstanding SACKed, lost, or sent more than once?
    #[inline]
    pub fn is_flagless(&self) -> bool {
        self.flagless_from <= self.una
    }

    /// Segments delivered, by number or by SACK, since the first.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.una + self.sacked
    }

    pub fn has_sacked(&self) -> bool {
        self.sacked > 0
    }

    /// One above the highest segment SACKed so far (FACK's snd.fack).
    pub fn sacked_end(&self) -> u64 {
        self.sacked_end
    }

    /// Have enough segments been SACKed for a hole below them to be a loss at once?
    pub fn has_dup_thresh(&self) -> bool {
        self.sacked >= DUP_THRESH
    }

    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Is a lost segment still to be sent again?
    pub fn awaits_retransmission(&self) -> bool {
        self.lost > self.retransmitted
    }

    /// Segments sent again that are still under way.
    pub fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Sends the next new segment.
    #[inline]
    pub fn send_new(&mut self, now: u64) -> u64 {
        if self.outstanding() == self.segments.capacity() {
            self.segments.grow(self.una..self.nxt);
        }
        let seq = self.nxt;
        *self.segments.slot(seq) = Segment::new(now, 0);
        self.nxt += 1;
        seq
    }

    /// Sends new segments until the next one is `end`; `out` takes each.
    #[inline(always)]
    pub fn send_until(&mut self, now: u64, end: u64, out: &mut impl FnMut(u64)) {
        while end - self.una > self.segments.capacity() {
            self.segments.grow(self.una..self.nxt);
        }
        for seq in self.nxt..end {
            *self.segments.slot(seq) = Segment::new(now, 0);
            out(seq);
        }
        self.nxt = end;
    }

    /// Sends the lowest lost segment again, if there is one.
    #[inline]
    pub fn retransmit_lost(&mut self, now: u64) -> Option<u64> {
        self.awaits_retransmission().then(|| self.retransmit_lowest(now))
    }

    /// The same where there is one.
    fn retransmit_lowest(&mut self, now: u64) -> u64 {
        let seq = self.lowest_lost_again().unwrap_or_else(|| {
            let mut seq = self.retransmit_from.max(self.una);
            while !self.waits(seq) {
                seq += 1;
            }
            self.retransmit_from = seq + 1;
            seq
        });
        self.mark_retransmitted(now, seq);
        seq
    }

    /// Is it lost, and was not sent since?
    fn waits(&self, seq: u64) -> bool {
        self.segments.get(seq).flags() & (LOST | RETRANSMITTED) == LOST
    }

    /// The lowest segment below the mark that waits.
    fn lowest_lost_again(&mut self) -> Option<u64> {
        while let Some(&Reverse(seq)) = self.lost_again.peek().filter(|lowest| lowest.0 < self.retransmit_from) {
            self.lost_again.pop();
            if seq >= self.una && self.waits(seq) {
                return Some(seq);
            }
        }
        None
    }

    /// Sends the last segment again though it is not known to be lost (tail loss probe).
    pub fn retransmit_last(&mut self, now: u64) -> u64 {
        let seq = self.nxt - 1;
        self.send_again(now, seq, AMBIGUOUS);
        self.flagless_from = self.nxt;
        seq
    }

    /// The time of the last copy is the one that counts. [RFC 8985 6.1]
    fn send_again(&mut self, now: u64, seq: u64, flags: u64) {
        self.reordering.retransmits += 1;
        let segment = self.segments.slot(seq);
        *segment = Segment::new(now, segment.flags() | flags);
    }

    fn mark_retransmitted(&mut self, now: u64, seq: u64) {
        self.send_again(now, seq, RETRANSMITTED | AMBIGUOUS);
        self.retransmitted += 1;
        self.retransmissions.push_back(Retransmission { sent: now, seq, nxt: self.nxt });
    }

    /// Takes in an ACK: `next_expected` by the receiver, and its SACK blocks. `latest` is now less the smallest RTT.
    pub fn on_ack(&mut self, latest: u64, next_expected: u64, blocks: Option<&Blocks>) -> Delivered {
        let mut delivered = Delivered::default();
        let sacked_before = self.sacked_end;
        if let Some(blocks) = blocks {
            self.on_blocks(latest, blocks, &mut delivered);
        }
        let next_expected = next_expected.min(self.nxt);
        if next_expected > self.una {
            delivered.advanced = true;
            self.on_cumulative(latest, next_expected, &mut delivered);
        }
        if let Some(low) = delivered.lowest_original.filter(|&low| low < sacked_before) {
            self.note_late(low);
        }
        delivered
    }

    /// Takes in an ACK without SACK blocks while nothing outstanding is flagged; `None` if it acknowledges nothing new.
    #[inline]
    pub fn on_usual_ack(&mut self, next_expected: u64) -> Option<Usual> {
        debug_assert!(self.is_flagless());
        let next_expected = next_expected.min(self.nxt);
        if next_expected <= self.una {
            return None;
        }
        let segments = next_expected - self.una;
        let oldest_sent = self.segments.get(self.una).sent();
        let newest_sent = self.segments.get(next_expected - 1).sent();
        self.una = next_expected;
        Some(Usual { segments, oldest_sent, newest_sent })
    }

    fn on_cumulative(&mut self, latest: u64, next_expected: u64, delivered: &mut Delivered) {
        let mut ambiguous = false;
        let (mut oldest, mut newest) = (None, None);
        for seq in self.una..next_expected {
            let segment = self.segments.get(seq);
            if !segment.has(SACKED) {
                delivered.count(seq, segment, latest);
                ambiguous |= segment.has(AMBIGUOUS);
                oldest = oldest.or(Some(segment.sent()));
                newest = Some(segment.sent());
            }
            if segment.flags() != 0 {
                self.forget(seq, segment);
            }
        }
        if !ambiguous {
            delivered.oldest_sent = oldest.or(delivered.oldest_sent);
            delivered.newest_sent = delivered.newest_sent.max(newest);
        }
        self.una = next_expected;
        self.skip_acknowledged();
    }

    /// What has been acknowledged needs no judgement.
    fn skip_acknowledged(&mut self) {
        if self.judged < self.una {
            self.judged = self.una;
            self.sacked_below_judged = 0;
        }
    }

    /// A flagged segment has been cumulatively acknowledged.
    fn forget(&mut self, seq: u64, segment: Segment) {
        self.sacked -= u64::from(segment.has(SACKED));
        self.lost -= u64::from(segment.has(LOST));
        self.retransmitted -= u64::from(segment.has(RETRANSMITTED));
        if segment.has(SACKED) && seq < self.judged {
            self.sacked_below_judged -= 1;
        }
    }

    #[cold]
    fn on_blocks(&mut self, latest: u64, blocks: &Blocks, delivered: &mut Delivered) {
        for block in blocks.iter().filter(|b| b.start < b.end) {
            // What the last ACK reported of this block needs no second look.
            let known =
                self.last_blocks.iter().find(|k| k.start < k.end && block.start <= k.start && k.end <= block.end);
            let known = known.copied().unwrap_or(Block { start: block.end, end: block.end });
            self.sack_range(latest, block.start, known.start, delivered);
            self.sack_range(latest, known.end, block.end, delivered);
        }
        self.last_blocks = *blocks;
    }

    fn sack_range(&mut self, latest: u64, start: u64, end: u64, delivered: &mut Delivered) {
        for seq in start.max(self.una)..end.min(self.nxt) {
            let segment = self.segments.get(seq);
            if segment.has(SACKED) {
                continue;
            }
            // It will not go again [RFC 2018 5].
            let sent = segment.sent();
            self.lost -= u64::from(segment.has(LOST));
            self.retransmitted -= u64::from(segment.has(RETRANSMITTED));
            *self.segments.slot(seq) = Segment::new(sent, segment.flags() & AMBIGUOUS | SACKED);
            self.flagless_from = self.flagless_from.max(seq + 1);
            self.sacked_end = self.sacked_end.max(seq + 1);
            self.sacked += 1;
            self.sacked_below_judged += u64::from(seq < self.judged);
            delivered.count(seq, segment, latest);
            if !segment.has(AMBIGUOUS) {
                delivered.oldest_sent = delivered.oldest_sent.or(Some(sent));
                delivered.newest_sent = delivered.newest_sent.max(Some(sent));
            }
        }
    }

    /// Finds segments newly known to be lost; returns how many. A hole below a SACKed segment is a loss at once in recovery
    /// or with [`DUP_THRESH`] segments SACKed; before, it may still be reordering (step 4). [RFC 8985 6.2]
    #[inline]
    pub fn detect_losses(&mut self, delivered: &Delivered, in_recovery: bool) -> u64 {
        if self.sacked == 0 && self.retransmissions.is_empty() {
            return 0;
        }
        let holes = if in_recovery || self.has_dup_thresh() { self.lose_holes() } else { 0 };
        holes + self.detect_lost_retransmissions(delivered)
    }

    /// First transmissions below a SACKed segment are lost: the network keeps the order so far. Returns how many are new.
    #[inline]
    pub fn lose_holes(&mut self) -> u64 {
        let mut found = 0;
        self.skip_acknowledged();
        while self.sacked > self.sacked_below_judged && !self.waits_for_copy() {
            found += self.judge_next();
        }
        found
    }

    /// First transmissions below `end` that are not SACKed are lost. Returns how many are new.
    pub fn lose_below(&mut self, end: u64) -> u64 {
        let mut found = 0;
        self.skip_acknowledged();
        while self.judged < end.min(self.nxt) {
            found += self.judge_next();
        }
        found
    }

    /// The next segment is lost if it is not SACKed. Returns 1 if that is new, otherwise 0.
    #[inline]
    fn judge_next(&mut self) -> u64 {
        let seq = self.judged;
        let segment = self.segments.slot(seq);
        self.judged += 1;
        if segment.has(SACKED) {
            self.sacked_below_judged += 1;
        } else if !segment.has(LOST) {
            segment.0 |= LOST;
            self.lost += 1;
            self.flagless_from = self.flagless_from.max(seq + 1);
            self.retransmit_from = self.retransmit_from.min(seq);
            return 1;
        }
        0
    }

    /// Retransmissions: lost once something sent later has been delivered (RACK with a reordering window of 0, for
    /// the network keeps the order so far). The window is not reduced again [RFC 5681 4.3].
    #[inline]
    fn detect_lost_retransmissions(&mut self, delivered: &Delivered) -> u64 {
        self.lose_retransmissions(|again| delivered.last_transmission.is_some_and(|last| again.precedes(last)))
    }

    /// Retransmissions: lost once a segment is SACKed that was first sent later. Returns how many are new.
    pub fn lose_retransmissions_by_new_data(&mut self) -> u64 {
        let sacked_end = self.sacked_end;
        self.lose_retransmissions(|again| again.nxt < sacked_end)
    }

    /// Loses retransmissions in the order in which they were made, until one is not lost.
    #[inline]
    fn lose_retransmissions(&mut self, is_lost: impl Fn(Retransmission) -> bool) -> u64 {
        let mut found = 0;
        while let Some(&retransmission) = self.retransmissions.front() {
            let Retransmission { sent, seq, .. } = retransmission;
            let settled = seq < self.una || {
                let segment = self.segments.get(seq);
                !segment.has(RETRANSMITTED) || segment.sent() != sent
            };
            if !settled {
                if !is_lost(retransmission) {
                    break;
                }
                self.segments.slot(seq).0 &= !RETRANSMITTED;
                self.retransmitted -= 1;
                if seq < self.retransmit_from {
                    self.lost_again.push(Reverse(seq));
                }
                found += 1;
            }
            self.retransmissions.pop_front();
        }
        found
    }

    /// A timeout before RACK: all that has not been SACKed is lost ([RFC 6675 5.1]; receivers here never renege).
    pub fn lose_all(&mut self) {
        self.lose_at_timeout(|_| false);
    }

    /// A timeout: the first unacknowledged segment is lost, and all that has been out for an RTT. What was sent since may still arrive.
    /// [RFC 8985 6.3]
    pub fn lose_old(&mut self, now: u64) {
        let latest = now.saturating_sub(self.reordering.rtt_ns());
        self.lose_at_timeout(|segment| segment.sent() > latest);
    }

    fn lose_at_timeout(&mut self, is_young: impl Fn(Segment) -> bool) {
        (self.lost, self.retransmitted) = (0, 0);
        let (mut sacked, mut first_young) = (0, None);
        for seq in self.una..self.nxt {
            let segment = self.segments.slot(seq);
            if segment.has(SACKED) {
                sacked += 1;
                continue;
            }
            if seq == self.una || !is_young(*segment) {
                *segment = Segment::new(segment.sent(), segment.flags() & AMBIGUOUS | LOST);
            }
            self.lost += u64::from(segment.has(LOST));
            self.retransmitted += u64::from(segment.has(RETRANSMITTED));
            if !segment.has(LOST) {
                first_young = first_young.or(Some((seq, sacked)));
            }
        }
        (self.judged, self.sacked_below_judged) = first_young.unwrap_or((self.nxt, sacked));
        self.flagless_from = self.nxt;
        self.retransmit_from = self.una;
        self.lost_again.clear();
        let segments = &self.segments;
        self.retransmissions.retain(|again| {
            let segment = segments.get(again.seq);
            segment.has(RETRANSMITTED) && segment.sent() == again.sent
        });
    }
}

#[cfg(test)]
mod tests;
