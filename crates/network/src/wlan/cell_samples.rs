// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cell's results.

use tandem_results::{CellResult, LinkResult};

use super::{AP, Cell, stats::Direction};
use crate::{Samples, distribution};

/// Samples of a cell's queues.
#[derive(Debug, Default)]
pub struct CellSamples {
    /// Packets waiting at a station; each station is a sample.
    stations: Samples,
    ap: Samples,
}

impl CellSamples {
    /// Samples the queue of every sender at `now`, ns.
    pub fn take<P>(&mut self, now: u64, cell: &Cell<P>) {
        for sender in 0..cell.senders() {
            let queue = if sender == AP { &mut self.ap } else { &mut self.stations };
            queue.record(cell.waiting(now, sender) as u64);
        }
    }

    /// What came of uplink and downlink in `measured_s` seconds.
    pub fn links<P>(&self, cell: &Cell<P>, measured_s: f64) -> [LinkResult; 2] {
        let link = |direction: &Direction, queue: &Samples| LinkResult {
            utilisation: direction.payload_ns as f64 / (measured_s * 1e9),
            queue_packets: queue.distribution(direction.link.max_waiting as u64, 1.0),
            queueing_delay_ms: distribution(&direction.wait_ns, 1e-6),
            offered_packets: direction.link.offered_packets,
            drops: direction.link.queue_drops,
            marks: 0,
            random_losses: direction.given_up,
        };
        [link(&cell.stats.up, &self.stations), link(&cell.stats.down, &self.ap)]
    }
}

impl<P> Cell<P> {
    /// How the channel was used in `measured_s` seconds.
    pub fn result(&self, measured_s: f64) -> CellResult {
        let stats = &self.stats;
        let share = |ns: u64| ns as f64 / (measured_s * 1e9);
        CellResult {
            up_airtime: share(stats.up.airtime_ns),
            down_airtime: share(stats.down.airtime_ns),
            collision_airtime: share(stats.collision_ns),
            error_airtime: share(stats.error_ns),
            frames: stats.frames,
            collided_frames: stats.collided,
            damaged_frames: stats.damaged,
        }
    }
}
