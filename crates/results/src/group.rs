// SPDX-License-Identifier: MIT OR Apache-2.0
//! A group of flows, over all seeds.

use serde::{Deserialize, Serialize};
use tandem_scenario::{Group, Scenario};
use tandem_statistics::{Estimate, mean};

use crate::{
    delivery::Delivery,
    distribution::Distribution,
    seed::{FlowResult, SeedResult},
    short_flows::{self, ShortFlowsSummary},
};

/// A group of flows, summed up over seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The group's name; without one in the file, its controller as written.
    pub name: String,
    /// The controller's name, `kernel:NAME` or `udp`.
    pub controller: String,
    /// Number of flows.
    pub flows: u32,
    /// Payload of all its flows together, megabits a second; mean over seeds.
    pub goodput_mbps: f64,
    /// Half width of the 95 % interval; null with one seed.
    pub goodput_ci95_mbps: Option<f64>,
    /// The same seed by seed, in the order of [`Run::seeds`].
    pub goodput_by_seed_mbps: Vec<f64>,
    /// Goodput of each flow, mean over seeds.
    pub per_flow_goodput_mbps: Vec<f64>,
    /// Share of the packets sent that were retransmissions.
    pub retransmit_rate: f64,
    /// Packets sent again, all flows together; mean over seeds.
    pub retransmits: f64,
    /// Retransmission timeouts, all flows together; mean over seeds.
    pub timeouts: f64,
    /// Reductions of the window, timeouts included; mean over seeds.
    pub window_reductions: f64,
    /// The RTT that each ACK measured; null with an engine that does not know them (`kernel`), and where no ACK came, as with UDP.
    pub rtt_ms: Option<Distribution>,
    /// The smoothed RTT (RFC 6298) at regular times, while data was outstanding; null with an engine that has none (`model`), and
    /// where no ACK came, as with UDP.
    pub srtt_ms: Option<Distribution>,
    /// Two-way propagation delay, without the random part of each flow.
    pub base_rtt_ms: f64,
    /// One-way propagation delay of the data: what [`Delivery::delay_ms`] is above it is waiting and transmission. Left out but for UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_delay_ms: Option<f64>,
    /// (P - Q) / P against the baseline run; null without one.
    pub stolen: Option<f64>,
    /// Half width of the 95 % interval of `stolen`; null with one seed.
    pub stolen_ci95: Option<f64>,
    /// Completion times of finite transfers, all seeds; null if there were none.
    pub completion_time_s: Option<Distribution>,
    /// The completion times themselves.
    #[serde(skip)]
    pub completion_times_s: Vec<f64>,
    /// What the packets met on their way; left out but for UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Left out without short flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_flows: Option<ShortFlowsSummary>,
}

/// Sums up the group with this index, whose flows these are.
pub(crate) fn summarise(
    scenario: &Scenario,
    group: &Group,
    index: usize,
    flows: &[usize],
    seeds: &[SeedResult],
) -> GroupSummary {
    let sum = |s: &SeedResult, f: fn(&FlowResult) -> f64| flows.iter().map(|&i| f(&s.flows[i])).sum::<f64>();
    let over_seeds = |f: fn(&FlowResult) -> f64| mean(&seeds.iter().map(|s| sum(s, f)).collect::<Vec<_>>());
    let goodput_by_seed: Vec<f64> = seeds.iter().map(|s| sum(s, |f| f.goodput_mbps)).collect();
    let goodput = Estimate::of_mean(&goodput_by_seed);
    let sent = over_seeds(|f| f.sent_packets as f64);
    let retransmits = over_seeds(|f| f.retransmits as f64);
    let completions: Vec<f64> =
        seeds.iter().flat_map(|s| flows.iter().flat_map(|&f| s.flows[f].completion_times_s.iter().copied())).collect();
    GroupSummary {
        name: group.name.clone(),
        controller: group.source.controller(),
        flows: group.flows,
        goodput_mbps: goodput.value,
        goodput_ci95_mbps: goodput.half_width,
        goodput_by_seed_mbps: goodput_by_seed,
        per_flow_goodput_mbps: flows
            .iter()
            .map(|&f| mean(&seeds.iter().map(|s| s.flows[f].goodput_mbps).collect::<Vec<_>>()))
            .collect(),
        retransmit_rate: if sent > 0.0 { retransmits / sent } else { 0.0 },
        retransmits,
        timeouts: over_seeds(|f| f.timeouts as f64),
        window_reductions: over_seeds(|f| f.window_reductions as f64),
        rtt_ms: over_seeds_if_measured(seeds, |s| s.rtt_ms.get(index)),
        srtt_ms: over_seeds_if_measured(seeds, |s| s.srtt_ms.get(index)),
        base_rtt_ms: scenario.base_rtt(group).ns as f64 / 1e6,
        // The delay outside the links is on the way of the ACKs.
        base_delay_ms: (!group.source.is_tcp())
            .then(|| scenario.network.propagation(&group.forward, &[]).ns as f64 / 1e6),
        stolen: None,
        stolen_ci95: None,
        completion_time_s: Distribution::of_values(completions.clone()),
        completion_times_s: completions,
        delivery: Delivery::over_seeds(seeds.iter().filter_map(|s| s.deliveries.get(index)?.as_ref())),
        short_flows: short_flows::summarise(scenario, group, flows, seeds),
    }
}

/// Over the seeds that measured the RTT; `None` if none did. One without samples is all zeros, which no RTT is.
fn over_seeds_if_measured<'a>(
    seeds: &'a [SeedResult],
    of: impl Fn(&'a SeedResult) -> Option<&'a Distribution>,
) -> Option<Distribution> {
    let measured: Vec<&Distribution> = seeds.iter().filter_map(of).filter(|rtt| rtt.mean > 0.0).collect();
    (!measured.is_empty()).then(|| Distribution::over_seeds(measured.iter().copied()))
}
