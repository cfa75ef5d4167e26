// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer in two sentences.

use tandem_statistics::significant;

use crate::{Advice, Goal, Why};

impl Advice<'_> {
    /// The answer and the reason for it, in two sentences.
    pub fn headline(&self) -> String {
        let (decision, known) = (&self.usual.decision, self.question.known);
        let present = match &self.present.stands_for {
            Some(name) => {
                format!("`{name}`, for which `{}` stands here, as the simulator does not have it", self.present.name)
            }
            None => format!("`{}`", self.present.name),
        };
        let path = known.words();
        let chosen = &decision.chosen;
        match decision.why {
            Why::Better => format!(
                "On {path}: run `{chosen}`. It {} than the present default, {present}, within the limits.",
                match self.question.limits.goal {
                    Goal::Goodput => "carries more",
                    Goal::Delay => "keeps the queue shorter",
                    Goal::Both => "has more goodput for its delay",
                }
            ),
            Why::DefaultExceedsLimits => {
                let excess = self.excess();
                format!(
                    "On {path}: run `{chosen}`. The present default, {present}, {excess}; `{chosen}` is the best within the limits."
                )
            }
            Why::DefaultIsAsGood => {
                let others = if self.usual.not_run.is_empty() { "no controller" } else { "no controller that was run" };
                format!(
                    "On {path}: stay with {present}, the present default. Within the limits {others} is better by enough to be worth a change."
                )
            }
            Why::NothingElseRan => {
                let more = if self.usual.not_run.is_empty() { "" } else { ": --time gives more" };
                format!("On {path}: no advice. No other controller than {present}, the present default, was run{more}.")
            }
            Why::NoneWithinLimits => {
                format!(
                    "On {path}: stay with {present}, the present default. No controller keeps within the limits, so none is advised."
                )
            }
            Why::NotSteady => {
                format!(
                    "On {path}: no advice. After {} of a run {present}, the present default, or its neighbours are still far from what they get in the \
                     end: --time gives longer runs.",
                    self.usual.length().0.duration
                )
            }
        }
    }

    /// The limits that the default exceeds.
    fn excess(&self) -> String {
        let limits = self.question.limits;
        let Some(default) = self.usual.decision.of(&self.present.name) else { return "exceeds a limit".into() };
        match default.stolen.filter(|_| default.takes_too_much) {
            Some(stolen) => {
                let [taken, limit] = [stolen.value, limits.stolen].map(|share| significant(share * 100.0, 3));
                format!("takes {taken} % from its neighbours (limit: {limit} %)")
            }
            None => {
                let [added, limit] = [default.added_delay_ms.value, limits.added_delay_ms].map(|ms| significant(ms, 3));
                format!("adds {added} ms of queueing delay (limit: {limit} ms)")
            }
        }
    }
}
