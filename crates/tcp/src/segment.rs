// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a segment and an ACK say. Segments are numbered in units of one MSS from 0.
//!
//! A segment is one word: its number (37 bits), its timestamp (23 bits, see [`stamp`]), and what it says of itself ([`DATA_FLAGS`], 4 bits).

/// Bits of a segment's number.
pub const SEQ_BITS: u32 = 37;
/// Bits above it: the timestamp.
pub const STAMP_BITS: u32 = 23;
/// The bits above both say what the segment says of itself.
pub const FLAG_SHIFT: u32 = SEQ_BITS + STAMP_BITS;
/// Where a segment has its timestamp.
pub const STAMP_MASK: u64 = ((1 << STAMP_BITS) - 1) << SEQ_BITS;
/// Timestamps count milliseconds.
pub const NS_PER_MS: u64 = 1_000_000;

/// What data says of itself, above the number of its segment: the IP header's ECN field in the two lower bits, then CWR, then that the
/// segment was sent before, which a timestamp would tell.
pub const DATA_FLAGS: u64 = 15 << FLAG_SHIFT;
/// The number of a segment and [`DATA_FLAGS`], without its timestamp.
pub const SEQ_AND_FLAGS: u64 = !STAMP_MASK;
/// The IP header's ECN field [RFC 3168 5]; both bits: CE.
pub const ECN_FIELD: u64 = 3 << FLAG_SHIFT;
/// The sender understands marks.
pub const ECT_0: u64 = 1 << FLAG_SHIFT;
/// The sender takes frequent marks (L4S) [RFC 9331 4.1].
pub const ECT_1: u64 = 2 << FLAG_SHIFT;
/// The sender has reduced its window for a mark [RFC 3168 6.1.2].
pub const CWR: u64 = 4 << FLAG_SHIFT;
/// The segment was sent before.
pub const AGAIN: u64 = 8 << FLAG_SHIFT;

/// What an ACK says in its flags: a mark has arrived (RFC 3168).
pub const ECE: u8 = 4;

/// A timestamp has this bit, and below it when the segment was sent, ms. It wraps after 70 minutes, and no segment is under way for so long.
pub const IS_STAMP: u32 = 1 << (STAMP_BITS - 1);

/// The timestamp of a segment that is sent at `now`, ns: with a clock of 1 ms, as Linux's. [RFC 7323 3.2] [RFC 7323 5.4]
#[inline]
pub fn stamp(now: u64) -> u32 {
    IS_STAMP | (now / NS_PER_MS) as u32 & (IS_STAMP - 1)
}

/// A segment that a sender has put out, with the timestamp of `now`, ns: what its receiver takes.
pub fn stamped(segment: u64, now: u64) -> u64 {
    segment | u64::from(stamp(now)) << SEQ_BITS
}

/// When a segment was sent that has arrived by `now` (ns), ms.
pub fn sent_ms(now: u64, segment: u64) -> u64 {
    let now_ms = now / NS_PER_MS;
    let age = now_ms.wrapping_sub(segment >> SEQ_BITS) & u64::from(IS_STAMP - 1);
    now_ms - age
}

/// SACK blocks that fit beside timestamps [RFC 2018 3].
pub const MAX_SACK_BLOCKS: usize = 3;

/// Segments `start` to `end` (not included), received out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block {
    /// The first of them.
    pub start: u64,
    /// One above the last.
    pub end: u64,
}

/// Most recent first; unused ones are empty.
pub type Blocks = [Block; MAX_SACK_BLOCKS];

/// The segment that an ACK's number was last raised by, and whether it had been sent before. It stands for the timestamp that the ACK
/// echoes [RFC 7323 4.3] [RFC 3522 3.2].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Its number.
    pub seq: u64,
    /// Had it been sent before?
    pub again: bool,
}

/// What an ACK carries beside its number and flags, if anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Feedback {
    blocks: Blocks,
    /// Packets that have arrived with a mark since the flow began (accurate ECN, RFC 9768); 0 without it.
    pub marks: u32,
    /// The segment that this ACK reports to have come twice (D-SACK, RFC 2883).
    pub duplicate: Option<u64>,
    /// `None`: the last segment before the ACK's number, sent once.
    pub echo: Option<Echo>,
}

impl Feedback {
    /// `None` if there is nothing to say.
    #[inline]
    pub fn of(blocks: Option<Blocks>, marks: u32, duplicate: Option<u64>, echo: Option<Echo>) -> Option<Self> {
        let says_something = blocks.is_some() || marks > 0 || duplicate.is_some() || echo.is_some();
        says_something.then(|| Self { blocks: blocks.unwrap_or_default(), marks, duplicate, echo })
    }

    /// The count of marks, if it says nothing else.
    #[inline]
    pub fn count_alone(&self) -> Option<u32> {
        let is_alone = self.blocks().is_none() && self.duplicate.is_none() && self.echo.is_none();
        is_alone.then_some(self.marks)
    }

    /// The SACK blocks, if there are any.
    pub fn blocks(&self) -> Option<&Blocks> {
        (self.blocks[0].start < self.blocks[0].end).then_some(&self.blocks)
    }
}
