// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a connection is made from.

use std::sync::Arc;

use tandem_controllers::Params;
pub use tandem_controllers::host::{Ecn, Honesty, Recovery};

/// Both halves of a connection are made from the same.
#[derive(Debug, Clone)]
pub struct Config {
    /// The controller and its parameters.
    pub controller: Arc<Params>,
    /// Bytes of data in a segment.
    pub mss: u32,
    /// Window before the first ACK, packets (RFC 6928: 10).
    pub initial_window: u32,
    /// Packets that the receiver takes before it is read; `None`: as much as TCP can express, 1 GiB [RFC 7323 2.3].
    pub receive_window: Option<u32>,
    /// Whether the receiver delays ACKs [RFC 1122 4.2.3.2].
    pub delayed_acks: bool,
    /// Segments that share a delayed ACK; 2 as a rule.
    pub ack_every: u32,
    /// Whether the receiver says what is true.
    pub receiver: Honesty,
    /// Linux's internal pacing: 2 times cwnd/srtt in slow start, 1.2 times after.
    pub pacing: bool,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// What is done about marks.
    pub ecn: Ecn,
}

impl Config {
    /// As Linux begins: ten packets, today's recovery, delayed ACKs; no pacing, no ECN, and a receiver that takes all.
    pub fn new(controller: Params, mss: u32) -> Self {
        Self {
            controller: Arc::new(controller),
            mss,
            // [RFC 6928 2]
            initial_window: 10,
            receive_window: None,
            delayed_acks: true,
            ack_every: 2,
            receiver: Honesty::Honest,
            pacing: false,
            recovery: Recovery::Prr,
            ecn: Ecn::Off,
        }
    }
}
