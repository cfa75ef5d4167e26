// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery-rate samples: the connection's account, and its note for each segment in flight.

use tandem_controllers::{
    Ack,
    host::{DeliveryAccount, Stamp},
};

use crate::{scoreboard::Transmission, segment_ring::SegmentRing};

#[derive(Debug)]
pub struct DeliveryRate {
    account: DeliveryAccount,
    stamps: SegmentRing<Stamp>,
}

impl DeliveryRate {
    pub fn new() -> Self {
        Self { account: DeliveryAccount::default(), stamps: SegmentRing::new() }
    }

    /// A segment is sent, new or again, when `una` is the first that is not acknowledged; `alone`: nothing else is outstanding.
    #[inline]
    pub fn sent(&mut self, at: u64, seq: u64, una: u64, alone: bool) {
        let stamp = self.account.sent(at, alone);
        if seq - una >= self.stamps.capacity() {
            self.stamps.grow(una..seq);
        }
        *self.stamps.slot(seq) = stamp;
    }

    /// The application has nothing to send though the window would allow it.
    pub fn note_app_limited(&mut self, in_flight: u64) {
        self.account.note_app_limited(in_flight);
    }

    /// What an ACK says that delivered `segments`, of which `last` was sent last, where the least RTT is `min_rtt_ns`.
    #[inline]
    pub fn sample(&mut self, at: u64, segments: u64, last: Transmission, min_rtt_ns: u64) -> Ack {
        self.account.sample(at, segments, last.sent, self.stamps.get(last.seq), min_rtt_ns)
    }
}

#[cfg(test)]
impl DeliveryRate {
    /// Would a packet that is sent now be marked as one of an application that leaves the path idle?
    pub fn is_app_limited(&self, now: u64) -> bool {
        let mut account = self.account.clone();
        let stamp = account.sent(now, false);
        account.sample(now, 1, now, stamp, 0).is_app_limited != 0
    }
}
