// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short flows: transfers that come and go, each on a connection of its own. When they come, how large they are, and how long each would
//! take alone.

mod sizes;
mod spec;

pub use sizes::{SizeList, Sizes};
pub use spec::{Load, ShortSpec, SizeSpec};

use serde::Serialize;

use crate::{
    scenario::{Group, HEADER_BYTES, Parts, Topology},
    units::{Span, seconds},
};

/// What the short flows of a group are, complete and checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShortFlows {
    /// When they come.
    pub arrivals: Arrivals,
    /// How large they are.
    pub sizes: Sizes,
    /// Results are told apart at these sizes, bytes, in rising order: a transfer of such a size belongs to the class above.
    pub class_borders_bytes: Vec<u64>,
}

/// When short flows come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// A Poisson process for the whole group. As many transfers run at once as the group has flows; others wait in order.
    Poisson {
        /// Transfers a second on average.
        per_second: f64,
    },
    /// Each flow is a user, who thinks before each transfer and waits for its end.
    Users {
        /// How long on average; exponentially distributed.
        #[serde(rename = "think_s", serialize_with = "seconds")]
        think: Span,
    },
}

impl ShortFlows {
    /// The number of the class that a transfer of this many bytes belongs to.
    pub fn class_of(&self, bytes: u64) -> usize {
        self.class_borders_bytes.partition_point(|&border| border <= bytes)
    }
}

impl Parts {
    /// How long a transfer of `bytes` takes alone on the group's path, seconds: slow start from the initial window, which doubles each
    /// round (RFC 5681 section 3.1), until it fills the path; nothing is lost, and no ACK is delayed. A handshake comes first where the group has one.
    /// `base_rtt_s` is the two-way propagation delay. 0 for UDP.
    pub fn alone_s(&self, group: &Group, base_rtt_s: f64, bytes: u64) -> f64 {
        let Some(tcp) = group.source.tcp() else { return 0.0 };
        let time_s = |&link: &usize, bytes: u32| f64::from(bytes) * 8.0 / self.network.links[link].rate.bps as f64;
        let packet_s = group.forward.iter().map(|link| time_s(link, self.mtu));
        let slowest_s = packet_s.clone().fold(0.0, f64::max);
        let headers_s = |links: &[usize]| links.iter().map(|link| time_s(link, HEADER_BYTES)).sum::<f64>();
        let acks_s = headers_s(&group.back);
        let handshake_s = if tcp.handshake { base_rtt_s + headers_s(&group.forward) + acks_s } else { 0.0 };
        // From the start of a packet's transmission to its ACK.
        let round_s = base_rtt_s + packet_s.sum::<f64>() + acks_s;
        let most = tcp.receive_window.map_or(u64::MAX, u64::from);
        let (mut left, mut window, mut at_s) =
            (self.packets_of(bytes), u64::from(tcp.initial_window).min(most), handshake_s);
        while left > window && (window as f64) * slowest_s < round_s {
            let rounds = if window == most { (left - 1) / window } else { 1 };
            left -= window * rounds;
            at_s += round_s * rounds as f64;
            window = window.saturating_mul(2).min(most);
        }
        at_s + (left - 1) as f64 * slowest_s + round_s
    }

    /// How many packets this much payload takes.
    pub fn packets_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.mss())).max(1)
    }
}

impl Topology {
    /// The payload that the slowest of these links can carry in packets of `mtu` bytes, bits a second; `None` if one of them shares its
    /// channel.
    pub fn payload_bps(&self, links: &[usize], mtu: u32) -> Option<f64> {
        let is_shared =
            |link: &usize| self.cell.as_ref().is_some_and(|cell| [cell.uplink, cell.downlink].contains(link));
        let slowest_bps = links.iter().map(|&link| self.links[link].rate.bps).min()?;
        let payload_bps = slowest_bps as f64 * f64::from(mtu - HEADER_BYTES) / f64::from(mtu);
        (!links.iter().any(is_shared)).then_some(payload_bps)
    }
}
