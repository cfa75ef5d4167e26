// SPDX-License-Identifier: MIT OR Apache-2.0
//! A one-way link: one rate, one queue with its discipline, random loss before it.
//!
//! Where the discipline decides at arrival, the departure time is known at once and no event is needed for a waiting packet.
//! Where it decides at departure, the link keeps the packets and wants a call of [`Link::serve`] each time it becomes free.

mod kept;

use std::ops::Range;

use tandem_scenario::{Limit, LinkConfig, Loss};

use crate::{
    Contents, DropReason, LinkStats, Packet, Rng,
    agenda::NEVER,
    ahead::Row,
    discipline::{self, Arrival, Queue, Verdict},
    effects::{Arriving, Effects},
    loss::LossModel,
};

/// The fate of a packet offered to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Its last bit leaves the link at this time, ns; it arrives the link's delay later.
    Departs(u64),
    /// It waits until [`Link::serve`] hands it out.
    Waits,
    /// It has found a link with effects free: `serve_with_effects` hands it out now.
    Begins,
    /// It is lost, for this reason.
    Dropped(DropReason),
}

/// `P` is what the host calls a packet; the link only keeps it where the discipline decides at departure.
#[derive(Debug)]
pub struct Link<P> {
    /// Propagation delay, ns.
    pub delay: u64,
    /// Counts of the measured part of the run.
    pub stats: LinkStats,
    wire: Wire,
    limit: Limit,
    queue: Queue<P>,
    /// What waits in a drop-tail queue, as long as all are of one size; the queue holds none of it. Where the discipline decides at departure: a
    /// row in which none waits, while that is at [rest](discipline::Rest).
    row: Row,
    /// The same of a discipline that must hear of each.
    heard: Row,
    loss: LossModel,
    rng: Rng,
    /// When the last packet accepted so far will have left, ns; if the discipline decides at departure, the one in
    /// transmission.
    busy_until: u64,
    full_packet_bytes: u32,
    /// Then the queue is one that decides at departure, and the loss is theirs.
    effects: Option<Box<Effects<P>>>,
}

impl<P: Packet> Link<P> {
    /// `mtu` in bytes; `measured` is the part of the run that counts for [`LinkStats`], ns.
    pub fn new(spec: &LinkConfig, mtu: u32, measured: Range<u64>, rng: Rng) -> Self {
        Self {
            delay: spec.delay.ns,
            stats: LinkStats::new(measured.start, measured.end),
            wire: Wire { ns_per_byte_q31: ((8_000_000_000u128 << 31) / u128::from(spec.rate.bps)) as u64 },
            limit: spec.limit,
            queue: discipline::queue(spec.aqm, mtu),
            row: Row::default(),
            heard: Row::default(),
            loss: LossModel::new(spec.loss),
            rng,
            busy_until: 0,
            full_packet_bytes: mtu,
            effects: None,
        }
    }

    /// With the effects that its scenario has for it, whose times count from `origin`, ns. `rng` is for them alone.
    pub(crate) fn with_effects(mut self, spec: &LinkConfig, origin: u64, rng: Rng) -> Self {
        if let Some(effects) = Effects::new(spec, self.full_packet_bytes, origin, rng) {
            self.effects = Some(Box::new(effects));
            self.queue = self.queue.kept();
            self.loss = LossModel::new(Loss::None);
        }
        self
    }

    /// Has it effects? Then [`Self::serve_with_effects`] takes the place of [`Self::serve`].
    pub(crate) fn has_effects(&self) -> bool {
        self.effects.is_some()
    }

    /// By how much each packet at least reaches the far end later than its transmission begins, ns; `None` if one may overtake another, arrive twice
    /// or be held for others.
    pub(crate) fn least_delay(&self) -> Option<u64> {
        self.effects.as_ref().map_or(Some(self.delay), |effects| effects.least_delay())
    }

    /// Does its discipline decide at departure, so that the link must be served?
    #[inline(always)]
    pub(crate) fn keeps_packets(&self) -> bool {
        matches!(self.queue, Queue::AtDeparture(_))
    }

    /// Time to put a full packet on the wire, ns; at least 1.
    pub(crate) fn full_packet_ns(&self) -> u64 {
        self.wire.transmission_ns(self.full_packet_bytes.into()).max(1)
    }

    /// Offers a packet at `now`, ns. One that departs may have been marked.
    #[inline(always)]
    pub fn offer(&mut self, now: u64, bytes: u32, packet: &mut P) -> Offer {
        if self.loss.strikes(&mut self.rng) {
            self.stats.lost(now);
            return Offer::Dropped(DropReason::Random);
        }
        // The slow path of a discipline that decides at departure, which knows no rest.
        let departure = if self.keeps_packets() { None } else { self.join_row(now, bytes) };
        match departure {
            Some(departure) => Offer::Departs(departure),
            None => self.offer_to_queue(now, bytes, packet),
        }
    }

    /// As [`Self::offer`]; `on_way` takes the packet with the time when it reaches the far end, ns, if that is known now.
    #[inline(always)]
    pub(crate) fn carry(
        &mut self,
        now: u64,
        packet: P,
        contents: &mut impl Contents<P>,
        mut on_way: impl FnMut(u64, P),
    ) {
        match self.pass(now, packet.bytes()) {
            Some(time) => on_way(time, packet),
            None => self.carry_unusual(now, packet, contents, on_way),
        }
    }

    /// The same of a packet that joins a row of its kind, as nearly all do, where no loss is to be drawn. Returns when it reaches the far end, ns.
    #[inline(always)]
    pub(crate) fn pass(&mut self, now: u64, bytes: u32) -> Option<u64> {
        let departure = if self.loss.is_none() { self.join_row(now, bytes) } else { None };
        departure.map(|departure| departure + self.delay)
    }

    #[inline(never)]
    fn carry_unusual(
        &mut self,
        now: u64,
        mut packet: P,
        contents: &mut impl Contents<P>,
        mut on_way: impl FnMut(u64, P),
    ) {
        match self.offer(now, packet.bytes(), &mut packet) {
            Offer::Departs(departure) => on_way(departure + self.delay, packet),
            Offer::Begins => {
                let dropped = |packet| contents.dropped(now, packet, DropReason::Queue);
                self.serve_with_effects(now, dropped, |Arriving { at, packet, .. }| on_way(at, packet));
            }
            Offer::Waits => {}
            Offer::Dropped(reason) => contents.dropped(now, packet, reason),
        }
    }

    #[inline(always)]
    fn join_row(&mut self, now: u64, bytes: u32) -> Option<u64> {
        let Self { row, stats, busy_until, .. } = self;
        row.join(now, bytes, busy_until, stats)
    }

    /// The same for a packet that does not join a row, or finds no room.
    #[inline(never)]
    fn offer_to_queue(&mut self, now: u64, bytes: u32, packet: &mut P) -> Offer {
        if self.keeps_packets() {
            return self.offer_to_kept(now, bytes, *packet);
        }
        let Self { wire, limit, queue, row, rng, busy_until, .. } = self;
        let Queue::AtArrival(ahead, judge) = queue else { return Offer::Waits };
        let is_busy = *busy_until > now;
        let (waiting, waiting_bytes) =
            if row.bytes > 0 { row.waiting(busy_until.saturating_sub(now)) } else { ahead.waiting(now) };
        if is_busy && !has_room(*limit, waiting, waiting_bytes, bytes) {
            return self.drop_arrival(now, waiting);
        }
        if let Some(judge) = judge {
            let full_packet_ns = wire.transmission_ns(self.full_packet_bytes.into()).max(1);
            let arrival = Arrival { now, waiting_packets: waiting, busy_until: *busy_until, full_packet_ns };
            match judge.judge(&arrival, rng) {
                Verdict::Pass => {}
                Verdict::Mark if packet.ecn().is_capable() => {
                    packet.mark();
                    self.stats.marked(now);
                }
                Verdict::Mark | Verdict::Drop => return self.drop_arrival(now, waiting),
            }
        }
        let packet_ns = wire.transmission_ns(bytes.into());
        if !is_busy && judge.is_none() {
            *row = Row::new(*limit, bytes, packet_ns, self.stats.measured_ns());
        } else if is_busy {
            let broken = std::mem::take(row);
            if broken.bytes > 0 {
                ahead.keep(&broken, now, *busy_until);
            }
            ahead.push(*busy_until, bytes);
        }
        let (start, waiting) = if is_busy { (*busy_until, waiting + 1) } else { (now, 0) };
        *busy_until = start + packet_ns;
        self.stats.passed(now, waiting, start, start + packet_ns);
        Offer::Departs(start + packet_ns)
    }

    #[cold]
    fn drop_arrival(&mut self, now: u64, waiting: usize) -> Offer {
        self.stats.offered(now, waiting);
        self.stats.dropped(now);
        Offer::Dropped(DropReason::Queue)
    }
}

impl<P: Packet> Link<P> {
    /// Time to put `bytes` on the wire, ns.
    #[inline]
    pub fn transmission_ns(&self, bytes: u32) -> u64 {
        self.wire.transmission_ns(bytes.into())
    }

    /// Packets waiting at `now`, the one in transmission not counted.
    #[inline]
    pub fn waiting(&mut self, now: u64) -> usize {
        match &mut self.queue {
            Queue::AtArrival(..) if self.row.bytes > 0 => self.row.waiting(self.busy_until.saturating_sub(now)).0,
            Queue::AtArrival(ahead, _) => ahead.waiting(now).0,
            Queue::AtDeparture(kept) => kept.waiting_packets(),
        }
    }

    /// When [`Self::serve`] must be called next, ns; `None` while nothing waits for it.
    pub fn serve_at(&self) -> Option<u64> {
        match &self.queue {
            Queue::AtDeparture(kept) if kept.waiting_packets() > 0 => Some(self.busy_until),
            _ => None,
        }
    }

    /// How long a packet that arrived at `now` would wait, ns.
    pub fn wait_ns(&self, now: u64) -> u64 {
        let free = self.busy_until.max(now);
        let waiting_ns = match (&self.queue, &self.effects) {
            (Queue::AtArrival(..), _) => 0,
            (Queue::AtDeparture(kept), None) => self.wire.transmission_ns(kept.waiting_bytes()),
            (Queue::AtDeparture(kept), Some(effects)) => effects.transmission_ns(free, kept.waiting_bytes()),
        };
        free - now + waiting_ns
    }

    /// When the next transmission of a link with effects begins, ns; `None` while nothing waits for it.
    fn begins_at(&self) -> Option<u64> {
        let free = self.serve_at()?;
        Some(self.effects.as_ref().map_or(free, |effects| effects.ready_at(free)))
    }

    /// When the network must call next, ns; [`NEVER`] while nothing waits for it.
    pub(crate) fn next_at(&self) -> u64 {
        let begins = self.begins_at().unwrap_or(NEVER);
        self.effects.as_ref().map_or(begins, |effects| begins.min(effects.release_at()))
    }
}

#[inline]
fn has_room(limit: Limit, waiting_packets: usize, waiting_bytes: u64, bytes: u32) -> bool {
    match limit {
        Limit::Packets(limit) => waiting_packets < limit as usize,
        Limit::Bytes(limit) => waiting_bytes + u64::from(bytes) <= limit,
    }
}

/// A rate. The unit is the finest that holds 1 bit/s.
#[derive(Debug, Clone, Copy)]
struct Wire {
    ns_per_byte_q31: u64,
}

impl Wire {
    /// Rounded to the nearest nanosecond.
    #[inline]
    fn transmission_ns(self, bytes: u64) -> u64 {
        ((u128::from(bytes) * u128::from(self.ns_per_byte_q31) + (1 << 30)) >> 31) as u64
    }
}
