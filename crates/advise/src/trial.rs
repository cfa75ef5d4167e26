// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of one controller's runs, seed by seed.

use tandem_compare::Flows;
use tandem_model::loss_cycle::loss_cycles;
use tandem_results::{FlowResult, SeedResult};
use tandem_scenario::{Scenario, Transfer, units::Bytes};

use tandem_statistics::mean;

use crate::{
    rule::Observed,
    start::{Begun, sum_by_second},
};

/// The runs of a controller on a case's path.
#[derive(Clone)]
pub struct Trial {
    /// With all seeds that are allowed.
    pub scenario: Scenario,
    pub observed: Observed,
    /// How long each seed's transfer took, if there is one.
    pub completion_s: Vec<f64>,
    /// Did a transfer last longer than its run?
    pub is_extrapolated: bool,
    /// How each seed's transfer began, if it lasted long enough to show that.
    pub begun: Vec<Begun>,
    pub seeds: Vec<SeedResult>,
    /// How many of the scenario's flows are the controller's own: the first ones.
    flows: u32,
}

impl Trial {
    pub fn new(scenario: Scenario, own: &Flows, effort: u8, is_untried: bool) -> Self {
        let base_rtt_ms = scenario.base_rtt(&scenario.groups[0]).as_secs_f64() * 1e3;
        let measured_s = scenario.measured().as_secs_f64();
        // A transfer has an end instead.
        let is_endless = scenario.groups[0].source.tcp().is_some_and(|tcp| tcp.transfer == Transfer::Bulk);
        let is_short = is_endless && loss_cycles(&scenario).iter().any(|cycle| cycle.seconds > measured_s);
        Self {
            scenario,
            flows: own.count,
            observed: Observed {
                name: own.name.clone(),
                effort,
                is_untried,
                base_rtt_ms,
                is_short,
                ..Observed::default()
            },
            completion_s: Vec::new(),
            is_extrapolated: false,
            begun: Vec::new(),
            seeds: Vec::new(),
        }
    }

    /// To deploy it: see [`Observed`].
    pub fn effort(&self) -> (u8, bool) {
        (self.observed.effort, self.observed.is_untried)
    }

    /// Are there seeds enough for an interval?
    pub fn has_run(&self) -> bool {
        self.seeds.len() > 1
    }

    /// Adds a seed's result. `transfer` is the amount that all of its own flows send together.
    pub fn add(&mut self, result: SeedResult, transfer: Option<Bytes>) {
        let (own, others) = result.flows.split_at(self.flows as usize);
        let goodput = |flows: &[FlowResult]| flows.iter().map(|f| f.goodput_mbps).sum::<f64>();
        let Some(Bytes(bytes)) = transfer else {
            self.observed.goodput_mbps.push(goodput(own));
            self.observed.drift.extend(self.drift(&result));
            self.observed.delay_ms.push(result.links[0].queueing_delay_ms.p95);
            if !others.is_empty() {
                let of_each = |flows: &[FlowResult]| flows.iter().map(|f| f.goodput_mbps).collect::<Vec<_>>();
                let (own_groups, neighbours) = (0, 1..self.scenario.groups.len());
                self.observed.neighbours_mbps.push(of_each(others));
                if self.scenario.alike(&neighbours.collect::<Vec<_>>()) == [own_groups] {
                    self.observed.peers_mbps.push(of_each(own));
                }
            }
            self.seeds.push(result);
            return;
        };
        let start_s = self.scenario.groups[0].start.as_secs_f64();
        let size_mbit = bytes as f64 * 8.0 / 1e6;
        let done: Vec<f64> = own.iter().flat_map(|flow| flow.completion_times_s.iter().copied()).collect();
        let got: Vec<f64> = sum_by_second(own);
        let time_s = if done.len() == own.len() {
            done.iter().copied().fold(0.0, f64::max)
        } else {
            self.is_extrapolated = true;
            extrapolated_s(size_mbit, start_s, self.scenario.duration.as_secs_f64(), &got)
        };
        self.completion_s.push(time_s);
        self.begun.extend(begun_of_transfer(&got, sum_by_second(others), start_s, time_s));
        self.observed.goodput_mbps.push(size_mbit / time_s);
        // The wait of its own packets: after its end, the queue belongs to others.
        self.observed
            .delay_ms
            .push(result.rtt_ms.first().map_or(0.0, |rtt| (rtt.p95 - self.observed.base_rtt_ms).max(0.0)));
        if !others.is_empty() {
            let theirs = sum_by_second(others);
            let from = (start_s as usize).min(theirs.len().saturating_sub(1));
            let to = ((start_s + time_s).ceil() as usize).clamp(from + 1, theirs.len().max(from + 1));
            let during = &theirs[from..to.min(theirs.len())];
            let mean_mbps = during.iter().sum::<f64>() / during.len().max(1) as f64;
            self.observed.neighbours_mbps.push(vec![mean_mbps]);
        }
        self.seeds.push(result);
    }
}

/// Fewer seconds cannot be compared by halves.
const FEW_SECONDS: usize = 4;

impl Trial {
    /// See [`Observed::drift`].
    fn drift(&self, result: &SeedResult) -> Option<f64> {
        let measured = self.scenario.warmup.as_secs_f64().ceil() as usize..;
        let got = |flows: &[FlowResult]| sum_by_second(flows).get(measured.clone()).unwrap_or_default().to_vec();
        let own = got(&result.flows[..self.flows as usize]);
        let all = got(&result.flows);
        if own.len() < FEW_SECONDS {
            return None;
        }
        let (first, second) = own.split_at(own.len() / 2);
        let part = mean(&all) * f64::from(self.flows) / result.flows.len() as f64;
        (part > 0.0).then(|| (mean(second) - mean(first)) / part)
    }
}

/// How a transfer began: against the pace of its later half, and against what its neighbours had then.
fn begun_of_transfer(own: &[f64], others: Vec<f64>, start_s: f64, time_s: f64) -> Option<Begun> {
    let from = start_s as usize;
    // The last second is not a whole one.
    let until = ((start_s + time_s) as usize).min(own.len());
    let half = from + until.checked_sub(from).filter(|seconds| *seconds >= FEW_SECONDS)? / 2;
    let (before, later) = (others.get(from..until), others.get(half..until));
    Begun::of(&own[from..until], mean(&own[half..until]), before.unwrap_or_default(), later.map_or(0.0, mean))
}

/// The time of a transfer that outlasts its run: the rest goes at the pace of the run's later half.
fn extrapolated_s(size_mbit: f64, start_s: f64, end_s: f64, received_mbit: &[f64]) -> f64 {
    let half = received_mbit.len() - received_mbit.len().saturating_sub(start_s as usize) / 2;
    let later = &received_mbit[half.min(received_mbit.len())..];
    let pace_mbps = later.iter().sum::<f64>() / later.len().max(1) as f64;
    let left_mbit = (size_mbit - received_mbit.iter().sum::<f64>()).max(0.0);
    end_s - start_s + left_mbit / pace_mbps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_begins_against_its_later_half() {
        // It began after 1 s and took 6.5 s: 50 Mb in each of the last three whole seconds.
        let (own, others) =
            ([0.0, 5.0, 20.0, 50.0, 50.0, 50.0, 50.0, 25.0], vec![90.0, 90.0, 60.0, 30.0, 40.0, 40.0, 40.0, 50.0]);
        let begun = begun_of_transfer(&own, others, 1.0, 6.5).unwrap();
        assert_eq!(begun.own, [0.1, 0.4, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(begun.neighbours, [2.25, 1.5, 0.75, 1.0, 1.0, 1.0]);
        assert_eq!(begun_of_transfer(&own, Vec::new(), 1.0, 3.5), None);
    }

    #[test]
    fn the_rest_of_a_transfer_goes_at_the_pace_of_the_later_half() {
        // Two silent seconds, then 10 and 20 in slow start and 50 twice: 130 of 1000 Mb after 4 s, the rest at 50 Mb/s.
        let time = extrapolated_s(1000.0, 2.0, 6.0, &[0.0, 0.0, 10.0, 20.0, 50.0, 50.0]);
        assert!((time - (4.0 + 870.0 / 50.0)).abs() < 1e-9, "{time}");
        assert_eq!(extrapolated_s(1000.0, 0.0, 2.0, &[0.0, 0.0]), f64::INFINITY);
    }
}
