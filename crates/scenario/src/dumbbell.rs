// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shorthand for the commonest network: all flows share one bottleneck, their ACKs its reverse.

use serde::Deserialize;

use crate::{
    aqm::AqmSpec,
    scenario::{LinkConfig, Loss, Topology},
    spec::no_loss,
    units::{QueueSize, Rate, Span, UnitError},
};

/// Name of the link from left to right.
pub const FORWARD_LINK: &str = "bottleneck";
/// Name of the link from right to left.
pub const REVERSE_LINK: &str = "reverse";

/// `left` --bottleneck--> `right`, `right` --reverse--> `left`. Hosts are attached to the two nodes without links of their own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DumbbellSpec {
    /// Capacity of the bottleneck.
    pub rate: Rate,
    /// Two-way propagation delay.
    pub rtt: Span,
    /// Buffer of the bottleneck.
    pub queue: QueueSize,
    /// Queue discipline of both links.
    #[serde(default)]
    pub aqm: AqmSpec,
    /// Random loss on the forward link.
    #[serde(default = "no_loss")]
    pub loss: Loss,
    /// Capacity of the reverse link; as forward if not given.
    pub reverse_rate: Option<Rate>,
    /// Buffer of the reverse link; as forward if not given.
    pub reverse_queue: Option<QueueSize>,
    /// Random loss on the reverse link.
    #[serde(default = "no_loss")]
    pub reverse_loss: Loss,
}

impl DumbbellSpec {
    /// The network for packets of `mtu` bytes; `link_rtt` is the part of the propagation delay that all flows share.
    ///
    /// # Errors
    /// If a queue does not hold one packet, or its discipline has a value that does not fit it.
    pub fn network(&self, link_rtt: Span, mtu: u32) -> Result<Topology, UnitError> {
        let link = |name: &str, from, to, rate: Rate, queue: QueueSize, delay_ns, loss| {
            let limit = queue.limit(rate, self.rtt, mtu)?;
            let aqm = self.aqm.resolve(limit, mtu)?;
            Ok(LinkConfig {
                name: name.into(),
                from,
                to,
                rate,
                delay: Span { ns: delay_ns },
                limit,
                aqm,
                loss,
                effects: None,
            })
        };
        let one_way = link_rtt.ns / 2;
        let reverse_rate = self.reverse_rate.unwrap_or(self.rate);
        let reverse_queue = self.reverse_queue.unwrap_or(self.queue);
        Ok(Topology {
            nodes: vec!["left".into(), "right".into()],
            links: vec![
                link(FORWARD_LINK, 0, 1, self.rate, self.queue, one_way, self.loss)?,
                link(REVERSE_LINK, 1, 0, reverse_rate, reverse_queue, link_rtt.ns - one_way, self.reverse_loss)?,
            ],
            cell: None,
        })
    }
}
