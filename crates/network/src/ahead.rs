// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue whose packets' departures are known: those whose transmission is still ahead are the queue.
//!
//! Packets of one size that leave in a row need not be kept at all: when the last one will have left tells how many there are. That is nearly
//! every queue, and a third of the instructions. Only where packets of other sizes come in between each packet is kept.

use tandem_scenario::Limit;

use crate::Ring;

/// A packet that has had to wait, in a queue that needs no more than this of it.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    /// When its transmission begins, ns.
    start: u64,
    bytes: u32,
}

#[derive(Debug)]
pub(crate) struct Ahead {
    pub row: Row,
    limit: Limit,
    /// All that wait, if they are of several sizes.
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
    /// The longest backlog that one was counted with, ns.
    pub longest_ns: u64,
}

impl Row {
    fn new(limit: Limit, bytes: u32, packet_ns: u64) -> Self {
        let most = match limit {
            Limit::Packets(packets) => packets.into(),
            Limit::Bytes(limit) => limit / u64::from(bytes.max(1)),
        };
        Self { bytes, packet_ns, room_ns: packet_ns.saturating_mul(most), longest_ns: 0 }
    }

    /// Packets that take `backlog_ns` to leave, the one in transmission counted.
    pub fn packets(&self, backlog_ns: u64) -> u64 {
        backlog_ns.div_ceil(self.packet_ns.max(1))
    }
}

impl Ahead {
    pub fn new(limit: Limit) -> Self {
        Self { row: Row::default(), limit, waiting: Ring::default(), waiting_bytes: 0 }
    }

    /// A packet has room and takes `packet_ns` to send. All before it will have left at `busy_until`.
    pub fn join(&mut self, now: u64, busy_until: u64, bytes: u32, packet_ns: u64) {
        if busy_until <= now {
            self.forget_started(now);
            self.row = Row::new(self.limit, bytes, packet_ns);
        } else if self.row.bytes != bytes {
            self.keep_row(now, busy_until);
            self.waiting_bytes += u64::from(bytes);
            self.waiting.push(Waiting { start: busy_until, bytes });
        }
    }

    /// Keeps each packet of the row that waits, for one of another size comes after it.
    fn keep_row(&mut self, now: u64, busy_until: u64) {
        let Row { bytes, packet_ns, .. } = std::mem::take(&mut self.row);
        if bytes == 0 {
            return;
        }
        let row = Row { bytes, packet_ns, ..Row::default() };
        for from_last in (1..row.packets(busy_until.saturating_sub(now))).rev() {
            self.waiting_bytes += u64::from(bytes);
            self.waiting.push(Waiting { start: busy_until - from_last * packet_ns, bytes });
        }
    }

    /// Packets waiting at `now` and their bytes, the one in transmission not counted. All before will have left at `busy_until`.
    pub fn waiting(&mut self, now: u64, busy_until: u64) -> (usize, u64) {
        if self.row.bytes == 0 {
            self.forget_started(now);
            return (self.waiting.len(), self.waiting_bytes);
        }
        let packets = self.row.packets(busy_until.saturating_sub(now)).saturating_sub(1);
        (packets as usize, packets * u64::from(self.row.bytes))
    }

    /// Forgets packets that wait no more.
    fn forget_started(&mut self, now: u64) {
        while let Some(first) = self.waiting.first()
            && first.start <= now
        {
            self.waiting.pop();
            self.waiting_bytes -= u64::from(first.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::{Rng, Stream};

    /// A list of all packets is the oracle: one size alone, and another size now and then.
    #[test]
    fn tells_what_waits_as_a_list_of_packets_does() {
        let mut rng = Rng::new(1, Stream::Flow(0));
        for other_size_percent in [0, 1, 50] {
            let mut ahead = Ahead::new(Limit::Packets(u32::MAX));
            let mut list: VecDeque<(u64, u32)> = VecDeque::new();
            let (mut now, mut busy_until, mut most) = (0, 0, 0);
            for _ in 0..100_000 {
                now += rng.below(2000);
                let bytes = if rng.below(100) < other_size_percent { 700 } else { 1500 };
                let packet_ns = u64::from(bytes) * 2 / 3;
                list.retain(|&(start, _)| start > now);
                let expected = (list.len(), list.iter().map(|&(_, bytes)| u64::from(bytes)).sum());
                assert_eq!(ahead.waiting(now, busy_until), expected);
                ahead.join(now, busy_until, bytes, packet_ns);
                if busy_until > now {
                    list.push_back((busy_until, bytes));
                }
                busy_until = busy_until.max(now) + packet_ns;
                most = most.max(list.len());
            }
            assert!(most > 10 && list.len() < most);
        }
    }

    /// A row has room for as many packets as a limit in packets or in bytes says.
    #[test]
    fn a_row_has_room_to_its_limit() {
        for (limit, waiting) in [(Limit::Packets(3), 3), (Limit::Bytes(4499), 2), (Limit::Bytes(4500), 3), (Limit::Packets(0), 0)] {
            let row = Row::new(limit, 1500, 1000);
            // One in transmission that has just begun, and `waiting - 1` behind it: there is room for one more.
            assert!(row.room_ns >= waiting * 1000, "{limit:?}");
            assert!(row.room_ns < waiting * 1000 + 1, "{limit:?}");
        }
    }
}
