// SPDX-License-Identifier: MIT OR Apache-2.0
//! What travels.

/// What a packet is. Segments are numbered in units of one MSS from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Data of one segment.
    #[default]
    Data,
    /// A cumulative ACK, its SACK blocks kept in a [`SackStore`].
    Ack,
    Udp,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Packet {
    /// Data: the segment. ACK: the next segment expected.
    pub seq: u64,
    pub flow: u32,
    /// Place of its SACK blocks, or [`NO_SACK`].
    pub sack: u32,
    pub bytes: u16,
    /// Index of the next link in the flow's route.
    pub hop: u8,
    pub kind: Kind,
    /// ACK: a segment came twice (RFC 2883).
    pub dsack: bool,
}

pub const NO_SACK: u32 = u32::MAX;

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

/// SACK blocks of ACKs under way. Few ACKs carry any, so packets hold only the place of theirs.
#[derive(Debug, Default)]
pub struct SackStore {
    blocks: Vec<Blocks>,
    free: Vec<u32>,
}

impl SackStore {
    pub fn keep(&mut self, blocks: Blocks) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.blocks[place as usize] = blocks;
                place
            }
            None => {
                self.blocks.push(blocks);
                assert!((self.blocks.len() as u64) < NO_SACK_HERE, "too many ACKs with SACK blocks under way");
                (self.blocks.len() - 1) as u32
            }
        }
    }

    /// Takes the blocks of a packet that has arrived or was lost.
    #[inline]
    pub fn take(&mut self, place: u32) -> Option<Blocks> {
        (place != NO_SACK).then(|| {
            self.free.push(place);
            self.blocks[place as usize]
        })
    }
}

/// An ACK on its last way, packed into 8 bytes: tens of thousands may be under way, and the caches must hold them.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedAck(u64);

const SEQ_BITS: u32 = 40;
const SACK_BITS: u32 = 23;
const NO_SACK_HERE: u64 = (1 << SACK_BITS) - 1;

impl From<Packet> for PackedAck {
    #[inline]
    fn from(packet: Packet) -> Self {
        debug_assert!(packet.seq < 1 << SEQ_BITS);
        let sack = u64::from(packet.sack).min(NO_SACK_HERE);
        Self(packet.seq | sack << SEQ_BITS | u64::from(packet.dsack) << (SEQ_BITS + SACK_BITS))
    }
}

impl PackedAck {
    #[inline]
    pub fn seq(self) -> u64 {
        self.0 & ((1 << SEQ_BITS) - 1)
    }

    #[inline]
    pub fn sack(self) -> u32 {
        match self.0 >> SEQ_BITS & NO_SACK_HERE {
            NO_SACK_HERE => NO_SACK,
            place => place as u32,
        }
    }

    #[inline]
    pub fn dsack(self) -> bool {
        self.0 >> (SEQ_BITS + SACK_BITS) != 0
    }
}
