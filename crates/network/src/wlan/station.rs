// SPDX-License-Identifier: MIT OR Apache-2.0
//! One sender in the cell: a station or the access point, with its queue and its backoff.

use std::collections::VecDeque;

use tandem_scenario::Limit;

use super::phy::Phy;
use crate::Rng;

#[derive(Debug)]
pub(super) struct Waiting<P> {
    pub packet: P,
    pub bytes: u32,
    pub arrival: u64,
}

#[derive(Debug)]
pub(super) struct Station<P> {
    /// The frame that it contends with first; the rest wait.
    queue: VecDeque<Waiting<P>>,
    /// Bytes of all packets in the queue but the first.
    waiting_bytes: u64,
    limit: Limit,
    /// Slots left, counted from when the channel last became free. `None` if no backoff is pending. A station that has just
    /// sent goes through one even with an empty queue (IEEE Std 802.11-2016, clause 10.3.4.2).
    pub backoff: Option<u64>,
    /// Contention window.
    cw: u32,
    /// How often the first frame has been sent in vain.
    tries: u32,
    /// Until then the frame that has left the queue is on the air, and the first of the queue waits behind it.
    on_air_until: u64,
    pub rng: Rng,
}

impl<P> Station<P> {
    pub fn new(limit: Limit, phy: &Phy, rng: Rng) -> Self {
        Self {
            queue: VecDeque::new(),
            waiting_bytes: 0,
            limit,
            backoff: None,
            cw: phy.cw_min,
            tries: 0,
            on_air_until: 0,
            rng,
        }
    }

    pub fn first(&self) -> Option<&Waiting<P>> {
        self.queue.front()
    }

    /// Packets that wait, the one that is contended for or on the air not counted.
    pub fn waiting(&self, now: u64) -> usize {
        if now < self.on_air_until { self.queue.len() } else { self.queue.len().saturating_sub(1) }
    }

    fn is_busy(&self, now: u64) -> bool {
        now < self.on_air_until || !self.queue.is_empty()
    }

    /// Takes a packet if there is room; `false` if not.
    pub fn take(&mut self, now: u64, bytes: u32, packet: P) -> bool {
        let has_room = match self.limit {
            Limit::Packets(limit) => self.waiting(now) < limit as usize,
            Limit::Bytes(limit) => self.bytes_waiting(now) + u64::from(bytes) <= limit,
        };
        if self.is_busy(now) && !has_room {
            return false;
        }
        if !self.queue.is_empty() {
            self.waiting_bytes += u64::from(bytes);
        }
        self.queue.push_back(Waiting { packet, bytes, arrival: now });
        true
    }

    fn bytes_waiting(&self, now: u64) -> u64 {
        let first = self.first().filter(|_| now < self.on_air_until).map_or(0, |w| u64::from(w.bytes));
        self.waiting_bytes + first
    }

    /// The first frame leaves the queue: it arrived, or is given up. The next one has all its tries before it.
    pub fn finish(&mut self, until: u64, phy: &Phy) -> Option<Waiting<P>> {
        let done = self.queue.pop_front();
        if let Some(next) = self.queue.front() {
            self.waiting_bytes -= u64::from(next.bytes);
        }
        self.on_air_until = until;
        self.tries = 0;
        self.cw = phy.cw_min;
        self.draw_backoff();
        done
    }

    /// The first frame was sent in vain. Returns whether it may be sent again.
    pub fn fail(&mut self, max_tries: u32, phy: &Phy) -> bool {
        self.tries += 1;
        if self.tries >= max_tries {
            return false;
        }
        self.cw = (2 * self.cw + 1).min(phy.cw_max);
        self.draw_backoff();
        true
    }

    pub fn draw_backoff(&mut self) {
        self.backoff = Some(self.rng.below(u64::from(self.cw) + 1));
    }
}
