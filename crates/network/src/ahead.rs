// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue whose packets' departures are known: those whose transmission is still ahead are the queue.

use crate::Ring;

/// A packet that has had to wait, in a queue that needs no more than this of it.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    /// When its transmission begins, ns.
    start: u64,
    bytes: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Ahead {
    waiting: Ring<Waiting>,
    waiting_bytes: u64,
}

impl Ahead {
    /// A packet waits until its transmission begins at `start`. One that finds the link free does not come here.
    #[inline]
    pub fn push(&mut self, start: u64, bytes: u32) {
        self.waiting_bytes += u64::from(bytes);
        self.waiting.push(Waiting { start, bytes });
    }

    /// Packets waiting at `now`, the one in transmission not counted. Forgets those that wait no more.
    #[inline]
    pub fn waiting_packets(&mut self, now: u64) -> usize {
        while let Some(first) = self.waiting.first()
            && first.start <= now
        {
            self.waiting.pop();
            self.waiting_bytes -= u64::from(first.bytes);
        }
        self.waiting.len()
    }

    /// Bytes waiting at the time that [`Self::waiting_packets`] was last given.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }
}
