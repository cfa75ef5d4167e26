// SPDX-License-Identifier: MIT OR Apache-2.0
//! What senders send in a window of time, put in flow by flow, taken out in order of time.

/// More packets than this in one slice, and to find a place among them would take long.
const CROWD: u32 = 32;

/// So that a long window after one with many packets takes no more than some megabytes.
const MOST_SLICES: u64 = 1 << 20;

/// That of a path of some megabits a second, ns.
const FIRST_GAP_NS: u64 = 1 << 20;

/// No packet.
const NONE: u32 = u32::MAX;

/// A calendar: the window is cut into slices, about as many as there are packets, and each slice has a list of its packets in order. A packet is
/// put where it belongs at once: sorting afterwards takes twice as many instructions.
#[derive(Debug, Clone)]
pub struct Sends<P> {
    sent: Vec<Sent<P>>,
    /// By slice: the first packet, or [`NONE`].
    firsts: Vec<u32>,
    /// The window begins at this time, ns.
    from: u64,
    /// ... and ends at this one.
    until: u64,
    /// From one packet to the next in the last window that had any, ns.
    gap_ns: u64,
    /// A slice lasts 2 to the power of this, ns.
    shift: u32,
    /// Some packets have not been put where they belong, because there were too many.
    is_crowded: bool,
}

#[derive(Debug, Clone, Copy)]
struct Sent<P> {
    at: u64,
    packet: P,
    /// The packet after it in its slice, or [`NONE`].
    next: u32,
}

impl<P> Default for Sends<P> {
    fn default() -> Self {
        Self {
            sent: Vec::new(),
            firsts: Vec::new(),
            from: 0,
            until: 0,
            gap_ns: FIRST_GAP_NS,
            shift: 0,
            is_crowded: false,
        }
    }
}

impl<P: Copy> Sends<P> {
    /// A window begins, from `from` to `until`, ns.
    pub fn begin(&mut self, from: u64, until: u64) {
        debug_assert!(self.sent.is_empty() && from <= until);
        (self.from, self.until) = (from, until);
        // From one to two slices a packet, if this window is like the last one.
        let coarsest = ((until - from) / MOST_SLICES).checked_ilog2().map_or(0, |shift| shift + 1);
        self.shift = self.gap_ns.ilog2().max(coarsest);
        self.firsts.resize(((until - from) >> self.shift) as usize + 1, NONE);
    }

    /// A packet is sent at `now`, which lies in the window.
    #[inline(always)]
    pub fn push(&mut self, now: u64, packet: P) {
        let number = self.sent.len() as u32;
        self.sent.push(Sent { at: now, packet, next: NONE });
        let slice = ((now - self.from) >> self.shift) as usize;
        if self.firsts[slice] == NONE {
            self.firsts[slice] = number;
        } else {
            self.insert(slice, number);
        }
    }

    /// Puts a packet among those of its slice. Of those sent at the same time the one comes first that was put in first.
    #[inline(never)]
    fn insert(&mut self, slice: usize, number: u32) {
        let Self { sent, firsts, is_crowded, .. } = self;
        let now = sent[number as usize].at;
        let (mut before, mut next) = (NONE, firsts[slice]);
        let mut steps = 0;
        while next != NONE && sent[next as usize].at <= now && steps < CROWD {
            (before, next) = (next, sent[next as usize].next);
            steps += 1;
        }
        *is_crowded |= steps == CROWD;
        sent[number as usize].next = next;
        match before {
            NONE => firsts[slice] = number,
            before => sent[before as usize].next = number,
        }
    }

    /// Takes all packets out in order of time.
    #[inline(always)]
    pub fn drain(&mut self, mut take: impl FnMut(u64, P)) {
        if self.sent.is_empty() {
            return;
        }
        self.gap_ns = (self.until - self.from) / self.sent.len() as u64 + 1;
        if self.is_crowded {
            self.sort();
        }
        for first in &mut self.firsts {
            let mut number = std::mem::replace(first, NONE);
            while let Some(&Sent { at, packet, next }) = self.sent.get(number as usize) {
                number = next;
                take(at, packet);
            }
        }
        self.sent.clear();
    }

    /// Makes one list of all packets.
    #[cold]
    fn sort(&mut self) {
        self.is_crowded = false;
        self.sent.sort_by_key(|sent| sent.at);
        self.sent.iter_mut().zip(1..).for_each(|(sent, next)| sent.next = next);
        self.firsts.fill(NONE);
        self.firsts[0] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, Stream};

    /// The standard library's stable sort is the oracle.
    #[test]
    fn takes_out_by_time_and_keeps_the_order_of_equal_times() {
        let mut rng = Rng::new(1, Stream::Flow(0));
        let mut sends = Sends::default();
        for count in [0, 1, 2, 3, 10, 1000] {
            for range in [1, 7, 1000, 1 << 40] {
                // The second time it knows how many there will be.
                for _ in 0..2 {
                    // One far from all others leaves these in one slice.
                    let far = [(1 << 41, u32::MAX)].into_iter().filter(|_| count == 1000);
                    let mut packets: Vec<(u64, u32)> = (0..count).map(|i| (rng.below(range), i)).chain(far).collect();
                    sends.begin(0, if count == 1000 { 1 << 41 } else { range });
                    packets.iter().for_each(|&(time, i)| sends.push(time, i));
                    packets.sort_by_key(|&(time, _)| time);
                    let mut taken = Vec::new();
                    sends.drain(|time, i| taken.push((time, i)));
                    assert_eq!(taken, packets, "{count} packets in {range} ns");
                }
            }
        }
    }
}
