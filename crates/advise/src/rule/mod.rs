// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rule by which `tandem advise` chooses; docs/advise.md states it for users. All of its constants are ours.
//!
//! A controller is within the limits (neighbours' loss, added queueing delay) if it does not certainly exceed one, on this path and, as far as
//! the present default keeps them there, on the equally likely paths. The easiest to deploy comes first, the present default before all. One that
//! takes more effort is chosen only if it certainly gains over the choice among those that take less, and enough as far as can be told.

mod judged;
mod limits;
mod observed;
#[cfg(test)]
mod tests;

use serde::Serialize;
use tandem_statistics::{Estimate, Looks, mean};

pub use judged::Judged;
use judged::{compare, is_open, judge};
pub use limits::{Goal, Limits};
pub use observed::{Elsewhere, Observed};
use observed::{exceeds, gain, is_certainly_better, wanted_gain};

/// A controller with this share of the choice's goodput counts as equally good. Ours.
const AS_GOOD: f64 = 0.95;
/// Nobody notices a smaller delay.
const LESS_MS: f64 = 1.0;

/// The reason for the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The default is within the limits, and nothing else there gains enough to be worth a change.
    DefaultIsAsGood,
    /// It has more goodput than the default, which is within the limits.
    Better,
    /// The default exceeds a limit, and this is the best that does not.
    DefaultExceedsLimits,
    /// No controller keeps within the limits, so the default stays.
    NoneWithinLimits,
    /// The default, or the reference, was not steady in the time available: there is no verdict, and the default stays.
    NotSteady,
    /// No other controller was run, so there is no verdict, and the default stays.
    NothingElseRan,
}

/// The choice on one path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The controller to run, with its parameters.
    pub chosen: String,
    /// Why it is this one.
    pub why: Why,
    /// The best change on this path, if it gave way to the choice because it may lose much more where what is unknown differs.
    pub gave_way: Option<String>,
    /// The choice's goodput over the default's, less 1; null if it is the default, or if that got nothing.
    pub gain: Option<Estimate>,
    /// The highest goodput first.
    pub controllers: Vec<Judged>,
}

impl Why {
    /// False where there was nothing to compare, or nothing steady.
    pub fn is_verdict(self) -> bool {
        !matches!(self, Self::NotSteady | Self::NothingElseRan)
    }
}

impl Decision {
    /// Could more seeds of what has run change the choice?
    pub fn may_change(&self) -> bool {
        self.controllers.iter().any(|judged| judged.is_open)
    }

    /// The findings about a controller.
    pub fn of(&self, controller: &str) -> Option<&Judged> {
        self.controllers.iter().find(|judged| judged.controller == controller)
    }

    /// Controllers with nearly the choice's goodput and at most half of its delay, the easiest first.
    pub fn with_less_delay(&self) -> Vec<&Judged> {
        let Some(chosen) = self.of(&self.chosen) else { return Vec::new() };
        let is_as_good = |judged: &&Judged| {
            judged.is_within_limits && judged.goodput_mbps.value >= AS_GOOD * chosen.goodput_mbps.value
        };
        let of_chosen = chosen.delay_ms.value;
        let is_much_less = |judged: &&Judged| {
            let delay_ms = judged.delay_ms.value;
            delay_ms <= of_chosen / 2.0 && of_chosen - delay_ms >= LESS_MS
        };
        let mut all: Vec<&Judged> = self.controllers.iter().filter(is_as_good).filter(is_much_less).collect();
        all.sort_by(|a, b| a.effort.cmp(&b.effort).then(a.delay_ms.value.total_cmp(&b.delay_ms.value)));
        all
    }
}

/// Chooses. `reference` is the run in which the own flows are of their neighbours' kind, or without neighbours the default's run;
/// `default` names one of `observed`. With repeated looks at the seeds, intervals are as wide as `looks` requires.
pub fn decide(
    observed: &[Observed],
    default: &str,
    reference: &Observed,
    limits: Limits,
    looks: &Looks,
) -> Option<Decision> {
    let present = observed.iter().find(|o| o.name == default)?;
    let carried_mbps = observed.iter().chain([reference]).map(Observed::carried_mbps).fold(0.0, f64::max);
    let judge_one = |o| (judge(o, (reference, default), carried_mbps, limits, looks), o);
    let mut judged: Vec<(Judged, &Observed)> = observed.iter().map(judge_one).collect();
    judged.sort_by(|(a, _), (b, _)| b.goodput_mbps.value.total_cmp(&a.goodput_mbps.value));
    let is_steady = !reference.moves(looks) && !present.moves(looks);
    let choice = if is_steady { choose(&judged, present, limits, looks) } else { None };
    let gave_way =
        choice.and_then(|Choice { safest, best_here }| (safest.name != best_here.name).then(|| best_here.name.clone()));
    let chosen = choice.map(|choice| choice.safest);
    let default_is_within = judged.iter().any(|(judged, o)| o.name == default && judged.is_within_limits);
    let why = match chosen {
        None if !is_steady => Why::NotSteady,
        _ if observed.len() == 1 => Why::NothingElseRan,
        None => Why::NoneWithinLimits,
        Some(chosen) if chosen.name == default => Why::DefaultIsAsGood,
        Some(_) if default_is_within => Why::Better,
        Some(_) => Why::DefaultExceedsLimits,
    };
    let chosen = chosen.unwrap_or(present);
    let best = judged.iter().find(|(judged, _)| judged.may_be_chosen()).map_or(present, |(_, observed)| *observed);
    for (judged, observed) in &mut judged {
        compare(judged, observed, best, looks);
        judged.is_open = is_open(judged, observed, chosen, limits, looks);
    }
    let controllers = judged.into_iter().map(|(judged, _)| judged).collect();
    let gain = gain(chosen, present, Goal::Goodput).map(|gain| looks.widened(gain));
    Some(Decision { gain, chosen: chosen.name.clone(), why, gave_way, controllers })
}

/// Both are the same if nothing gives way.
#[derive(Clone, Copy)]
struct Choice<'a> {
    best_here: &'a Observed,
    safest: &'a Observed,
}

/// The default if allowed, otherwise the easiest; then any that gains enough over the choice among those that take less effort. `judged`: highest goodput first.
fn choose<'a>(
    judged: &[(Judged, &'a Observed)],
    present: &'a Observed,
    limits: Limits,
    looks: &Looks,
) -> Option<Choice<'a>> {
    // Less delay from sending less is no merit.
    let keeps_goodput = |o: &Observed| {
        let lost = gain(o, present, Goal::Goodput).map(|gain| looks.widened(gain * -1.0));
        limits.goal != Goal::Delay || !lost.is_some_and(|lost| exceeds(lost, limits.gain))
    };
    let score = |o: &Observed| mean(&o.score(limits.goal));
    let mut in_question: Vec<&(Judged, &Observed)> =
        judged.iter().filter(|(judged, o)| judged.may_be_chosen() && keeps_goodput(o)).collect();
    // A controller that is merely not certain to exceed a limit is the last resort. The default needs no proof to stay.
    if in_question.iter().any(|(judged, _)| judged.means_are_within_limits) {
        in_question.retain(|(judged, o)| judged.means_are_within_limits || o.name == present.name);
    }
    let mut in_question: Vec<&Observed> = in_question.into_iter().map(|(_, o)| *o).collect();
    in_question.sort_by(|a, b| score(b).total_cmp(&score(a)));
    // At equal effort, the best stays first.
    in_question.sort_by_key(|o| (o.name != present.name, o.effort, o.is_untried));
    // The gain must be certain, its size need not be: a rule that asked for both kept the slower controller on most of the paths in between.
    let gains_enough = |next: &Observed, easier: &Observed| {
        let gain = gain(next, easier, limits.goal);
        gain.is_some_and(|gain| gain.value >= wanted_gain(next, easier, limits))
            && is_certainly_better(next, easier, limits.goal, looks)
    };
    // What was not worth its effort excludes nothing: it has had no more seeds since that was clear.
    let easiest = *in_question.first()?;
    let best_here = in_question
        .iter()
        .copied()
        .fold(easiest, |chosen, next| if gains_enough(next, chosen) { next } else { chosen });
    let worth_it = in_question.into_iter().filter(|o| gains_enough(o, easiest));
    let is_change = best_here.name != easiest.name;
    let safest = if is_change { safest(best_here, worth_it, limits, &score) } else { best_here };
    Some(Choice { best_here, safest })
}

/// If what is unknown costs the choice much more than another that is worth a change, it is the other.
fn safest<'a>(
    best_here: &'a Observed,
    worth_it: impl Iterator<Item = &'a Observed>,
    limits: Limits,
    score: &dyn Fn(&Observed) -> f64,
) -> &'a Observed {
    // Of the best, on the path where it has least of it.
    let worst = |o: &Observed| {
        let here = score(o) / score(best_here);
        o.elsewhere.as_ref().map_or(here, |elsewhere| here.min(elsewhere.of_best))
    };
    let safest = worth_it.fold(best_here, |safest, o| if worst(o) > worst(safest) { o } else { safest });
    let wins = worst(safest) - worst(best_here);
    if best_here.elsewhere.is_some() && wins >= wanted_gain(safest, best_here, limits) { safest } else { best_here }
}
