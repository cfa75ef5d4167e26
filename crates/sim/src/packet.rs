// SPDX-License-Identifier: MIT OR Apache-2.0
//! What travels.

use slab::Slab;
use tandem_network::Ecn;

/// A packet under way: 16 bytes, since a hundred thousand may be, and each is copied twice.
#[derive(Debug, Clone, Copy, Default)]
pub struct Packet {
    pub header: Header,
    pub bytes: u32,
    /// The network's note.
    pub place: u32,
}

/// No place in a [`SackStore`]: neither blocks nor a count of marks.
pub const NO_SACK: u32 = IS_STAMP - 1;

/// In the place of a [`SackStore`]'s: the packet is a datagram of a flow with other endpoints, and its number is that of the datagram.
pub const DATAGRAM: u32 = NO_SACK - 1;

/// In the place of a [`SackStore`]'s: the packet is a segment, and the bits below are its timestamp: when it was sent, ms. It
/// wraps after 70 minutes, and no packet is under way for so long.
const IS_STAMP: u32 = 1 << (SACK_BITS - 1);

/// The timestamp of a segment that is sent now, in the place of a [`SackStore`]'s: with a clock of 1 ms, as Linux's.
#[inline]
pub fn stamp(now: u64) -> u32 {
    IS_STAMP | (now / NS_PER_MS) as u32 & (IS_STAMP - 1)
}

/// When the timestamp of now becomes another, ns.
#[inline]
pub fn stamp_ends(now: u64) -> u64 {
    (now / NS_PER_MS + 1) * NS_PER_MS
}

/// When a segment was sent that has arrived by now, ms.
pub fn sent_ms(now: u64, segment: u64) -> u64 {
    let now_ms = now / NS_PER_MS;
    let age = now_ms.wrapping_sub(segment >> SEQ_BITS) & u64::from(IS_STAMP - 1);
    now_ms - age
}

/// SACK blocks that fit beside timestamps (RFC 2018).
pub const MAX_SACK_BLOCKS: usize = 3;

/// Segments `start` to `end` (not included), received out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block {
    pub start: u64,
    pub end: u64,
}

/// Most recent first; unused ones are empty.
pub type Blocks = [Block; MAX_SACK_BLOCKS];

/// The segment that an ACK's number was last raised by, and whether it had been sent before. It stands for the timestamp that the ACK
/// echoes (RFC 7323 section 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    pub seq: u64,
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
    pub fn of(blocks: Option<Blocks>, marks: u32, duplicate: Option<u64>, echo: Option<Echo>) -> Option<Self> {
        let says_something = blocks.is_some() || marks > 0 || duplicate.is_some() || echo.is_some();
        says_something.then(|| Self { blocks: blocks.unwrap_or_default(), marks, duplicate, echo })
    }

    /// The SACK blocks, if there are any.
    pub fn blocks(&self) -> Option<&Blocks> {
        (self.blocks[0].start < self.blocks[0].end).then_some(&self.blocks)
    }
}

/// SACK blocks and counts of marks of ACKs under way. Few ACKs carry any, so packets hold only the place of theirs.
#[derive(Debug, Default)]
pub struct SackStore {
    kept: Vec<Feedback>,
    free: Vec<u32>,
    /// Those of flows with other endpoints.
    pub datagrams: DatagramStore,
}

/// Datagrams under way.
#[derive(Debug, Default)]
pub struct DatagramStore(Slab<Vec<u8>>);

impl DatagramStore {
    pub fn keep(&mut self, datagram: Vec<u8>) -> u64 {
        self.0.insert(datagram) as u64
    }

    /// Keeps the same datagram a second time.
    pub fn copy(&mut self, number: u64) -> u64 {
        self.keep(self.0[number as usize].clone())
    }

    /// Takes a datagram that has arrived or was lost.
    pub fn take(&mut self, number: u64) -> Vec<u8> {
        self.0.remove(number as usize)
    }
}

impl SackStore {
    pub fn keep(&mut self, feedback: Feedback) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.kept[place as usize] = feedback;
                place
            }
            None => {
                self.kept.push(feedback);
                assert!(self.kept.len() < DATAGRAM as usize, "too many ACKs with SACK blocks under way");
                (self.kept.len() - 1) as u32
            }
        }
    }

    /// Keeps the same a second time.
    pub fn copy(&mut self, place: u32) -> u32 {
        if place >= DATAGRAM { place } else { self.keep(self.kept[place as usize]) }
    }

    /// Takes what was kept of a packet that has arrived or was lost.
    #[inline]
    pub fn take(&mut self, place: u32) -> Option<Feedback> {
        (place < DATAGRAM).then(|| {
            self.free.push(place);
            self.kept[place as usize]
        })
    }
}

/// What a packet says. Segments are numbered in units of one MSS from 0. An ACK near its sender is no more than this: tens of
/// thousands may be there, and the caches must hold them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Header(u64);

const SEQ_BITS: u32 = 37;
const SACK_BITS: u32 = 23;
const FLAG_SHIFT: u32 = SEQ_BITS + SACK_BITS;
const SACK_MASK: u64 = ((1 << SACK_BITS) - 1) << SEQ_BITS;
const NS_PER_MS: u64 = 1_000_000;

/// What data says of itself, above the number of its segment: the IP header's ECN field in the two lower bits, then CWR, then that the
/// segment was sent before, which a timestamp would tell.
pub const DATA_FLAGS: u64 = 15 << FLAG_SHIFT;
/// The number of a segment and [`DATA_FLAGS`], without its timestamp.
pub const SEQ_AND_FLAGS: u64 = !SACK_MASK;
pub const ECN_FIELD: u64 = 3 << FLAG_SHIFT;
pub const ECT_0: u64 = 1 << FLAG_SHIFT;
pub const ECT_1: u64 = 2 << FLAG_SHIFT;
pub const CWR: u64 = 4 << FLAG_SHIFT;
pub const AGAIN: u64 = 8 << FLAG_SHIFT;

/// What an ACK says, as its [`Header`] has it: a mark has arrived (RFC 3168).
pub const ECE: u8 = 4;

impl From<Packet> for Header {
    #[inline]
    fn from(packet: Packet) -> Self {
        packet.header
    }
}

impl Header {
    /// Data: `seq` is the segment, with what it says of itself above, and `sack` its [`stamp`]. ACK: the next segment expected, the place of the
    /// SACK blocks or [`NO_SACK`], and its flags.
    #[inline]
    pub fn new(seq: u64, sack: u32, flags: u8) -> Self {
        debug_assert!(seq & !DATA_FLAGS < 1 << SEQ_BITS && sack < 1 << SACK_BITS);
        Self(seq | u64::from(sack) << SEQ_BITS | u64::from(flags) << FLAG_SHIFT)
    }

    /// Of data: the segment, with its timestamp and what it says of itself above.
    #[inline]
    pub fn segment(self) -> u64 {
        self.0
    }

    pub fn ecn(self) -> Ecn {
        match (self.0 & ECN_FIELD) >> FLAG_SHIFT {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable,
            2 => Ecn::Scalable,
            _ => Ecn::Marked,
        }
    }

    /// The ECN field becomes CE.
    pub fn mark(&mut self) {
        self.0 |= ECN_FIELD;
    }

    #[inline]
    pub fn seq(self) -> u64 {
        self.0 & ((1 << SEQ_BITS) - 1)
    }

    #[inline]
    pub fn sack(self) -> u32 {
        ((self.0 & SACK_MASK) >> SEQ_BITS) as u32
    }

    /// The same with other SACK blocks.
    pub fn with_sack(self, sack: u32) -> Self {
        Self(self.0 & !SACK_MASK | u64::from(sack) << SEQ_BITS)
    }

    /// Of an ACK.
    #[inline]
    pub fn flags(self) -> u8 {
        (self.0 >> FLAG_SHIFT) as u8
    }
}
