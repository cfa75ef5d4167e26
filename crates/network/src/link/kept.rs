// SPDX-License-Identifier: MIT OR Apache-2.0
//! A link whose discipline decides at departure, so that it keeps the packets that wait.
//!
//! Each discipline has code of its own here, because its calls are made several times for each packet.

use tandem_scenario::Limit;

use super::{Link, Offer, Wire, has_room};
use crate::{
    Contents, DropReason, LinkStats, Packet, Rng, Sends,
    ahead::Row,
    discipline::{Arrival, AtDeparture, Queue, Rest, Verdict, Waiting, with_kept},
    effects::{Arriving, Effects},
    loss::LossModel,
};

/// Such a link without its queue.
struct Keeper<'a, P> {
    delay: u64,
    stats: &'a mut LinkStats,
    wire: Wire,
    limit: &'a mut Limit,
    row: &'a mut Row,
    heard: &'a mut Row,
    loss: &'a mut LossModel,
    rng: &'a mut Rng,
    busy_until: &'a mut u64,
    full_packet_bytes: u32,
    effects: Option<&'a mut Effects<P>>,
}

/// The queue of such a link and the rest of it; the link must be one.
macro_rules! split {
    ($link:expr, $kept:ident, $keeper:ident => $body:expr) => {{
        let Link { delay, stats, wire, limit, queue, row, heard, loss, rng, busy_until, full_packet_bytes, effects, .. } = $link;
        let Queue::AtDeparture(kept) = queue else { unreachable!("it decides at arrival") };
        #[allow(unused_mut)]
        let mut $keeper = Keeper {
            delay: *delay,
            stats,
            wire: *wire,
            limit,
            row,
            heard,
            loss,
            rng,
            busy_until,
            full_packet_bytes: *full_packet_bytes,
            effects: effects.as_deref_mut(),
        };
        with_kept!(kept, $kept => $body)
    }};
}

impl<P: Packet> Link<P> {
    /// Offers a packet to a queue that decides at departure.
    #[inline(never)]
    pub(super) fn offer_to_kept(&mut self, now: u64, bytes: u32, packet: P) -> Offer {
        split!(self, kept, keeper => keeper.offer(&mut **kept, now, bytes, packet))
    }

    /// As [`Link::pass`] where the discipline must hear of the packet.
    #[inline(always)]
    pub(crate) fn pass_heard(&mut self, now: u64, packet: &P) -> Option<u64> {
        let Self { queue: Queue::AtDeparture(kept), heard, stats, busy_until, delay, loss, .. } = self else {
            return None;
        };
        let bytes = packet.bytes();
        let departure = if loss.is_none() { heard.join(now, bytes, busy_until, stats) } else { None }?;
        with_kept!(kept, kept => AtDeparture::<P>::pass_by(&mut **kept, packet, bytes));
        Some(departure + *delay)
    }

    /// The link has become free: takes the next packet that the discipline lets pass and says when it will have left, ns.
    /// Those that it drops go to `dropped`. Where the discipline decides at arrival nothing ever waits for this.
    pub fn serve(&mut self, now: u64, dropped: impl FnMut(P)) -> Option<(P, u64)> {
        if !self.keeps_packets() {
            return None;
        }
        split!(self, kept, keeper => keeper.serve(&mut **kept, now, dropped))
    }

    /// As [`Self::serve`], of a link with effects: what goes on its way to the far end goes to `out`.
    pub(crate) fn serve_with_effects(
        &mut self,
        now: u64,
        mut dropped: impl FnMut(P),
        mut out: impl FnMut(Arriving<P>),
    ) {
        let begins = self.begins_at();
        if let Some(effects) = &mut self.effects {
            effects.release_due(now, &mut out);
            drop_refused(effects, &mut self.stats, now, &mut dropped);
        }
        if begins.is_none_or(|begins| begins > now) {
            return;
        }
        split!(self, kept, keeper => keeper.serve_with_effects(&mut **kept, now, dropped, &mut out))
    }

    /// Offers all that has been sent, and becomes free as often as it does by `until`, ns. `on_way` takes what is on its way, with the time when it
    /// reaches the far end, ns. It has a [least delay](Self::least_delay).
    #[inline(never)]
    pub(crate) fn carry_kept(
        &mut self,
        sends: &mut Sends<P>,
        until: u64,
        contents: &mut impl Contents<P>,
        mut on_way: impl FnMut(u64, P),
    ) {
        split!(self, kept, keeper => {
            let kept = &mut **kept;
            sends.drain(|now, packet| {
                keeper.serve_until(kept, now, contents, &mut on_way);
                keeper.carry(kept, now, packet, contents, &mut on_way);
            });
            keeper.serve_until(kept, until, contents, &mut on_way);
        });
    }

    /// Becomes free as often as it does by `until`, ns, and then a packet is offered at `now`, as [`Self::carry_kept`].
    #[inline(never)]
    pub(crate) fn carry_one_kept(
        &mut self,
        (until, now): (u64, u64),
        packet: P,
        contents: &mut impl Contents<P>,
        mut on_way: impl FnMut(u64, P),
    ) {
        split!(self, kept, keeper => {
            let kept = &mut **kept;
            keeper.serve_until(kept, until, contents, &mut on_way);
            keeper.carry(kept, now, packet, contents, &mut on_way);
        });
    }

    /// Becomes free as often as it does by `until`, ns, as [`Self::carry_kept`].
    #[inline(never)]
    pub(crate) fn serve_until(&mut self, until: u64, contents: &mut impl Contents<P>, mut on_way: impl FnMut(u64, P)) {
        split!(self, kept, keeper => keeper.serve_until(&mut **kept, until, contents, &mut on_way));
    }
}

/// Counts what found no room behind the link.
fn drop_refused<P: Packet>(effects: &mut Effects<P>, stats: &mut LinkStats, now: u64, mut dropped: impl FnMut(P)) {
    effects.refused().for_each(|packet| {
        stats.dropped(now);
        dropped(packet);
    });
}

impl<P: Packet> Keeper<'_, P> {
    /// How long a packet that arrived at `now` would wait, ns.
    #[inline(always)]
    fn wait_ns(&self, now: u64, waiting_bytes: u64) -> u64 {
        let free = (*self.busy_until).max(now);
        let waiting_ns = match &self.effects {
            None => self.wire.transmission_ns(waiting_bytes),
            Some(effects) => effects.transmission_ns(free, waiting_bytes),
        };
        free - now + waiting_ns
    }

    /// The queue as a packet finds it.
    #[inline(always)]
    fn arrival(&self, now: u64, waiting_packets: usize, waiting_bytes: u64) -> Arrival {
        let full_packet_ns = match &self.effects {
            Some(effects) => effects.packet_ns(now, self.full_packet_bytes),
            None => self.wire.transmission_ns(self.full_packet_bytes.into()).max(1),
        };
        let wait_ns = self.wait_ns(now, waiting_bytes);
        let busy_until = if wait_ns > 0 { now + wait_ns } else { *self.busy_until };
        Arrival { now, waiting_packets, busy_until, full_packet_ns }
    }

    #[inline(always)]
    fn offer<K: AtDeparture<P>>(&mut self, kept: &mut K, now: u64, bytes: u32, packet: P) -> Offer {
        let waiting = kept.waiting_packets();
        if let Some(effects) = &mut self.effects {
            if effects.loses(now, self.rng) {
                self.stats.lost(now);
                return Offer::Dropped(DropReason::Random);
            }
            if !effects.conforms(now, bytes) {
                return self.drop_arrival(now, waiting);
            }
            *self.limit = effects.limit(now);
        }
        // At the very moment when the link becomes free, those that wait still go first.
        let is_busy = *self.busy_until > now || waiting > 0;
        if is_busy && !kept.keeps_limit() && !has_room(*self.limit, waiting, kept.waiting_bytes(), bytes) {
            return self.drop_arrival(now, waiting);
        }
        let mut packet = Waiting { arrival: now, bytes, packet, marked: false };
        let waiting_bytes = kept.waiting_bytes();
        let verdict = kept.judge().map_or(Verdict::Pass, |judge| {
            let arrival = self.arrival(now, waiting, waiting_bytes);
            judge.judge(&arrival, self.rng)
        });
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark if packet.mark() => {}
            Verdict::Mark | Verdict::Drop => return self.drop_arrival(now, waiting),
        }
        self.stats.offered(now, waiting + usize::from(is_busy));
        if !is_busy && self.effects.is_none() {
            // It is the only one: the discipline drops it or lets it pass.
            let Some(passed) = kept.pass(packet) else {
                self.stats.dropped(now);
                return Offer::Dropped(DropReason::Queue);
            };
            let departure = self.send(now, &passed);
            self.rest(kept.rest(), bytes, departure - now);
            return Offer::Departs(departure);
        }
        *self.row = Row::default();
        *self.heard = Row::default();
        kept.push(packet);
        kept.shrink(*self.limit);
        *self.busy_until = (*self.busy_until).max(now);
        if !is_busy && self.begins_at() == now {
            return Offer::Begins;
        }
        self.stats.would_wait(now, self.wait_ns(now, kept.waiting_bytes()));
        Offer::Waits
    }

    /// Packets of this size that find the link free need no more than to be counted now, if the discipline is at rest.
    #[inline(always)]
    fn rest(&mut self, rest: Rest, bytes: u32, packet_ns: u64) {
        let row = match rest {
            Rest::None => return,
            Rest::Silent => &mut *self.row,
            Rest::Heard => &mut *self.heard,
        };
        if row.bytes != bytes {
            *row = Row::new(Limit::Packets(0), bytes, packet_ns, self.stats.measured_ns());
        }
    }

    #[cold]
    fn drop_arrival(&mut self, now: u64, waiting: usize) -> Offer {
        self.stats.offered(now, waiting);
        self.stats.dropped(now);
        Offer::Dropped(DropReason::Queue)
    }

    /// The packet that the discipline picks to be sent at `now`.
    #[inline(always)]
    fn pick<K: AtDeparture<P>>(&mut self, kept: &mut K, now: u64, mut dropped: impl FnMut(P)) -> Option<Waiting<P>> {
        kept.pop(now, |Waiting { arrival, packet, .. }| {
            self.stats.waited_in_vain(arrival, now);
            dropped(packet);
        })
    }

    #[inline(always)]
    fn serve<K: AtDeparture<P>>(&mut self, kept: &mut K, now: u64, dropped: impl FnMut(P)) -> Option<(P, u64)> {
        let picked = self.pick(kept, now, dropped)?;
        Some((picked.packet, self.send(now, &picked)))
    }

    /// Sends a packet that the discipline lets pass. Returns when its last bit has left, ns.
    #[inline(always)]
    fn send(&mut self, now: u64, packet: &Waiting<P>) -> u64 {
        if packet.marked {
            self.stats.marked(now);
        }
        *self.busy_until = now + self.wire.transmission_ns(packet.bytes.into());
        self.stats.sent(packet.arrival, now, *self.busy_until);
        *self.busy_until
    }

    fn serve_with_effects<K: AtDeparture<P>>(
        &mut self,
        kept: &mut K,
        now: u64,
        mut dropped: impl FnMut(P),
        out: &mut impl FnMut(Arriving<P>),
    ) {
        let picked = self.pick(kept, now, &mut dropped);
        let Some(Waiting { arrival, bytes, packet, marked }) = picked else { return };
        if marked {
            self.stats.marked(now);
        }
        let Some(effects) = &mut self.effects else { return };
        let transmission = effects.send(now, bytes, packet, out);
        drop_refused(effects, self.stats, now, &mut dropped);
        *self.busy_until = transmission.ends;
        self.stats.sent_with_effects(arrival, now, transmission.ends, transmission.busy_ns);
    }

    #[inline(always)]
    fn carry<K: AtDeparture<P>>(
        &mut self,
        kept: &mut K,
        now: u64,
        packet: P,
        contents: &mut impl Contents<P>,
        on_way: &mut impl FnMut(u64, P),
    ) {
        let fate = if self.loss.strikes(self.rng) {
            self.stats.lost(now);
            Offer::Dropped(DropReason::Random)
        } else {
            self.offer(kept, now, packet.bytes(), packet)
        };
        match fate {
            Offer::Departs(departure) => on_way(departure + self.delay, packet),
            Offer::Begins => self.begin(kept, now, contents, on_way),
            Offer::Waits => {}
            Offer::Dropped(reason) => contents.dropped(now, packet, reason),
        }
    }

    /// When the next transmission of a packet that waits begins, ns.
    fn begins_at(&self) -> u64 {
        self.effects.as_ref().map_or(*self.busy_until, |effects| effects.ready_at(*self.busy_until))
    }

    /// The next transmission of a link with effects begins.
    fn begin<K: AtDeparture<P>>(
        &mut self,
        kept: &mut K,
        now: u64,
        contents: &mut impl Contents<P>,
        on_way: &mut impl FnMut(u64, P),
    ) {
        let dropped = |packet| contents.dropped(now, packet, DropReason::Queue);
        self.serve_with_effects(kept, now, dropped, &mut |Arriving { at, packet, .. }| on_way(at, packet));
    }

    #[inline(always)]
    fn serve_until<K: AtDeparture<P>>(
        &mut self,
        kept: &mut K,
        until: u64,
        contents: &mut impl Contents<P>,
        on_way: &mut impl FnMut(u64, P),
    ) {
        if self.effects.is_some() {
            return self.serve_effects_until(kept, until, contents, on_way);
        }
        while *self.busy_until <= until && kept.waiting_packets() > 0 {
            let now = *self.busy_until;
            let served = self.serve(kept, now, |packet| contents.dropped(now, packet, DropReason::Queue));
            if let Some((packet, departure)) = served {
                on_way(departure + self.delay, packet);
            }
        }
    }

    #[inline(never)]
    fn serve_effects_until<K: AtDeparture<P>>(
        &mut self,
        kept: &mut K,
        until: u64,
        contents: &mut impl Contents<P>,
        on_way: &mut impl FnMut(u64, P),
    ) {
        while kept.waiting_packets() > 0 && self.begins_at() <= until {
            self.begin(kept, self.begins_at(), contents, on_way);
        }
    }
}
