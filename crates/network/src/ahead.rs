// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue whose packets' departures are known: those still ahead are the queue.

use crate::Ring;

/// A packet that has not yet left, in a queue that needs no more than this of it.
#[derive(Debug, Clone, Copy, Default)]
struct Departure {
    time: u64,
    bytes: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Packets not yet departed, the one in transmission first.
    departures: Ring<Departure>,
    /// Bytes waiting, the packet in transmission not counted.
    waiting_bytes: u64,
}

impl Ahead {
    /// A packet will have left at `time`. `waits`: another one is in transmission.
    #[inline]
    pub fn push(&mut self, time: u64, bytes: u32, waits: bool) {
        if waits {
            self.waiting_bytes += u64::from(bytes);
        }
        self.departures.push(Departure { time, bytes });
    }

    /// Packets waiting at `now`, the one in transmission not counted. Forgets those that have left.
    #[inline]
    pub fn waiting_packets(&mut self, now: u64) -> usize {
        while let Some(first) = self.departures.first() {
            if first.time > now {
                break;
            }
            self.departures.pop();
            // The next one is in transmission from here on.
            if let Some(next) = self.departures.first() {
                self.waiting_bytes -= u64::from(next.bytes);
            }
        }
        self.departures.len().saturating_sub(1)
    }

    /// Bytes waiting at the time that [`Self::waiting_packets`] was last given.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }
}
