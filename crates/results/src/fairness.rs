// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the flows share what there is: by RTT, and from when on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tandem_scenario::{Group, Scenario};
use tandem_statistics::jain;

use crate::{group::GroupSummary, seed::SeedResult};

/// How goodput falls with RTT (RFC 5166 section 2.3.2), between the groups with the shortest and the longest RTT.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RttFairness {
    /// Longest base RTT over the shortest.
    pub rtt_ratio: f64,
    /// Goodput a flow at the shortest RTT over that at the longest.
    pub goodput_ratio: f64,
}

const CONVERGENCE_WINDOW_S: usize = 10;
const CONVERGENCE_JAIN: f64 = 0.95;

pub(crate) fn rtt_fairness(scenario: &Scenario, groups: &[GroupSummary]) -> Option<RttFairness> {
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
pub(crate) fn competing_groups(scenario: &Scenario) -> Vec<bool> {
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

pub(crate) fn convergence_s(
    scenario: &Scenario,
    group_of_flow: &[usize],
    flows: &[usize],
    seed: &SeedResult,
) -> Option<f64> {
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
