// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the candidates on each path until the rule can decide.

use std::{sync::atomic::AtomicBool, time::Instant};

use tandem_batch::{Batch, Clock, Ended, Store, Task, Traces, Until};
use tandem_compare::{Bounds, Flows, Length, Reason, USUAL};
use tandem_engine::Engine;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    units::{Bytes, Span},
};
use tandem_statistics::{Looks, mean};

use crate::{
    AdviseError, Candidate, Case, Known,
    rule::{Decision, Limits, Observed, decide},
    trial::Trial,
};

/// The most of a path that is not the usual one. Ours.
const SEEDS_OF_OTHERS: u64 = 7;
/// A run of so many packets takes about a second. Ours.
const BOUNDS: Bounds = Bounds { most_packets: 30e6, least_s: 5.0, rounds: 20e3 };
/// With less time than this, runs are shorter in proportion.
const TIME_FOR_LONG_RUNS: Span = Span::from_secs(60);
/// Runs that show that they are not steady are made longer, up to so many packets and seconds. Ours.
const MOST_PACKETS: f64 = 120e6;
const MOST_S: f64 = 2400.0;
/// By how much. What was measured before is cut off then.
const LONGER: u64 = 3;
/// Of the time that the first seeds of the usual path leave, for more of them. Ours.
const SHARE_OF_USUAL: f64 = 0.5;

/// What all cases share.
pub struct Question<'a> {
    /// The path.
    pub known: &'a Known,
    /// What to choose from.
    pub candidates: &'a [Candidate],
    /// The name of one of the candidates: what the machine runs now.
    pub default: &'a str,
    /// What a controller may do to others, and what is worth a change.
    pub limits: Limits,
    /// What all own flows have to send together; endless if not given.
    pub transfer: Option<Bytes>,
    /// The others follow.
    pub first_seed: u64,
    /// Of a controller on a path.
    pub most_seeds: u64,
    /// How long each run lasts; as long as the path needs if not given.
    pub duration: Option<Span>,
    /// Cut from every measure; slow start and one time from loss to loss if not given.
    pub warmup: Option<Span>,
    /// What runs the scenarios.
    pub engine: &'a dyn Engine,
    /// Set by another thread to end early.
    pub cancelled: Option<&'a AtomicBool>,
    /// Draws no bar, on a terminal either.
    pub quiet: bool,
    /// Keeps finished runs, and knows those that were finished before.
    pub store: Option<&'a Store>,
    /// How much there is for all cases.
    pub time: Span,
}

/// What came of a case.
pub struct Answer {
    /// The path.
    pub case: Case,
    /// The choice.
    pub decision: Decision,
    /// How long each run lasts.
    pub length: Length,
    /// What losses and delays are measured against: the flows run this controller.
    pub reference: String,
    /// Each candidate's mean time for the transfer, seconds, in the order of the candidates; empty if there is none.
    pub completion_s: Vec<f64>,
    /// Did a transfer last longer than its run?
    pub is_extrapolated: bool,
    /// Of the choice and of the default.
    pub cautions: Vec<String>,
    /// There was no time for the seeds that it needs.
    pub is_cut_short: bool,
    /// What the choice is made from: that of the candidates for which there was time, and the reference's.
    observed: Vec<Observed>,
    observed_reference: Observed,
    looks: Looks,
}

/// What came of some cases.
pub struct Answers {
    /// Of the first cases, in their order.
    pub answers: Vec<Answer>,
    /// The cases for which there was no time, by what differs.
    pub not_looked_at: Vec<String>,
}

impl Question<'_> {
    /// Refuses what no run can be made of, before anything is written.
    ///
    /// # Errors
    /// If the path makes no sense, or the engine cannot run it.
    pub fn check(&self, case: &Case) -> Result<(), AdviseError> {
        let reference = self.reference(case);
        let (length, start) = self.length(case, &reference)?;
        let all = self.candidates.iter().map(|c| &c.flows).chain([&reference]);
        for flows in all.chain(&case.neighbours.0) {
            let scenario = self.known.scenario(case, flows, start, self.transfer, length)?;
            self.engine.check(&scenario, false)?;
        }
        Ok(())
    }

    /// Answers cases in order until the time is over; a case of which not all candidates could be run counts only if it is the first. What the others
    /// show may change the first answer. Nothing, if there was not even time for two runs of the default and of what it is measured against.
    ///
    /// # Errors
    /// If a case makes no sense, or a run fails.
    pub fn answers(&self, cases: &[Case]) -> Result<Answers, AdviseError> {
        let clock = Clock::new(self.time, self.cancelled);
        let mut answers: Vec<Answer> = Vec::new();
        for (i, case) in cases.iter().enumerate() {
            // All of the time, or an equal part of what is left.
            let share = if i == 0 { 1.0 } else { 1.0 / (cases.len() - i) as f64 };
            match self.answer(case, &clock.part(share), i == 0 && cases.len() > 1)? {
                Some(answer) if i == 0 || answer.observed.len() == self.candidates.len() => answers.push(answer),
                _ => break,
            }
            if clock.is_over() {
                break;
            }
        }
        if let Some((usual, others)) = answers.split_first_mut() {
            self.learn_from(usual, others);
        }
        let not_looked_at = cases[answers.len()..].iter().map(|case| case.differs.clone()).collect();
        Ok(Answers { answers, not_looked_at })
    }

    /// What exceeds a limit on a path that is as likely, where the default keeps it, is no choice for the usual path either.
    fn learn_from(&self, usual: &mut Answer, others: &[Answer]) {
        for observed in &mut usual.observed {
            let exceeds =
                |name: &str, other: &&Answer| other.decision.of(name).is_some_and(|judged| !judged.is_within_limits);
            let worse = others.iter().filter(|other| exceeds(&observed.name, other) && !exceeds(self.default, other));
            observed.exceeds_with = worse.map(|other| other.case.differs.clone()).collect();
        }
        let Answer { observed, observed_reference, looks, .. } = &*usual;
        if let Some(decision) = decide(observed, self.default, observed_reference, self.limits, looks) {
            usual.decision = decision;
        }
    }

    /// Runs that are long enough, as far as the time allows. `None` if there was none for the first of them.
    fn answer(&self, case: &Case, clock: &Clock, is_first: bool) -> Result<Option<Answer>, AdviseError> {
        let reference = self.reference(case);
        let (mut length, start) = self.length(case, &reference)?;
        let mut answer = None;
        loop {
            let began = Instant::now();
            let Some(next) = self.answer_of_length(case, &reference, (length, start), clock, is_first)? else { break };
            let took_s = began.elapsed().as_secs_f64();
            let longer = Length { duration: Span { ns: LONGER * length.duration.ns }, warmup: length.duration };
            let is_steady = next.observed.iter().chain([&next.observed_reference]).all(|o| o.is_steady(&next.looks));
            answer = Some(next);
            let left_s = if is_first { SHARE_OF_USUAL } else { 1.0 } * clock.left().as_secs_f64();
            let has_time = took_s * LONGER as f64 <= left_s && !clock.is_cancelled();
            if is_steady || !has_time || !self.may_last(case, longer) {
                break;
            }
            length = longer;
        }
        Ok(answer)
    }

    /// Whether runs may be as long as that, where nobody has said how long.
    fn may_last(&self, case: &Case, length: Length) -> bool {
        let seconds = length.duration.as_secs_f64();
        let packets = seconds * case.rate.bps as f64 / 8.0 / f64::from(self.known.mtu());
        let is_given = self.duration.is_some() || self.warmup.is_some() || self.transfer.is_some();
        !is_given && packets <= MOST_PACKETS && seconds <= MOST_S
    }

    fn answer_of_length(
        &self,
        case: &Case,
        reference: &Flows,
        (length, start): (Length, Span),
        clock: &Clock,
        is_first: bool,
    ) -> Result<Option<Answer>, AdviseError> {
        let own = self.candidates.iter().map(|c| (&c.flows, c.effort)).chain([(reference, 0)]);
        let trial = |(flows, effort): (&Flows, u8)| {
            let scenario = self.known.scenario(case, flows, start, self.transfer, length)?;
            Ok::<_, AdviseError>(Trial::new(scenario, flows, effort))
        };
        let mut trials: Vec<Trial> = own.map(trial).collect::<Result<_, _>>()?;
        let looks = self.looks(case.differs.is_empty());
        let Some((decision, is_cut_short)) = self.settle(&mut trials, &looks, clock, is_first)? else {
            return Ok(None);
        };
        let Some((observed_reference, candidates)) = trials.split_last() else { return Ok(None) };
        Ok(Some(Answer {
            case: case.clone(),
            length,
            reference: reference.name.clone(),
            completion_s: match self.transfer {
                Some(_) => candidates.iter().map(|trial| mean(&trial.completion_s)).collect(),
                None => Vec::new(),
            },
            is_extrapolated: trials.iter().any(|trial| trial.is_extrapolated),
            cautions: self.cautions(candidates, &decision),
            is_cut_short,
            decision,
            observed: candidates.iter().filter(|trial| trial.has_run()).map(|trial| trial.observed.clone()).collect(),
            observed_reference: observed_reference.observed.clone(),
            looks,
        }))
    }

    fn looks(&self, is_usual: bool) -> Looks {
        let most_seeds = if is_usual { self.most_seeds } else { self.most_seeds.min(SEEDS_OF_OTHERS) };
        Looks::up_to(most_seeds as usize)
    }

    /// Adds seeds until all is clear, no more are allowed or the time is up, which the flag tells. The last trial is the reference's. `None` if
    /// there was no time for two runs of it and of the default.
    fn settle(
        &self,
        trials: &mut [Trial],
        looks: &Looks,
        clock: &Clock,
        is_first: bool,
    ) -> Result<Option<(Decision, bool)>, AdviseError> {
        let seeds = self.first_seed..self.first_seed + looks.most() as u64;
        let scenarios: Vec<Scenario> =
            trials.iter().map(|trial| trial.scenario.clone().with_seeds(seeds.clone())).collect();
        let task = |scenario| Task { scenario, engine: self.engine, traces: Traces::None };
        let tasks: Vec<Task> = scenarios.iter().map(task).collect();
        let mut latest: Option<Decision> = None;
        let look = |results: &[Vec<SeedResult>]| {
            self.take_in(trials, results);
            let decision = self.decide(trials, looks).ok_or(AdviseError::NoDefault)?;
            let is_needed = if decision.is_clear { vec![false; trials.len()] } else { self.needed(trials, &decision) };
            latest = Some(decision);
            Ok::<_, AdviseError>(is_needed)
        };
        let batch = Batch { quiet: self.quiet, store: self.store, ..Batch::default() };
        let has = self.first_seeds(&batch, &tasks, looks, clock)?;
        // More of them leave time for other paths.
        let clock = &clock.part(if is_first { SHARE_OF_USUAL } else { 1.0 });
        let until = Until { looks, clock, first_obeys_time: true };
        let settled = batch.run_until(&tasks, until, has, look)?;
        if latest.is_none() {
            // Not all of the first look: what there is.
            self.take_in(trials, &settled.seeds);
            latest = self.decide(trials, looks);
        }
        let is_cut_short = matches!(settled.ended, Ended::OutOfTime | Ended::Interrupted);
        Ok(latest.map(|decision| (decision, is_cut_short)))
    }

    /// The first seeds of all: first of the default and of the reference, without which the others tell nothing, however short the time is.
    fn first_seeds(
        &self,
        batch: &Batch,
        tasks: &[Task],
        looks: &Looks,
        clock: &Clock,
    ) -> Result<Vec<Vec<SeedResult>>, AdviseError> {
        let is_default = |i: usize| self.candidates.get(i).is_some_and(|c| c.flows.name == self.default);
        let (needed, others): (Vec<usize>, Vec<usize>) =
            (0..tasks.len()).partition(|&i| is_default(i) || i == tasks.len() - 1);
        let mut has = vec![Vec::new(); tasks.len()];
        for places in [needed, others] {
            let first = |&i: &usize| {
                let scenario = tasks[i].scenario;
                scenario.clone().with_seeds(scenario.seeds.iter().copied().take(looks.first()))
            };
            let scenarios: Vec<Scenario> = places.iter().map(first).collect();
            let firsts: Vec<Task> =
                scenarios.iter().zip(&places).map(|(scenario, &i)| Task { scenario, ..tasks[i] }).collect();
            let outcome = clock.watch(true, |stop| Batch { cancelled: Some(stop), ..*batch }.run(&firsts))?;
            for (place, seeds) in places.into_iter().zip(outcome.seeds) {
                has[place] = seeds;
            }
        }
        Ok(has)
    }

    /// What is new of the results.
    fn take_in(&self, trials: &mut [Trial], results: &[Vec<SeedResult>]) {
        for (trial, results) in trials.iter_mut().zip(results) {
            let new = &results[trial.seeds.len()..];
            new.iter().for_each(|result| trial.add(result.clone(), self.transfer));
        }
    }

    /// Those whose next seeds could change the decision, and those that they are compared with.
    fn needed(&self, trials: &[Trial], decision: &Decision) -> Vec<bool> {
        let best = decision.controllers.iter().find(|judged| judged.is_within_limits);
        let compared = [Some(self.default), Some(&*decision.chosen), best.map(|judged| &*judged.controller)];
        let is_needed = |(i, trial): (usize, &Trial)| {
            let name = &*trial.observed.name;
            let is_open = decision.of(name).is_some_and(|judged| judged.is_open);
            let is_reference = i == trials.len() - 1;
            is_reference || is_open || compared.contains(&Some(name))
        };
        trials.iter().enumerate().map(is_needed).collect()
    }

    /// Of the choice and of the default, each once.
    fn cautions(&self, candidates: &[Trial], decision: &Decision) -> Vec<String> {
        let of_name = |name: &str| candidates.iter().find(|trial| trial.observed.name == name);
        let mut cautions = Vec::new();
        for trial in [&*decision.chosen, self.default].into_iter().filter_map(of_name) {
            let of_seeds = tandem_results::cautions(&trial.scenario, &trial.seeds);
            for caution in of_seeds.into_iter().chain(tandem_model::loss_cycle::cautions(&trial.scenario)) {
                if !cautions.contains(&caution) {
                    cautions.push(caution);
                }
            }
        }
        cautions
    }

    /// What would be in the flows' place: another of the first neighbour's kind, or without neighbours what the machine has now.
    fn reference(&self, case: &Case) -> Flows {
        let own = &self.candidates[0].flows;
        let default = self.candidates.iter().find(|c| c.flows.name == self.default).map_or(own, |c| &c.flows);
        case.neighbours.0.first().unwrap_or(default).with_count(own.count)
    }

    /// How long runs are, and when the flows begin. All are as long as the slowest of them needs.
    fn length(&self, case: &Case, reference: &Flows) -> Result<(Length, Span), AdviseError> {
        let usual = Length { warmup: Span::default(), ..USUAL };
        let all = self.candidates.iter().map(|c| &c.flows).chain([reference]);
        let draft = |flows: &Flows| self.known.scenario(case, flows, Span::default(), None, usual);
        let drafts: Vec<Scenario> = all.map(draft).collect::<Result<_, _>>()?;
        let share = (self.time.as_secs_f64() / TIME_FOR_LONG_RUNS.as_secs_f64()).min(1.0);
        let reason = Reason::of(&drafts, Bounds { most_packets: share * BOUNDS.most_packets, ..BOUNDS }, false);
        let Some(Bytes(bytes)) = self.transfer else {
            return Ok((reason.length(self.duration, self.warmup), Span::default()));
        };
        // Neighbours are there before, and past their slow start. A transfer at its fair share has time to end twice.
        let start_s = if case.neighbours.0.is_empty() { 0.0 } else { (2.0 * reason.slow_start_s).ceil() };
        let flows = reference.count + case.neighbours.0.iter().map(|flows| flows.count).sum::<u32>();
        let fair_bps = case.rate.bps as f64 * f64::from(reference.count) / f64::from(flows);
        let wanted_s = start_s + 2.0 * bytes as f64 * 8.0 / fair_bps + 2.0 * reason.slow_start_s;
        let duration =
            self.duration.unwrap_or(Span::from_secs(wanted_s.min(start_s + reason.most_s).ceil().max(1.0) as u64));
        let start = Span::from_secs(start_s as u64).min(Span { ns: duration.ns / 2 });
        Ok((Length { duration, warmup: Span::default() }, start))
    }

    /// From the trials that have run; `None` without the default's and the reference's.
    fn decide(&self, trials: &[Trial], looks: &Looks) -> Option<Decision> {
        let (reference, candidates) = trials.split_last().filter(|(reference, _)| reference.has_run())?;
        let has_run = candidates.iter().filter(|trial| trial.has_run());
        let observed: Vec<Observed> = has_run.map(|trial| trial.observed.clone()).collect();
        decide(&observed, self.default, &reference.observed, self.limits, looks)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use tandem_engine::{EngineError, Options, Warning};
    use tandem_results::SeedResult;
    use tandem_scenario::units::QueueSize;
    use tandem_sim::Sim;

    use super::*;
    use crate::{Goal, Present, candidates, machine::Machine};

    /// The simulator, which counts its runs; one of them cancels, and waits until that is seen.
    struct Counted<'a> {
        runs: AtomicUsize,
        cancels_at: usize,
        cancel: &'a AtomicBool,
    }

    impl Engine for Counted<'_> {
        fn name(&self) -> &'static str {
            Sim.name()
        }

        fn description(&self) -> &'static str {
            Sim.description()
        }

        fn arithmetic(&self) -> &'static str {
            Sim.arithmetic()
        }

        fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
            Sim.check(scenario, force)
        }

        fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
            // Those that begin later do not end either.
            if self.runs.fetch_add(1, SeqCst) + 1 >= self.cancels_at {
                self.cancel.store(true, SeqCst);
                while !options.is_cancelled() {
                    std::thread::yield_now();
                }
            }
            Sim.run(scenario, seed, options)
        }
    }

    /// How many answers there are, and of how many runs, if the run with this number cancels.
    fn cancelled_at(cancels_at: usize) -> (usize, usize) {
        let cancel = AtomicBool::new(false);
        let engine = Counted { runs: Default::default(), cancels_at, cancel: &cancel };
        let known = Known {
            queue: Some(QueueSize::Packets(20)),
            neighbours: Some("reno:1".parse().unwrap()),
            ..Known::new("10mbit".parse().unwrap(), Span::from_ms(20))
        };
        let machine = Machine::default();
        let present = Present::new(Some(&"reno".parse().unwrap()), &machine).unwrap();
        let candidates = candidates(&["vegas".parse().unwrap()], 1, &machine, &present, false).unwrap();
        let question = Question {
            known: &known,
            candidates: &candidates,
            default: &present.name,
            limits: Limits { stolen: 0.1, added_delay_ms: 10.0, gain: 0.1, goal: Goal::Goodput },
            transfer: None,
            first_seed: 1,
            most_seeds: 3,
            duration: Some(Span::from_secs(2)),
            warmup: Some(Span::from_secs(1)),
            engine: &engine,
            cancelled: Some(&cancel),
            quiet: true,
            store: None,
            time: Span::from_secs(3600),
        };
        let answers = question.answers(&known.cases()).unwrap();
        assert_eq!(answers.answers.len() + answers.not_looked_at.len(), 3);
        (answers.answers.len(), engine.runs.into_inner())
    }

    /// Two candidates; the default, Reno beside Reno, is the reference too: three seeds of two scenarios are six runs for each of the
    /// three losses.
    #[test]
    fn the_callers_engine_runs_it_and_the_caller_can_end_it() {
        assert_eq!(cancelled_at(usize::MAX), (3, 18));
        assert_eq!(cancelled_at(1).0, 0);
        // The first run of the second case.
        assert_eq!(cancelled_at(7).0, 1);
    }
}
