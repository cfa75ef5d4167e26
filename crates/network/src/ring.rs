// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue in a ring whose size is a power of two. On the path of every packet, where `VecDeque`'s wrap-around branches cost
//! more than the rest of it.
#![expect(unsafe_code)]

/// A first-in, first-out queue that grows when it is full.
#[derive(Debug)]
pub struct Ring<T> {
    slots: Box<[T]>,
    /// The number of slots less one.
    mask: usize,
    /// Taken and put so far; they wrap together.
    head: usize,
    tail: usize,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: vec![T::default(); 4].into_boxed_slice(), mask: 3, head: 0, tail: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Number of items in the queue.
    #[inline]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether nothing is in the queue.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline]
    fn at(&self, position: usize) -> T {
        // SAFETY: the number of slots is a power of two, so the mask leaves a valid index. The compiler cannot see that.
        *unsafe { self.slots.get_unchecked(position & self.mask) }
    }

    /// Puts an item at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.len() > self.mask {
            self.grow();
        }
        // SAFETY: as in `at`.
        *unsafe { self.slots.get_unchecked_mut(self.tail & self.mask) } = item;
        self.tail = self.tail.wrapping_add(1);
    }

    /// The item with this many before it.
    #[inline]
    pub fn get(&self, place: usize) -> Option<T> {
        (place < self.len()).then(|| self.at(self.head.wrapping_add(place)))
    }

    fn slot(&mut self, position: usize) -> &mut T {
        &mut self.slots[position & self.mask]
    }

    #[cold]
    fn grow(&mut self) {
        let items: Vec<T> = (0..self.slots.len()).map(|i| self.at(self.head.wrapping_add(i))).collect();
        let mut slots = vec![T::default(); 2 * items.len()];
        slots[..items.len()].copy_from_slice(&items);
        *self = Self { mask: slots.len() - 1, slots: slots.into_boxed_slice(), head: 0, tail: items.len() };
    }

    /// Takes the first item; `None` if the queue is empty.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.first()?;
        self.head = self.head.wrapping_add(1);
        Some(first)
    }

    /// Drops the first item, which there is.
    #[inline(always)]
    pub fn skip(&mut self) {
        debug_assert!(!self.is_empty());
        self.head = self.head.wrapping_add(1);
    }

    /// All items in order, in two parts.
    #[inline]
    pub fn parts(&self) -> [&[T]; 2] {
        let (first, until) = (self.head & self.mask, (self.head & self.mask) + self.len());
        let slots = self.slots.len();
        [&self.slots[first..until.min(slots)], &self.slots[..until.saturating_sub(slots)]]
    }

    /// Drops this many items, which there are.
    #[inline]
    pub fn skip_many(&mut self, items: usize) {
        debug_assert!(items <= self.len());
        self.head = self.head.wrapping_add(items);
    }

    /// A copy of the item that came first; `None` if the queue is empty.
    #[inline]
    pub fn first(&self) -> Option<T> {
        self.get(0)
    }

    /// A copy of the item that came last; `None` if the queue is empty.
    #[inline]
    pub fn last(&self) -> Option<T> {
        (!self.is_empty()).then(|| self.at(self.tail.wrapping_sub(1)))
    }
}

impl<T: Copy + Default> Ring<(u64, T)> {
    /// Puts an item behind all that are due at its time or before. Returns whether it is the first now; `None`: it would overtake more than `most`,
    /// and is not put in.
    pub fn insert(&mut self, item: (u64, T), most: usize) -> Option<bool> {
        let from_tail = |back: usize| self.tail.wrapping_sub(back);
        let is_overtaken = |back: &usize| self.at(from_tail(*back)).0 > item.0;
        let overtaken = (1..=self.len()).take(most + 1).take_while(is_overtaken).count();
        if overtaken > most {
            return None;
        }
        self.push(item);
        let place = self.tail.wrapping_sub(overtaken + 1);
        for position in (0..overtaken).rev().map(|i| place.wrapping_add(i)) {
            *self.slot(position.wrapping_add(1)) = self.at(position);
        }
        *self.slot(place) = item;
        Some(place == self.head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_while_it_grows_and_wraps() {
        let mut ring = Ring::default();
        let (mut put, mut taken) = (0u32, 0u32);
        for step in 1..50 {
            (0..step).for_each(|_| {
                ring.push(put);
                put += 1;
            });
            (0..step - 1).for_each(|_| {
                assert!(ring.parts().concat().into_iter().eq(taken..put));
                assert!((0..=ring.len()).map(|place| ring.get(place)).eq((taken..put).map(Some).chain([None])));
                assert_eq!((ring.pop(), ring.last()), (Some(taken), Some(put - 1)));
                taken += 1;
            });
        }
        assert_eq!(ring.first(), Some(taken));
    }

    #[test]
    fn inserts_by_time_and_behind_those_of_the_same_time() {
        let mut ring = Ring::default();
        let firsts: Vec<Option<bool>> = [(5, 0), (7, 1), (3, 2), (5, 3), (9, 4), (2, 6), (1, 5)]
            .into_iter()
            .map(|item| ring.insert(item, if item.1 == 6 { 4 } else { 5 }))
            .collect();
        assert_eq!(firsts, [Some(true), Some(false), Some(true), Some(false), Some(false), None, Some(true)]);
        let order: Vec<(u64, i32)> = std::iter::from_fn(|| ring.pop()).collect();
        assert_eq!(order, [(1, 5), (3, 2), (5, 0), (5, 3), (7, 1), (9, 4)]);
    }
}
