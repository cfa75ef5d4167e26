// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02, as Linux takes them): each packet notes how much had
//! been delivered when it was sent, so that its ACK tells how much has been since, and in what time.

use crate::Ack;

/// The connection's account when a packet was sent; the host keeps one for each packet in flight.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stamp {
    delivered: u64,
    delivered_at: u64,
    first_sent_at: u64,
    app_limited: bool,
}

/// What a connection has delivered so far, packets, and when.
#[derive(Debug, Clone)]
pub struct DeliveryAccount {
    /// As of now.
    now: Stamp,
    /// What is sent until more than this is delivered was sent into an idle path.
    app_limited_until: u64,
}

impl Default for DeliveryAccount {
    /// A connection begins with an idle path.
    fn default() -> Self {
        Self { now: Stamp { app_limited: true, ..Stamp::default() }, app_limited_until: 0 }
    }
}

impl DeliveryAccount {
    /// A packet is sent at `at`, new or again; `alone`: nothing else is in flight. Returns the note that its ACK needs.
    /// [draft-cheng-iccrg-delivery-rate-estimation 3.2]
    #[inline]
    pub fn sent(&mut self, at: u64, alone: bool) -> Stamp {
        if alone {
            (self.now.first_sent_at, self.now.delivered_at) = (at, at);
        }
        self.now
    }

    /// The application has nothing to send though the window would allow it. [draft-cheng-iccrg-delivery-rate-estimation 3.4]
    pub fn note_app_limited(&mut self, in_flight: u64) {
        self.now.app_limited = true;
        self.app_limited_until = self.now.delivered + in_flight;
    }

    /// What an ACK says that delivered `packets` at `at`; the last sent of them was sent at `sent` with the note `then`. Fills the fields of
    /// the delivery rate. An interval shorter than the smallest RTT is not to be believed.
    /// [draft-cheng-iccrg-delivery-rate-estimation 3.3]
    #[inline]
    pub fn sample(&mut self, at: u64, packets: u64, sent: u64, then: Stamp, min_rtt_ns: u64) -> Ack {
        self.now.delivered += packets;
        self.now.app_limited &= self.now.delivered <= self.app_limited_until;
        self.now.delivered_at = at;
        self.now.first_sent_at = sent;
        // Sent in one time, acknowledged in another: the longer one, because neither can be faster than the path.
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
