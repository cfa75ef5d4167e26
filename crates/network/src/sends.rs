// SPDX-License-Identifier: MIT OR Apache-2.0
//! What senders send in a window of time, put in flow by flow, taken out in order of time.

/// More packets than this in one slice, and an insertion sort would take long.
const CROWD: u32 = 32;

/// Packets with their times, ns.
#[derive(Debug, Clone, Default)]
pub struct Sends<P> {
    sent: Vec<(u64, P)>,
    sorted: Vec<(u64, P)>,
    /// By slice of the window: how many packets fall into the slices up to this one.
    ends: Vec<u32>,
}

impl<P: Copy + Default> Sends<P> {
    /// A packet is sent at `now`.
    #[inline(always)]
    pub fn push(&mut self, now: u64, packet: P) {
        self.sent.push((now, packet));
    }

    /// Forgets all packets.
    pub fn clear(&mut self) {
        self.sent.clear();
    }

    /// All packets in order of time, which lies between `from` and `until`, ns; of those sent at the same time the one comes first that was put in first.
    ///
    /// A counting sort into as many slices of time as there are packets leaves little for an insertion sort to do: a sort that compares takes
    /// three times as many instructions.
    pub fn in_order(&mut self, from: u64, until: u64) -> &[(u64, P)] {
        let Self { sent, sorted, ends } = self;
        if sent.is_empty() {
            return &[];
        }
        let shift = ((until - from) / sent.len() as u64 + 1).next_power_of_two().ilog2();
        let slice = |time: u64| ((time - from) >> shift) as usize;
        ends.clear();
        ends.resize(slice(until) + 1, 0);
        sent.iter().for_each(|&(time, _)| ends[slice(time)] += 1);
        let (mut before, mut most) = (0, 0);
        for end in ends.iter_mut() {
            most = most.max(*end);
            before += *end;
            *end = before;
        }
        sorted.resize(sent.len(), (0, P::default()));
        // From the last one on, so that each slice keeps the order.
        for &item in sent.iter().rev() {
            let end = &mut ends[slice(item.0)];
            *end -= 1;
            sorted[*end as usize] = item;
        }
        if most > CROWD {
            sorted.sort_by_key(|&(time, _)| time);
        } else {
            sort_nearly_sorted(sorted);
        }
        sorted
    }
}

/// An insertion sort by time, which keeps the order of equal times.
fn sort_nearly_sorted<P: Copy>(items: &mut [(u64, P)]) {
    for i in 1..items.len() {
        if items[i - 1].0 <= items[i].0 {
            continue;
        }
        let item = items[i];
        let mut place = i;
        while place > 0 && items[place - 1].0 > item.0 {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, Stream};

    /// The standard library's stable sort is the oracle.
    #[test]
    fn sorts_by_time_and_keeps_the_order_of_equal_times() {
        let mut rng = Rng::new(1, Stream::Flow(0));
        for count in [0, 1, 2, 3, 10, 1000] {
            for range in [1, 7, 1000, 1 << 40] {
                let mut sends = Sends::default();
                // One far from all others leaves these in one slice.
                let far = [(1 << 50, u32::MAX)].into_iter().filter(|_| count == 1000);
                let mut expected: Vec<(u64, u32)> = (0..count).map(|i| (rng.below(range), i)).chain(far).collect();
                expected.iter().for_each(|&(time, i)| sends.push(time, i));
                expected.sort_by_key(|&(time, _)| time);
                assert_eq!(sends.in_order(0, 1 << 50), expected, "{count} packets in {range} ns");
            }
        }
    }
}
