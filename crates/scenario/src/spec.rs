// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario as written: what a file says, and what commands and other programs fill in. docs/reference/scenario-keys.md describes
//! it for users. [`ScenarioSpec::check`] makes a [`Scenario`](crate::Scenario) of it.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Deserializer, de};

use crate::{
    aqm::AqmSpec,
    controller::{ControllerSpec, Settings},
    dumbbell::DumbbellSpec,
    effects::EffectsSpec,
    scenario::Loss,
    short_flows::ShortSpec,
    traffic::{Ecn, Honesty, Recovery, Transport},
    udp::UdpSpec,
    units::{Bytes, LossRate, QueueSize, Rate, Span, rate_or_none},
};

/// A scenario that has not been checked. It has exactly one network: `dumbbell`, `parking_lot`, `wlan` or `links`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSpec {
    /// Without it the name of the file.
    pub name: Option<String>,
    /// Length of a run, warm-up included.
    pub duration: Span,
    /// The part at the start that no measure counts.
    #[serde(default)]
    pub warmup: Span,
    /// Number of repetitions; 1 if not given.
    pub seeds: Option<u32>,
    /// The seed of the first repetition, 1 if not given; the others count up from it.
    pub first_seed: Option<u64>,
    /// Bytes of a full packet, headers included.
    pub mtu: Option<u32>,
    /// For all groups that do not say otherwise; on if not given (RFC 1122 section 4.2.3.2).
    pub delayed_acks: Option<bool>,
    /// Without it the time that the slowest link with data takes for one packet.
    pub send_jitter: Option<Span>,
    /// Without it a 2000th of the duration.
    pub sample_interval: Option<Span>,
    /// A network with one bottleneck.
    pub dumbbell: Option<DumbbellSpec>,
    /// A network with several bottlenecks in a row.
    pub parking_lot: Option<ParkingLotSpec>,
    /// A wireless cell.
    pub wlan: Option<WlanSpec>,
    /// The links of any other graph.
    #[serde(default)]
    pub links: Vec<LinkSpec>,
    /// What links do beside carrying packets, by the link's name.
    #[serde(default)]
    pub effects: BTreeMap<String, EffectsSpec>,
    /// Where traces with a relative path are looked for; not a key of files. Headers are looked for while the text is read
    /// ([`in_folder`](crate::controller::in_folder)).
    #[serde(skip)]
    pub folder: PathBuf,
    /// The groups of flows; at least one.
    #[serde(default)]
    pub flows: Vec<FlowsSpec>,
    /// Parameters for all flows of a controller; a flow's own `controller` takes precedence.
    #[serde(default)]
    pub set: Settings,
}

impl ScenarioSpec {
    /// A scenario without network and flows. Everything except the duration has its default.
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
            effects: BTreeMap::new(),
            folder: PathBuf::new(),
            flows: Vec::new(),
            set: Settings::default(),
        }
    }
}

/// Nodes `r1`, `r2`, ... in a row, a bottleneck each way between neighbours.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParkingLotSpec {
    /// Number of bottlenecks in a row.
    pub hops: u32,
    /// Capacity of each bottleneck.
    pub rate: Rate,
    /// One-way propagation delay of each hop.
    pub hop_delay: Span,
    /// Buffer of each bottleneck; `1bdp` refers to the path over all hops.
    pub queue: QueueSize,
    /// Queue discipline of each bottleneck.
    #[serde(default)]
    pub aqm: AqmSpec,
    /// Random loss on each bottleneck, in both directions.
    #[serde(default = "no_loss")]
    pub loss: Loss,
}

/// A link of any graph; nodes exist by being named.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Routes and results name the link by it.
    pub name: String,
    /// Node that sends into the link.
    pub from: String,
    /// Node at its far end.
    pub to: String,
    /// Capacity.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Span,
    /// Buffer before the link. No multiple of the BDP: the RTT is not known here.
    pub queue: QueueSize,
    /// Queue discipline.
    #[serde(default)]
    pub aqm: AqmSpec,
    /// Random loss before the queue.
    #[serde(default = "no_loss")]
    pub loss: Loss,
    /// Adds `NAME-back`, an equal link in the other direction.
    #[serde(default)]
    pub both_ways: bool,
}

/// An IEEE 802.11 cell with a wired path behind its access point.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WlanSpec {
    /// Timing and rates: `802.11b`, `802.11g` or `802.11a`.
    pub phy: String,
    /// Number of stations besides the access point.
    pub stations: u32,
    /// Buffer of the access point.
    pub queue: QueueSize,
    /// Buffer of each station; 1000 packets if not given.
    pub station_queue: Option<QueueSize>,
    /// Rate of data frames; the standard's highest if not given.
    pub rate: Option<Rate>,
    /// Rate of ACK frames; the highest basic rate that is not above `rate` if not given.
    pub control_rate: Option<Rate>,
    /// Use of the short preamble, in 802.11b only; off if not given.
    pub short_preamble: Option<bool>,
    /// How often a frame is sent before it is given up; 7 if not given.
    pub max_tries: Option<u32>,
    /// Share of the data frames that arrive damaged though they did not collide.
    #[serde(default)]
    pub frame_error_rate: LossRate,
    /// Rate of the wired path, each way.
    pub wired_rate: Rate,
    /// Two-way propagation delay of the wired path.
    pub rtt: Span,
    /// Buffer of the wired path, each way; 10000 packets if not given.
    pub wired_queue: Option<QueueSize>,
}

/// Flows that differ in nothing but chance. It has either a controller or `udp`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlowsSpec {
    /// Without it the controller as written.
    pub name: Option<String>,
    /// The congestion control of TCP flows.
    pub controller: Option<ControllerSpec>,
    /// TCP or QUIC; whatever the engine has if not given.
    pub transport: Option<Transport>,
    /// Makes the flows UDP instead of TCP.
    pub udp: Option<UdpSpec>,
    /// Number of flows.
    pub count: u32,
    /// Node that sends; dumbbells and wireless cells have a default.
    pub from: Option<String>,
    /// Node that receives; dumbbells and wireless cells have a default.
    pub to: Option<String>,
    /// Sends from right to left in a dumbbell, from the server to the stations in a wireless cell.
    pub reverse: Option<bool>,
    /// Station of the first flow, counted from 1; in a wireless cell only.
    pub first_station: Option<u32>,
    /// Names of the links that data takes; the fewest hops if not given.
    pub route: Option<Vec<String>>,
    /// Names of the links that ACKs take; the fewest hops if not given.
    pub ack_route: Option<Vec<String>>,
    /// Dumbbell only: this group's two-way propagation delay.
    pub rtt: Option<Span>,
    /// Two-way delay outside the links.
    pub access: Span,
    /// Each flow's RTT is longer by a random time up to this.
    pub rtt_spread: Span,
    /// When the flows begin; at 0 if not given.
    pub start: Option<Span>,
    /// Each flow starts a random time up to this later.
    pub start_spread: Span,
    /// When the flows end; never if not given.
    pub stop: Option<Span>,
    /// Payload of one transfer; endless if not given.
    pub transfer: Option<Bytes>,
    /// Time from the end of a transfer to the start of the next; one transfer alone if not given.
    pub pause: Option<Span>,
    /// Payload a second that the application has to send; as much as the window takes if not given.
    pub offered_rate: Option<Rate>,
    /// What it has to send from later times on.
    pub offered_changes: Vec<OfferedChangeSpec>,
    /// Short flows, each on a connection of its own, in the place of `transfer`.
    pub short: Option<ShortSpec>,
    /// Delayed ACKs; as for the scenario if not given.
    pub delayed_acks: Option<bool>,
    /// This many segments share a delayed ACK; 2 if not given (RFC 1122).
    pub ack_every: Option<u32>,
    /// Whether the receiver says what is true; it does if not given.
    pub receiver: Option<Honesty>,
    /// Spreads packets over the round as Linux does; off if not given.
    pub pacing: Option<bool>,
    /// How the sender finds and repairs losses; today's Linux if not given.
    pub recovery: Option<Recovery>,
    /// Whether queues may mark the packets, and what the sender does then; off if not given.
    pub ecn: Option<Ecn>,
    /// Window before the first ACK, packets; 10 if not given (RFC 6928).
    pub initial_window: Option<u32>,
    /// The most that the receiver accepts; 1 GiB if not given (RFC 7323 section 2.3).
    pub receive_window: Option<Bytes>,
}

impl Default for FlowsSpec {
    fn default() -> Self {
        Self {
            name: None,
            controller: None,
            transport: None,
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
            offered_rate: None,
            offered_changes: Vec::new(),
            short: None,
            delayed_acks: None,
            ack_every: None,
            receiver: None,
            pacing: None,
            recovery: None,
            ecn: None,
            initial_window: None,
            receive_window: None,
        }
    }
}

/// From a time on an application offers another rate.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferedChangeSpec {
    /// When.
    pub at: Span,
    /// The new rate; `0` is nothing, `"unlimited"` as much as the window takes.
    pub rate: OfferedRate,
}

/// Payload a second, bits; `None`: as much as the window takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferedRate(pub Option<u64>);

impl<'de> Deserialize<'de> for OfferedRate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = OfferedRate;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a quoted rate with its unit, 0 for nothing, or \"unlimited\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OfferedRate, E> {
                if text.trim() == "unlimited" {
                    return Ok(OfferedRate(None));
                }
                rate_or_none(text).map(|bps| OfferedRate(Some(bps))).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<OfferedRate, E> {
                self.visit_str(&n.to_string())
            }
        }
        d.deserialize_any(Visitor)
    }
}

impl FlowsSpec {
    /// Those of the keys given that mean nothing to UDP.
    pub(crate) fn keys_of_tcp(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("transport", self.transport.is_some()),
            ("transfer", self.transfer.is_some()),
            ("pause", self.pause.is_some()),
            ("offered_rate", self.offered_rate.is_some()),
            ("offered_changes", !self.offered_changes.is_empty()),
            ("short", self.short.is_some()),
            ("delayed_acks", self.delayed_acks.is_some()),
            ("ack_every", self.ack_every.is_some()),
            ("receiver", self.receiver.is_some()),
            ("pacing", self.pacing.is_some()),
            ("recovery", self.recovery.is_some()),
            ("ecn", self.ecn.is_some()),
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
