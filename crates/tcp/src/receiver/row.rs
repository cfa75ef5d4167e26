// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments of a row that are not plain: behind a hole, or with accurate ECN. What [`Receiver::on_data`] finds out about each is known of these.

use super::{AckOut, Honesty, Receiver};
use crate::segment::{AGAIN, Block, DATA_FLAGS, ECN_FIELD, SEQ_AND_FLAGS, sent_ms};

impl Receiver {
    /// Takes a segment that says nothing of itself and lies beyond all that have come while something is missing. Its ACK goes at once. `None`:
    /// the segment is another, and has not been taken.
    #[inline(always)]
    pub fn take_beyond(&mut self, now: u64, segment: u64) -> Option<AckOut> {
        let seq = segment & SEQ_AND_FLAGS;
        if self.out_of_order == 0 || seq < self.arrived_end || seq & DATA_FLAGS != 0 {
            return None;
        }
        if self.honesty == Honesty::EarlyAcks || self.paws.rejects(sent_ms(now, segment)) {
            return None;
        }
        self.note_arrived(seq);
        self.report_beyond(seq);
        Some(self.ack(None))
    }

    /// Takes the next segment of an unbroken row, of which accurate ECN counts the marks. Returns that count if an ACK goes now, which says it and
    /// `next_expected` and nothing else. `None`: the segment is another, and has not been taken.
    #[inline(always)]
    pub fn take_counted(&mut self, now: u64, segment: u64) -> Option<Option<u32>> {
        let seq = segment & SEQ_AND_FLAGS & !DATA_FLAGS;
        let is_next = (seq ^ self.next_expected) | self.out_of_order | self.paws.recent_ms() == 0;
        let (ecn, again) = (segment & ECN_FIELD, segment & AGAIN);
        let marks = self.marks?;
        if !is_next || ecn == 0 || again != 0 || self.honesty != Honesty::Honest {
            return None;
        }
        let is_marked = ecn == ECN_FIELD;
        let is_change = is_marked && !self.echoes_mark;
        let marks = marks.wrapping_add(is_marked.into());
        (self.echoes_mark, self.marks) = (is_marked, Some(marks));
        let is_due = self.take_next(now);
        if is_change && !is_due {
            self.acknowledged();
        }
        Some((is_due || is_change).then_some(marks))
    }

    /// As [`Self::report`]: no block touches `seq` but the one that ends there, if there is one.
    #[inline(always)]
    fn report_beyond(&mut self, seq: u64) {
        let [first, second, third] = self.blocks;
        if first.end == seq {
            self.blocks[0].end = seq + 1;
        } else if second.end != seq && third.end != seq {
            self.blocks = [Block { start: seq, end: seq + 1 }, first, second];
        } else {
            self.report(seq);
        }
    }
}
