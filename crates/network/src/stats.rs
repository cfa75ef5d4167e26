// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a link counts, within the measured part of a run.

use crate::ahead::Row;

/// Sums over the measured part of a run, `from` to `to` nanoseconds.
#[derive(Debug, Clone, Default)]
pub struct LinkStats {
    from: u64,
    to: u64,
    /// Transmission time, ns.
    pub busy_ns: u64,
    /// Integral of the number of waiting packets over time, packet ns.
    pub waiting_packet_ns: u64,
    /// Most packets ever waiting.
    pub max_waiting: usize,
    /// The longest that a packet would have waited, ns: right after another was accepted, until that one's last bit had left.
    pub max_wait_ns: u64,
    /// Packets that arrived, the dropped and the lost ones included.
    pub offered_packets: u64,
    /// Packets that a full queue, queue management, a policer or the limit of a delay dropped.
    pub queue_drops: u64,
    /// Packets that queue management marked (ECN).
    pub marks: u64,
    /// Packets that the link's random loss took; in a wireless cell, frames given up after the last try.
    pub random_losses: u64,
}

impl LinkStats {
    /// Counts nothing yet; what happens before `from` or after `to`, ns, will not be counted.
    pub fn new(from: u64, to: u64) -> Self {
        Self { from, to, ..Self::default() }
    }

    /// When the measured part begins, ns.
    pub(crate) fn from(&self) -> u64 {
        self.from
    }

    /// How long the measured part lasts, ns.
    pub(crate) fn measured_ns(&self) -> u64 {
        self.to - self.from
    }

    /// The part of a span that counts.
    fn measured(&self, start: u64, end: u64) -> u64 {
        end.min(self.to).saturating_sub(start.max(self.from))
    }

    #[inline]
    fn measures(&self, now: u64) -> bool {
        now >= self.from && now < self.to
    }

    /// A packet was offered, and with it `waiting` wait.
    #[inline]
    pub(crate) fn offered(&mut self, now: u64, waiting: usize) {
        if self.measures(now) {
            self.offered_packets += 1;
            self.max_waiting = self.max_waiting.max(waiting);
        }
    }

    pub(crate) fn lost(&mut self, now: u64) {
        if self.measures(now) {
            self.offered_packets += 1;
            self.random_losses += 1;
        }
    }

    pub(crate) fn marked(&mut self, now: u64) {
        self.marks += u64::from(self.measures(now));
    }

    pub(crate) fn dropped(&mut self, now: u64) {
        self.queue_drops += u64::from(self.measures(now));
    }

    /// A packet was offered at `now`, and with it `waiting` wait; it is transmitted from `start` to `departure`. The same as
    /// [`Self::offered`] and [`Self::sent`].
    pub(crate) fn passed(&mut self, now: u64, waiting: usize, start: u64, departure: u64) {
        self.offered(now, waiting);
        self.sent(now, start, departure);
    }

    /// The same of one that joins a row of its kind after `backlog_ns`: one look at the time for nearly all packets, and a division for few.
    #[inline(always)]
    pub(crate) fn passed_in_row(&mut self, now: u64, backlog_ns: u64, row: &mut Row) {
        if now.wrapping_sub(self.from) >= row.safe_ns {
            return self.passed_at_the_edge(now, backlog_ns, row);
        }
        self.offered_packets += 1;
        self.waiting_packet_ns += backlog_ns;
        self.busy_ns += row.packet_ns;
        if backlog_ns >= row.above_ns {
            self.note_longest(backlog_ns, row);
        }
    }

    #[cold]
    fn note_longest(&mut self, backlog_ns: u64, row: &mut Row) {
        row.above_ns = backlog_ns + 1;
        self.max_wait_ns = self.max_wait_ns.max(backlog_ns + row.packet_ns);
        self.max_waiting = self.max_waiting.max(row.packets(backlog_ns) as usize);
    }

    #[cold]
    fn passed_at_the_edge(&mut self, now: u64, backlog_ns: u64, row: &Row) {
        let start = now + backlog_ns;
        self.passed(now, row.packets(backlog_ns) as usize, start, start + row.packet_ns);
    }

    /// A packet waited from `arrival` to `start` and was transmitted until `departure`.
    #[inline]
    pub(crate) fn sent(&mut self, arrival: u64, start: u64, departure: u64) {
        if arrival >= self.from && departure <= self.to {
            // All of it is measured, as of nearly all packets.
            self.waiting_packet_ns += start - arrival;
            self.busy_ns += departure - start;
            self.max_wait_ns = self.max_wait_ns.max(departure - arrival);
            return;
        }
        self.waiting_packet_ns += self.measured(arrival, start);
        self.busy_ns += self.measured(start, departure);
        self.would_wait(arrival, departure - arrival);
    }

    /// A packet waited from `arrival` to `start` and was transmitted until `ends`, `busy_ns` of that time (a link with effects).
    pub(crate) fn sent_with_effects(&mut self, arrival: u64, start: u64, ends: u64, busy_ns: u64) {
        self.waiting_packet_ns += self.measured(arrival, start);
        self.busy_ns += self.measured(start, start + busy_ns);
        self.would_wait(arrival, ends - arrival);
    }

    /// A packet that arrived right after `now` would wait for `wait_ns`.
    pub(crate) fn would_wait(&mut self, now: u64, wait_ns: u64) {
        if self.measures(now) {
            self.max_wait_ns = self.max_wait_ns.max(wait_ns);
        }
    }

    /// A packet waited from `arrival` to `now` and was then dropped (CoDel).
    pub(crate) fn waited_in_vain(&mut self, arrival: u64, now: u64) {
        self.waiting_packet_ns += self.measured(arrival, now);
        self.dropped(now);
    }
}
