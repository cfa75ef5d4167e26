// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a link does beside carrying packets at one rate in their order. Only links with such effects come here.
//!
//! When a packet's transmission begins, its end is known, since all changes to come are. So nothing here is woken by a clock, save a
//! bunch that waits for more packets.

mod bucket;
mod delay_line;
mod drops;
mod jitter;
mod pace;
mod timeline;
mod wifi;

use tandem_scenario::{
    Limit, LinkConfig, Loss,
    effects::{Bunches, Change, Reorder},
};

use crate::{Ecn, Packet, Rng, agenda::NEVER, loss::LossModel};
use bucket::Bucket;
use delay_line::DelayLine;
use drops::Counted;
use jitter::Additions;
pub use jitter::normal_quantile;
pub(crate) use pace::Transmission;
use pace::{Cursor, Pace};
use timeline::Timeline;

/// A time that no run reaches, to which delays can still be added.
const FAR: u64 = NEVER / 4;

/// The effects of one link, and what has become of them so far.
#[derive(Debug)]
pub(crate) struct Effects<P> {
    pace: Pace,
    delay: Timeline<u64>,
    loss: Timeline<Loss>,
    loss_model: LossModel,
    limit: Timeline<Limit>,
    jitter: Option<Additions>,
    keeps_order: bool,
    /// As [`Self::least_delay`], if that is not `None`.
    least_delay_ns: u64,
    reorder: Option<Reorder>,
    duplicate: f64,
    policer: Option<Bucket>,
    shaper: Option<Bucket>,
    drop: Option<Counted>,
    bleach: f64,
    unmark: f64,
    bunch: Option<Bunch<P>>,
    delay_line: Option<DelayLine>,
    /// What found no room in it.
    refused: Vec<P>,
    /// When the last packet that kept its place arrives, ns.
    last_arrival: u64,
    /// When the scenario begins, ns.
    origin: u64,
    rng: Rng,
}

/// Packets that are held back.
#[derive(Debug)]
struct Bunch<P> {
    bunches: Bunches,
    packets: Vec<P>,
    release_at: u64,
}

/// A packet on its way from the link to the far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arriving<P> {
    pub packet: P,
    /// ns.
    pub at: u64,
    /// May no packet that comes after it arrive earlier?
    pub in_order: bool,
    /// Does it arrive twice?
    pub twice: bool,
}

impl<P: Packet> Effects<P> {
    /// `None` if the link has none. The scenario's times count from `origin`, ns; `mtu` in bytes.
    pub fn new(spec: &LinkConfig, mtu: u32, origin: u64, rng: Rng) -> Option<Self> {
        let effects = spec.effects.as_deref()?;
        fn timeline<T: Copy>(
            initial: T,
            changes: &[Change],
            origin: u64,
            of: impl Fn(&Change) -> Option<T>,
        ) -> Timeline<T> {
            let step = |c: &Change| Some((origin + c.at.ns, c.every.map(|every| every.ns), of(c)?));
            Timeline::new(initial, changes.iter().filter_map(step))
        }
        let changes = &effects.changes;
        let pace = match &effects.rate_trace {
            Some(trace) => Pace::Trace(Cursor::new(trace.clone(), origin, mtu)),
            None => Pace::Rate(timeline(spec.rate.bps, changes, origin, |c| c.rate_bps)),
        };
        let bunch = |bunches| Bunch { bunches, packets: Vec::new(), release_at: NEVER };
        Some(Self {
            pace,
            delay: timeline(spec.delay.ns, changes, origin, |c| c.delay.map(|delay| delay.ns)),
            loss: timeline(spec.loss, changes, origin, |c| c.loss),
            loss_model: LossModel::new(spec.loss),
            limit: timeline(spec.limit, changes, origin, |c| c.limit),
            jitter: effects.jitter.map(Additions::new),
            least_delay_ns: effects.least_delay(spec.delay).ns,
            keeps_order: effects.jitter.is_none_or(|jitter| jitter.keep_order),
            reorder: effects.reorder,
            duplicate: effects.duplicate.0,
            policer: effects.policer.map(Bucket::new),
            shaper: effects.shaper.map(Bucket::new),
            drop: effects.drop.clone().map(Counted::new),
            bleach: effects.bleach,
            unmark: effects.unmark,
            bunch: effects.aggregate.map(bunch),
            delay_line: effects.delay_limit.map(DelayLine::new),
            refused: Vec::new(),
            last_arrival: 0,
            origin,
            rng,
        })
    }

    /// By how much each packet at least reaches the far end later than its transmission begins, ns; `None` if one may overtake another, arrive twice
    /// or be held for others.
    pub fn least_delay(&self) -> Option<u64> {
        let is_plain = self.keeps_order && self.reorder.is_none() && self.duplicate == 0.0 && self.bunch.is_none();
        is_plain.then_some(self.least_delay_ns)
    }

    /// Is this packet lost on the way, by its number or at random? `rng` is the link's.
    pub fn loses(&mut self, now: u64, rng: &mut Rng) -> bool {
        if self.drop.as_mut().is_some_and(Counted::strikes) {
            return true;
        }
        self.loss_model.follow(self.loss.at(now));
        self.loss_model.strikes(rng)
    }

    /// Does the policer let this packet pass?
    pub fn conforms(&mut self, now: u64, bytes: u32) -> bool {
        self.policer.as_mut().is_none_or(|policer| policer.conforms(now, bytes))
    }

    /// The queue's limit.
    pub fn limit(&mut self, now: u64) -> Limit {
        self.limit.at(now)
    }

    /// When the shaper lets the next packet go, from `now` on.
    pub fn ready_at(&self, now: u64) -> u64 {
        self.shaper.as_ref().map_or(now, |shaper| shaper.ready_at(now))
    }

    /// How long this many bytes would take from `now` on, ns.
    pub fn transmission_ns(&self, now: u64, bytes: u64) -> u64 {
        self.pace.would_end(now, bytes) - now
    }

    /// The time that a packet of `bytes` takes at the rate of `now`, or at a trace's mean rate, ns; at least 1.
    pub fn packet_ns(&self, now: u64, bytes: u32) -> u64 {
        (u64::from(bytes) * 8_000_000_000 / self.pace.bps(now).max(1)).max(1)
    }

    /// When a bunch must be released, ns; [`NEVER`] while none is held.
    pub fn release_at(&self) -> u64 {
        self.bunch.as_ref().map_or(NEVER, |bunch| bunch.release_at)
    }

    /// Releases a bunch whose time has come.
    pub fn release_due(&mut self, now: u64, out: &mut impl FnMut(Arriving<P>)) {
        if self.release_at() <= now {
            self.release(self.release_at(), out);
        }
    }

    /// A packet's transmission begins at `now`. It goes to `out`, or is held for a bunch, which may send others on their way.
    pub fn send(&mut self, now: u64, bytes: u32, packet: P, out: &mut impl FnMut(Arriving<P>)) -> Transmission {
        if let Some(shaper) = &mut self.shaper {
            shaper.take(now, bytes);
        }
        let packet = self.with_ecn(packet);
        let transmission = self.pace.transmit(now, bytes.into());
        let departure = transmission.ends;
        if departure > self.release_at() {
            self.release(self.release_at(), out);
        }
        let at = departure.saturating_sub(self.origin);
        match &mut self.bunch {
            Some(bunch) if bunch.bunches.during.has(at) => {
                if bunch.packets.is_empty() {
                    bunch.release_at = departure.saturating_add(bunch.bunches.hold.ns);
                }
                bunch.packets.push(packet);
                if bunch.packets.len() >= bunch.bunches.most as usize {
                    self.release(departure, out);
                }
            }
            // Those that are still held are before it.
            _ => {
                self.release(departure, out);
                self.arrive(departure, packet, out);
            }
        }
        transmission
    }

    /// The packet with the ECN field that it comes out with. A mark that is lost leaves what it is most often made of: ECT(0).
    fn with_ecn(&mut self, mut packet: P) -> P {
        let ecn = packet.ecn();
        if ecn != Ecn::NotCapable && self.bleach > 0.0 && self.rng.chance(self.bleach) {
            packet.set_ecn(Ecn::NotCapable);
        } else if ecn == Ecn::Marked && self.unmark > 0.0 && self.rng.chance(self.unmark) {
            packet.set_ecn(Ecn::Capable);
        }
        packet
    }

    fn release(&mut self, at: u64, out: &mut impl FnMut(Arriving<P>)) {
        let Some(bunch) = &mut self.bunch else { return };
        bunch.release_at = NEVER;
        let packets = std::mem::take(&mut bunch.packets);
        packets.into_iter().for_each(|packet| self.arrive(at, packet, out));
    }

    /// Takes the packets that left the link and found no room on the way behind it.
    pub fn refused(&mut self) -> impl Iterator<Item = P> {
        self.refused.drain(..)
    }

    /// The last bit leaves at `departure`.
    fn arrive(&mut self, departure: u64, packet: P, out: &mut impl FnMut(Arriving<P>)) {
        if self.delay_line.as_mut().is_some_and(|line| !line.has_room(departure)) {
            return self.refused.push(packet);
        }
        let mut at = departure + self.delay.at(departure);
        let since_start = departure.saturating_sub(self.origin);
        if let Some(jitter) = self.jitter.as_mut().filter(|jitter| jitter.is_there(since_start)) {
            at = at.saturating_add_signed(jitter.next(&mut self.rng)).max(departure);
        }
        let mut in_order = self.keeps_order;
        if let Some(Reorder { share, by, during }) = self.reorder
            && during.has(since_start)
            && self.rng.chance(share.0)
        {
            at += by.ns;
            in_order = false;
        }
        if in_order {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        let mut twice = self.duplicate > 0.0 && self.rng.chance(self.duplicate);
        if let Some(line) = &mut self.delay_line {
            line.enter(at);
            twice = twice && line.has_room(departure);
            if twice {
                line.enter(at);
            }
        }
        out(Arriving { packet, at, in_order, twice });
    }
}
