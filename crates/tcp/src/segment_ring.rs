// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value for each segment of a window that slides.
#![expect(unsafe_code)]

use std::ops::Range;

/// A ring of a power of two of slots, indexed by segment number. It holds as many segments in a row as it has slots.
#[derive(Debug)]
pub struct SegmentRing<T> {
    slots: Box<[T]>,
    /// The number of slots less one.
    mask: u64,
}

impl<T: Copy + Default> SegmentRing<T> {
    pub fn new() -> Self {
        Self::with_slots(16)
    }

    /// `slots` is a power of two.
    fn with_slots(slots: usize) -> Self {
        Self { slots: vec![T::default(); slots].into_boxed_slice(), mask: slots as u64 - 1 }
    }

    /// How many segments in a row it holds.
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.mask + 1
    }

    #[inline]
    fn place(&self, seq: u64) -> usize {
        (seq & self.mask) as usize
    }

    #[inline]
    pub fn get(&self, seq: u64) -> T {
        // SAFETY: the number of slots is a power of two, so the mask leaves a valid index. The compiler cannot see that, and each ACK
        // comes here three times.
        *unsafe { self.slots.get_unchecked(self.place(seq)) }
    }

    #[inline]
    pub fn slot(&mut self, seq: u64) -> &mut T {
        let place = self.place(seq);
        // SAFETY: as in `get`.
        unsafe { self.slots.get_unchecked_mut(place) }
    }

    /// Doubles the number of slots; these segments keep their values.
    #[cold]
    pub fn grow(&mut self, held: Range<u64>) {
        let mut larger = Self::with_slots(2 * self.slots.len());
        for seq in held {
            *larger.slot(seq) = self.get(seq);
        }
        *self = larger;
    }
}
