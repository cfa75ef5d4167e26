// SPDX-License-Identifier: MIT OR Apache-2.0
//! A one-way link: FIFO, one rate, one queue.
//!
//! Drop-tail and RED decide at arrival, so the departure time is known at once and no event is needed for a waiting
//! packet: the departures still ahead are the queue. CoDel decides at departure: there the link keeps the packets and
//! wants a call of [`Link::serve`] each time it becomes free.

use std::collections::VecDeque;

use tandem_scenario::{Aqm, Limit, Link as LinkSpec};

use crate::{DropReason, LinkStats, Ring, Rng, codel::Codel, loss::LossModel, red::Red};

/// What became of a packet offered to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Its last bit leaves the link at this time; it arrives the link's delay later.
    Departs(u64),
    /// It waits until [`Link::serve`] hands it out.
    Waits,
    Dropped(DropReason),
}

#[derive(Debug)]
enum Discipline<P> {
    DropTail,
    Red(Red),
    Codel(Codel, VecDeque<Waiting<P>>),
}

#[derive(Debug)]
struct Waiting<P> {
    arrival: u64,
    bytes: u32,
    packet: P,
}

/// A packet that has not yet left, in a queue that needs no more than this of it.
#[derive(Debug, Clone, Copy, Default)]
struct Ahead {
    departure: u64,
    bytes: u32,
}

/// `P` is what the host calls a packet; the link only keeps it where the discipline decides at departure.
#[derive(Debug)]
pub struct Link<P> {
    /// Propagation delay, ns.
    pub delay: u64,
    pub stats: LinkStats,
    /// The finest that holds 1 bit/s.
    ns_per_byte_q31: u64,
    limit: Limit,
    discipline: Discipline<P>,
    loss: LossModel,
    rng: Rng,
    /// Packets not yet departed, the one in transmission first; unused by CoDel.
    ahead: Ring<Ahead>,
    /// Bytes waiting, the packet in transmission not counted.
    waiting_bytes: u64,
    /// When the last packet accepted so far will have left (CoDel: the one in transmission).
    busy_until: u64,
    full_packet_bytes: u32,
}

impl<P> Link<P> {
    /// `measured` is the part of the run that counts for [`LinkStats`], ns.
    pub fn new(spec: &LinkSpec, mtu: u32, measured: std::ops::Range<u64>, rng: Rng) -> Self {
        let discipline = match spec.aqm {
            Aqm::DropTail => Discipline::DropTail,
            Aqm::Red { min_packets, max_packets, max_p, weight } => {
                Discipline::Red(Red::new(min_packets, max_packets, max_p, weight))
            }
            Aqm::Codel { target, interval } => Discipline::Codel(Codel::new(target.ns, interval.ns), VecDeque::new()),
        };
        Self {
            delay: spec.delay.ns,
            stats: LinkStats::new(measured.start, measured.end),
            ns_per_byte_q31: ((8_000_000_000u128 << 31) / u128::from(spec.rate.bps)) as u64,
            limit: spec.limit,
            discipline,
            loss: LossModel::new(spec.loss),
            rng,
            ahead: Ring::default(),
            waiting_bytes: 0,
            busy_until: 0,
            full_packet_bytes: mtu,
        }
    }

    /// Time to put `bytes` on the wire, ns.
    #[inline]
    pub fn transmission_ns(&self, bytes: u32) -> u64 {
        transmission_ns(self.ns_per_byte_q31, u64::from(bytes))
    }

    /// Offers a packet at `now`.
    #[inline]
    pub fn offer(&mut self, now: u64, bytes: u32, packet: P) -> Offer {
        if self.loss.strikes(&mut self.rng) {
            self.stats.lost(now);
            return Offer::Dropped(DropReason::Random);
        }
        let waiting = self.waiting(now);
        // At the very moment when the link becomes free, those that wait still go first.
        let busy = self.busy_until > now || waiting > 0;
        if busy && !self.has_room(waiting, bytes) || self.red_drops(now, waiting) {
            self.stats.offered(now, waiting);
            self.stats.dropped(now);
            return Offer::Dropped(DropReason::Queue);
        }
        self.stats.offered(now, waiting + usize::from(busy));
        if let Discipline::Codel(_, queue) = &mut self.discipline
            && busy
        {
            queue.push_back(Waiting { arrival: now, bytes, packet });
            self.waiting_bytes += u64::from(bytes);
            self.stats.would_wait(now, self.wait_ns(now));
            return Offer::Waits;
        }
        let start = self.busy_until.max(now);
        self.busy_until = start + self.transmission_ns(bytes);
        self.stats.sent(now, start, self.busy_until);
        if !matches!(self.discipline, Discipline::Codel(..)) {
            if start > now {
                self.waiting_bytes += u64::from(bytes);
            }
            self.ahead.push(Ahead { departure: self.busy_until, bytes });
        }
        Offer::Departs(self.busy_until)
    }

    #[inline]
    fn has_room(&self, waiting: usize, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(limit) => waiting < limit as usize,
            Limit::Bytes(limit) => self.waiting_bytes + u64::from(bytes) <= limit,
        }
    }

    #[inline]
    fn red_drops(&mut self, now: u64, waiting: usize) -> bool {
        let Discipline::Red(red) = &mut self.discipline else { return false };
        let full_packet_ns = transmission_ns(self.ns_per_byte_q31, u64::from(self.full_packet_bytes)).max(1);
        red.drops(waiting, now.saturating_sub(self.busy_until) / full_packet_ns, &mut self.rng)
    }

    /// Packets waiting at `now`, the one in transmission not counted.
    #[inline]
    pub fn waiting(&mut self, now: u64) -> usize {
        if let Discipline::Codel(_, queue) = &self.discipline {
            return queue.len();
        }
        while let Some(first) = self.ahead.first() {
            if first.departure > now {
                break;
            }
            self.ahead.pop();
            // The next one is in transmission from here on.
            if let Some(next) = self.ahead.first() {
                self.waiting_bytes -= u64::from(next.bytes);
            }
        }
        self.ahead.len().saturating_sub(1)
    }

    /// How long a packet that arrived at `now` would wait, ns.
    pub fn wait_ns(&self, now: u64) -> u64 {
        let waiting = match self.discipline {
            Discipline::Codel(..) => transmission_ns(self.ns_per_byte_q31, self.waiting_bytes),
            _ => 0,
        };
        self.busy_until.saturating_sub(now) + waiting
    }

    /// When [`Self::serve`] must be called next; `None` while nothing waits for it.
    pub fn serve_at(&self) -> Option<u64> {
        match &self.discipline {
            Discipline::Codel(_, queue) if !queue.is_empty() => Some(self.busy_until),
            _ => None,
        }
    }

    /// The link has become free: takes the next packet that CoDel lets pass and says when it will have left. Those that it
    /// drops go to `dropped`.
    pub fn serve(&mut self, now: u64, mut dropped: impl FnMut(P)) -> Option<(P, u64)> {
        let Discipline::Codel(codel, queue) = &mut self.discipline else { return None };
        while let Some(Waiting { arrival, bytes, packet }) = queue.pop_front() {
            self.waiting_bytes -= u64::from(bytes);
            let backlog_is_small = self.waiting_bytes <= u64::from(self.full_packet_bytes);
            let stands = codel.queue_stands(now, now - arrival, backlog_is_small);
            if codel.drops(now, stands) {
                self.stats.waited_in_vain(arrival, now);
                dropped(packet);
                continue;
            }
            self.busy_until = now + transmission_ns(self.ns_per_byte_q31, u64::from(bytes));
            self.stats.sent(arrival, now, self.busy_until);
            return Some((packet, self.busy_until));
        }
        codel.emptied();
        None
    }
}

/// Rounded to the nearest nanosecond.
#[inline]
fn transmission_ns(ns_per_byte_q31: u64, bytes: u64) -> u64 {
    ((u128::from(bytes) * u128::from(ns_per_byte_q31) + (1 << 30)) >> 31) as u64
}
