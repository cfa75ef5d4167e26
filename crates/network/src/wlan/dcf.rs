// SPDX-License-Identifier: MIT OR Apache-2.0
//! The distributed coordination function (IEEE Std 802.11-2016, clause 10.3): who sends when.
//!
//! All hear all. After a busy channel everyone waits DIFS, or EIFS if the frame was not understood, then counts down its
//! backoff slot by slot; a station that reaches zero sends, and stations that reach it in the same slot collide. Slots are aligned in the
//! whole cell, so times need no comparison: the next to send are those with the smallest backoff. Others keep what is left of
//! theirs; the slot in which the channel became busy is not taken off.
//!
//! Decisions where the standard or practice leave room:
//! - Those whose frames collided wait EIFS as the bystanders do. By the standard they wait ACKTimeout and DIFS, which is up to
//!   92 us less (802.11b) and would put them out of step with the others' slots.
//! - A packet that finds its station without backoff and the channel free for DIFS is sent at the next slot boundary.
//! - A frame that a transmission error damaged is understood by nobody; ACK frames always arrive.
//! - No RTS: every frame is below the threshold.

use tandem_scenario::{Limit, LinkConfig, wlan::WlanCell};

use super::{phy::Phy, station::Station, stats::CellStats};
use crate::{Rng, Stream, agenda::NEVER};

/// The number of the access point; stations are 1, 2, ...
pub const AP: usize = 0;

/// What a cell is made of.
#[derive(Debug, Clone)]
pub struct CellConfig {
    /// Timing of the channel.
    pub phy: Phy,
    /// Number of stations besides the access point.
    pub stations: u32,
    /// Buffer of the access point.
    pub ap_limit: Limit,
    /// Buffer of each station.
    pub station_limit: Limit,
    /// How often a frame is sent before it is given up.
    pub max_tries: u32,
    /// Share of the data frames that arrive damaged though they did not collide, 0 to 1.
    pub frame_error_rate: f64,
}

/// A packet that got through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered<P> {
    /// The packet as the host knows it.
    pub packet: P,
    /// Who sent it: [`AP`] or a station.
    pub sender: usize,
    /// When its last bit arrives, ns.
    pub at: u64,
}

/// The channel and all its senders. `P` is what the host calls a packet.
#[derive(Debug)]
pub struct Cell<P> {
    config: CellConfig,
    /// Counts of the measured part of the run.
    pub stats: CellStats,
    /// The access point first.
    senders: Box<[Station<P>]>,
    /// The channel has been free long enough: slots are counted from here.
    free_from: u64,
    /// The slot of the next transmission; `None` while nobody has anything to send.
    next_slot: Option<u64>,
    /// Who sends in it, in order.
    sending: Vec<usize>,
}

impl<P> Cell<P> {
    /// The cell of a network with these links.
    pub fn of(spec: &WlanCell, links: &[LinkConfig], measured: std::ops::Range<u64>, seed: u64) -> Self {
        let config = CellConfig {
            phy: Phy::new(spec),
            stations: spec.stations,
            ap_limit: links[spec.downlink].limit,
            station_limit: links[spec.uplink].limit,
            max_tries: spec.max_tries,
            frame_error_rate: spec.frame_error_rate.0,
        };
        Self::new(config, measured, seed)
    }

    /// `measured` is the part of the run that counts for [`CellStats`], ns.
    pub fn new(config: CellConfig, measured: std::ops::Range<u64>, seed: u64) -> Self {
        let sender = |i: usize| {
            let limit = if i == AP { config.ap_limit } else { config.station_limit };
            Station::new(limit, &config.phy, Rng::new(seed, Stream::Station(i)))
        };
        let senders = (0..=config.stations as usize).map(sender).collect();
        Self {
            stats: CellStats::new(measured.start, measured.end),
            senders,
            free_from: config.phy.difs_ns,
            next_slot: None,
            sending: Vec::new(),
            config,
        }
    }

    /// Number of senders: the stations and the access point.
    pub fn senders(&self) -> usize {
        self.senders.len()
    }

    /// Packets that wait at a sender, the one that it contends with or that is on the air not counted.
    pub fn waiting(&self, now: u64, sender: usize) -> usize {
        self.senders[sender].waiting(now)
    }

    /// Packets that wait at a station on average, and at the access point.
    pub fn waiting_up_and_down(&self, now: u64) -> [f32; 2] {
        let up: usize = (AP + 1..self.senders()).map(|station| self.waiting(now, station)).sum();
        [up as f32 / self.config.stations as f32, self.waiting(now, AP) as f32]
    }

    /// A sender is given a packet at `now`. Returns whether its queue had room.
    pub fn offer(&mut self, now: u64, sender: usize, bytes: u32, packet: P) -> bool {
        let station = &mut self.senders[sender];
        let was_idle = station.first().is_none();
        let taken = station.take(now, bytes, packet);
        let waiting = station.waiting(now);
        let stats = &mut self.stats.direction(sender == AP).link;
        stats.offered(now, waiting);
        if !taken {
            stats.dropped(now);
        } else if was_idle {
            self.contend(now, sender);
        }
        taken
    }

    /// A sender that had nothing to send has something now.
    fn contend(&mut self, now: u64, sender: usize) {
        let station = &mut self.senders[sender];
        if now < self.free_from {
            // The channel is busy, or was too shortly before. A backoff that is still pending goes on.
            if station.backoff.is_none() {
                station.draw_backoff();
            }
        } else {
            let passed = (now - self.free_from).div_ceil(self.config.phy.slot_ns);
            station.backoff = Some(station.backoff.map_or(passed, |left| left.max(passed)));
        }
        self.next_slot = self.next_slot.into_iter().chain(station.backoff).min();
    }

    /// When [`Self::serve`] must be called next; [`NEVER`] while nobody has anything to send.
    pub fn next_at(&self) -> u64 {
        self.next_slot.map_or(NEVER, |slot| self.free_from + slot * self.config.phy.slot_ns)
    }

    /// The next transmission begins. Returns what arrives by it. A packet whose last try it was, in vain, goes to `given_up`.
    pub fn serve(&mut self, given_up: impl FnMut(P)) -> Option<Delivered<P>> {
        let slot = self.next_slot.take()?;
        let start = self.free_from + slot * self.config.phy.slot_ns;
        self.count_down(slot);
        let alone = if let [one] = self.sending[..] { Some(one) } else { None };
        let delivered = match alone.filter(|&sender| !self.is_damaged(sender)) {
            Some(sender) => self.succeed(start, sender),
            None => {
                self.fail(start, given_up);
                None
            }
        };
        let pending = self.senders.iter().filter(|s| s.first().is_some()).filter_map(|s| s.backoff);
        self.next_slot = pending.min();
        delivered
    }

    /// Takes `slot` slots off all backoffs and finds who sends.
    fn count_down(&mut self, slot: u64) {
        self.sending.clear();
        for (i, station) in self.senders.iter_mut().enumerate() {
            if station.first().is_some() && station.backoff == Some(slot) {
                self.sending.push(i);
            } else {
                station.backoff = station.backoff.and_then(|left| left.checked_sub(slot)).filter(|&left| left > 0);
            }
        }
    }

    fn is_damaged(&mut self, sender: usize) -> bool {
        let rate = self.config.frame_error_rate;
        rate > 0.0 && self.senders[sender].rng.chance(rate)
    }

    fn succeed(&mut self, start: u64, sender: usize) -> Option<Delivered<P>> {
        let phy = &self.config.phy;
        let station = &mut self.senders[sender];
        let bytes = station.first()?.bytes;
        let at = start + phy.data_ns(bytes);
        let end = at + phy.sifs_ns + phy.ack_ns;
        let done = station.finish(end, phy)?;
        self.free_from = end + phy.difs_ns;
        let stats = &mut self.stats;
        let airtime_ns = stats.measured(start, end);
        let payload_ns = stats.measured(start, start + phy.payload_ns(bytes));
        let is_measured = stats.measures(start);
        stats.frames += u64::from(is_measured);
        let direction = stats.direction(sender == AP);
        direction.airtime_ns += airtime_ns;
        direction.payload_ns += payload_ns;
        if is_measured {
            direction.wait_ns.saturating_record(start - done.arrival);
        }
        Some(Delivered { packet: done.packet, sender, at })
    }

    /// Frames collided, or the only one was damaged.
    fn fail(&mut self, start: u64, mut given_up: impl FnMut(P)) {
        let phy = &self.config.phy;
        let frames = self.sending.iter().filter_map(|&s| self.senders[s].first());
        let longest_ns = frames.map(|f| phy.data_ns(f.bytes)).max().unwrap_or(0);
        let end = start + longest_ns;
        self.free_from = end + phy.eifs_ns;
        let stats = &mut self.stats;
        let (lost_ns, count) = (stats.measured(start, end), self.sending.len() as u64);
        let is_measured = stats.measures(start);
        let (time, frames) = match count {
            1 => (&mut stats.error_ns, &mut stats.damaged),
            _ => (&mut stats.collision_ns, &mut stats.collided),
        };
        *time += lost_ns;
        if is_measured {
            *frames += count;
            stats.frames += count;
        }
        for &sender in &self.sending {
            let station = &mut self.senders[sender];
            if station.fail(self.config.max_tries, phy) {
                continue;
            }
            if let Some(lost) = station.finish(end, phy) {
                stats.direction(sender == AP).given_up += u64::from(is_measured);
                given_up(lost.packet);
            }
        }
    }
}
