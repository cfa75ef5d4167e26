// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs controllers on a case's path, seed by seed, until the rule can decide.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tandem_batch::{Batch, Task, Traces};
use tandem_scenario::{
    Scenario,
    result::SeedResult,
    units::{Bytes, Span},
};
use tandem_sim::Sim;

use super::{
    cases::{Case, Known},
    rule::{Decision, Limits, Observed, decide},
};
use crate::{
    Failure,
    compare::{Bounds, Length, Reason, USUAL},
    output::is_quiet,
    runner::{cautions, interrupt_flag},
    settings::Flows,
};

/// Seeds of every controller, and how many are added at a time for those about whom nothing is clear. Ours.
const FIRST_SEEDS: u64 = 3;
const MORE_SEEDS: u64 = 2;
/// The most of a path that is not the usual one. Ours.
const SEEDS_OF_OTHERS: u64 = 7;
/// A run of so many packets takes about a second. Ours.
const BOUNDS: Bounds = Bounds { most_packets: 8e6, least_s: 5.0 };

/// A controller that could be advised.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub flows: Flows,
    pub effort: u8,
}

/// What all cases share.
pub struct Question<'a> {
    pub known: &'a Known,
    pub candidates: &'a [Candidate],
    /// The name of one of the candidates.
    pub default: &'a str,
    pub limits: Limits,
    pub transfer: Option<Bytes>,
    pub first_seed: u64,
    pub most_seeds: u64,
    /// Given by the user.
    pub duration: Option<Span>,
    pub warmup: Option<Span>,
}

/// What came of a case.
pub struct Answer {
    pub case: Case,
    pub decision: Decision,
    pub length: Length,
    /// The reference's p95 of the queueing delay, and its flows.
    pub reference: String,
    /// Each candidate's mean time for the transfer, seconds, in the order of the candidates; empty if there is none.
    pub completion_s: Vec<f64>,
    /// Did a transfer last longer than its run?
    pub is_extrapolated: bool,
    /// Of the choice and of the default.
    pub cautions: Vec<String>,
    /// There was no time for the seeds that it needs.
    pub is_cut_short: bool,
}

/// When to stop; set by an interrupt, too.
pub struct Clock {
    end: Instant,
    stop: AtomicBool,
}

/// Ends the watching, also when the work panics.
struct AtEnd<'a> {
    done: &'a AtomicBool,
    watcher: Option<std::thread::Thread>,
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.done.store(true, Relaxed);
        self.watcher.iter().for_each(std::thread::Thread::unpark);
    }
}

impl Clock {
    pub fn new(time: Span) -> Self {
        Self { end: Instant::now() + Duration::from_nanos(time.ns), stop: AtomicBool::new(false) }
    }

    /// Runs `work`, which ends early when the clock has stopped or at an interrupt.
    fn watch<T>(&self, obeys_time: bool, work: impl FnOnce(&AtomicBool) -> T) -> T {
        let done = AtomicBool::new(false);
        let look = || {
            let is_late = obeys_time && Instant::now() >= self.end;
            if is_late || interrupt_flag().load(Relaxed) {
                self.stop.store(true, Relaxed);
            }
        };
        // Work that begins too late must not end before the watcher looks.
        look();
        std::thread::scope(|scope| {
            let watcher = std::thread::Builder::new().spawn_scoped(scope, || {
                while !done.load(Relaxed) {
                    look();
                    std::thread::park_timeout(Duration::from_millis(20));
                }
            });
            let _end = AtEnd { done: &done, watcher: watcher.ok().map(|watcher| watcher.thread().clone()) };
            work(&self.stop)
        })
    }

    pub fn has_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

/// A run of a controller on a case's path, with what it has given.
struct Trial {
    scenario: Scenario,
    flows: u32,
    observed: Observed,
    completion_s: Vec<f64>,
    is_extrapolated: bool,
    seeds: Vec<SeedResult>,
}

impl Question<'_> {
    /// Refuses what no simulation can be made of, before anything is written.
    pub fn check(&self, case: &Case) -> Result<(), Failure> {
        let reference = self.reference(case);
        let (length, start) = self.length(case, &reference)?;
        let all = self.candidates.iter().map(|c| &c.flows).chain([&reference]);
        for flows in all.chain(&case.neighbours.0) {
            let scenario = self.known.scenario(case, flows, start, self.transfer, length)?;
            tandem_engine::Engine::check(&Sim, &scenario, false).map_err(Failure::usage)?;
        }
        Ok(())
    }

    /// The answer for a case; `None` if not even its first seeds were finished. The first seeds of the first case are run whatever time it
    /// takes.
    pub fn answer(&self, case: &Case, clock: &Clock, is_first: bool) -> Result<Option<Answer>, Failure> {
        let reference_flows = self.reference(case);
        let (length, start) = self.length(case, &reference_flows)?;
        let trial = |own: &Flows, effort| {
            let scenario = self.known.scenario(case, own, start, self.transfer, length)?;
            let observed = Observed { name: own.name.clone(), effort, ..Observed::default() };
            Ok::<_, Failure>(Trial {
                scenario,
                flows: own.count,
                observed,
                completion_s: Vec::new(),
                is_extrapolated: false,
                seeds: Vec::new(),
            })
        };
        let mut trials: Vec<Trial> =
            self.candidates.iter().map(|c| trial(&c.flows, c.effort)).collect::<Result<_, _>>()?;
        trials.push(trial(&reference_flows, 0)?);
        let reference = trials.len() - 1;
        let everybody: Vec<usize> = (0..trials.len()).collect();
        let most_seeds = if is_first { self.most_seeds } else { self.most_seeds.min(SEEDS_OF_OTHERS) };
        let first = self.first_seed..self.first_seed + FIRST_SEEDS.min(most_seeds);
        if !self.add_seeds(&mut trials, &everybody, first.clone(), clock, !is_first)? {
            return Ok(None);
        }
        let mut next = first.end;
        let mut is_cut_short = false;
        let decision = loop {
            let decision =
                self.decide(&trials).ok_or_else(|| Failure::usage("the default is not among the candidates"))?;
            let end = (next + MORE_SEEDS).min(self.first_seed + most_seeds);
            if decision.is_clear || next >= end || is_cut_short {
                break decision;
            }
            let open = |i: usize| decision.of(&trials[i].observed.name).is_some_and(|judged| judged.is_open);
            let best = decision
                .controllers
                .iter()
                .find(|judged| judged.is_within_limits)
                .map(|judged| judged.controller.clone());
            let needed = |&i: &usize| {
                let name = &trials[i].observed.name;
                i == reference
                    || open(i)
                    || *name == self.default
                    || Some(name) == best.as_ref()
                    || *name == decision.chosen
            };
            let who: Vec<usize> = everybody.iter().copied().filter(needed).collect();
            is_cut_short = !self.add_seeds(&mut trials, &who, next..end, clock, true)?;
            next = end;
        };
        let of_name = |name: &str| trials[..reference].iter().find(|trial| trial.observed.name == name);
        let mut told = Vec::new();
        for trial in [&*decision.chosen, self.default].into_iter().filter_map(of_name) {
            let of_seeds = tandem_scenario::cautions(&trial.scenario, &trial.seeds);
            for caution in of_seeds.into_iter().chain(cautions(&trial.scenario)) {
                if !told.contains(&caution) {
                    told.push(caution);
                }
            }
        }
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        Ok(Some(Answer {
            case: case.clone(),
            length,
            reference: reference_flows.name.clone(),
            completion_s: match self.transfer {
                Some(_) => trials[..reference].iter().map(|trial| mean(&trial.completion_s)).collect(),
                None => Vec::new(),
            },
            is_extrapolated: trials.iter().any(|trial| trial.is_extrapolated),
            cautions: told,
            is_cut_short,
            decision,
        }))
    }

    /// What would be in the flows' place: another of the first neighbour's kind, or without neighbours what the machine has now.
    fn reference(&self, case: &Case) -> Flows {
        let own = &self.candidates[0].flows;
        let default = self.candidates.iter().find(|c| c.flows.name == self.default).map_or(own, |c| &c.flows);
        case.neighbours.0.first().unwrap_or(default).with_count(own.count)
    }

    /// How long runs are, and when the flows begin.
    fn length(&self, case: &Case, reference: &Flows) -> Result<(Length, Span), Failure> {
        let usual = Length { warmup: Span::default(), ..USUAL };
        let draft = self.known.scenario(case, reference, Span::default(), None, usual)?;
        let reason = Reason::of(std::slice::from_ref(&draft), BOUNDS, false);
        let Some(Bytes(bytes)) = self.transfer else {
            return Ok((reason.length(self.duration, self.warmup), Span::default()));
        };
        // Neighbours are there before, and past their slow start. A transfer at its fair share has time to end twice.
        let start_s = if case.neighbours.0.is_empty() { 0.0 } else { (2.0 * reason.slow_start_s).ceil() };
        let flows = reference.count + case.neighbours.0.iter().map(|flows| flows.count).sum::<u32>();
        let fair_bps = self.known.rate.bps as f64 * f64::from(reference.count) / f64::from(flows);
        let wanted_s = start_s + 2.0 * bytes as f64 * 8.0 / fair_bps + 2.0 * reason.slow_start_s;
        let duration =
            self.duration.unwrap_or(Span::from_secs(wanted_s.min(start_s + reason.most_s).ceil().max(1.0) as u64));
        let start = Span::from_secs(start_s as u64).min(Span { ns: duration.ns / 2 });
        Ok((Length { duration, warmup: Span::default() }, start))
    }

    fn decide(&self, trials: &[Trial]) -> Option<Decision> {
        let (reference, candidates) = trials.split_last()?;
        let observed: Vec<Observed> = candidates.iter().map(|trial| trial.observed.clone()).collect();
        decide(&observed, self.default, &reference.observed, self.limits)
    }

    /// Runs these seeds of these trials; false, and nothing is added, if not all were finished.
    fn add_seeds(
        &self,
        trials: &mut [Trial],
        who: &[usize],
        seeds: std::ops::Range<u64>,
        clock: &Clock,
        obeys_time: bool,
    ) -> Result<bool, Failure> {
        let scenarios: Vec<Scenario> =
            who.iter().map(|&i| trials[i].scenario.clone().with_seeds(seeds.clone())).collect();
        let tasks: Vec<Task> =
            scenarios.iter().map(|scenario| Task { scenario, engine: &Sim, traces: Traces::None }).collect();
        let outcome = clock.watch(obeys_time, |stop| {
            Batch { cancelled: Some(stop), quiet: is_quiet(), ..Batch::default() }.run(&tasks)
        })?;
        if outcome.seeds.iter().any(|of_task| of_task.len() as u64 != seeds.end - seeds.start) {
            return Ok(false);
        }
        for (&i, results) in who.iter().zip(outcome.seeds) {
            results.into_iter().for_each(|result| trials[i].add(result, self.transfer));
        }
        Ok(true)
    }
}

impl Trial {
    fn add(&mut self, result: SeedResult, transfer: Option<Bytes>) {
        let (own, others) = result.flows.split_at(self.flows as usize);
        let goodput = |flows: &[tandem_scenario::result::FlowResult]| flows.iter().map(|f| f.goodput_mbps).sum::<f64>();
        let Some(Bytes(bytes)) = transfer else {
            self.observed.goodput_mbps.push(goodput(own));
            self.observed.delay_ms.push(result.links[0].queueing_delay_ms.p95);
            if !others.is_empty() {
                self.observed.neighbours_mbps.push(goodput(others));
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
        self.observed.goodput_mbps.push(size_mbit / time_s);
        // What its own packets waited: the queue is another's once it has ended.
        let base_ms = self.scenario.base_rtt(&self.scenario.groups[0]).as_secs_f64() * 1e3;
        self.observed.delay_ms.push(result.rtt_ms.first().map_or(0.0, |rtt| (rtt.p95 - base_ms).max(0.0)));
        if !others.is_empty() {
            let theirs = sum_by_second(others);
            let from = (start_s as usize).min(theirs.len().saturating_sub(1));
            let to = ((start_s + time_s).ceil() as usize).clamp(from + 1, theirs.len().max(from + 1));
            let during = &theirs[from..to.min(theirs.len())];
            self.observed.neighbours_mbps.push(during.iter().sum::<f64>() / during.len().max(1) as f64);
        }
        self.seeds.push(result);
    }
}

/// What flows received in each second, megabits.
fn sum_by_second(flows: &[tandem_scenario::result::FlowResult]) -> Vec<f64> {
    let seconds = flows.iter().map(|flow| flow.received_mbit_by_second.len()).max().unwrap_or(0);
    let second =
        |s: usize| flows.iter().filter_map(|flow| flow.received_mbit_by_second.get(s)).map(|&m| f64::from(m)).sum();
    (0..seconds).map(second).collect()
}

/// The time that a transfer takes which a run has not seen the end of: what is left goes at the pace of the later half of the run.
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
    fn the_rest_of_a_transfer_goes_at_the_pace_of_the_later_half() {
        // Two silent seconds, then 10 and 20 in slow start and 50 twice: 130 of 1000 Mb after 4 s, the rest at 50 Mb/s.
        let time = extrapolated_s(1000.0, 2.0, 6.0, &[0.0, 0.0, 10.0, 20.0, 50.0, 50.0]);
        assert!((time - (4.0 + 870.0 / 50.0)).abs() < 1e-9, "{time}");
        assert_eq!(extrapolated_s(1000.0, 0.0, 2.0, &[0.0, 0.0]), f64::INFINITY);
    }
}
