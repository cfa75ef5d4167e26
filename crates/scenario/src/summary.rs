// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of a scenario's seeds, summed up.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    cautions::cautions,
    cell::{self, CellSummary},
    result::{Delivery, Distribution, Emulation, FlowResult, LinkResult, SeedResult, Trace},
    scenario::{Group, Scenario},
    short::{self, ShortFlowsSummary},
    stats::{ci95, jain, mean, stolen},
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

/// A link, summed up over seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinkSummary {
    /// The link's name.
    pub name: String,
    /// The link's capacity, megabits a second.
    pub rate_mbps: f64,
    /// As in [`LinkResult`], mean over seeds.
    pub utilisation: f64,
    /// Half width of the 95 % interval; null with one seed.
    pub utilisation_ci95: Option<f64>,
    /// As in [`LinkResult`].
    pub queue_packets: Distribution,
    /// As in [`LinkResult`].
    pub queueing_delay_ms: Distribution,
    /// Packets that the queue dropped, mean over seeds.
    pub drops: f64,
    /// Packets that queue management marked (ECN), mean over seeds; left out if there are none.
    #[serde(default, skip_serializing_if = "is_none_f64")]
    pub marks: f64,
    /// Packets lost at random, mean over seeds.
    pub random_losses: f64,
    /// Share of the packets offered that were dropped or lost (RFC 5166 section 2.1.3).
    pub loss_rate: f64,
}

fn is_none_f64(count: &f64) -> bool {
    *count == 0.0
}

/// How goodput falls with RTT (RFC 5166 section 2.3.2), between the groups with the shortest and the longest RTT.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RttFairness {
    /// Longest base RTT over the shortest.
    pub rtt_ratio: f64,
    /// Goodput a flow at the shortest RTT over that at the longest.
    pub goodput_ratio: f64,
}

/// A scenario's outcome over its seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Name of the scenario or of the contender.
    pub name: String,
    /// Name of the engine that ran it.
    pub engine: String,
    /// The seeds that finished, in ascending order.
    pub seeds: Vec<u64>,
    /// True if the run was interrupted and seeds are missing.
    pub partial: bool,
    /// Simulated or real length of each seed's run, warm-up included.
    pub duration_s: f64,
    /// The part at the start that no measure counts.
    pub warmup_s: f64,
    /// Upper bound of the random delay of each sender's answer to an ACK.
    pub send_jitter_us: f64,
    /// One entry for each group, in the order of the scenario.
    pub groups: Vec<GroupSummary>,
    /// One entry for each link, in the order of the network.
    pub links: Vec<LinkSummary>,
    /// Left out without a wireless cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellSummary>,
    /// Jain's index of the goodput of the TCP flows that compete: those that share a link with the first group's, directly or
    /// through others, which a dumbbell's reverse flows do not; in a wireless cell all. Mean over seeds.
    /// Null if there are none, or they got nothing.
    pub jain: Option<f64>,
    /// Null if all groups have the same RTT.
    pub rtt_fairness: Option<RttFairness>,
    /// From the last start of a flow to the first second from which Jain's index of the flows' goodput over 10 seconds is
    /// at least 0.95 (RFC 5166 section 2.3.1 leaves the measure open); mean over the seeds where that came. Null if it never did.
    pub convergence_s: Option<f64>,
    /// Data packets that receivers got in all seeds, in the warm-up too.
    pub data_packets: u64,
    /// CPU time of all seeds together, seconds. No result: it differs from time to time.
    #[serde(skip)]
    pub cpu_s: f64,
    /// What the figures cannot mean although they may look so: sentences without a full stop.
    #[serde(default)]
    pub cautions: Vec<String>,
    /// Null if nothing was emulated.
    pub emulation: Option<Emulation>,
    /// The samples of the first seed that has some.
    #[serde(skip)]
    pub trace: Option<Trace>,
}

const CONVERGENCE_WINDOW_S: usize = 10;
const CONVERGENCE_JAIN: f64 = 0.95;

impl Run {
    /// Sums up the seeds that were run; `planned` is how many there should be.
    pub fn from_seeds(scenario: &Scenario, engine: &str, planned: usize, mut seeds: Vec<SeedResult>) -> Self {
        seeds.sort_by_key(|s| s.seed);
        let group_of_flow = scenario.group_of_flow();
        let competing = competing_groups(scenario);
        let competing: Vec<usize> = (0..group_of_flow.len()).filter(|&f| competing[group_of_flow[f]]).collect();
        let groups: Vec<GroupSummary> = (0..scenario.groups.len())
            .map(|g| {
                let flows: Vec<usize> = (0..group_of_flow.len()).filter(|&f| group_of_flow[f] == g).collect();
                summarise_group(scenario, &scenario.groups[g], g, &flows, &seeds)
            })
            .collect();
        let jain_of = |s: &SeedResult| jain(&competing.iter().map(|&f| s.flows[f].goodput_mbps).collect::<Vec<_>>());
        let jains: Vec<f64> = seeds.iter().map(jain_of).filter(|&jain| jain > 0.0).collect();
        let converged: Vec<f64> =
            seeds.iter().filter_map(|s| convergence_s(scenario, &group_of_flow, &competing, s)).collect();
        Run {
            name: scenario.name.clone(),
            engine: engine.to_owned(),
            seeds: seeds.iter().map(|s| s.seed).collect(),
            partial: seeds.len() < planned,
            duration_s: scenario.duration.as_secs_f64(),
            warmup_s: scenario.warmup.as_secs_f64(),
            send_jitter_us: scenario.send_jitter.ns as f64 / 1e3,
            rtt_fairness: rtt_fairness(scenario, &groups),
            groups,
            links: (0..scenario.network.links.len()).map(|l| summarise_link(scenario, l, &seeds)).collect(),
            cell: scenario.network.cell.as_ref().map(|cell| cell::summarise(scenario, cell, &seeds)),
            jain: (!jains.is_empty()).then(|| mean(&jains)),
            convergence_s: (!converged.is_empty()).then(|| mean(&converged)),
            data_packets: seeds.iter().map(|s| s.data_packets).sum(),
            cpu_s: seeds.iter().map(|s| s.cpu_s).sum(),
            cautions: cautions(scenario, &seeds),
            emulation: Emulation::over_seeds(seeds.iter().filter_map(|s| s.emulation.as_ref())),
            trace: seeds.iter_mut().find_map(|s| s.trace.take()),
        }
    }

    /// Sets the bandwidth that `group` of this run lost to the others, compared with a run in which all flows were of its
    /// own kind: P is what the same flows got there with the same seed, Q what they get here. Paired so, the luck that a
    /// flow's start and RTT bring, which drop-tail makes last, falls out.
    pub fn set_stolen(&mut self, group: usize, baseline: &Run) {
        let by_seed = |run: &Run| -> Vec<(u64, f64)> {
            let goodput = run.groups.get(group).map_or(&[][..], |g| &g.goodput_by_seed_mbps);
            run.seeds.iter().copied().zip(goodput.iter().copied()).collect()
        };
        let (there, here) = (by_seed(baseline), by_seed(self));
        let (p, q): (Vec<f64>, Vec<f64>) =
            here.iter().filter_map(|(seed, q)| Some((there.iter().find(|(other, _)| other == seed)?.1, *q))).unzip();
        if let Some((value, half)) = stolen(&p, &q) {
            self.groups[group].stolen = Some(value);
            self.groups[group].stolen_ci95 = half;
        }
    }
}

fn summarise_group(
    scenario: &Scenario,
    group: &Group,
    index: usize,
    flows: &[usize],
    seeds: &[SeedResult],
) -> GroupSummary {
    let sum = |s: &SeedResult, f: fn(&FlowResult) -> f64| flows.iter().map(|&i| f(&s.flows[i])).sum::<f64>();
    let over_seeds = |f: fn(&FlowResult) -> f64| mean(&seeds.iter().map(|s| sum(s, f)).collect::<Vec<_>>());
    let goodput: Vec<f64> = seeds.iter().map(|s| sum(s, |f| f.goodput_mbps)).collect();
    let sent = over_seeds(|f| f.sent_packets as f64);
    let retransmits = over_seeds(|f| f.retransmits as f64);
    let completions: Vec<f64> =
        seeds.iter().flat_map(|s| flows.iter().flat_map(|&f| s.flows[f].completion_times_s.iter().copied())).collect();
    GroupSummary {
        name: group.name.clone(),
        controller: group.source.controller(),
        flows: group.flows,
        goodput_mbps: mean(&goodput),
        goodput_ci95_mbps: ci95(&goodput),
        goodput_by_seed_mbps: goodput,
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
        short_flows: short::summarise(scenario, group, flows, seeds),
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

fn summarise_link(scenario: &Scenario, index: usize, seeds: &[SeedResult]) -> LinkSummary {
    let link = &scenario.network.links[index];
    let each = |f: fn(&LinkResult) -> f64| seeds.iter().map(|s| f(&s.links[index])).collect::<Vec<_>>();
    let utilisation = each(|l| l.utilisation);
    let drops = mean(&each(|l| l.drops as f64));
    let random_losses = mean(&each(|l| l.random_losses as f64));
    let offered = mean(&each(|l| l.offered_packets as f64));
    LinkSummary {
        name: link.name.clone(),
        rate_mbps: link.rate.bps as f64 / 1e6,
        utilisation: mean(&utilisation),
        utilisation_ci95: ci95(&utilisation),
        queue_packets: Distribution::over_seeds(seeds.iter().map(|s| &s.links[index].queue_packets)),
        queueing_delay_ms: Distribution::over_seeds(seeds.iter().map(|s| &s.links[index].queueing_delay_ms)),
        drops,
        marks: mean(&each(|l| l.marks as f64)),
        random_losses,
        loss_rate: if offered > 0.0 { (drops + random_losses) / offered } else { 0.0 },
    }
}

fn rtt_fairness(scenario: &Scenario, groups: &[GroupSummary]) -> Option<RttFairness> {
    let per_flow = |rtt: f64| {
        let same = groups.iter().zip(&scenario.groups).filter(|(g, s)| s.source.is_tcp() && g.base_rtt_ms == rtt);
        let (rate, flows) = same.fold((0.0, 0), |(r, n), (g, _)| (r + g.goodput_mbps, n + g.flows));
        rate / f64::from(flows)
    };
    let tcp = groups.iter().zip(&scenario.groups).filter(|(_, s)| s.source.is_tcp());
    let rtts: Vec<f64> = tcp.map(|(g, _)| g.base_rtt_ms).collect();
    let shortest = rtts.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = rtts.iter().copied().fold(0.0, f64::max);
    (longest > shortest && shortest > 0.0)
        .then(|| RttFairness { rtt_ratio: longest / shortest, goodput_ratio: per_flow(shortest) / per_flow(longest) })
}

/// By group: does it compete with the first TCP group? Short flows want no share of their own.
fn competing_groups(scenario: &Scenario) -> Vec<bool> {
    let tcp = |g: &&Group| g.source.is_tcp() && g.source.short().is_none();
    let mut links: BTreeSet<usize> =
        scenario.groups.iter().find(tcp).map(|g| g.forward.iter().copied().collect()).unwrap_or_default();
    let shares = |g: &Group, links: &BTreeSet<usize>| {
        scenario.network.cell.is_some() || g.forward.iter().any(|link| links.contains(link))
    };
    // Each round adds the links of those who share one with somebody found before.
    for _ in &scenario.groups {
        let found: Vec<&Group> = scenario.groups.iter().filter(|g| tcp(g) && shares(g, &links)).collect();
        links.extend(found.iter().flat_map(|g| &g.forward));
    }
    scenario.groups.iter().map(|g| tcp(&g) && shares(g, &links)).collect()
}

fn convergence_s(scenario: &Scenario, group_of_flow: &[usize], flows: &[usize], seed: &SeedResult) -> Option<f64> {
    if flows.len() < 2 {
        return None;
    }
    let last_start_s = flows
        .iter()
        .map(|&f| &scenario.groups[group_of_flow[f]])
        .map(|g| (g.start.as_secs_f64() + g.start_spread.as_secs_f64()).ceil() as usize)
        .max()?;
    let seconds = seed.flows[flows[0]].received_mbit_by_second.len();
    (last_start_s..=seconds.checked_sub(CONVERGENCE_WINDOW_S)?).find_map(|start| {
        let received = |f: usize| {
            let bins = &seed.flows[f].received_mbit_by_second[start..start + CONVERGENCE_WINDOW_S];
            f64::from(bins.iter().sum::<f32>())
        };
        let rates: Vec<f64> = flows.iter().map(|&f| received(f)).collect();
        (jain(&rates) >= CONVERGENCE_JAIN).then(|| (start - last_start_s) as f64)
    })
}
