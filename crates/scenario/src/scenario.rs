// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario as engines see it: complete, checked, nothing left to look up.

use std::{ops::Deref, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

pub(crate) use crate::{aqm::Aqm, loss::Loss};
use crate::{
    effects::Effects,
    traffic::{CongestionControl, Traffic},
    units::{NS_PER_SEC, QueueSize, Rate, Span, UnitError, bps, seconds, seconds_if_any},
    wlan::WlanCell,
};

/// IP and TCP headers with the timestamp option (RFC 7323): what a full segment carries besides payload, and an ACK's size.
pub const HEADER_BYTES: u32 = 52;
/// Bytes of a full packet where the scenario does not say: the payload of an Ethernet frame.
pub const DEFAULT_MTU: u32 = 1500;

/// A scenario that has been checked: one run of an engine for each of its seeds. It comes from a
/// [`ScenarioSpec`](crate::ScenarioSpec) and can be read, through [`Parts`], but not changed, save by methods that keep it good.
#[derive(Debug, Clone)]
pub struct Scenario {
    parts: Arc<Parts>,
    written: Option<Arc<Written>>,
}

impl Deref for Scenario {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.parts
    }
}

/// A scenario as text, from which another process reads the same scenario: [`Written::read`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// TOML, as in a scenario file.
    pub text: String,
    /// Where files with a relative path are looked for; absolute.
    pub folder: PathBuf,
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
    /// Was it given? An engine on real hosts, which have delays of their own, adds no other.
    #[serde(skip)]
    pub send_jitter_is_given: bool,
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
    /// This many packets of any size.
    Packets(u32),
    /// This many bytes, headers included.
    Bytes(u64),
}

impl Limit {
    /// Bytes, where all packets have `packet_bytes`.
    pub fn bytes(self, packet_bytes: u32) -> u64 {
        match self {
            Self::Packets(packets) => u64::from(packets) * u64::from(packet_bytes),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Packets of `packet_bytes` each, and a part of one.
    pub fn packets(self, packet_bytes: u32) -> f64 {
        match self {
            Self::Packets(packets) => packets.into(),
            Self::Bytes(bytes) => bytes as f64 / f64::from(packet_bytes),
        }
    }

    /// As many packets of `packet_bytes` each as there is room for; of packets of no bytes, as of one byte.
    pub fn whole_packets(self, packet_bytes: u32) -> u64 {
        match self {
            Self::Packets(packets) => packets.into(),
            Self::Bytes(bytes) => bytes / u64::from(packet_bytes.max(1)),
        }
    }
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

impl Scenario {
    pub(crate) fn new(parts: Parts) -> Self {
        Self { parts: Arc::new(parts), written: None }
    }

    pub(crate) fn written_as(self, written: Option<Written>) -> Self {
        Self { written: written.map(Arc::new), ..self }
    }

    /// The text that it was read from; `None` if it came from a program, or if that program changed more than seeds. Its name, its seeds and
    /// what an engine leaves out ([`without_default_send_jitter`](Self::without_default_send_jitter)) may have changed since.
    pub fn written(&self) -> Option<&Written> {
        self.written.as_deref()
    }

    /// Gives it another name; control characters become spaces.
    pub fn named(mut self, name: &str) -> Self {
        Arc::make_mut(&mut self.parts).name = name.replace(char::is_control, " ");
        self
    }

    /// Replaces the seeds. A scenario has at least one: if the iterator is empty, it keeps its own.
    pub fn with_seeds(mut self, seeds: impl IntoIterator<Item = u64>) -> Self {
        let seeds: Vec<u64> = seeds.into_iter().collect();
        if !seeds.is_empty() {
            Arc::make_mut(&mut self.parts).seeds = seeds;
        }
        self
    }

    /// Adds no delay to the sending of packets unless it was given: real hosts have delays of their own.
    pub fn without_default_send_jitter(mut self) -> Self {
        if !self.send_jitter_is_given {
            Arc::make_mut(&mut self.parts).send_jitter = Span::default();
        }
        self
    }

    /// The default of `send_jitter` as if it were given: real hosts add it, too.
    pub fn with_given_send_jitter(mut self) -> Self {
        Arc::make_mut(&mut self.parts).send_jitter_is_given = true;
        self
    }
}

impl Parts {
    /// All that a seed's result depends on but the seed, as text: two scenarios that differ in name and seeds only have the same.
    pub fn identity(&self) -> String {
        let Self {
            name: _,
            seeds: _,
            duration,
            warmup,
            mtu,
            send_jitter,
            send_jitter_is_given: _,
            sample_interval,
            network,
            groups,
        } = self;
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
            ", delay_limit: None",
            ", drop: None",
            ", bleach: 0.0",
            ", unmark: 0.0",
            ", ack_every: 2",
            ", receiver: Honest",
        ];
        usual.iter().fold(text, |text, usual| text.replace(usual, ""))
    }

    /// The other groups whose flows differ from those of these groups in nothing but their number; none if these differ from each other.
    /// Such flows are exchangeable: none of them has an advantage.
    pub fn alike(&self, groups: &[usize]) -> Vec<usize> {
        let kind = |group: &Group| format!("{:?}", Group { name: String::new(), flows: 0, ..group.clone() });
        let Some(of_first) = groups.first().map(|&first| kind(&self.groups[first])) else { return Vec::new() };
        let (own, others): (Vec<usize>, Vec<usize>) = (0..self.groups.len())
            .filter(|&group| kind(&self.groups[group]) == of_first)
            .partition(|group| groups.contains(group));
        if own.len() == groups.len() { others } else { Vec::new() }
    }

    /// As [`identity`](Self::identity), without the names of groups and nodes, which engines do not look at. Links keep theirs: samples over
    /// time have them.
    pub fn meaning(&self) -> String {
        let mut nameless = self.clone();
        nameless.groups.iter_mut().for_each(|group| group.name.clear());
        nameless.network.nodes.iter_mut().for_each(String::clear);
        nameless.identity()
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
        self.controllers().find(|controller| matches!(controller, CongestionControl::Kernel(_)))
    }

    /// The first congestion control that only the QUIC engine has.
    pub fn needs_noq(&self) -> Option<&CongestionControl> {
        self.controllers().find(|controller| matches!(controller, CongestionControl::Noq(_)))
    }

    fn controllers(&self) -> impl Iterator<Item = &CongestionControl> {
        self.groups.iter().filter_map(|group| Some(&group.source.tcp()?.controller))
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

    /// The lowest rate that the link ever has, bits a second, outages excepted; with a trace its mean.
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

impl QueueSize {
    /// In packets or bytes, at this rate and round-trip time; at least one packet.
    ///
    /// # Errors
    /// If it is less than a packet of `mtu` bytes.
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
