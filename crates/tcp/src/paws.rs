// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protection against wrapped sequence numbers (PAWS, RFC 7323 section 5), as Linux's receiver has it.
//!
//! A receiver with timestamps takes a segment for a leftover of an older round of sequence numbers if its timestamp is older than TS.Recent, the
//! newest one that arrived at the left edge. The simulator's numbers never wrap. But where the network reorders, PAWS also drops good segments:
//! those that are so late that a retransmission of an earlier one, sent after them, has overtaken them.
//!
//! First copies are sent in the order of their numbers. A segment that fills a hole was therefore sent after the first copies of all
//! segments below it; one that fills no hole is dropped anyway. Only a retransmission can raise TS.Recent above the timestamp of something
//! that is still missing, so only retransmissions are watched, and a connection without them has nothing to do.

/// By how much a timestamp may be older than TS.Recent, ms. The RFC has 0. Linux has one tick (TCP_PAWS_WINDOW), so that a clock that is read on
/// several processors, or for several connections, may disagree with itself by the tick that is just beginning.
const TOLERANCE_MS: u64 = 1;

/// TS.Recent, where a retransmission has set it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paws {
    /// The timestamp, ms; 0: nothing that is missing can be older.
    recent_ms: u64,
}

impl Paws {
    /// 0: no segment need be asked about.
    #[inline]
    pub fn recent_ms(self) -> u64 {
        self.recent_ms
    }

    /// Is a segment that was sent at `sent_ms` to be dropped? [RFC 7323 5.3]
    pub fn rejects(self, sent_ms: u64) -> bool {
        sent_ms + TOLERANCE_MS < self.recent_ms
    }

    /// A retransmission that is not rejected has arrived. It sets TS.Recent if it is not beyond the left edge, which is the number of the last ACK
    /// sent [RFC 7323 4.3]. Linux drops what ends before that edge as out of the window, and learns nothing from it.
    pub fn on_again(&mut self, sent_ms: u64, seq: u64, last_ack: u64) {
        if seq == last_ack || seq + 1 == last_ack {
            self.recent_ms = self.recent_ms.max(sent_ms);
        }
    }

    /// The next expected segment has arrived, by its first copy. All that is missing now was sent later, first copy or not.
    pub fn on_next(&mut self, sent_ms: u64) {
        if sent_ms >= self.recent_ms {
            self.recent_ms = 0;
        }
    }
}
