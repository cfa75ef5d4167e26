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

    /// Takes the next segment of an unbroken row, of which accurate ECN counts the marks. Returns the ACK to send now, if any; `None`: the segment
    /// is another, and has not been taken.
    #[inline(always)]
    pub fn take_counted(&mut self, now: u64, segment: u64) -> Option<Option<AckOut>> {
        let seq = segment & SEQ_AND_FLAGS & !DATA_FLAGS;
        let is_next = (seq ^ self.next_expected) | self.out_of_order | self.paws.recent_ms() == 0;
        let (ecn, again) = (segment & ECN_FIELD, segment & AGAIN);
        if !is_next || self.marks.is_none() || ecn == 0 || again != 0 || self.honesty != Honesty::Honest {
            return None;
        }
        Some(self.on_counted(now, seq, ecn == ECN_FIELD))
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
