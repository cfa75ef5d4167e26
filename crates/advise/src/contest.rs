// SPDX-License-Identifier: MIT OR Apache-2.0
//! All candidates on one path: their runs, and what the rule says of them. Who makes the runs is the caller's business.

use std::collections::BTreeMap;

use tandem_compare::{Flows, Length};
use tandem_results::SeedResult;
use tandem_scenario::units::Span;
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
/// Share of the time that longer runs may take on a path that is not the first of several. Ours.
pub const SHARE_OF_OTHERS: f64 = 0.25;
/// Two current cores simulate at least this many packets a second. Ours.
const PACKETS_PER_S: f64 = 20e6;

/// The candidates on a case's path.
pub struct Contest<'a> {
    pub question: &'a Question<'a>,
    pub case: &'a Case,
    pub looks: Looks,
    /// Beside the neighbours, what losses and delays are measured against.
    reference: Flows,
}

impl<'a> Contest<'a> {
    pub fn new(question: &'a Question<'a>, case: &'a Case) -> Result<Self, AdviseError> {
        let reference = question.reference(case);
        let (length, _) = question.length(case, &reference)?;
        let packets = length.duration.as_secs_f64() * case.rate.packets_per_s(question.known.mtu());
        Ok(Self { question, case, looks: question.looks(case.differs.is_empty(), packets), reference })
    }

    /// The flows of the trial in this place.
    fn flows(&self, trial: usize) -> &Flows {
        self.question.candidates.get(trial).map_or(&self.reference, |candidate| &candidate.flows)
    }

    /// A trial of each candidate, and last the reference's.
    pub fn trials(&self) -> Result<Vec<Trial>, AdviseError> {
        let (length, start) = self.question.length(self.case, &self.reference)?;
        let own = self.question.candidates.iter().map(|c| (&c.flows, (c.effort, c.is_untried)));
        let all = own.chain([(&self.reference, (0, false))]);
        all.map(|(flows, effort)| self.trial(flows, effort, length, start)).collect()
    }

    fn trial(&self, flows: &Flows, effort: (u8, bool), length: Length, start: Span) -> Result<Trial, AdviseError> {
        let Question { known, transfer, .. } = self.question;
        let scenario = known.scenario(self.case, flows, start, *transfer, length)?;
        let seeds = self.question.first_seed..self.question.first_seed + self.looks.most() as u64;
        Ok(Trial::new(scenario.with_seeds(seeds), flows, effort.0, effort.1))
    }

    /// Without the default and the reference the others tell nothing.
    pub fn needed_first(&self, trials: &[Trial]) -> Vec<usize> {
        let is_default = |i: &usize| trials[*i].observed.name == self.question.default;
        (0..trials.len()).filter(|i| is_default(i) || *i == trials.len() - 1).collect()
    }

    /// Takes in the new results.
    pub fn take_in(&self, trials: &mut [Trial], results: &[Vec<SeedResult>]) {
        for (trial, results) in trials.iter_mut().zip(results) {
            let new = &results[trial.seeds.len()..];
            new.iter().for_each(|result| trial.add(result.clone(), self.question.transfer));
        }
    }

    /// Those whose next seeds could change the decision, and those that they are compared with; none if none could.
    pub fn needed(&self, trials: &[Trial], decision: &Decision) -> Vec<bool> {
        if !decision.may_change() {
            return vec![false; trials.len()];
        }
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
    pub fn decide(&self, trials: &[Trial]) -> Option<Decision> {
        let (reference, candidates) = trials.split_last().filter(|(reference, _)| reference.has_run())?;
        let has_run = candidates.iter().filter(|trial| trial.has_run());
        let observed: Vec<Observed> = has_run.map(|trial| trial.observed.clone()).collect();
        decide(&observed, self.question.default, &reference.observed, self.question.limits, &self.looks)
    }

    /// Those that have run and are not steady.
    pub fn unsteady<'t>(&self, trials: &'t [Trial]) -> impl Iterator<Item = (usize, &'t Trial)> {
        trials.iter().enumerate().filter(|(_, trial)| trial.has_run() && !trial.observed.is_steady(&self.looks))
    }

    /// Can an unsteady run be lengthened, within this share of the question's time? It does not depend on the speed of this machine, so that
    /// the same question has the same answer wherever the time suffices.
    pub fn may_be_longer(&self, trials: &[Trial], share: f64) -> bool {
        let Question { duration, warmup, transfer, time, .. } = self.question;
        let is_given = duration.is_some() || warmup.is_some() || transfer.is_some();
        let packets_per_s = self.case.rate.packets_per_s(self.question.known.mtu());
        let seconds: Vec<f64> = self.unsteady(trials).map(|(_, trial)| longer(trial).duration.as_secs_f64()).collect();
        let longest_s = seconds.iter().copied().fold(0.0, f64::max);
        let packets = seconds.iter().sum::<f64>() * packets_per_s * self.looks.first() as f64;
        let has_time = packets <= share * time.as_secs_f64() * PACKETS_PER_S;
        let is_bounded = longest_s * packets_per_s <= MOST_PACKETS && longest_s <= MOST_S;
        !is_given && !seconds.is_empty() && is_bounded && has_time
    }

    /// The same, with longer runs of the unsteady ones.
    pub fn with_longer(&self, trials: &[Trial]) -> Result<Vec<Trial>, AdviseError> {
        let mut all = trials.to_vec();
        for (i, trial) in self.unsteady(trials) {
            all[i] = self.longer(i, trial)?;
        }
        Ok(all)
    }

    /// A longer one of the trial in this place, without seeds.
    pub fn longer(&self, i: usize, trial: &Trial) -> Result<Trial, AdviseError> {
        self.trial(self.flows(i), trial.effort(), longer(trial), trial.scenario.groups[0].start)
    }

    /// The answer behind a decision.
    pub fn answer_of(&self, trials: &[Trial], decision: Decision, is_cut_short: bool) -> Answer {
        let (observed_reference, candidates) = trials.split_last().expect("the reference is there");
        let has_run = || candidates.iter().filter(|trial| trial.has_run());
        let scenarios = trials.iter().map(|trial| &trial.scenario);
        Answer {
            case: self.case.clone(),
            lengths: Vec::from_iter(scenarios.map(|s| Length { duration: s.duration, warmup: s.warmup })),
            reference: self.reference.name.clone(),
            completion_s: match self.question.transfer {
                Some(_) => candidates.iter().map(|trial| mean(&trial.completion_s)).collect(),
                None => Vec::new(),
            },
            is_extrapolated: trials.iter().any(|trial| trial.is_extrapolated),
            cautions: has_run().map(cautions).collect::<BTreeMap<_, _>>(),
            is_cut_short,
            not_run: candidates
                .iter()
                .filter(|trial| !trial.has_run())
                .map(|trial| trial.observed.name.clone())
                .collect(),
            decision,
            observed: has_run().map(|trial| trial.observed.clone()).collect(),
            observed_reference: observed_reference.observed.clone(),
            looks: self.looks.clone(),
            starts: has_run().filter_map(|trial| StartUp::of(&trial.observed.name, &trial.begun)).collect(),
        }
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
