// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens next: a tournament over a fixed set of sources, each with one next time.
//!
//! What leaves a pipe leaves in order, so a source is a whole pipe or all of a flow's timers, never a packet. Changing
//! one source's time replays its matches up to the root: log2(sources) comparisons, no allocation, no search.

/// No time at all.
pub const NEVER: u64 = u64::MAX >> 1;

/// A node: the next of all sources below it.
#[derive(Debug, Clone, Copy)]
struct Node {
    time: u64,
    source: u64,
}

#[derive(Debug)]
pub struct Agenda {
    /// A complete binary tree: node i's children are 2i and 2i + 1, the leaves are its second half.
    nodes: Box<[Node]>,
}

impl Agenda {
    pub fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let mut nodes = vec![Node { time: NEVER, source: 0 }; 2 * leaves].into_boxed_slice();
        for (source, node) in nodes[leaves..].iter_mut().enumerate() {
            node.source = source as u64;
        }
        Self { nodes }
    }

    /// The next source and its time; the time is [`NEVER`] if there is none. Of sources with the same time, the one with the
    /// lowest number comes first.
    #[inline]
    pub fn next(&self) -> (u64, usize) {
        let first = self.nodes[1];
        (first.time, first.source as usize)
    }

    #[inline]
    pub fn time_of(&self, source: usize) -> u64 {
        self.nodes[self.nodes.len() / 2 + source].time
    }

    /// Sets a source's next time.
    #[inline]
    pub fn set(&mut self, source: usize, time: u64) {
        let nodes = &mut self.nodes[..];
        let mut i = nodes.len() / 2 + source;
        let mut winner = Node { time, source: source as u64 };
        nodes[i] = winner;
        while i > 1 {
            // SAFETY: i was a valid index above and only shrinks; i is at least 2 and the length is even, so i ^ 1 is valid too.
            // A fifth of a run's instructions would otherwise be these two checks.
            let rival = *unsafe { nodes.get_unchecked(i ^ 1) };
            // The left one wins a tie. Selected by mask: which of two flows is next is nothing a branch could predict.
            let rival_wins = u64::from(rival.time < winner.time + (i & 1) as u64).wrapping_neg();
            winner.time ^= (winner.time ^ rival.time) & rival_wins;
            winner.source ^= (winner.source ^ rival.source) & rival_wins;
            i >>= 1;
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
