// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario as written: what a file says, and what commands and other programs fill in. docs/scenarios.md describes it for
//! users. [`ScenarioSpec::check`] makes a [`Scenario`](crate::Scenario) of it.

use serde::Deserialize;

use crate::{
    aqm::AqmSpec,
    controller::{ControllerSpec, Settings},
    dumbbell::DumbbellSpec,
    scenario::Loss,
    units::{Bytes, LossRate, QueueSize, Rate, Span},
};

/// A scenario that has not been checked. It has exactly one network: `dumbbell`, `parking_lot`, `wlan` or `links`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSpec {
    pub name: Option<String>,
    /// Of a run, warm-up included.
    pub duration: Span,
    /// Cut from every measure.
    #[serde(default)]
    pub warmup: Span,
    pub seeds: Option<u32>,
    /// The others follow.
    pub first_seed: Option<u64>,
    /// Bytes of a full packet, headers included.
    pub mtu: Option<u32>,
    /// Of all groups that do not say otherwise.
    pub delayed_acks: Option<bool>,
    /// Without it the time that the slowest link with data takes for one packet.
    pub send_jitter: Option<Span>,
    /// Without it a 2000th of the duration.
    pub sample_interval: Option<Span>,
    pub dumbbell: Option<DumbbellSpec>,
    pub parking_lot: Option<ParkingLotSpec>,
    pub wlan: Option<WlanSpec>,
    #[serde(default)]
    pub links: Vec<LinkSpec>,
    #[serde(default)]
    pub flows: Vec<FlowsSpec>,
    /// Parameters for all flows of a controller; what a flow's own `controller` says goes before.
    #[serde(default)]
    pub set: Settings,
}

impl ScenarioSpec {
    /// One without network and flows, all else at its default.
    pub fn new(duration: Span) -> Self {
        Self {
            name: None,
            duration,
            warmup: Span::default(),
            seeds: None,
            first_seed: None,
            mtu: None,
            delayed_acks: None,
            send_jitter: None,
            sample_interval: None,
            dumbbell: None,
            parking_lot: None,
            wlan: None,
            links: Vec::new(),
            flows: Vec::new(),
            set: Settings::default(),
        }
    }
}

/// Nodes `r1`, `r2`, ... in a row, a bottleneck each way between neighbours.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParkingLotSpec {
    pub hops: u32,
    pub rate: Rate,
    /// One-way, each hop.
    pub hop_delay: Span,
    pub queue: QueueSize,
    #[serde(default)]
    pub aqm: AqmSpec,
    #[serde(default = "no_loss")]
    pub loss: Loss,
}

/// A link of any graph; nodes exist by being named.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    pub name: String,
    pub from: String,
    pub to: String,
    pub rate: Rate,
    /// One-way.
    pub delay: Span,
    pub queue: QueueSize,
    #[serde(default)]
    pub aqm: AqmSpec,
    #[serde(default = "no_loss")]
    pub loss: Loss,
    /// Also make `NAME-back`, the same the other way.
    #[serde(default)]
    pub both_ways: bool,
}

/// An IEEE 802.11 cell with a wired path behind its access point.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WlanSpec {
    /// `802.11b`, `802.11g` or `802.11a`.
    pub phy: String,
    /// Besides the access point.
    pub stations: u32,
    /// The access point's.
    pub queue: QueueSize,
    pub station_queue: Option<QueueSize>,
    /// Of data frames; the highest if not given.
    pub rate: Option<Rate>,
    /// Of ACK frames.
    pub control_rate: Option<Rate>,
    pub short_preamble: Option<bool>,
    pub max_tries: Option<u32>,
    #[serde(default)]
    pub frame_error_rate: LossRate,
    /// Of the wired path, each way.
    pub wired_rate: Rate,
    /// Two-way propagation delay of the wired path.
    pub rtt: Span,
    pub wired_queue: Option<QueueSize>,
}

/// Flows that differ in nothing but chance. It has either a controller or `udp`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlowsSpec {
    pub name: Option<String>,
    pub controller: Option<ControllerSpec>,
    pub udp: Option<UdpSpec>,
    pub count: u32,
    pub from: Option<String>,
    pub to: Option<String>,
    /// Dumbbell: from right to left; wireless cell: from the server to the stations.
    pub reverse: Option<bool>,
    /// Wireless cell only: the first flow's, counted from 1.
    pub first_station: Option<u32>,
    /// Links by name; the fewest hops if not given.
    pub route: Option<Vec<String>>,
    /// The ACKs' links.
    pub ack_route: Option<Vec<String>>,
    /// Dumbbell only: this group's two-way propagation delay.
    pub rtt: Option<Span>,
    /// Two-way delay outside the links.
    pub access: Span,
    /// Each flow's RTT is longer by a random time up to this.
    pub rtt_spread: Span,
    pub start: Option<Span>,
    /// Each flow starts a random time up to this later.
    pub start_spread: Span,
    pub stop: Option<Span>,
    /// Payload of one transfer; endless if not given.
    pub transfer: Option<Bytes>,
    /// From one transfer to the next.
    pub pause: Option<Span>,
    pub delayed_acks: Option<bool>,
    pub pacing: Option<bool>,
    /// Packets.
    pub initial_window: Option<u32>,
    pub receive_window: Option<Bytes>,
}

impl Default for FlowsSpec {
    fn default() -> Self {
        Self {
            name: None,
            controller: None,
            udp: None,
            count: 1,
            from: None,
            to: None,
            reverse: None,
            first_station: None,
            route: None,
            ack_route: None,
            rtt: None,
            access: Span::default(),
            rtt_spread: Span::default(),
            start: None,
            start_spread: Span::default(),
            stop: None,
            transfer: None,
            pause: None,
            delayed_acks: None,
            pacing: None,
            initial_window: None,
            receive_window: None,
        }
    }
}

/// Packets at a constant rate, all the time or on and off in turn.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpSpec {
    pub rate: Rate,
    pub on: Option<Span>,
    pub off: Option<Span>,
}

impl FlowsSpec {
    /// Those of the keys given that mean nothing to UDP.
    pub(crate) fn keys_of_tcp(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("transfer", self.transfer.is_some()),
            ("pause", self.pause.is_some()),
            ("delayed_acks", self.delayed_acks.is_some()),
            ("pacing", self.pacing.is_some()),
            ("initial_window", self.initial_window.is_some()),
            ("receive_window", self.receive_window.is_some()),
        ];
        keys.into_iter().filter_map(|(key, is_given)| is_given.then_some(key))
    }
}

impl LinkSpec {
    /// The links that this makes: name, from, to.
    pub(crate) fn directions(&self) -> impl Iterator<Item = (String, &str, &str)> {
        let back = self.both_ways.then(|| (format!("{}-back", self.name), &*self.to, &*self.from));
        std::iter::once((self.name.clone(), &*self.from, &*self.to)).chain(back)
    }
}

pub(crate) fn no_loss() -> Loss {
    Loss::None
}
