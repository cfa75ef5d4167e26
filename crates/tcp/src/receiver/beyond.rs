// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments that come in order while others before them are missing: behind each hole a row of them.

use super::{AckOut, Honesty, Receiver};
use crate::segment::{Block, DATA_FLAGS, SEQ_AND_FLAGS, sent_ms};

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
