// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP: packets at a constant rate, and what they meet on their way.

use std::{collections::VecDeque, ops::Range};

use tandem_engine::{ConstantRate, Quality};

use crate::net::Net;

/// So many later packets may arrive before the time of sending of one is forgotten: far more than [`Quality`] waits for.
const REMEMBERED: u64 = 1024;

pub struct Udp {
    source: ConstantRate,
    packet_bytes: u32,
    pub sent: u64,
    pub quality: Quality,
    /// When packets were sent, from the number `first` on.
    sent_at: VecDeque<u64>,
    first: u64,
}

impl Udp {
    /// Packets sent within `measured` count.
    pub fn new(source: ConstantRate, packet_bytes: u32, measured: Range<u64>) -> Self {
        Self { source, packet_bytes, sent: 0, quality: Quality::new(measured), sent_at: VecDeque::new(), first: 0 }
    }

    /// Sends what is due. Returns when to look again.
    pub fn on_timer(&mut self, now: u64, index: usize, net: &mut Net) -> u64 {
        if self.source.is_due(now) {
            net.send_udp(now, index, self.sent, self.packet_bytes);
            self.sent += 1;
            self.sent_at.push_back(now);
            self.source.sent();
        }
        self.source.next()
    }

    /// The packet `number` arrives.
    pub fn on_data(&mut self, now: u64, number: u64) {
        let Some(place) = number.checked_sub(self.first) else { return };
        self.quality.arrive(now, number, self.sent_at[place as usize]);
        if let Some(forgotten) = place.checked_sub(REMEMBERED) {
            self.sent_at.drain(..forgotten as usize);
            self.first += forgotten;
        }
    }
}
