// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handshake of a connection: a SYN, its answer, and then data (RFC 9293 section 3.5). If the answer is lost, the SYN goes again.

use tandem_controllers::host::{RTO_MAX_NS, RttEstimator};
use tandem_scenario::HEADER_BYTES;
use tandem_tcp::{AckOut, NEVER};

use crate::{
    endpoints::Port,
    packet::{Header, NO_SACK},
};

/// ACKs from this number on answer SYNs: no flow has as many segments.
const ANSWERS: u64 = 1 << 36;

/// Data has a timestamp there.
pub fn is_syn(header: Header) -> bool {
    header.sack() == NO_SACK
}

/// The SYN-ACK, which says which SYN it answers as its timestamp does.
pub fn answer(syn: Header) -> AckOut {
    AckOut { next_expected: ANSWERS + syn.seq(), feedback: None, flags: 0 }
}

pub fn is_answer(ack: Header) -> bool {
    ack.seq() >= ANSWERS
}

/// The sender's side of it.
#[derive(Debug, Default)]
pub struct Handshake {
    /// SYNs of connections before this one.
    earlier: u64,
    /// When this connection's SYNs were sent, ns.
    sent_at: Vec<u64>,
    is_over: bool,
    /// Segments that the application has given meanwhile.
    segments: u64,
    again_at: u64,
}

/// What the sender knows when it is over.
pub struct Answered {
    /// How long the SYN and its answer took.
    pub rtt_ns: u64,
    /// SYNs that were sent.
    pub syns: usize,
    /// What waits to be sent.
    pub segments: u64,
}

impl Handshake {
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The connection has ended.
    pub fn close(&mut self) {
        *self = Self { earlier: self.earlier + self.sent_at.len() as u64, ..Self::default() };
    }

    /// The application gives `segments` more, to be sent after it. The first begin it.
    pub fn give(&mut self, segments: u64, port: &mut Port) {
        self.segments = self.segments.saturating_add(segments);
        if self.sent_at.is_empty() {
            self.send(port);
        }
    }

    /// The application takes back what has not been sent.
    pub fn stop(&mut self) {
        self.segments = 0;
    }

    /// A SYN has to be sent again if no answer has come. Returns when to look again.
    pub fn on_timer(&mut self, port: &mut Port) -> u64 {
        if self.is_over || self.sent_at.is_empty() {
            return NEVER;
        }
        if self.again_at <= port.now {
            self.send(port);
        }
        self.again_at
    }

    fn send(&mut self, port: &mut Port) {
        port.send_udp(self.earlier + self.sent_at.len() as u64, HEADER_BYTES);
        // [RFC 6298 2.1] [RFC 6298 5.5]
        let rto_ns = RttEstimator::default().rto_ns() << self.sent_at.len().min(10);
        self.again_at = port.now + rto_ns.min(RTO_MAX_NS);
        self.sent_at.push(port.now);
    }

    /// An ACK has come. It ends the handshake if it answers one of its SYNs.
    pub fn answered(&mut self, ack: Header, now: u64) -> Option<Answered> {
        let syn = ack.seq().checked_sub(ANSWERS + self.earlier)?;
        let sent_at = *self.sent_at.get(syn as usize)?;
        self.is_over = true;
        Some(Answered { rtt_ns: now - sent_at, syns: self.sent_at.len(), segments: std::mem::take(&mut self.segments) })
    }
}
