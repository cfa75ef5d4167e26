// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue whose packets' departures are known: those whose transmission is still ahead are the queue.
//!
//! Packets of one size that leave in a row need not be kept at all: when the last one will have left tells how many there are. That is nearly
//! every queue, and a third of the instructions. Only where packets of other sizes come in between each packet is kept.

use tandem_scenario::Limit;

use crate::{LinkStats, Ring};

/// A packet that has had to wait, in a queue that needs no more than this of it.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    /// When its transmission begins, ns.
    start: u64,
    bytes: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// All that wait, unless they are in the row.
    waiting: Ring<Waiting>,
    waiting_bytes: u64,
}

/// Packets of one size, one right after the other.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Of each; 0: packets of several sizes wait.
    pub bytes: u32,
    /// Transmission time of each, ns.
    pub packet_ns: u64,
    /// A backlog longer than this leaves no room for one more, ns.
    pub room_ns: u64,
    /// Longer than any backlog that one was counted with so far, ns.
    pub above_ns: u64,
    /// One that arrives less than this after the measured part of the run has begun departs before it ends, ns.
    pub safe_ns: u64,
}

impl Row {
    /// The measured part of the run lasts `measured_ns`.
    pub fn new(limit: Limit, bytes: u32, packet_ns: u64, measured_ns: u64) -> Self {
        let room_ns = packet_ns.saturating_mul(limit.whole_packets(bytes));
        let safe_ns = measured_ns.saturating_sub(room_ns.saturating_add(packet_ns));
        Self { bytes, packet_ns, room_ns, above_ns: 0, safe_ns }
    }

    /// A packet that arrives at `now` joins the row, the last of which has left at `busy_until`. Returns when it will have left, ns; `None`: it is of
    /// another size, or finds no room.
    #[inline(always)]
    pub fn join(&mut self, now: u64, bytes: u32, busy_until: &mut u64, stats: &mut LinkStats) -> Option<u64> {
        let backlog_ns = busy_until.saturating_sub(now);
        if self.bytes != bytes || backlog_ns > self.room_ns {
            return None;
        }
        let departure = now + backlog_ns + self.packet_ns;
        *busy_until = departure;
        stats.passed_in_row(now, backlog_ns, self);
        Some(departure)
    }

    /// Packets that take `backlog_ns` to leave, the one in transmission counted.
    pub fn packets(&self, backlog_ns: u64) -> u64 {
        backlog_ns.div_ceil(self.packet_ns.max(1))
    }

    /// Of those, the packets that wait and their bytes.
    pub fn waiting(&self, backlog_ns: u64) -> (usize, u64) {
        let packets = self.packets(backlog_ns).saturating_sub(1);
        (packets as usize, packets * u64::from(self.bytes))
    }
}

impl Ahead {
    /// A packet waits until its transmission begins at `start`. One that finds the link free does not come here.
    #[inline]
    pub fn push(&mut self, start: u64, bytes: u32) {
        self.waiting_bytes += u64::from(bytes);
        self.waiting.push(Waiting { start, bytes });
    }

    /// Keeps each packet of a row that waits at `now`, because one of another size comes after it. The last will have left at `busy_until`.
    pub fn keep(&mut self, row: &Row, now: u64, busy_until: u64) {
        for from_last in (1..row.packets(busy_until.saturating_sub(now))).rev() {
            self.push(busy_until - from_last * row.packet_ns, row.bytes);
        }
    }

    /// Packets waiting at `now` and their bytes, the one in transmission not counted. Forgets those that wait no more.
    #[inline]
    pub fn waiting(&mut self, now: u64) -> (usize, u64) {
        while let Some(first) = self.waiting.first()
            && first.start <= now
        {
            self.waiting.pop();
            self.waiting_bytes -= u64::from(first.bytes);
        }
        (self.waiting.len(), self.waiting_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::{Rng, Stream};

    /// A list of all packets is the oracle: a row alone, and one that is kept when it has grown.
    #[test]
    fn tells_what_waits_as_a_list_of_packets_does() {
        let mut rng = Rng::new(1, Stream::Flow(0));
        for kept_at in [0, 100, u32::MAX] {
            let row = Row::new(Limit::Packets(u32::MAX), 1500, 1000, 0);
            let mut ahead = Ahead::default();
            let mut list: VecDeque<u64> = VecDeque::new();
            let (mut now, mut busy_until, mut most) = (0, 0, 0);
            for packet in 0..100_000 {
                now += rng.below(2000);
                list.retain(|&start| start > now);
                if packet == kept_at {
                    ahead.keep(&row, now, busy_until);
                }
                let backlog_ns = busy_until - now.min(busy_until);
                let waiting = if packet < kept_at { row.waiting(backlog_ns) } else { ahead.waiting(now) };
                assert_eq!(waiting, (list.len(), 1500 * list.len() as u64), "packet {packet}");
                if busy_until > now {
                    list.push_back(busy_until);
                    (packet >= kept_at).then(|| ahead.push(busy_until, 1500));
                }
                busy_until = busy_until.max(now) + row.packet_ns;
                most = most.max(list.len());
            }
            assert!(most > 10 && list.len() < most);
        }
    }

    /// A row has room for as many packets as a limit in packets or in bytes says.
    #[test]
    fn a_row_has_room_to_its_limit() {
        for (limit, waiting) in
            [(Limit::Packets(3), 3), (Limit::Bytes(4499), 2), (Limit::Bytes(4500), 3), (Limit::Packets(0), 0)]
        {
            let row = Row::new(limit, 1500, 1000, 0);
            // One in transmission that has just begun, and `waiting - 1` behind it: there is room for one more.
            assert!(row.room_ns >= waiting * 1000, "{limit:?}");
            assert!(row.room_ns < waiting * 1000 + 1, "{limit:?}");
        }
    }
}
