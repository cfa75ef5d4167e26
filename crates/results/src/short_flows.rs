// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long short flows took, by size.

use serde::{Deserialize, Serialize};
use tandem_scenario::ShortFlows;
use tandem_statistics::Estimate;

use crate::{
    distribution::Distribution,
    measure::Seeds,
    seed::{SeedResult, ShortTransfer},
};

/// The short flows of a group that came after the warm-up, all seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ShortFlowsSummary {
    /// Payload that came, megabits a second; mean over seeds.
    pub offered_mbps: f64,
    /// Half width of the 95 % interval; null with one seed.
    pub offered_ci95_mbps: Option<f64>,
    /// The same as a share of the payload that the slowest link on the way can carry; null in a wireless cell.
    pub load: Option<f64>,
    /// Transfers that came, all seeds.
    pub transfers: u64,
    /// Those that had not ended when the run or the group did. No time below counts them.
    pub unfinished: u64,
    /// Completion time over that of the same transfer alone on the path, where nothing is lost; null if no transfer ended.
    pub slowdown: Option<Distribution>,
    /// By size, the smallest first.
    pub classes: Vec<SizeClass>,
    /// Each transfer, seed by seed and flow by flow.
    #[serde(skip)]
    pub each: Vec<ShortFlow>,
}

/// Short flows of similar size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SizeClass {
    /// None is smaller.
    pub from_bytes: u64,
    /// All are smaller; null for the last class.
    pub below_bytes: Option<u64>,
    /// Transfers that came, all seeds.
    pub transfers: u64,
    /// Those of them that had not ended.
    pub unfinished: u64,
    /// From the arrival until all was acknowledged; null if no transfer ended.
    pub completion_time_s: Option<Distribution>,
    /// As in [`ShortFlowsSummary`].
    pub slowdown: Option<Distribution>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortFlow {
    /// The seed of the run.
    pub seed: u64,
    /// Index of the connection, counted over all groups.
    pub flow: usize,
    /// What became of it.
    pub transfer: ShortTransfer,
    /// How long it would take alone.
    pub alone_s: f64,
}

impl ShortFlow {
    /// Completion time, relative to the same transfer alone; `None`: it has not ended.
    pub fn slowdown(&self) -> Option<f64> {
        self.transfer.completion_time_s.map(|took_s| took_s / self.alone_s)
    }
}

/// Sums up the short flows of a group; `None` if it has none.
pub(crate) fn summarise(seeds: &Seeds) -> Option<ShortFlowsSummary> {
    let (scenario, group) = (seeds.scenario, seeds.group());
    let short = group.source.short()?;
    let of_seed = |seed: &SeedResult| {
        let of_flow = |&flow: &usize| {
            let result = &seed.flows[flow];
            let base_rtt_s = result.base_rtt_ms / 1e3;
            let (seed, transfers) = (seed.seed, result.short_flows.clone());
            transfers.into_iter().map(move |transfer| {
                let alone_s = scenario.alone_s(group, base_rtt_s, transfer.bytes);
                ShortFlow { seed, flow, transfer, alone_s }
            })
        };
        seeds.flows.iter().flat_map(of_flow).collect::<Vec<_>>()
    };
    let by_seed: Vec<Vec<ShortFlow>> = seeds.results.iter().map(of_seed).collect();
    let measured_s = scenario.measured().as_secs_f64();
    let mbps = |of_seed: &Vec<ShortFlow>| {
        of_seed.iter().map(|flow| flow.transfer.bytes as f64).sum::<f64>() * 8.0 / 1e6 / measured_s
    };
    let offered_mbps = Estimate::of_mean(&by_seed.iter().map(mbps).collect::<Vec<_>>());
    let each: Vec<ShortFlow> = by_seed.into_iter().flatten().collect();
    let capacity_bps = scenario.network.payload_bps(&group.forward, scenario.mtu);
    Some(ShortFlowsSummary {
        offered_mbps: offered_mbps.value,
        offered_ci95_mbps: offered_mbps.half_width,
        load: capacity_bps.map(|bps| offered_mbps.value * 1e6 / bps),
        transfers: each.len() as u64,
        unfinished: unfinished(&each),
        slowdown: Distribution::of_values(each.iter().filter_map(ShortFlow::slowdown).collect()),
        classes: classes(short, &each),
        each,
    })
}

fn classes(short: &ShortFlows, each: &[ShortFlow]) -> Vec<SizeClass> {
    let borders = &short.class_borders_bytes;
    let class = |index: usize| {
        let of_class: Vec<ShortFlow> =
            each.iter().copied().filter(|flow| short.class_of(flow.transfer.bytes) == index).collect();
        let times_s = of_class.iter().filter_map(|flow| flow.transfer.completion_time_s);
        SizeClass {
            from_bytes: index.checked_sub(1).map_or(0, |below| borders[below]),
            below_bytes: borders.get(index).copied(),
            transfers: of_class.len() as u64,
            unfinished: unfinished(&of_class),
            completion_time_s: Distribution::of_values(times_s.collect()),
            slowdown: Distribution::of_values(of_class.iter().filter_map(ShortFlow::slowdown).collect()),
        }
    };
    (0..=borders.len()).map(class).collect()
}

fn unfinished(flows: &[ShortFlow]) -> u64 {
    flows.iter().filter(|flow| flow.transfer.completion_time_s.is_none()).count() as u64
}
