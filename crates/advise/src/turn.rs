// SPDX-License-Identifier: MIT OR Apache-2.0
//! One path: runs of all candidates on it, until the rule can decide.

use tandem_batch::{Batch, Clock, Ended, First, Task, Traces, Until};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;

use crate::{
    AdviseError, Answer,
    contest::{Contest, SHARE_OF_OTHERS},
    rule::Decision,
    trial::Trial,
};

/// Share of the remaining time for more seeds and longer runs on the usual path. Ours.
const SHARE_OF_USUAL: f64 = 0.5;

/// A path's turn.
pub struct Turn<'a> {
    pub contest: Contest<'a>,
    pub clock: &'a Clock<'a>,
    /// How runs are made.
    pub batch: Batch<'a>,
    /// Other paths come after it.
    pub is_first: bool,
}

/// What the seeds of all trials tell.
struct Settled {
    decision: Decision,
    is_cut_short: bool,
}

impl Turn<'_> {
    /// Answers from runs that are long enough, as far as time allows. `None` without time for two runs of the default and the reference.
    pub fn answer(&self) -> Result<Option<Answer>, AdviseError> {
        let mut trials = self.contest.trials()?;
        let Some(mut settled) = self.settle(&mut trials)? else { return Ok(None) };
        while !self.clock.is_over() && self.contest.may_be_longer(&trials, self.share()) {
            let mut longer = self.contest.with_longer(&trials)?;
            // Longer runs of a few of them are no better than shorter runs of all.
            match self.settle(&mut longer)? {
                Some(next) if longer.iter().all(Trial::has_run) => (trials, settled) = (longer, next),
                _ => break,
            }
        }
        Ok(Some(self.contest.answer_of(&trials, settled.decision, settled.is_cut_short)))
    }

    /// How much of the time longer runs may take.
    fn share(&self) -> f64 {
        if self.is_first { SHARE_OF_USUAL } else { SHARE_OF_OTHERS }
    }

    /// Adds seeds until all is clear, no more are allowed or time is up. `None` without time for two runs of the default and of the
    /// reference, which come first.
    fn settle(&self, trials: &mut [Trial]) -> Result<Option<Settled>, AdviseError> {
        let scenarios: Vec<Scenario> = trials.iter().map(|trial| trial.scenario.clone()).collect();
        let task = |scenario| Task { scenario, engine: self.contest.question.engine, traces: Traces::None };
        let tasks: Vec<Task> = scenarios.iter().map(task).collect();
        let has = trials.iter().map(|trial| trial.seeds.clone()).collect();
        let needed_first = self.contest.needed_first(trials);
        let mut latest: Option<Decision> = None;
        let look = |results: &[Vec<SeedResult>]| {
            self.contest.take_in(trials, results);
            let decision = self.contest.decide(trials).ok_or(AdviseError::NoDefault)?;
            let is_needed = self.contest.needed(trials, &decision);
            latest = Some(decision);
            Ok::<_, AdviseError>(is_needed)
        };
        // More seeds leave time for other paths.
        let first = First::InTime { rest: if self.is_first { SHARE_OF_USUAL } else { 1.0 } };
        let until = Until { looks: std::slice::from_ref(&self.contest.looks), clock: self.clock, first };
        let settled = Batch { first: &needed_first, ..self.batch }.run_until(&tasks, until, has, look)?;
        if latest.is_none() {
            // Not all of the first look: what there is.
            self.contest.take_in(trials, &settled.seeds);
            latest = self.contest.decide(trials);
        }
        let is_cut_short = matches!(settled.ended, Ended::OutOfTime | Ended::Interrupted);
        Ok(latest.map(|decision| Settled { decision, is_cut_short }))
    }
}
