// SPDX-License-Identifier: MIT OR Apache-2.0
//! An answer whose runs the caller makes: for one without threads and clocks, such as a page in the browser.

use tandem_results::SeedResult;
use tandem_scenario::Scenario;

use crate::{
    AdviseError, Answers, Case, Question,
    contest::{Contest, SHARE_OF_OTHERS},
    trial::Trial,
};

/// The answer to one case, a seed at a time. The question's engine, store, watch and cancelling flag are not used.
pub struct Stepwise<'a> {
    contest: Contest<'a>,
    trials: Vec<Trial>,
    lengthened: Vec<u32>,
}

impl<'a> Stepwise<'a> {
    /// Nothing has run yet. `lengthened`: how many times the runs of each scenario have been made longer, none at first.
    ///
    /// # Errors
    /// If the case makes no sense.
    pub fn new(question: &'a Question<'a>, case: &'a Case, lengthened: &[u32]) -> Result<Self, AdviseError> {
        let contest = Contest::new(question, case)?;
        let mut trials = contest.trials()?;
        let lengthened: Vec<u32> = (0..trials.len()).map(|i| lengthened.get(i).copied().unwrap_or(0)).collect();
        for (i, times) in lengthened.iter().enumerate() {
            for _ in 0..*times {
                trials[i] = contest.longer(i, &trials[i])?;
            }
        }
        Ok(Self { contest, trials, lengthened })
    }

    /// What is to be run, with all seeds that are allowed: for each candidate, and last for the reference.
    pub fn scenarios(&self) -> impl ExactSizeIterator<Item = &Scenario> {
        self.trials.iter().map(|trial| &trial.scenario)
    }

    /// The numbers of seeds at which the rule may end it.
    pub fn looks(&self) -> Vec<usize> {
        self.contest.looks.iter().map(|look| look.seeds).collect()
    }

    /// Takes in the results of the first seeds of each scenario, those that it knows included.
    pub fn take_in(&mut self, results: &[Vec<SeedResult>]) {
        self.contest.take_in(&mut self.trials, results);
    }

    /// The answer so far, and which scenarios need more seeds; `None` without two seeds of the default and of the reference.
    pub fn answer(&self) -> Option<(Answers, Vec<bool>)> {
        let decision = self.contest.decide(&self.trials)?;
        let needed = self.contest.needed(&self.trials, &decision);
        let has_more = |trial: &Trial| trial.seeds.len() < self.contest.looks.most();
        let is_cut_short = self.trials.iter().zip(&needed).any(|(trial, is_needed)| *is_needed && has_more(trial));
        let answers = vec![self.contest.answer_of(&self.trials, decision, is_cut_short)];
        Some((Answers { answers, not_looked_at: Vec::new(), starts: Vec::new(), repeated: None }, needed))
    }

    /// With no more seeds, how many times the runs of each scenario are to be longer; `None` if those that have run will do.
    pub fn lengthened(&self) -> Option<Vec<u32>> {
        let mut next = self.lengthened.clone();
        self.contest.unsteady(&self.trials).for_each(|(i, _)| next[i] += 1);
        self.contest.may_be_longer(&self.trials, SHARE_OF_OTHERS).then_some(next)
    }
}
