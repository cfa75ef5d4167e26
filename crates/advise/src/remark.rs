// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict on a controller, in a few words.

use crate::{Advice, Decision, Judged};

impl Advice<'_> {
    /// What is to be said of a controller beside its figures, such as `default, takes too much`; often nothing.
    pub fn remark(&self, judged: &Judged) -> String {
        let Decision { chosen, gave_way, .. } = &self.usual.decision;
        let is_advised = judged.controller == *chosen;
        let is_allowed = judged.is_within_limits;
        let remarks = [
            (is_advised, "advised"),
            (judged.controller == self.present.name, "default"),
            (judged.takes_too_much, "takes too much"),
            (!is_allowed && !judged.takes_too_much, "too much delay"),
            (is_allowed && !judged.means_are_within_limits, "perhaps too much"),
            (is_allowed && !judged.exceeds_with.is_empty(), "not on other paths"),
            (gave_way.as_ref() == Some(&judged.controller), "slow on other paths"),
            (!judged.is_steady, "not steady"),
            (is_allowed && judged.is_tied_with_best && !is_advised, "tied"),
            (judged.is_open, "unsure"),
        ];
        remarks.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect::<Vec<_>>().join(", ")
    }
}
