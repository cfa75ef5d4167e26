// SPDX-License-Identifier: MIT OR Apache-2.0
//! What travels.

use slab::Slab;
use tandem_network::Ecn;
use tandem_tcp::AckOut;
use tandem_tcp::segment::{
    DATA_FLAGS, ECN_FIELD, ECT_0, ECT_1, FLAG_SHIFT, Feedback, IS_STAMP, SEQ_BITS, STAMP_BITS, STAMP_MASK,
};

use crate::prefetch::prefetch;

/// A packet under way: 16 bytes, since a hundred thousand may be, and each is copied twice.
#[derive(Debug, Clone, Copy, Default)]
pub struct Packet {
    pub header: Header,
    pub bytes: u32,
    /// The network's note.
    pub place: u32,
}

/// No place in a [`FeedbackStore`]: neither blocks nor a count of marks.
pub const NO_SACK: u32 = IS_STAMP - 1;

/// In the place of a [`FeedbackStore`]'s: the packet is a datagram, and its number is that in the [`DatagramStore`].
pub const DATAGRAM: u32 = NO_SACK - 1;

/// Beyond the places: a count of marks, from this one on, and nothing else.
const COUNT: u32 = IS_STAMP;

/// What packets under way carry beside their headers.
#[derive(Debug, Default)]
pub struct Carried {
    pub feedback: FeedbackStore,
    pub datagrams: DatagramStore,
}

/// SACK blocks and counts of marks of ACKs under way. Few ACKs carry any, so packets hold only the place of theirs.
#[derive(Debug, Default)]
pub struct FeedbackStore {
    kept: Vec<Feedback>,
    free: Vec<u32>,
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

impl FeedbackStore {
    /// Returns its place, or the count of marks if it says nothing else.
    #[inline(always)]
    pub fn keep(&mut self, feedback: &Feedback) -> u32 {
        feedback.count_alone().and_then(place_of_count).unwrap_or_else(|| self.keep_all(feedback))
    }

    #[inline(always)]
    fn keep_all(&mut self, feedback: &Feedback) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.kept[place as usize] = *feedback;
                place
            }
            None => {
                self.kept.push(*feedback);
                assert!(self.kept.len() < DATAGRAM as usize, "too many ACKs with SACK blocks under way");
                (self.kept.len() - 1) as u32
            }
        }
    }

    /// Keeps the same a second time.
    pub fn copy(&mut self, place: u32) -> u32 {
        if place >= DATAGRAM {
            return place;
        }
        let feedback = self.kept[place as usize];
        self.keep_all(&feedback)
    }

    /// What this place has is taken soon. With a hundred thousand ACKs under way it is in no cache any more.
    #[inline(always)]
    pub fn fetch(&self, place: u32) {
        if let Some(feedback) = self.kept.get(place as usize) {
            prefetch(feedback);
        }
    }

    /// Takes what was kept of a packet that has arrived or was lost.
    #[inline]
    pub fn take(&mut self, place: u32) -> Option<Feedback> {
        if place >= COUNT {
            return Feedback::of(None, place - COUNT, None, None);
        }
        (place < DATAGRAM).then(|| {
            self.free.push(place);
            self.kept[place as usize]
        })
    }
}

/// A count of marks in the place of a place; `None`: it has no room there.
#[inline(always)]
fn place_of_count(marks: u32) -> Option<u32> {
    (1..1 << (STAMP_BITS - 1)).contains(&marks).then_some(COUNT + marks)
}

/// What a packet says. Segments are numbered in units of one MSS from 0. An ACK near its sender is no more than this: tens of
/// thousands may be there, and the caches must hold them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Header(u64);

impl From<Packet> for Header {
    #[inline]
    fn from(packet: Packet) -> Self {
        packet.header
    }
}

impl Header {
    /// Data: `seq` is the segment, with what it says of itself above, and `sack` its [`stamp`](tandem_tcp::segment::stamp). ACK: the next
    /// segment expected, the place of its feedback or what stands in its place, and its flags.
    #[inline]
    pub(crate) fn new(seq: u64, sack: u32, flags: u8) -> Self {
        debug_assert!(seq & !DATA_FLAGS < 1 << SEQ_BITS && sack < 1 << STAMP_BITS);
        Self(seq | u64::from(sack) << SEQ_BITS | u64::from(flags) << FLAG_SHIFT)
    }

    /// That of an ACK, whose feedback is kept.
    #[inline(always)]
    pub(crate) fn of_ack(ack: &AckOut, carried: &mut Carried) -> Self {
        let sack = ack.feedback.as_ref().map_or(NO_SACK, |feedback| carried.feedback.keep(feedback));
        Self::new(ack.next_expected, sack, ack.flags)
    }

    /// That of an ACK that says a count of marks beside its number, and nothing else.
    #[inline(always)]
    pub(crate) fn of_counted(next_expected: u64, marks: u32, carried: &mut Carried) -> Self {
        let place = place_of_count(marks).unwrap_or_else(|| {
            Feedback::of(None, marks, None, None).map_or(NO_SACK, |feedback| carried.feedback.keep_all(&feedback))
        });
        Self::new(next_expected, place, 0)
    }

    /// Of an ACK that says its number and a count of marks, and nothing else: these.
    #[inline(always)]
    pub(crate) fn counted(self) -> Option<(u64, u32)> {
        (self.sack() >= COUNT && self.flags() == 0).then(|| (self.seq(), self.sack() - COUNT))
    }

    /// Of data: the segment, with its timestamp and what it says of itself above.
    #[inline]
    pub(crate) fn segment(self) -> u64 {
        self.0
    }

    pub(crate) fn ecn(self) -> Ecn {
        match (self.0 & ECN_FIELD) >> FLAG_SHIFT {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable,
            2 => Ecn::Scalable,
            _ => Ecn::Marked,
        }
    }

    /// The ECN field becomes CE.
    pub(crate) fn mark(&mut self) {
        self.0 |= ECN_FIELD;
    }

    pub(crate) fn set_ecn(&mut self, ecn: Ecn) {
        let field = match ecn {
            Ecn::NotCapable => 0,
            Ecn::Capable => ECT_0,
            Ecn::Scalable => ECT_1,
            Ecn::Marked => ECN_FIELD,
        };
        self.0 = self.0 & !ECN_FIELD | field;
    }

    #[inline]
    pub(crate) fn seq(self) -> u64 {
        self.0 & ((1 << SEQ_BITS) - 1)
    }

    #[inline]
    pub(crate) fn sack(self) -> u32 {
        ((self.0 & STAMP_MASK) >> SEQ_BITS) as u32
    }

    /// Of an ACK that says nothing but its number: that number.
    #[inline(always)]
    pub(crate) fn bare_number(self) -> Option<u64> {
        let number = self.0 ^ u64::from(NO_SACK) << SEQ_BITS;
        (number >> SEQ_BITS == 0).then_some(number)
    }

    /// The same with other SACK blocks.
    pub(crate) fn with_sack(self, sack: u32) -> Self {
        Self(self.0 & !STAMP_MASK | u64::from(sack) << SEQ_BITS)
    }

    /// Of an ACK.
    #[inline]
    pub(crate) fn flags(self) -> u8 {
        (self.0 >> FLAG_SHIFT) as u8
    }
}
