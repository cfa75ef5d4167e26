// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of a scenario file, as serde reads them; docs/scenarios.md describes them for users.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{Settings, wlan::WlanTable};
use crate::{
    aqm::AqmSpec,
    scenario::Loss,
    units::{Bytes, QueueSize, Rate, Span},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) name: Option<String>,
    pub(super) duration: Spanned<Span>,
    #[serde(default)]
    pub(super) warmup: Span,
    pub(super) seeds: Option<Spanned<u32>>,
    pub(super) first_seed: Option<u64>,
    pub(super) mtu: Option<Spanned<u32>>,
    #[serde(default = "yes")]
    pub(super) delayed_acks: bool,
    pub(super) send_jitter: Option<Span>,
    pub(super) sample_interval: Option<Spanned<Span>>,
    pub(super) dumbbell: Option<DumbbellTable>,
    pub(super) parking_lot: Option<Spanned<ParkingLotTable>>,
    pub(super) wlan: Option<WlanTable>,
    #[serde(default)]
    pub(super) links: Vec<LinkTable>,
    pub(super) flows: Spanned<Vec<FlowTable>>,
    #[serde(default = "no_settings")]
    pub(super) set: Spanned<Settings>,
}

/// A file that has a scenario among other things.
#[derive(Deserialize)]
pub(super) struct Outer {
    pub(super) scenario: File,
}

fn no_settings() -> Spanned<Settings> {
    Spanned::new(0..0, Settings::new())
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DumbbellTable {
    pub(super) rate: Rate,
    pub(super) rtt: Span,
    pub(super) queue: Spanned<QueueSize>,
    #[serde(default)]
    pub(super) aqm: AqmSpec,
    #[serde(default = "no_loss")]
    pub(super) loss: Loss,
    pub(super) reverse_rate: Option<Rate>,
    pub(super) reverse_queue: Option<QueueSize>,
    #[serde(default = "no_loss")]
    pub(super) reverse_loss: Loss,
}

fn no_loss() -> Loss {
    Loss::None
}

/// Nodes `r1`, `r2`, ... in a row, a bottleneck each way between neighbours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParkingLotTable {
    pub(super) hops: u32,
    pub(super) rate: Rate,
    /// One-way, each hop.
    pub(super) hop_delay: Span,
    pub(super) queue: QueueSize,
    #[serde(default)]
    pub(super) aqm: AqmSpec,
    #[serde(default = "no_loss")]
    pub(super) loss: Loss,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkTable {
    pub(super) name: Spanned<String>,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) rate: Rate,
    pub(super) delay: Span,
    pub(super) queue: Spanned<QueueSize>,
    #[serde(default)]
    pub(super) aqm: AqmSpec,
    #[serde(default = "no_loss")]
    pub(super) loss: Loss,
    /// Also make `NAME-back`, the same the other way.
    #[serde(default)]
    pub(super) both_ways: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FlowTable {
    pub(super) name: Option<String>,
    pub(super) controller: Option<Spanned<String>>,
    pub(super) udp: Option<Spanned<UdpTable>>,
    #[serde(default = "one")]
    pub(super) count: Spanned<u32>,
    pub(super) from: Option<Spanned<String>>,
    pub(super) to: Option<Spanned<String>>,
    /// Dumbbell: from right to left; wireless cell: from the server to the stations.
    pub(super) reverse: Option<Spanned<bool>>,
    /// Wireless cell only: the first flow's, counted from 1.
    pub(super) first_station: Option<Spanned<u32>>,
    pub(super) route: Option<Spanned<Vec<String>>>,
    pub(super) ack_route: Option<Spanned<Vec<String>>>,
    /// Dumbbell only: this group's two-way propagation delay.
    pub(super) rtt: Option<Spanned<Span>>,
    /// Two-way delay outside the links.
    #[serde(default)]
    pub(super) access: Span,
    #[serde(default)]
    pub(super) rtt_spread: Span,
    pub(super) start: Option<Spanned<Span>>,
    #[serde(default)]
    pub(super) start_spread: Span,
    pub(super) stop: Option<Spanned<Span>>,
    pub(super) transfer: Option<Bytes>,
    pub(super) pause: Option<Spanned<Span>>,
    pub(super) delayed_acks: Option<bool>,
    pub(super) pacing: Option<bool>,
    pub(super) initial_window: Option<Spanned<u32>>,
    pub(super) receive_window: Option<Bytes>,
    #[serde(default)]
    pub(super) set: BTreeMap<String, f64>,
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UdpTable {
    pub(super) rate: Rate,
    pub(super) on: Option<Span>,
    pub(super) off: Option<Span>,
}

impl FlowTable {
    /// Those of the keys given that mean nothing to UDP.
    pub(super) fn keys_of_tcp(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("transfer", self.transfer.is_some()),
            ("pause", self.pause.is_some()),
            ("delayed_acks", self.delayed_acks.is_some()),
            ("pacing", self.pacing.is_some()),
            ("initial_window", self.initial_window.is_some()),
            ("receive_window", self.receive_window.is_some()),
            ("set", !self.set.is_empty()),
        ];
        keys.into_iter().filter_map(|(key, is_given)| is_given.then_some(key))
    }
}

impl LinkTable {
    /// The links that this table makes: name, from, to.
    pub(super) fn directions(&self) -> impl Iterator<Item = (String, &str, &str)> {
        let name = self.name.get_ref();
        let back = self.both_ways.then(|| (format!("{name}-back"), &*self.to, &*self.from));
        std::iter::once((name.clone(), &*self.from, &*self.to)).chain(back)
    }
}
