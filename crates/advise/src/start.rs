// SPDX-License-Identifier: MIT OR Apache-2.0
//! How flows begin on a path in use: the time until they have their final goodput, and its cost to the neighbours.
//!
//! Where transfers are asked for, their own runs show it. Otherwise the choice and the default are run once more, with neighbours that are past
//! their own slow start.

use serde::Serialize;
use tandem_batch::{Batch, Clock, Task, Traces};
use tandem_compare::{Flows, Length, Reason};
use tandem_results::{FlowResult, SeedResult};
use tandem_scenario::{Scenario, units::Span};
use tandem_statistics::{Estimate, mean};

use crate::{AdviseError, Answer, Case, Question, rule::Observed};

/// A start is over at this share of the steady goodput. Ours.
const NEARLY: f64 = 0.9;
/// The most seeds for it.
const SEEDS: u64 = 8;
/// Length of these runs relative to the warm-up of the others. Ours.
const WARMUPS: f64 = 2.0;
/// Fewer seconds show no start: they are what a start is measured in.
const LEAST_S: f64 = 2.0;

/// How a controller's flows begin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StartUp {
    /// With its parameters.
    pub controller: String,
    /// Time until the increasing curve fitted to all seeds' goodput reaches 90 % of the steady one; the interval is the jackknife's.
    pub seconds: Estimate,
    /// The runs ended before that: it takes longer.
    pub is_at_least: bool,
    /// The share of their goodput in the end that neighbours lose in these seconds; null without neighbours.
    pub neighbours_lose: Option<Estimate>,
}

/// One seed, second by second since the flows began: goodput as a share of the final one.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    pub own: Vec<f64>,
    /// Empty without neighbours.
    pub neighbours: Vec<f64>,
}

impl Begun {
    /// `None` if nothing is steady.
    pub fn of(own: &[f64], steady: f64, neighbours: &[f64], neighbours_steady: f64) -> Option<Self> {
        let shares = |by_second: &[f64], steady: f64| by_second.iter().map(|mbit| mbit / steady).collect::<Vec<f64>>();
        let neighbours = if neighbours_steady > 0.0 { shares(neighbours, neighbours_steady) } else { Vec::new() };
        (!own.is_empty() && steady > 0.0).then(|| Self { own: shares(own, steady), neighbours })
    }
}

impl StartUp {
    pub(crate) fn of(controller: &str, seeds: &[Begun]) -> Option<Self> {
        let length = seeds.iter().map(|seed| seed.own.len()).min()?;
        let over_without = |left_out: Option<usize>| {
            let kept = || seeds.iter().enumerate().filter(|(i, _)| Some(*i) != left_out).map(|(_, seed)| seed);
            let mean_of = |second: usize| mean(&kept().map(|seed| seed.own[second]).collect::<Vec<_>>());
            reaches(&(0..length).map(mean_of).collect::<Vec<_>>(), NEARLY)
        };
        let (over, all_s) = (over_without(None), length as f64);
        let (seconds, n) = (over.unwrap_or(all_s), seeds.len() as f64);
        let pseudo = |seed| n * seconds - (n - 1.0) * over_without(Some(seed)).unwrap_or(all_s);
        let spread = Estimate::of_mean(&(0..seeds.len()).map(pseudo).collect::<Vec<_>>());
        Some(Self {
            controller: controller.to_owned(),
            seconds: Estimate::kept(seconds, spread.half_width),
            is_at_least: over.is_none(),
            neighbours_lose: neighbours_lose(seeds, (seconds.ceil() as usize).max(1)),
        })
    }
}

/// In the first seconds.
fn neighbours_lose(seeds: &[Begun], seconds: usize) -> Option<Estimate> {
    let lost = |seed: &Begun| seed.neighbours.get(..seconds).map(|shares| 1.0 - mean(shares));
    seeds.iter().map(lost).collect::<Option<Vec<_>>>().map(|lost| Estimate::of_mean(&lost))
}

/// When the best-fitting increasing curve reaches a level: one good second among bad ones does not end a start, and one bad second
/// among good ones does not restart it. Each value belongs to the middle of its second.
fn reaches(by_second: &[f64], level: f64) -> Option<f64> {
    let fit = increasing(by_second);
    let second = fit.iter().position(|&value| value >= level)?;
    let (before, value) = (if second == 0 { 0.0 } else { fit[second - 1] }, fit[second]);
    let (from, to) = ((second as f64 - 0.5).max(0.0), second as f64 + 0.5);
    Some(from + (to - from) * (level - before) / (value - before))
}

/// The increasing values with the least squares of differences from these: neighbours that fall are pooled until none is left.
fn increasing(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        let mut pool = (value, 1);
        while let Some(&(before, count)) = pools.last().filter(|(before, _)| *before >= pool.0) {
            let all = count + pool.1;
            pool = ((before * count as f64 + pool.0 * pool.1 as f64) / all as f64, all);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(value, count)| std::iter::repeat_n(value, count)).collect()
}

/// What flows received in each second, megabits.
pub fn sum_by_second(flows: &[FlowResult]) -> Vec<f64> {
    let seconds = flows.iter().map(|flow| flow.received_mbit_by_second.len()).max().unwrap_or(0);
    let second =
        |s: usize| flows.iter().filter_map(|flow| flow.received_mbit_by_second.get(s)).map(|&m| f64::from(m)).sum();
    (0..seconds).map(second).collect()
}

impl Question<'_> {
    /// How the choice and, if different, the default begin on the usual path; nothing for those without time.
    pub(crate) fn starts(&self, usual: &Answer, clock: &Clock) -> Result<Vec<StartUp>, AdviseError> {
        let is_compared =
            |starts: &&StartUp| usual.decision.chosen == starts.controller || starts.controller == self.default;
        if self.transfer.is_some() {
            return Ok(usual.starts.iter().filter(is_compared).cloned().collect());
        }
        let mut names = vec![&*usual.decision.chosen];
        names.extend((self.default != usual.decision.chosen).then_some(self.default));
        let found = names.iter().map(|name| {
            let flows = self.candidates.iter().map(|candidate| &candidate.flows).find(|flows| flows.name == *name);
            usual.observed.iter().find(|observed| observed.name == *name).zip(flows)
        });
        let Some(found) = found.collect::<Option<Vec<(&Observed, &Flows)>>>() else { return Ok(Vec::new()) };
        let Some((start, length)) = self.start_length(&usual.case)? else { return Ok(Vec::new()) };
        let seeds = SEEDS.min(self.most_seeds);
        let scenario = |(_, flows): &(&Observed, &Flows)| {
            let scenario = self.known.scenario(&usual.case, flows, start, None, length)?;
            Ok(scenario.with_seeds(self.first_seed..self.first_seed + seeds))
        };
        let scenarios = found.iter().map(scenario).collect::<Result<Vec<Scenario>, AdviseError>>()?;
        let task = |scenario| Task { scenario, engine: self.engine, traces: Traces::None };
        let tasks: Vec<Task> = scenarios.iter().map(task).collect();
        let batch = Batch { quiet: true, store: self.store, ..Batch::default() };
        let outcome = clock.watch(true, |stop| Batch { cancelled: Some(stop), ..batch }.run(&tasks))?;
        let of_all = found.iter().zip(&outcome.seeds).filter(|(_, results)| results.len() as u64 == seeds);
        Ok(of_all.filter_map(|((observed, flows), seeds)| start_up(observed, flows, seeds, start)).collect())
    }

    /// When the flows begin, and how long the runs are: the neighbours' slow start twice, then twice slow start and a time from loss to loss.
    fn start_length(&self, case: &Case) -> Result<Option<(Span, Length)>, AdviseError> {
        let reference = self.reference(case);
        let reason: Reason = self.reason(case, &reference)?;
        let start_s = if case.neighbours.0.is_empty() { 0.0 } else { (2.0 * reason.slow_start_s).ceil() };
        let seen_s = WARMUPS * reason.length(self.duration, None).warmup.as_secs_f64().ceil().max(LEAST_S);
        if start_s + seen_s > reason.most_s.max(LEAST_S) {
            return Ok(None);
        }
        let start = Span::from_secs(start_s as u64);
        Ok(Some((start, Length { duration: Span::from_secs((start_s + seen_s) as u64), warmup: start })))
    }
}

fn start_up(observed: &Observed, flows: &Flows, seeds: &[SeedResult], start: Span) -> Option<StartUp> {
    let from = start.as_secs_f64() as usize;
    let begun = |seed: &SeedResult| {
        let (own, others) = seed.flows.split_at(flows.count as usize);
        let [own, others] = [own, others].map(sum_by_second);
        let theirs = others.get(from..).unwrap_or_default();
        Begun::of(own.get(from..)?, mean(&observed.goodput_mbps), theirs, observed.neighbours_mean_mbps())
    };
    StartUp::of(&observed.name, &seeds.iter().map(begun).collect::<Option<Vec<_>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_is_pooled() {
        assert_eq!(increasing(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        // A peak of 6 that is followed by 0 and 0 is no more than 2.
        assert_eq!(increasing(&[6.0, 0.0, 0.0, 5.0]), [2.0, 2.0, 2.0, 5.0]);
        assert!(increasing(&[]).is_empty());
    }

    #[test]
    fn a_level_is_reached_between_the_middles_of_two_seconds() {
        // From 0.4 at 1.5 s to 1.0 at 2.5 s: 0.9 at 5 / 6 of the way.
        assert!((reaches(&[0.0, 0.4, 1.0, 1.0], 0.9).unwrap() - (1.5 + 5.0 / 6.0)).abs() < 1e-12);
        // From nothing at the start to 1.8 in the middle of the first second.
        assert!((reaches(&[1.8, 1.8], 0.9).unwrap() - 0.25).abs() < 1e-12);
        // A saw with a mean of 1 is there from its first tooth on.
        assert!(reaches(&[0.1, 1.2, 0.8, 1.2, 0.8, 1.2], 0.9).unwrap() < 1.5);
        assert_eq!(reaches(&[0.5, 1.0, 0.6], 0.9), None);
    }

    fn seed(own: &[f64], neighbours: &[f64]) -> Begun {
        Begun { own: own.into(), neighbours: neighbours.into() }
    }

    #[test]
    fn seeds_are_averaged_before_they_are_judged() {
        // One is early and one late, 0.5 and 1.1 on average: 0.9 is 2 / 3 of the way from 0.5 s to 1.5 s. Alone they reach it at 0.5 - 0.1 / 2 and at
        // 0.5 + 0.9 / 1.2 s.
        let start = StartUp::of("reno", &[seed(&[1.0, 1.0], &[0.5, 0.9]), seed(&[0.0, 1.2], &[0.7, 0.7])]).unwrap();
        assert!((start.seconds.value - 7.0 / 6.0).abs() < 1e-12 && !start.is_at_least, "{start:?}");
        // Pseudo-values 2 * 7 / 6 less the other one's time, 1.25 or 0.45: 1.0833 and 1.8833, which differ by 0.8; 12.706 * 0.4.
        assert!((start.seconds.half_width.unwrap() - 12.706 * 0.4).abs() < 1e-3, "{start:?}");
        // In two seconds they lose 30 % each.
        let lost = start.neighbours_lose.unwrap();
        assert!((lost.value - 0.3).abs() < 1e-12 && lost.half_width.unwrap() < 1e-9, "{lost:?}");
    }

    #[test]
    fn a_run_that_ends_too_early_gives_a_bound() {
        let start = StartUp::of("reno", &[seed(&[0.1, 0.2], &[]), seed(&[0.1, 0.3], &[])]).unwrap();
        assert_eq!((start.seconds.value, start.is_at_least, start.neighbours_lose), (2.0, true, None));
        assert_eq!(StartUp::of("reno", &[]), None);
        assert_eq!(Begun::of(&[1.0], 0.0, &[], 0.0), None);
    }
}
