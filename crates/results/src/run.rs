// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of a scenario's seeds, summed up.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tandem_scenario::Scenario;
use tandem_statistics::{Looks, Neighbours, jain, mean, stolen};

use crate::{
    cautions::cautions,
    cell::{self, CellSummary},
    emulation::Emulation,
    fairness::{RttFairness, competing_groups, convergence_s, rtt_fairness},
    group::{self, GroupSummary},
    link::{self, LinkSummary},
    seed::SeedResult,
    trace::Trace,
};

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
    pub trace: Option<Arc<Trace>>,
    /// Why there are as many seeds as there are: every interval is as wide as that asks.
    #[serde(skip)]
    pub looks: Looks,
}

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
                group::summarise(scenario, g, flows, &seeds)
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
            links: (0..scenario.network.links.len()).map(|l| link::summarise(scenario, l, &seeds)).collect(),
            cell: scenario.network.cell.as_ref().map(|cell| cell::summarise(scenario, cell, &seeds)),
            jain: (!jains.is_empty()).then(|| mean(&jains)),
            convergence_s: (!converged.is_empty()).then(|| mean(&converged)),
            data_packets: seeds.iter().map(|s| s.data_packets).sum(),
            cpu_s: seeds.iter().map(|s| s.cpu_s).sum(),
            cautions: cautions(scenario, &seeds),
            emulation: Emulation::over_seeds(seeds.iter().filter_map(|s| s.emulation.as_ref())),
            trace: seeds.iter_mut().find_map(|s| s.trace.take()),
            looks: Looks::default(),
        }
    }

    /// Makes every interval as wide as it must be if more seeds would have been added, depending on what these show. Bandwidth stolen is set
    /// afterwards.
    pub fn looked_at(mut self, looks: &Looks) -> Self {
        self.looks = looks.clone();
        let factor = looks.factor(self.seeds.len());
        for group in &mut self.groups {
            group.goodput_ci95_mbps = group.goodput_ci95_mbps.map(|half| half * factor);
            if let Some(short_flows) = &mut group.short_flows {
                short_flows.offered_ci95_mbps = short_flows.offered_ci95_mbps.map(|half| half * factor);
            }
        }
        for link in &mut self.links {
            link.utilisation_ci95 = link.utilisation_ci95.map(|half| half * factor);
        }
        self
    }

    /// Sets the bandwidth that `group` of this run lost to the others, compared with a run in which all flows were of its own kind: (P - Q) /
    /// P (S0 IV.B), where P is what the same flows got there and Q what they get here, with the same seeds; estimated as
    /// [`tandem_statistics::stolen`] says.
    pub fn set_stolen(&mut self, group: usize, baseline: &Run) {
        let of_seed = |seed: u64, beside: &Vec<f64>| {
            let at = baseline.seeds.iter().position(|&other| other == seed)?;
            let there = |group: usize| baseline.groups.get(group)?.goodput_by_seed_and_flow_mbps.get(at);
            let peers = baseline.groups.get(group)?.alike.iter().filter_map(|&alike| there(alike)).flatten();
            let (reference, peers) = (there(group)?.clone(), peers.copied().collect());
            Some(Neighbours { beside: beside.clone(), reference, peers })
        };
        let here = self.seeds.iter().zip(&self.groups[group].goodput_by_seed_and_flow_mbps);
        let seeds: Vec<Neighbours> = here.filter_map(|(&seed, beside)| of_seed(seed, beside)).collect();
        if let Some(stolen) = stolen(&seeds).map(|stolen| self.looks.widened(stolen)) {
            self.groups[group].stolen = Some(stolen.value);
            self.groups[group].stolen_ci95 = stolen.half_width;
        }
    }
}
