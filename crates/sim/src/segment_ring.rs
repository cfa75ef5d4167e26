// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value for each segment of a window that slides.

use std::ops::Range;

/// A ring of a power of two of slots, indexed by segment number. It holds as many segments in a row as it has slots.
#[derive(Debug)]
pub struct SegmentRing<T> {
    slots: Box<[T]>,
}

impl<T: Copy + Default> SegmentRing<T> {
    pub fn new() -> Self {
        Self { slots: vec![T::default(); 16].into_boxed_slice() }
    }

    /// How many segments in a row it holds.
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    #[inline]
    fn place(&self, seq: u64) -> usize {
        seq as usize & (self.slots.len() - 1)
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
        let mut larger = Self { slots: vec![T::default(); 2 * self.slots.len()].into_boxed_slice() };
        for seq in held {
            *larger.slot(seq) = self.get(seq);
        }
        *self = larger;
    }
}
