// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is under way, in order of the times when it arrives; of what arrives at the same time, that comes first that was put in first.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{Ring, agenda::NEVER};

/// A packet that overtakes more than this many ends the ring, for to make room for it among them would take long.
const MOST_OVERTAKEN: usize = 32;

/// A ring, until packets overtake many others; then a heap.
#[derive(Debug)]
pub(crate) struct Pipe<T> {
    /// All, while there is no heap.
    pub ring: Ring<(u64, T)>,
    heap: Option<Box<Heap<T>>>,
}

impl<T: Copy + Default> Default for Pipe<T> {
    fn default() -> Self {
        Self { ring: Ring::default(), heap: None }
    }
}

#[derive(Debug)]
struct Heap<T> {
    items: BinaryHeap<Reverse<Item<T>>>,
    /// How many have been put in so far.
    count: u64,
}

#[derive(Debug)]
struct Item<T> {
    time: u64,
    number: u64,
    item: T,
}

impl<T> Ord for Item<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl<T> PartialOrd for Item<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Item<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.time, self.number) == (other.time, other.number)
    }
}

impl<T> Eq for Item<T> {}

impl<T: Copy> Heap<T> {
    fn insert(&mut self, time: u64, item: T) {
        self.items.push(Reverse(Item { time, number: self.count, item }));
        self.count += 1;
    }

    fn next_at(&self) -> u64 {
        self.items.peek().map_or(NEVER, |Reverse(first)| first.time)
    }
}

impl<T: Copy + Default> Pipe<T> {
    /// Puts in what arrives at `time`, which is not before the time of any other. Returns whether it is the only one.
    #[inline(always)]
    pub fn push(&mut self, time: u64, item: T) -> bool {
        if self.heap.is_some() {
            return self.insert(time, item);
        }
        let is_alone = self.ring.is_empty();
        self.ring.push((time, item));
        is_alone
    }

    /// Puts in what arrives at `time`. Returns whether it is the first now.
    #[inline(never)]
    pub fn insert(&mut self, time: u64, item: T) -> bool {
        if self.heap.is_none() {
            if let Some(is_first) = self.ring.insert((time, item), MOST_OVERTAKEN) {
                return is_first;
            }
            self.begin_heap();
        }
        let Some(heap) = &mut self.heap else { return false };
        let is_first = time < heap.next_at();
        heap.insert(time, item);
        is_first
    }

    #[cold]
    fn begin_heap(&mut self) {
        let mut heap = Heap { items: BinaryHeap::new(), count: 0 };
        std::iter::from_fn(|| self.ring.pop()).for_each(|(time, item)| heap.insert(time, item));
        self.heap = Some(Box::new(heap));
    }

    /// Takes out the first, which there is, with the time of the next; [`NEVER`]: there is none.
    #[inline]
    pub fn take(&mut self) -> (T, u64) {
        if let Some(heap) = &mut self.heap {
            let Reverse(first) = heap.items.pop().expect("only pipes that hold something are asked");
            return (first.item, heap.next_at());
        }
        let (_, item) = self.ring.pop().expect("only pipes that hold something are asked");
        (item, self.ring.first().map_or(NEVER, |(time, _)| time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, Stream};

    /// A list that is sorted after each step is the oracle: with little jitter, with much, and with many equal times.
    #[test]
    fn gives_back_by_time_and_what_came_first_of_equal_times() {
        let mut rng = Rng::new(1, Stream::Flow(0));
        for (jitter, step, becomes_heap) in [(0, 3, false), (20, 3, false), (3000, 3, true), (300, 0, true)] {
            let (mut pipe, mut list) = (Pipe::default(), Vec::<(u64, u32)>::new());
            for number in 0..5000 {
                let time = step * u64::from(number) + rng.below(jitter + 1);
                let is_first = list.first().is_none_or(|&(first, _)| time < first);
                assert_eq!(pipe.insert(time, number), is_first);
                list.push((time, number));
                list.sort_by_key(|&(time, _)| time);
                // Now and then it runs empty.
                let taken = if number % 1000 == 999 { list.len() } else { rng.below(2) as usize };
                for (_, expected) in list.drain(..taken.min(list.len())).collect::<Vec<_>>() {
                    assert_eq!(pipe.take().0, expected);
                }
            }
            let next = list.first().copied();
            assert_eq!(pipe.heap.is_some(), becomes_heap, "jitter {jitter}");
            assert!(next.is_none());
        }
    }
}
