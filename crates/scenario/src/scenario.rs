// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario as engines see it: complete, checked, nothing left to look up.

use std::{collections::BTreeMap, fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};
use tandem_controllers::Params;

pub(crate) use crate::{aqm::Aqm, loss::Loss};
use crate::{
    controller::KERNEL_PREFIX,
    effects::Effects,
    short::ShortFlows,
    units::{NS_PER_SEC, QueueSize, Rate, Span, UnitError, bps, pair_of_seconds, seconds, seconds_if_any},
    wlan::WlanCell,
};

/// IP and TCP headers with the timestamp option (RFC 7323): what a full segment carries besides payload, and an ACK's size.
pub const HEADER_BYTES: u32 = 52;
/// Bytes of a full packet where the scenario does not say: the payload of an Ethernet frame.
pub const DEFAULT_MTU: u32 = 1500;

/// A scenario that has been checked: one run of an engine for each of its seeds. It comes from a
/// [`ScenarioSpec`](crate::ScenarioSpec) and can be read, through [`Parts`], but not changed, save by methods that keep it good.
#[derive(Debug, Clone)]
pub struct Scenario(Arc<Parts>);

impl Deref for Scenario {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What a [`Scenario`] consists of.
#[derive(Debug, Clone, Serialize)]
pub struct Parts {
    /// Title of the results.
    pub name: String,
    /// Length of a run, warm-up included.
    #[serde(rename = "duration_s", serialize_with = "seconds")]
    pub duration: Span,
    /// The part at the start that no measure counts.
    #[serde(rename = "warmup_s", serialize_with = "seconds")]
    pub warmup: Span,
    /// An engine runs once with each; at least one.
    pub seeds: Vec<u64>,
    /// Bytes of a full packet on the wire, headers included.
    pub mtu: u32,
    /// Each sender that ACKs clock delays what it does on one by a random time up to this (ns-2's `overhead_`); breaks the phase
    /// lock of deterministic drop-tail. 0 switches it off.
    #[serde(rename = "send_jitter_s", serialize_with = "seconds")]
    pub send_jitter: Span,
    /// Time between samples of windows and queues.
    #[serde(rename = "sample_interval_s", serialize_with = "seconds")]
    pub sample_interval: Span,
    /// Nodes and links.
    pub network: Topology,
    /// The flows, in the order in which engines number them.
    pub groups: Vec<Group>,
}

/// A directed graph. Links and routes name nodes and links by their indices here.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Topology {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// In the order of the file; the results have the same order.
    pub links: Vec<LinkConfig>,
    /// A wireless cell, whose two links are the last.
    pub cell: Option<WlanCell>,
}

/// A one-way link with its queue.
#[derive(Debug, Clone, Serialize)]
pub struct LinkConfig {
    /// Routes and results name the link by it.
    pub name: String,
    /// Index of the node that sends into the link.
    pub from: usize,
    /// Index of the node at its far end.
    pub to: usize,
    /// Capacity.
    #[serde(rename = "rate_bps", serialize_with = "bps")]
    pub rate: Rate,
    /// One-way propagation delay.
    #[serde(rename = "delay_s", serialize_with = "seconds")]
    pub delay: Span,
    /// Buffer before the link.
    pub limit: Limit,
    /// Queue discipline.
    pub aqm: Aqm,
    /// Random loss before the queue.
    pub loss: Loss,
    /// What the link does beside; `None`: nothing.
    pub effects: Option<Box<Effects>>,
}

/// How much a queue holds, the packet in transmission not counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// So many packets of any size.
    Packets(u32),
    /// So many bytes, headers included.
    Bytes(u64),
}

/// Flows that differ in nothing but chance.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// Title in the results.
    pub name: String,
    /// Number of flows.
    pub flows: u32,
    /// What the flows send.
    pub source: Traffic,
    /// Indices of the links that data takes, in order.
    pub forward: Vec<usize>,
    /// Indices of the links that ACKs take, in order.
    pub back: Vec<usize>,
    /// Two-way delay outside the links.
    #[serde(rename = "access_s", serialize_with = "seconds")]
    pub access: Span,
    /// Each flow adds a random part up to this to `access`.
    #[serde(rename = "rtt_spread_s", serialize_with = "seconds")]
    pub rtt_spread: Span,
    /// When the flows begin, from the start of the run.
    #[serde(rename = "start_s", serialize_with = "seconds")]
    pub start: Span,
    /// Each flow starts a random time up to this later.
    #[serde(rename = "start_spread_s", serialize_with = "seconds")]
    pub start_spread: Span,
    /// When the flows end, from the start of the run; `None`: never.
    #[serde(rename = "stop_s", serialize_with = "seconds_if_any")]
    pub stop: Option<Span>,
    /// In a wireless cell: the station of the first flow, counted from 0; the next flow is at the next, after the last again
    /// at the first.
    pub first_station: u32,
}

/// What a flow sends.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Traffic {
    /// Data under congestion control.
    Tcp(TcpSource),
    /// Packets at a constant rate, all the time or on and off in turn.
    Udp {
        /// Rate while it sends, headers included.
        #[serde(rename = "rate_bps", serialize_with = "bps")]
        rate: Rate,
        /// How long it sends and then is silent, in turn; `None`: it always sends.
        #[serde(rename = "on_off_s", serialize_with = "pair_of_seconds")]
        on_off: Option<(Span, Span)>,
        /// Bytes of a packet on the wire; `None`: those of the MTU.
        #[serde(skip_serializing_if = "Option::is_none")]
        packet_bytes: Option<u32>,
        /// Are the times on and off exponentially distributed, with those means?
        #[serde(skip_serializing_if = "is_not")]
        is_random: bool,
    },
}

fn is_not(value: &bool) -> bool {
    !value
}

/// What decides how large a flow's window is.
#[derive(Debug, Clone)]
pub enum CongestionControl {
    /// A controller of ours, which every engine has.
    Tandem(Arc<Params>),
    /// One of the kernel's own, written `kernel:NAME`. Only the kernel engine has it.
    Kernel(String),
}

/// How a flow with a controller sends.
#[derive(Debug, Clone, Serialize)]
pub struct TcpSource {
    /// Its congestion control.
    pub controller: CongestionControl,
    /// What carries it; `None`: whatever the engine has.
    pub transport: Option<Transport>,
    /// How much it has to send.
    pub transfer: Transfer,
    /// Whether its receiver delays ACKs (RFC 1122 section 4.2.3.2).
    pub delayed_acks: bool,
    /// Linux's internal pacing: 2 times cwnd/srtt in slow start, 1.2 times after.
    pub pacing: bool,
    /// How it finds and repairs losses.
    pub recovery: Recovery,
    /// Whether queues may mark its packets rather than drop them, and what it does then.
    pub ecn: Ecn,
    /// Window before the first ACK, packets (RFC 6928: 10).
    pub initial_window: u32,
    /// Packets that the receiver takes before it is read; `None` = as much as TCP can express (1 GiB, RFC 7323).
    pub receive_window: Option<u32>,
}

/// What carries data under congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    Tcp,
    /// QUIC (RFC 9000).
    Quic,
}

/// How a sender finds losses, and what its window does until they are repaired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Today's Linux: RACK-TLP (RFC 8985) and proportional rate reduction (RFC 6937).
    #[default]
    Prr,
    /// Linux 2.4 and 2.6 up to 3.1: FACK (Mathis and Mahdavi, 1996) and rate halving (Mathis, Semke, Mahdavi, Lahey, 1999).
    RateHalving,
}

/// Explicit congestion notification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ecn {
    /// Queues drop its packets.
    #[default]
    Off,
    /// A mark has the effect of a loss on the window (RFC 3168).
    Rfc3168,
    /// A mark reduces the window less than a loss (RFC 8511): to 0.8 of it, with CUBIC to 0.85.
    Rfc8511,
    /// ACKs tell how many packets were marked (accurate ECN, RFC 9768). A controller that does not count them takes a mark for a loss.
    Accurate,
}

/// How much data a flow has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transfer {
    /// More than the run has time for.
    Bulk,
    /// A transfer of fixed size, once or again and again.
    Finite {
        /// Payload of one transfer.
        bytes: u64,
        /// Time without sending before the next transfer; `None`: there is no next one.
        #[serde(rename = "pause_s", serialize_with = "seconds_if_any")]
        pause: Option<Span>,
    },
    /// As much as the application offers: a piece at a time, evenly.
    Offered {
        /// Payload a second.
        #[serde(rename = "rate_bps", serialize_with = "bps")]
        rate: Rate,
        /// Payload of a piece: a full segment.
        piece_bytes: u32,
    },
    /// Short flows: a connection for each transfer.
    Short(Box<ShortFlows>),
}

impl Serialize for CongestionControl {
    /// The name, and all parameters.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_struct("CongestionControl", 2)?;
        whole.serialize_field("name", &self.to_string())?;
        if let Self::Tandem(params) = self {
            let all = params.controller().params().filter_map(|p| Some((p.name, params.get(p.name)?)));
            whole.serialize_field("parameters", &all.collect::<BTreeMap<_, _>>())?;
        }
        whole.end()
    }
}

impl Scenario {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Gives it another name; control characters become spaces.
    pub fn named(mut self, name: &str) -> Self {
        Arc::make_mut(&mut self.0).name = name.replace(char::is_control, " ");
        self
    }

    /// Replaces the seeds. A scenario has at least one: if the iterator is empty, it keeps its own.
    pub fn with_seeds(mut self, seeds: impl IntoIterator<Item = u64>) -> Self {
        let seeds: Vec<u64> = seeds.into_iter().collect();
        if !seeds.is_empty() {
            Arc::make_mut(&mut self.0).seeds = seeds;
        }
        self
    }

    /// Adds no delay to the sending of packets: real hosts have delays of their own.
    pub fn without_send_jitter(mut self) -> Self {
        Arc::make_mut(&mut self.0).send_jitter = Span::default();
        self
    }
}

impl Parts {
    /// All that a seed's result depends on but the seed, as text: two scenarios that differ in name and seeds only have the same.
    pub fn identity(&self) -> String {
        let Self { name: _, seeds: _, duration, warmup, mtu, send_jitter, sample_interval, network, groups } = self;
        let text = format!("{duration:?} {warmup:?} {mtu} {send_jitter:?} {sample_interval:?} {network:?} {groups:?}");
        // So it was before there were other recoveries, transports and effects of links, and runs that were kept then are still those of the
        // same scenario.
        let usual = [
            " recovery: Prr,",
            " transport: None,",
            ", effects: None",
            " ecn: Off,",
            ", ecn: false",
            ", packet_bytes: None",
            ", is_random: false",
        ];
        usual.iter().fold(text, |text, usual| text.replace(usual, ""))
    }

    /// Payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        self.mtu - HEADER_BYTES
    }

    /// What is measured: from the end of the warm-up to the end.
    pub fn measured(&self) -> Span {
        Span { ns: self.duration.ns - self.warmup.ns }
    }

    /// Two-way propagation delay of a group, without its random part.
    pub fn base_rtt(&self, group: &Group) -> Span {
        self.rtt_with_access(group, group.access.ns)
    }

    /// Two-way propagation delay of one flow of a group, whose delay outside the links, random part included, is this.
    pub fn rtt_with_access(&self, group: &Group, access_ns: u64) -> Span {
        Span { ns: access_ns + self.network.propagation(&group.forward, &group.back).ns }
    }

    /// Two-way propagation delay of a group, on average over its random part.
    pub fn mean_base_rtt(&self, group: &Group) -> Span {
        self.rtt_with_access(group, group.access.ns + group.rtt_spread.ns / 2)
    }

    /// The first congestion control that only the kernel engine has.
    pub fn needs_kernel(&self) -> Option<&CongestionControl> {
        let mut controllers = self.groups.iter().filter_map(|group| Some(&group.source.tcp()?.controller));
        controllers.find(|controller| matches!(controller, CongestionControl::Kernel(_)))
    }

    /// Number of flows of all groups together.
    pub fn flow_count(&self) -> usize {
        self.groups.iter().map(|g| g.flows as usize).sum()
    }

    /// The group of every flow, in the order in which engines number flows.
    pub fn group_of_flow(&self) -> Vec<usize> {
        self.groups.iter().enumerate().flat_map(|(i, g)| std::iter::repeat_n(i, g.flows as usize)).collect()
    }

    /// The station of every flow, counted from 0; 0 for all where there is no wireless cell.
    pub fn station_of_flow(&self) -> Vec<usize> {
        let stations = self.network.cell.as_ref().map_or(1, |cell| cell.stations);
        let of_group =
            |g: &Group| (0..g.flows).map(|i| ((g.first_station + i) % stations) as usize).collect::<Vec<_>>();
        self.groups.iter().flat_map(of_group).collect()
    }

    /// The default of `send_jitter`: the time that the slowest link takes for one packet. A link that carries ACKs alone does
    /// not count: on an access line with a slow way back its packet time would be a large part of the RTT.
    pub(crate) fn default_send_jitter(network: &Topology, groups: &[Group], mtu: u32) -> Span {
        let rates_bps = groups.iter().flat_map(|g| &g.forward).map(|&link| network.links[link].rate.bps);
        let bps = rates_bps.min().unwrap_or(NS_PER_SEC);
        Span { ns: (u64::from(mtu) * 8 * NS_PER_SEC).div_ceil(bps) }
    }

    /// The default of `sample_interval`: 2000 samples, at most one a millisecond.
    pub(crate) fn default_sample_interval(duration: Span) -> Span {
        Span { ns: (duration.ns / 2000).max(1_000_000) }
    }
}

impl LinkConfig {
    /// The highest rate that the link ever has, bits a second; with a trace its mean.
    pub fn fastest_bps(&self) -> u64 {
        let changes = self.effects.iter().flat_map(|effects| &effects.changes);
        changes.filter_map(|change| change.rate_bps).chain([self.rate.bps]).max().unwrap_or(self.rate.bps)
    }

    /// The lowest rate that the link ever has, bits a second, but for outages; with a trace its mean.
    pub fn slowest_bps(&self) -> u64 {
        let changes = self.effects.iter().flat_map(|effects| &effects.changes);
        let rates = changes.filter_map(|change| change.rate_bps).filter(|&bps| bps > 0);
        rates.chain([self.rate.bps]).min().unwrap_or(self.rate.bps)
    }
}

impl Topology {
    /// The delays of the links there and back: that part of the RTT that the network has.
    pub fn propagation(&self, forward: &[usize], back: &[usize]) -> Span {
        Span { ns: forward.iter().chain(back).map(|&l| self.links[l].delay.ns).sum() }
    }
}

impl Traffic {
    /// The short flows that it consists of, if it does.
    pub fn short(&self) -> Option<&ShortFlows> {
        match &self.tcp()?.transfer {
            Transfer::Short(short) => Some(short),
            _ => None,
        }
    }

    /// What congestion control governs, if that is what it is.
    pub fn tcp(&self) -> Option<&TcpSource> {
        match self {
            Traffic::Tcp(tcp) => Some(tcp),
            Traffic::Udp { .. } => None,
        }
    }

    /// Whether congestion control governs it.
    pub fn is_tcp(&self) -> bool {
        self.tcp().is_some()
    }

    /// The scenario's own congestion control, if one governs it.
    pub fn params(&self) -> Option<&Arc<Params>> {
        match &self.tcp()?.controller {
            CongestionControl::Tandem(params) => Some(params),
            CongestionControl::Kernel(_) => None,
        }
    }

    /// The rate that it is sent at, headers included, whatever the network does; `None`: congestion control decides.
    pub fn constant_rate(&self) -> Option<Rate> {
        match self {
            Traffic::Udp { rate, .. } => Some(*rate),
            Traffic::Tcp(_) => None,
        }
    }

    /// Bytes of a full packet, headers included; a full one of TCP has `mtu` bytes.
    pub fn packet_bytes(&self, mtu: u32) -> u32 {
        match self {
            Traffic::Udp { packet_bytes, .. } => packet_bytes.unwrap_or(mtu),
            Traffic::Tcp(_) => mtu,
        }
    }

    /// Is it sent at a rate that its controller sets, rather than clocked by ACKs? Such a flow takes no `send_jitter`: there is no
    /// clock to break, and its controller would read the noise in the times of ACKs as bandwidth.
    pub fn sets_own_rate(&self) -> bool {
        self.params().is_some_and(|params| params.controller().owns_window())
    }

    /// Payload of a packet, of which a full one has `mss` bytes; for UDP as much as TCP would have in a packet of its size.
    pub fn payload_bytes(&self, mss: u32) -> u32 {
        self.packet_bytes(mss + HEADER_BYTES) - HEADER_BYTES
    }

    /// The controller's name, or `udp`.
    pub fn controller(&self) -> String {
        self.tcp().map_or("udp".into(), |tcp| tcp.controller.to_string())
    }
}

/// Its name alone, as scenario files write it.
impl fmt::Display for CongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            CongestionControl::Tandem(params) => f.write_str(params.controller().name),
            CongestionControl::Kernel(name) => write!(f, "{KERNEL_PREFIX}{name}"),
        }
    }
}

impl QueueSize {
    /// In packets or bytes, at this rate and round-trip time; at least one packet.
    pub fn limit(self, rate: Rate, rtt: Span, mtu: u32) -> Result<Limit, UnitError> {
        let packets_in = |span_s: f64| {
            let packets = (rate.bps as f64 * span_s / (8.0 * f64::from(mtu))).round();
            Limit::Packets(packets.clamp(1.0, 1e8) as u32)
        };
        Ok(match self {
            QueueSize::Packets(n) => Limit::Packets(n),
            QueueSize::Bytes(n) if n < u64::from(mtu) => {
                return Err(UnitError::new(format!("queue `{self}` does not hold one packet of {mtu} bytes")));
            }
            QueueSize::Bytes(n) => Limit::Bytes(n),
            QueueSize::Time(t) => packets_in(t.as_secs_f64()),
            QueueSize::Bdp(x) => packets_in(rtt.as_secs_f64() * x),
        })
    }
}
