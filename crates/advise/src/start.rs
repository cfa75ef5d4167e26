// SPDX-License-Identifier: MIT OR Apache-2.0
//! How flows begin on a path that is in use: how long until they have what they get in the end, and what that costs the neighbours.
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

/// A start is over when so much of the steady goodput is there. Ours.
const NEARLY: f64 = 0.9;
/// How many seeds show it, at most.
const SEEDS: u64 = 8;
/// Fewer seconds show no start: they are what a start is measured in.
const LEAST_S: f64 = 2.0;

/// How a controller's flows begin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StartUp {
    /// With its parameters.
    pub controller: String,
    /// From the start until the mean goodput stays at 90 % of the steady one or above, however long it is taken from there on.
    pub seconds: Estimate,
    /// Some runs ended before that: it takes longer.
    pub is_at_least: bool,
    /// The share of their goodput in the end that neighbours lose in these seconds; null without neighbours.
    pub neighbours_lose: Option<Estimate>,
}

/// What one seed shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Begun {
    pub seconds: f64,
    /// The run ended before the start.
    pub is_at_least: bool,
    pub neighbours_lose: Option<f64>,
}

impl StartUp {
    pub(crate) fn of(controller: &str, seeds: &[Begun]) -> Option<Self> {
        let all = |of: fn(&Begun) -> f64| Estimate::of_mean(&seeds.iter().map(of).collect::<Vec<_>>());
        let lost: Option<Vec<f64>> = seeds.iter().map(|seed| seed.neighbours_lose).collect();
        (!seeds.is_empty()).then(|| Self {
            controller: controller.to_owned(),
            seconds: all(|seed| seed.seconds),
            is_at_least: seeds.iter().any(|seed| seed.is_at_least),
            neighbours_lose: lost.map(|lost| Estimate::of_mean(&lost)),
        })
    }
}

impl Begun {
    /// From what flows received in each second since they began, and what they get in a second in the end; the neighbours' likewise, if there
    /// are some. `None` if nothing is steady.
    pub fn of(own: &[f64], steady: f64, neighbours: Option<(&[f64], f64)>) -> Option<Self> {
        if own.is_empty() || steady <= 0.0 {
            return None;
        }
        let over = steady_from(own, NEARLY * steady);
        // Whole seconds: the start ends somewhere in this one.
        let seconds = over.map_or(own.len(), |second| second + 1);
        let lost = |(theirs, steady): (&[f64], f64)| 1.0 - mean(&theirs[..seconds.min(theirs.len())]) / steady;
        Some(Self {
            seconds: seconds as f64,
            is_at_least: over.is_none(),
            neighbours_lose: neighbours.filter(|(theirs, steady)| !theirs.is_empty() && *steady > 0.0).map(lost),
        })
    }
}

/// The first second from which on no mean, however many seconds it takes in, is below `level`. One good second among bad ones ends no start,
/// and one bad second among good ones does not begin it anew. It is where the increasing curve that fits best reaches the level.
fn steady_from(by_second: &[f64], level: f64) -> Option<usize> {
    // From the end: the least sum of what is above the level from a second on, up to any later one.
    let mut least_after = 0.0f64;
    let mut first = None;
    for (second, value) in by_second.iter().enumerate().rev() {
        let least = value - level + least_after.min(0.0);
        if least >= 0.0 {
            first = Some(second);
        }
        least_after = least;
    }
    first
}

/// What flows received in each second, megabits.
pub fn sum_by_second(flows: &[FlowResult]) -> Vec<f64> {
    let seconds = flows.iter().map(|flow| flow.received_mbit_by_second.len()).max().unwrap_or(0);
    let second =
        |s: usize| flows.iter().filter_map(|flow| flow.received_mbit_by_second.get(s)).map(|&m| f64::from(m)).sum();
    (0..seconds).map(second).collect()
}

impl Question<'_> {
    /// How the choice begins on the usual path, and the default if it is another; nothing of what there is no time for.
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

    /// When the flows begin, and how long the runs are: the neighbours' slow start twice, then slow start and a time from loss to loss.
    fn start_length(&self, case: &Case) -> Result<Option<(Span, Length)>, AdviseError> {
        let reference = self.reference(case);
        let reason: Reason = self.reason(case, &reference)?;
        let start_s = if case.neighbours.0.is_empty() { 0.0 } else { (2.0 * reason.slow_start_s).ceil() };
        let seen_s = reason.length(self.duration, None).warmup.as_secs_f64().ceil().max(LEAST_S);
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
        let neighbours = (!theirs.is_empty()).then_some((theirs, observed.neighbours_mean_mbps()));
        Begun::of(own.get(from..)?, mean(&observed.goodput_mbps), neighbours)
    };
    StartUp::of(&observed.name, &seeds.iter().map(begun).collect::<Option<Vec<_>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_over_when_no_later_mean_is_low() {
        assert_eq!(steady_from(&[0.0, 10.0, 44.0, 45.0, 50.0], 45.0), Some(3));
        // The peak of a slow start that lost much: (60 + 5 + 5) / 3 is below 45.
        assert_eq!(steady_from(&[60.0, 5.0, 5.0, 50.0, 50.0], 45.0), Some(3));
        // A saw between 30 and 60 has a mean of 45: it is steady from its first tooth on, wherever it stands.
        assert_eq!(steady_from(&[1.0, 60.0, 30.0, 60.0, 30.0, 60.0], 45.0), Some(1));
        assert_eq!(steady_from(&[1.0, 30.0, 60.0, 30.0, 60.0, 30.0, 60.0], 45.0), Some(2));
        // 48 on average; but 40 are too few.
        assert_eq!((steady_from(&[50.0, 50.0, 44.0], 45.0), steady_from(&[50.0, 50.0, 20.0], 45.0)), (Some(0), None));
        assert_eq!(steady_from(&[], 45.0), None);
    }

    #[test]
    fn neighbours_lose_while_it_begins() {
        // 90 % of 50 are there from the third second on; then the neighbours had 40, 20 and 30 of 40: three quarters.
        let begun = Begun::of(&[0.0, 20.0, 50.0, 50.0], 50.0, Some((&[40.0, 20.0, 30.0, 40.0], 40.0))).unwrap();
        assert_eq!((begun.seconds, begun.is_at_least), (3.0, false));
        assert!((begun.neighbours_lose.unwrap() - 0.25).abs() < 1e-12);
        let slow = Begun::of(&[0.0, 10.0], 50.0, None).unwrap();
        assert_eq!(slow, Begun { seconds: 2.0, is_at_least: true, neighbours_lose: None });
        assert_eq!(Begun::of(&[0.0], 0.0, None), None);
    }

    #[test]
    fn one_run_that_did_not_end_makes_it_a_bound() {
        let begun = |seconds, is_at_least| Begun { seconds, is_at_least, neighbours_lose: Some(0.1) };
        let both = StartUp::of("reno", &[begun(2.0, false), begun(4.0, true)]).unwrap();
        assert_eq!((both.seconds.value, both.is_at_least), (3.0, true));
        assert!((both.neighbours_lose.unwrap().value - 0.1).abs() < 1e-12);
        assert_eq!(StartUp::of("reno", &[]), None);
    }
}
