// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a cell counts, within the measured part of a run.

use hdrhistogram::Histogram;

use crate::{LinkStats, histogram};

/// One direction: all stations' uplinks together, or the access point.
#[derive(Debug)]
pub struct Direction {
    /// Counts of its queue.
    pub link: LinkStats,
    /// From a packet's arrival to the beginning of the transmission that succeeds.
    pub wait_ns: Histogram<u64>,
    /// Channel time of the exchanges that succeed: data, SIFS and ACK.
    pub airtime_ns: u64,
    /// The time that the packets in them would take at the data rate.
    pub payload_ns: u64,
    /// Frames given up after the last try.
    pub given_up: u64,
}

/// Sums over the measured part of a run, `from` to `to` nanoseconds.
#[derive(Debug)]
pub struct CellStats {
    from: u64,
    to: u64,
    /// From the stations to the access point.
    pub up: Direction,
    /// From the access point to the stations.
    pub down: Direction,
    /// Channel time of collisions.
    pub collision_ns: u64,
    /// Channel time of frames that were damaged without a collision.
    pub error_ns: u64,
    /// Data frames sent, each try counted.
    pub frames: u64,
    /// Data frames that another frame disturbed.
    pub collided: u64,
    /// Data frames that were damaged without a collision.
    pub damaged: u64,
}

impl Direction {
    fn new(from: u64, to: u64) -> Self {
        Self { link: LinkStats::new(from, to), wait_ns: histogram(), airtime_ns: 0, payload_ns: 0, given_up: 0 }
    }
}

impl CellStats {
    pub(super) fn new(from: u64, to: u64) -> Self {
        Self {
            from,
            to,
            up: Direction::new(from, to),
            down: Direction::new(from, to),
            collision_ns: 0,
            error_ns: 0,
            frames: 0,
            collided: 0,
            damaged: 0,
        }
    }

    pub(super) fn measures(&self, now: u64) -> bool {
        now >= self.from && now < self.to
    }

    /// The part of a span that counts.
    pub(super) fn measured(&self, start: u64, end: u64) -> u64 {
        end.min(self.to).saturating_sub(start.max(self.from))
    }

    pub(super) fn direction(&mut self, is_down: bool) -> &mut Direction {
        if is_down { &mut self.down } else { &mut self.up }
    }
}
