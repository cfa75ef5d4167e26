// SPDX-License-Identifier: MIT OR Apache-2.0
//! One path: runs of all candidates on it, until the rule can decide.

use std::collections::BTreeMap;

use tandem_batch::{Batch, Clock, Ended, First, Task, Traces, Until};
use tandem_compare::{Flows, Length};
use tandem_results::SeedResult;
use tandem_scenario::{Scenario, units::Span};
use tandem_statistics::{Looks, mean};

use crate::{
    AdviseError, Answer, Case, Question,
    rule::{Decision, Observed, decide},
    start::StartUp,
    trial::Trial,
};

/// Limits, in packets and seconds, up to which unsteady runs are lengthened. Ours.
const MOST_PACKETS: f64 = 120e6;
const MOST_S: f64 = 2400.0;
/// Factor of the lengthening. The part measured before is then cut off.
const LONGER: u64 = 3;
/// Share of the remaining time for more seeds and longer runs on the usual path. Ours.
const SHARE_OF_USUAL: f64 = 0.5;
/// Share of the time that longer runs on another path may take. Ours.
const SHARE_OF_OTHERS: f64 = 0.25;
/// Two current cores simulate at least this many packets a second. Ours.
const PACKETS_PER_S: f64 = 20e6;

/// A path's turn.
pub struct Turn<'a> {
    pub question: &'a Question<'a>,
    pub case: &'a Case,
    pub clock: &'a Clock<'a>,
    /// How runs are made.
    pub batch: Batch<'a>,
    /// Other paths come after it.
    pub is_first: bool,
    pub looks: Looks,
}

/// What the seeds of all trials tell.
struct Settled {
    decision: Decision,
    is_cut_short: bool,
}

impl Turn<'_> {
    /// Answers from runs that are long enough, as far as time allows. `None` without time for two runs of the default and the reference.
    pub fn answer(&self) -> Result<Option<Answer>, AdviseError> {
        let reference = self.question.reference(self.case);
        let (length, start) = self.question.length(self.case, &reference)?;
        let mut trials = self.trials(&reference, length, start)?;
        let Some(mut settled) = self.settle(&mut trials)? else { return Ok(None) };
        while !self.clock.is_over() && self.may_be_longer(&trials) {
            let mut longer = self.with_longer(&trials, &reference, start)?;
            // Longer runs of a few of them are no better than shorter runs of all.
            match self.settle(&mut longer)? {
                Some(next) if longer.iter().all(Trial::has_run) => (trials, settled) = (longer, next),
                _ => break,
            }
        }
        Ok(Some(self.answer_of(trials, settled, &reference)))
    }

    /// One of each candidate, and last the reference's.
    fn trials(&self, reference: &Flows, length: Length, start: Span) -> Result<Vec<Trial>, AdviseError> {
        let own = self.question.candidates.iter().map(|c| (&c.flows, (c.effort, c.is_untried)));
        own.chain([(reference, (0, false))]).map(|(flows, effort)| self.trial(flows, effort, length, start)).collect()
    }

    fn trial(&self, flows: &Flows, effort: (u8, bool), length: Length, start: Span) -> Result<Trial, AdviseError> {
        let Question { known, transfer, .. } = self.question;
        let scenario = known.scenario(self.case, flows, start, *transfer, length)?;
        let seeds = self.question.first_seed..self.question.first_seed + self.looks.most() as u64;
        Ok(Trial::new(scenario.with_seeds(seeds), flows, effort.0, effort.1))
    }

    /// Those that have run and are not steady.
    fn unsteady<'t>(&self, trials: &'t [Trial]) -> impl Iterator<Item = (usize, &'t Trial)> {
        trials.iter().enumerate().filter(|(_, trial)| trial.has_run() && !trial.observed.is_steady(&self.looks))
    }

    /// Can an unsteady run be lengthened? It does not depend on the speed of this machine, so that the same question has the same
    /// answer wherever the time suffices.
    fn may_be_longer(&self, trials: &[Trial]) -> bool {
        let Question { duration, warmup, transfer, time, known, .. } = self.question;
        let is_given = duration.is_some() || warmup.is_some() || transfer.is_some();
        let packets_per_s = self.case.rate.bps as f64 / 8.0 / f64::from(known.mtu());
        let seconds: Vec<f64> = self.unsteady(trials).map(|(_, trial)| longer(trial).duration.as_secs_f64()).collect();
        let longest_s = seconds.iter().copied().fold(0.0, f64::max);
        let share = if self.is_first { SHARE_OF_USUAL } else { SHARE_OF_OTHERS };
        let packets = seconds.iter().sum::<f64>() * packets_per_s * self.looks.first() as f64;
        let has_time = packets <= share * time.as_secs_f64() * PACKETS_PER_S;
        let is_bounded = longest_s * packets_per_s <= MOST_PACKETS && longest_s <= MOST_S;
        !is_given && !seconds.is_empty() && is_bounded && has_time
    }

    /// The same, with longer runs of the unsteady ones.
    fn with_longer(&self, trials: &[Trial], reference: &Flows, start: Span) -> Result<Vec<Trial>, AdviseError> {
        let mut all = trials.to_vec();
        for (i, trial) in self.unsteady(trials) {
            let flows = self.question.candidates.get(i).map_or(reference, |candidate| &candidate.flows);
            all[i] = self.trial(flows, (trial.observed.effort, trial.observed.is_untried), longer(trial), start)?;
        }
        Ok(all)
    }

    fn answer_of(&self, trials: Vec<Trial>, settled: Settled, reference: &Flows) -> Answer {
        let (observed_reference, candidates) = trials.split_last().expect("the reference is there");
        let has_run = || candidates.iter().filter(|trial| trial.has_run());
        let scenarios = trials.iter().map(|trial| &trial.scenario);
        Answer {
            case: self.case.clone(),
            lengths: Vec::from_iter(scenarios.map(|s| Length { duration: s.duration, warmup: s.warmup })),
            reference: reference.name.clone(),
            completion_s: match self.question.transfer {
                Some(_) => candidates.iter().map(|trial| mean(&trial.completion_s)).collect(),
                None => Vec::new(),
            },
            is_extrapolated: trials.iter().any(|trial| trial.is_extrapolated),
            cautions: has_run().map(cautions).collect::<BTreeMap<_, _>>(),
            is_cut_short: settled.is_cut_short,
            decision: settled.decision,
            observed: has_run().map(|trial| trial.observed.clone()).collect(),
            observed_reference: observed_reference.observed.clone(),
            looks: self.looks.clone(),
            starts: has_run().filter_map(|trial| StartUp::of(&trial.observed.name, &trial.begun)).collect(),
        }
    }

    /// Adds seeds until all is clear, no more are allowed or time is up. `None` without time for two runs of the default and of the
    /// reference, which come first.
    fn settle(&self, trials: &mut [Trial]) -> Result<Option<Settled>, AdviseError> {
        let scenarios: Vec<Scenario> = trials.iter().map(|trial| trial.scenario.clone()).collect();
        let task = |scenario| Task { scenario, engine: self.question.engine, traces: Traces::None };
        let tasks: Vec<Task> = scenarios.iter().map(task).collect();
        let has = trials.iter().map(|trial| trial.seeds.clone()).collect();
        let needed_first = self.needed_first(trials);
        let mut latest: Option<Decision> = None;
        let look = |results: &[Vec<SeedResult>]| {
            self.take_in(trials, results);
            let decision = self.decide(trials).ok_or(AdviseError::NoDefault)?;
            let is_needed = if decision.is_clear { vec![false; trials.len()] } else { self.needed(trials, &decision) };
            latest = Some(decision);
            Ok::<_, AdviseError>(is_needed)
        };
        // More seeds leave time for other paths.
        let first = First::InTime { rest: if self.is_first { SHARE_OF_USUAL } else { 1.0 } };
        let until = Until { looks: std::slice::from_ref(&self.looks), clock: self.clock, first };
        let settled = Batch { first: &needed_first, ..self.batch }.run_until(&tasks, until, has, look)?;
        if latest.is_none() {
            // Not all of the first look: what there is.
            self.take_in(trials, &settled.seeds);
            latest = self.decide(trials);
        }
        let is_cut_short = matches!(settled.ended, Ended::OutOfTime | Ended::Interrupted);
        Ok(latest.map(|decision| Settled { decision, is_cut_short }))
    }

    /// Without the default and the reference the others tell nothing.
    fn needed_first(&self, trials: &[Trial]) -> Vec<usize> {
        let is_default = |i: &usize| trials[*i].observed.name == self.question.default;
        (0..trials.len()).filter(|i| is_default(i) || *i == trials.len() - 1).collect()
    }

    /// Takes in the new results.
    fn take_in(&self, trials: &mut [Trial], results: &[Vec<SeedResult>]) {
        for (trial, results) in trials.iter_mut().zip(results) {
            let new = &results[trial.seeds.len()..];
            new.iter().for_each(|result| trial.add(result.clone(), self.question.transfer));
        }
    }

    /// Those whose next seeds could change the decision, and those that they are compared with.
    fn needed(&self, trials: &[Trial], decision: &Decision) -> Vec<bool> {
        let best = decision.controllers.iter().find(|judged| judged.is_within_limits);
        let compared = [Some(self.question.default), Some(&*decision.chosen), best.map(|judged| &*judged.controller)];
        let is_needed = |(i, trial): (usize, &Trial)| {
            let name = &*trial.observed.name;
            let is_open = decision.of(name).is_some_and(|judged| judged.is_open);
            let is_reference = i == trials.len() - 1;
            is_reference || is_open || compared.contains(&Some(name))
        };
        trials.iter().enumerate().map(is_needed).collect()
    }

    /// From the trials that have run; `None` without the default's and the reference's.
    fn decide(&self, trials: &[Trial]) -> Option<Decision> {
        let (reference, candidates) = trials.split_last().filter(|(reference, _)| reference.has_run())?;
        let has_run = candidates.iter().filter(|trial| trial.has_run());
        let observed: Vec<Observed> = has_run.map(|trial| trial.observed.clone()).collect();
        decide(&observed, self.question.default, &reference.observed, self.question.limits, &self.looks)
    }
}

/// Cuts off the part already measured.
fn longer(trial: &Trial) -> Length {
    let duration = trial.scenario.duration;
    Length { duration: Span { ns: LONGER * duration.ns }, warmup: duration }
}

/// By the candidate's name.
fn cautions(trial: &Trial) -> (String, Vec<String>) {
    let of_seeds = tandem_results::cautions(&trial.scenario, &trial.seeds);
    let of_model = tandem_model::loss_cycle::cautions(&trial.scenario);
    (trial.observed.name.clone(), of_seeds.into_iter().chain(of_model).collect())
}
