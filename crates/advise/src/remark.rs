// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict on a controller, in a few words.

use crate::{Advice, Elsewhere, Judged};

impl Advice<'_> {
    /// What is to be said of a controller beside its figures, such as `default, takes too much`; often nothing.
    pub fn remark(&self, judged: &Judged) -> String {
        let is_advised = judged.controller == self.usual.decision.chosen;
        let is_allowed = judged.is_within_limits;
        let remarks = [
            (is_advised, "advised"),
            (judged.controller == self.present.name, "default"),
            (judged.takes_too_much, "takes too much"),
            (!is_allowed && !judged.takes_too_much, "too much delay"),
            (is_allowed && !judged.means_are_within_limits, "perhaps too much"),
            (is_allowed && !judged.exceeds_with.is_empty(), "not on other paths"),
            (self.gave_way(judged).is_some(), "slow on other paths"),
            (!judged.is_steady, "not steady"),
            (is_allowed && judged.is_tied_with_best && !is_advised, "tied"),
            (judged.is_open, "unsure"),
        ];
        remarks.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect::<Vec<_>>().join(", ")
    }

    /// Where this controller, which has more goodput than the choice on the path as given, loses what a change must gain.
    pub fn gave_way<'j>(&self, judged: &'j Judged) -> Option<&'j Elsewhere> {
        let decision = &self.usual.decision;
        let chosen = decision.of(&decision.chosen).filter(|chosen| chosen.controller != self.present.name)?;
        let has_more = judged.may_be_chosen() && judged.goodput_mbps.value > chosen.goodput_mbps.value;
        let kept = chosen.elsewhere.as_ref()?.of_best;
        judged.elsewhere.as_ref().filter(|elsewhere| has_more && elsewhere.of_best + self.question.limits.gain <= kept)
    }
}
