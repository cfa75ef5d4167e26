// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens next: a tournament over a fixed set of sources, each with one next time.
//!
//! What leaves a pipe leaves in order, so a source is a whole pipe or all of a flow's timers, never a packet. Changing
//! one source's time replays its matches up to the root: about log2(sources) comparisons, no allocation, no search.
#![expect(unsafe_code)]

/// No time at all; beyond every time an [`Agenda`] can hold.
pub const NEVER: u64 = u64::MAX >> 1;

/// The next time of each source, and which source is first of all. If times are equal, the source with the lower number is.
#[derive(Debug)]
pub struct Agenda {
    /// A binary tree: the children of node i are 2i and 2i + 1. A node is the next of all sources below it, its time above its
    /// number in one word: the smaller word is then the earlier time, or the lower number, and a match is one comparison.
    nodes: Box<[u64]>,
    /// By source: its node.
    leaves: Box<[u32]>,
    /// The bits of a node that hold the number, and how many they are.
    source_mask: u64,
    source_bits: u32,
    /// Greatest time that a node can hold, ns; it stands for [`NEVER`].
    last: u64,
}

impl Agenda {
    /// For each source the branch that it is on. Branches are numbered from the root on: a change on branch 0 meets all others in
    /// one match, and those further out meet one more each, so sources that change often belong on the first ones. With `n` sources
    /// the agenda can hold times below 2^63 / n ns: 26 days for 4096 sources.
    pub fn new(branches: &[usize]) -> Self {
        let last_branch = branches.iter().copied().max().unwrap_or(0);
        let mut leaves = vec![0; branches.len()];
        for branch in 0..=last_branch {
            // All but the last are left children on a chain of right ones: 2, 6, 14 and so on.
            let root = if branch < last_branch { (4 << branch) - 2 } else { (2 << branch) - 1 };
            let members = || (0..branches.len()).filter(|&source| branches[source] == branch);
            let first = root * members().count().next_power_of_two();
            members().enumerate().for_each(|(i, source)| leaves[source] = (first + i) as u32);
        }
        let greatest = leaves.iter().copied().max().unwrap_or(1) as usize;
        let source_bits = branches.len().next_power_of_two().ilog2();
        Self {
            nodes: vec![u64::MAX; (greatest | 1) + 1].into_boxed_slice(),
            leaves: leaves.into_boxed_slice(),
            source_mask: (1 << source_bits) - 1,
            source_bits,
            last: u64::MAX >> source_bits,
        }
    }

    /// The next source and its time; the time is [`NEVER`] if there is none. Of sources with the same time, the one with the
    /// lowest number comes first.
    #[inline]
    pub fn next(&self) -> (u64, usize) {
        let (time, source) = self.first();
        (if time == self.last { NEVER } else { time }, source)
    }

    /// The same for one who asks what is due by a time that an agenda can hold: if there is none, the time is beyond all of those.
    #[inline]
    pub fn first(&self) -> (u64, usize) {
        // SAFETY: `new` makes room for a leaf and its sibling, hence for two nodes at least. Each event comes here, and a check would
        // cost it 3 instructions.
        let first = *unsafe { self.nodes.get_unchecked(1) };
        (first >> self.source_bits, (first & self.source_mask) as usize)
    }

    /// The latest time that a source can have.
    #[inline]
    pub fn latest(&self) -> u64 {
        self.last - 1
    }

    /// Sets a source's next time.
    #[inline]
    pub fn set(&mut self, source: usize, time: u64) {
        let mut i = self.leaves[source] as usize;
        let mut winner = time.min(self.last) << self.source_bits | source as u64;
        let nodes = &mut self.nodes[..];
        // SAFETY: `new` makes room for each leaf and for the other child of its parent.
        *unsafe { nodes.get_unchecked_mut(i) } = winner;
        while i != 1 {
            // SAFETY: i is a leaf or above one, so there is room for it and for its sibling. Checks would cost a fifth of the loop.
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

    /// Whatever the branches are: the least time of a list is the oracle.
    #[test]
    fn gives_sources_in_order_of_time_then_number() {
        for branches in [vec![0; 5], vec![0], vec![0, 1, 2], vec![2, 0, 2, 1, 1, 0, 2, 2], vec![3, 3, 0, 1, 3]] {
            let mut agenda = Agenda::new(&branches);
            let mut times = vec![NEVER; branches.len()];
            for step in 0..1000u64 {
                let source = (step * 7 + step / 11) as usize % branches.len();
                times[source] = if step % 5 == 0 { NEVER } else { step * 7919 % 13 };
                agenda.set(source, times[source]);
                let (next, &time) = times.iter().enumerate().min_by_key(|&(_, time)| time).unwrap();
                assert_eq!(agenda.next().0, time, "{branches:?}, step {step}");
                assert!(time == NEVER || agenda.next().1 == next, "{branches:?}, step {step}");
            }
        }
    }
}
