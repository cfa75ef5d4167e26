// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP: packets at a constant rate, and what they meet on their way.

use std::{collections::VecDeque, ops::Range};

use tandem_engine::{ConstantRate, Counters, Quality};
use tandem_network::End;

use crate::{
    endpoints::{Endpoints, NewFlow, Port},
    packet::Header,
};

/// This many later packets may arrive before the time of sending of one is forgotten: far more than [`Quality`] waits for.
const REMEMBERED: u64 = 1024;

pub struct Udp {
    source: ConstantRate,
    packet_bytes: u32,
    sent: u64,
    /// Copies included.
    received: u64,
    quality: Quality,
    /// When packets were sent, from the number `first` on.
    sent_at: VecDeque<u64>,
    first: u64,
}

impl Udp {
    pub fn of(flow: &NewFlow) -> Option<Box<dyn Endpoints>> {
        let NewFlow { scenario, index, group, .. } = *flow;
        let source = flow.applications.constant_rate(index, group)?;
        let packet_bytes = flow.source().packet_bytes(scenario.mtu);
        Some(Box::new(Self::new(source, packet_bytes, scenario.warmup.ns..scenario.duration.ns)))
    }

    /// Packets sent within `measured` count.
    fn new(source: ConstantRate, packet_bytes: u32, measured: Range<u64>) -> Self {
        let quality = Quality::new(measured);
        Self { source, packet_bytes, sent: 0, received: 0, quality, sent_at: VecDeque::new(), first: 0 }
    }

    /// The packet `number` arrives.
    fn on_data(&mut self, now: u64, number: u64) {
        self.received += 1;
        let Some(place) = number.checked_sub(self.first) else { return };
        self.quality.arrive(now, number, self.sent_at[place as usize]);
        if let Some(forgotten) = place.checked_sub(REMEMBERED) {
            self.sent_at.drain(..forgotten as usize);
            self.first += forgotten;
        }
    }
}

impl Endpoints for Udp {
    fn on_packet(&mut self, at: End, header: Header, port: &mut Port) -> Option<u64> {
        debug_assert!(at == End::Receivers, "nothing answers");
        self.on_data(port.now, header.seq());
        None
    }

    /// Sends what is due.
    fn on_timer(&mut self, at: End, port: &mut Port) -> u64 {
        debug_assert!(at == End::Senders, "receivers have nothing to do");
        if self.source.is_due(port.now) {
            port.send_udp(self.sent, self.packet_bytes);
            self.sent += 1;
            self.sent_at.push_back(port.now);
            self.source.sent();
        }
        self.source.next()
    }

    fn are_apart(&self) -> bool {
        true
    }

    fn counters(&self) -> Counters {
        Counters { received: self.received, sent_packets: self.sent, ..Counters::default() }
    }

    fn quality(&self) -> Option<&Quality> {
        Some(&self.quality)
    }
}
