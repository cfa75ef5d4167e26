// SPDX-License-Identifier: MIT OR Apache-2.0
//! NADA (RFC 8698): how real-time media finds its rate. A receiver measures, and reports ten times a second; a sender adapts.
//!
//! Left out: marks (media does not set ECN here), the rate-shaping buffer and its encoder (5.2.1, 5.2.2): what is to be sent follows the
//! reference rate at once.

mod loss_intervals;
mod receiver;
mod sender;

pub use receiver::MediaReceiver;
pub use sender::MediaSender;

/// DELTA, how often the receiver reports, ns.
pub const REPORT_EVERY_NS: u64 = 100_000_000;

/// What the receiver says, in the units of RFC 8698 section 5.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Is the path not full, so that the sender may speed up (rmode = 0)?
    pub speeds_up: bool,
    /// The aggregate congestion signal, x_curr, in 0.1 ms; 15 bits.
    pub congestion: u16,
    /// The receiving rate, r_recv.
    pub received_bps: u32,
}

#[cfg(test)]
const MS: u64 = 1_000_000;
