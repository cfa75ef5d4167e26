// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02, as Linux takes them): each segment notes how much had
//! been delivered when it was sent, so that its ACK tells how much has been since, and in what time.

use tandem_controllers::Ack;

use crate::{
    scoreboard::{Delivered, Transmission},
    segment_ring::SegmentRing,
};

/// The connection's account when a segment was sent.
#[derive(Debug, Clone, Copy, Default)]
struct Stamp {
    delivered: u64,
    delivered_at: u64,
    first_sent_at: u64,
    app_limited: bool,
}

#[derive(Debug)]
pub struct DeliveryRate {
    /// As of now.
    now: Stamp,
    /// What is sent until more than this is delivered was sent into an idle path.
    app_limited_until: u64,
    stamps: SegmentRing<Stamp>,
}

impl DeliveryRate {
    /// A connection begins with an idle path.
    pub fn new() -> Self {
        Self {
            now: Stamp { app_limited: true, ..Stamp::default() },
            app_limited_until: 0,
            stamps: SegmentRing::new(),
        }
    }

    /// A segment is sent, new or again, when `una` is the first that is not acknowledged; `alone`: nothing else is outstanding.
    pub fn sent(&mut self, at: u64, seq: u64, una: u64, alone: bool) {
        if alone {
            (self.now.first_sent_at, self.now.delivered_at) = (at, at);
        }
        if seq - una >= self.stamps.capacity() {
            self.stamps.grow(una..seq);
        }
        *self.stamps.slot(seq) = self.now;
    }

    /// The application has nothing to send though the window would allow it.
    pub fn note_app_limited(&mut self, in_flight: u64) {
        self.now.app_limited = true;
        self.app_limited_until = self.now.delivered + in_flight;
    }

    /// What an ACK that delivered something says. An interval shorter than the smallest RTT is not to be believed.
    pub fn sample(&mut self, at: u64, delivered: &Delivered, min_rtt_ns: u64) -> Ack {
        let Some(Transmission { sent, seq, .. }) = delivered.last_sent else { return Ack::default() };
        let then = self.stamps.get(seq);
        self.now.delivered += delivered.segments;
        self.now.app_limited &= self.now.delivered <= self.app_limited_until;
        self.now.delivered_at = at;
        self.now.first_sent_at = sent;
        // Sent in one time, acknowledged in another: the longer one, for neither can be faster than the path.
        let interval_ns = (sent - then.first_sent_at).max(at - then.delivered_at);
        let interval_us = if interval_ns < min_rtt_ns { 0 } else { (interval_ns / 1000).clamp(1, u32::MAX.into()) };
        Ack {
            delivered: self.now.delivered as u32,
            prior_delivered: then.delivered as u32,
            interval_us: interval_us as u32,
            is_app_limited: then.app_limited.into(),
            ..Ack::default()
        }
    }
}
