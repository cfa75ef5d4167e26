// SPDX-License-Identifier: MIT OR Apache-2.0
//! The path: one FIFO link, drop-tail, with one connection on it (S2 section I).

use tandem_scenario::units::{Rate, Span};

use crate::law::ModelError;

/// The bottleneck and the way there and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Rate of the bottleneck, headers included.
    pub rate: Rate,
    /// Two-way propagation delay, tau~ in S2; above 0.
    pub rtt: Span,
    /// Packets that wait, the one in transmission not counted; b in S2.
    pub buffer_packets: f64,
    /// Bytes of a full packet on the wire: S2's MSS.
    pub packet_bytes: u32,
    /// Rate of the sender's own link, above `rate`; `None`: a burst reaches the bottleneck at once, as in S2.
    pub access_rate: Option<Rate>,
}

impl Path {
    /// mu: packets a second.
    pub fn packets_per_s(&self) -> f64 {
        self.rate.bps as f64 / (8.0 * f64::from(self.packet_bytes))
    }

    /// mu tau~: the bandwidth-delay product, packets.
    pub fn bdp_packets(&self) -> f64 {
        self.packets_per_s() * self.rtt.as_secs_f64()
    }

    /// Packets in flight that neither wait nor leave the link idle: the BDP and the packet in transmission, which S2's
    /// fluid does not know. Likewise the RTT of an empty path in packet times.
    pub fn pipe_packets(&self) -> f64 {
        self.bdp_packets() + 1.0
    }

    /// Is this a path that the model can work out?
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] if the access rate is not above the link's rate.
    pub fn check(&self) -> Result<(), ModelError> {
        match self.access_rate {
            Some(access) if access.bps <= self.rate.bps => Err(ModelError::OutOfRange {
                name: "access rate in Mb/s",
                value: access.bps as f64 / 1e6,
                range: "more than the rate of the link, which is the bottleneck",
            }),
            _ => Ok(()),
        }
    }

    /// Share of a burst that a full queue takes in: for as long as the burst takes to arrive, the bottleneck goes on to send.
    pub fn admitted_share(&self) -> f64 {
        self.access_rate.map_or(0.0, |access| self.rate.bps as f64 / access.bps as f64)
    }
}
