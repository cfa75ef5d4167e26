// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens next: a tournament over a fixed set of sources, each with one next time.
//!
//! What leaves a pipe leaves in order, so a source is a whole pipe or all of a flow's timers, never a packet. Changing
//! one source's time replays its matches up to the root: log2(sources) comparisons, no allocation, no search.

/// No time at all; beyond every time an [`Agenda`] can hold.
pub const NEVER: u64 = u64::MAX >> 1;

/// The next time of each source, and which source is first of all. If times are equal, the source with the lower number is.
#[derive(Debug)]
pub struct Agenda {
    /// A complete binary tree: the children of node i are 2i and 2i + 1, the leaves are its second half. A node is the next of all
    /// sources below it, its time above its number in one word: the smaller word is then the earlier time, or the lower number, and a
    /// match is one comparison. With time and number in two words a change took 20 instructions a level, not 8.
    nodes: Box<[u64]>,
    /// How many bits the number of a source takes.
    source_bits: u32,
    /// Greatest time that a node can hold, ns; it stands for [`NEVER`].
    last: u64,
}

impl Agenda {
    /// With `n` sources the agenda can hold times below 2^63 / n ns: 26 days for 4096 sources.
    pub fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let source_bits = leaves.ilog2();
        let last = u64::MAX >> source_bits;
        Self { nodes: vec![u64::MAX; 2 * leaves].into_boxed_slice(), source_bits, last }
    }

    /// The next source and its time; the time is [`NEVER`] if there is none. Of sources with the same time, the one with the
    /// lowest number comes first.
    #[inline]
    pub fn next(&self) -> (u64, usize) {
        // SAFETY: there are at least 2 leaves, hence 4 nodes.
        let first = *unsafe { self.nodes.get_unchecked(1) };
        (self.time(first), first as usize & (self.nodes.len() / 2 - 1))
    }

    /// Sets a source's next time if that is earlier than the one it has.
    #[inline]
    pub fn bring_forward(&mut self, source: usize, time: u64) {
        if self.node(source, time) < self.nodes[self.nodes.len() / 2 + source] {
            self.set(source, time);
        }
    }

    #[inline]
    fn node(&self, source: usize, time: u64) -> u64 {
        time.min(self.last) << self.source_bits | source as u64
    }

    #[inline]
    fn time(&self, node: u64) -> u64 {
        match node >> self.source_bits {
            time if time == self.last => NEVER,
            time => time,
        }
    }

    /// Sets a source's next time.
    #[inline]
    pub fn set(&mut self, source: usize, time: u64) {
        let mut winner = self.node(source, time);
        let nodes = &mut self.nodes[..];
        let mut i = nodes.len() / 2 + source;
        nodes[i] = winner;
        while i > 1 {
            // SAFETY: i was a valid index above and only shrinks; i is at least 2 and the length is even, so i ^ 1 is valid too.
            let rival = *unsafe { nodes.get_unchecked(i ^ 1) };
            winner = winner.min(rival);
            i >>= 1;
            // SAFETY: as above.
            *unsafe { nodes.get_unchecked_mut(i) } = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_sources_in_order_of_time_then_number() {
        let mut agenda = Agenda::new(5);
        for (source, time) in [(0, 30), (2, 10), (1, 10), (3, 20)] {
            agenda.set(source, time);
        }
        let mut seen = vec![];
        while agenda.next().0 != NEVER {
            seen.push(agenda.next());
            agenda.set(agenda.next().1, NEVER);
        }
        assert_eq!(seen, [(10, 1), (10, 2), (20, 3), (30, 0)]);
    }
}
