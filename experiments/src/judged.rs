// SPDX-License-Identifier: MIT OR Apache-2.0
//! A judged claim, in numbers and in words.

use serde::{Deserialize, Serialize};
use tandem_report::with_interval;
use tandem_statistics::Estimate;

use crate::{
    judge::{Asked, Claim, Judgement},
    verdict::Verdict,
};

/// A claim and its verdict.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The claim in words.
    pub text: String,
    /// The paper's text makes it about this figure: it counts for the verdict on the figure.
    pub headline: bool,
    /// The paper does not print its limit.
    pub ours: bool,
    /// Whose the limit is, where the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The curve that it concerns.
    #[serde(skip)]
    pub curve: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// How many points were judged.
    pub points: usize,
    /// Those that miss the limit.
    pub missed: usize,
    /// Those whose interval reaches over the limit.
    pub undecided: usize,
    /// The points that decide the claim, the one that tells most first; at most five of a kind.
    pub decided_by: Vec<Decider>,
    /// All points, in their order. Not kept: the figures of all points are.
    #[serde(skip)]
    pub at_each: Vec<Decider>,
    /// How many seeds would decide an undecided claim, if the means and spreads stayed as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_take: Option<usize>,
}

/// A point that decides a claim.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Decider {
    /// Where: `at 3`, or `from 1 to 8` for a difference of two points.
    pub at: String,
    /// The value that was judged.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The value must be at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The value must be at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The paper's value, which the limits lie around.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// The verdict at this point.
    pub verdict: Verdict,
}

/// At most this many points of a kind are kept and named.
const NAMED: usize = 5;

impl Judged {
    pub(crate) fn new(claim: &Claim, judgement: &Judgement) -> Self {
        let with = |verdict| judgement.points.iter().filter(|p| p.verdict() == verdict).count();
        let would_take = judgement.points.iter().filter_map(Asked::would_take).max();
        Self {
            text: claim.text.clone(),
            headline: claim.headline,
            ours: claim.ours,
            owner: claim.owner.clone(),
            curve: claim.curve.clone(),
            verdict: judgement.verdict,
            points: judgement.points.len(),
            missed: with(Verdict::DoesNotHold),
            undecided: with(Verdict::Undecided),
            decided_by: deciders(claim, judgement).into_iter().map(Decider::new).collect(),
            at_each: judgement.points.iter().map(Decider::new).collect(),
            would_take: would_take.filter(|_| judgement.verdict == Verdict::Undecided),
        }
    }

    /// Which kind of claim it is.
    pub(crate) fn kind(&self) -> &'static str {
        if self.headline { "Headline" } else { "Side claim" }
    }

    /// [`Self::line`] with the kind before it.
    pub(crate) fn marked_line(&self) -> String {
        format!("{}: {}", self.kind(), self.line())
    }

    /// The claim, its verdict and the numbers in one line.
    pub(crate) fn line(&self) -> String {
        format!("{}: {}", self.text, self.finding())
    }

    /// The verdict and the numbers that decide it: `fails: 14.8 ± 1.2 at 3; the paper prints 21 (we accept 18.9 to 23.1)`.
    pub fn finding(&self) -> String {
        let verdict = self.verdict.words();
        let Some(first) = self.decided_by.first() else { return verdict.to_owned() };
        let numbers = match self.verdict {
            Verdict::Holds if self.points > 1 && self.is_at_every_point() => {
                format!("{verdict} {}; nearest to the limit is {}", at_all(self.points), first.words())
            }
            Verdict::Holds => format!("{verdict}: {}", first.words()),
            _ => self.failing(),
        };
        let limit = if self.has_common_limit() { first.limit(self.ours) } else { String::new() };
        let seeds = self.would_take.map_or(String::new(), |seeds| format!("; about {seeds} seeds would decide it"));
        format!("{numbers}{limit}{seeds}")
    }

    /// The claim and its verdict, with the point that tells most alone: `... fails at 2 and is undecided at 1 of 5 points, 0.9 at 1 ...`.
    pub(crate) fn brief(&self) -> String {
        let Some(first) = self.decided_by.first() else { return self.line() };
        let counts = [(self.missed, "fails"), (self.undecided, "is undecided")];
        let counts: Vec<String> = match self.points {
            1 => vec![self.verdict.words().to_owned()],
            all if self.missed == all => vec![format!("fails {}", at_all(all))],
            _ => counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{word} at {n}")).collect(),
        };
        let has_count = self.points > 1 && self.missed < self.points;
        let of = if has_count { format!(" of {} points", self.points) } else { String::new() };
        let first_words = if self.decided_by.len() > 1 { "first " } else { "" };
        let limit =
            first.published.map_or_else(|| first.limit(self.ours), |value| format!("; the paper prints {value}"));
        format!("{}: {}{of}, {first_words}{}{limit}", self.text, counts.join(" and "), first.words())
    }

    /// The point that tells most in the words of the experiment's file: `{}` stands for the number, `{at}` for `at 3`, `{x}` for `3`.
    /// A phrase without a number is about a failure, and says itself what is wrong: `None` where the claim holds.
    pub(crate) fn told(&self, phrase: &str) -> Option<String> {
        let first = self.decided_by.first()?;
        let has_number = phrase.contains("{}");
        if !has_number && self.verdict == Verdict::Holds {
            return None;
        }
        let said = phrase
            .replace("{}", &first.number())
            .replace("{at}", &first.at)
            .replace("{x}", first.at.trim_start_matches("at "));
        let limit = if has_number { first.limit(self.ours) } else { String::new() };
        Some(said + &limit + &self.exceptions())
    }

    /// At how many points it fails or is undecided; nothing where all points have the claim's verdict.
    fn exceptions(&self) -> String {
        match (self.points, self.missed, self.undecided) {
            _ if self.verdict == Verdict::Holds => String::new(),
            (all, missed, open) if missed == all || open == all => String::new(),
            (all, 0, open) => format!("; undecided at {open} of {all} points"),
            (all, missed, 0) => format!("; fails at {missed} of {all} points"),
            (all, missed, open) => format!("; fails at {missed} of {all} points, undecided at {open}"),
        }
    }

    /// The points that miss the limit, then those that are open.
    fn failing(&self) -> String {
        let kinds = [("fails", Verdict::DoesNotHold, self.missed), ("undecided", Verdict::Undecided, self.undecided)];
        let kind = |&(word, verdict, count): &(&str, Verdict, usize)| {
            let listed: Vec<&Decider> = self.decided_by.iter().filter(|d| d.verdict == verdict).collect();
            let places = match (count, self.points) {
                (1, 1) => String::new(),
                (count, all) if count == all => format!(" {}", at_all(all)),
                (count, all) => format!(" at {count} of {all} points"),
            };
            let more = count.saturating_sub(listed.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let points = listed.iter().map(|d| self.point(d)).collect::<Vec<_>>().join(", ");
            (!listed.is_empty()).then(|| format!("{word}{places}: {points}{more}"))
        };
        let parts: Vec<String> = kinds.iter().filter_map(kind).collect();
        parts.join("; ")
    }

    /// A point, with its own limit where each point has one.
    fn point(&self, decider: &Decider) -> String {
        let limit = if self.has_common_limit() { String::new() } else { decider.limit(self.ours) };
        decider.words() + &limit
    }

    /// Whether one sentence about the limit is true of all points that are named.
    fn has_common_limit(&self) -> bool {
        self.decided_by.len() == 1 || self.decided_by.iter().all(|d| d.published.is_none())
    }

    /// A claim that asks for one point of several may hold although others miss the limit.
    fn is_at_every_point(&self) -> bool {
        self.missed == 0 && self.undecided == 0
    }

    /// The number that tells most, with its limit, for the table of all figures.
    pub(crate) fn deciding(&self) -> String {
        self.decided_by.first().map_or_else(String::new, |first| first.words() + &first.limit(self.ours))
    }
}

/// The points that decide a claim: where one is enough, the best; where all are needed, those that miss the limit and those that are
/// open; where all hold, the one nearest to the limit.
fn deciders<'a>(claim: &Claim, judgement: &'a Judgement) -> Vec<&'a Asked> {
    let points = &judgement.points;
    let with = |verdict| points.iter().filter(move |point| point.verdict() == verdict);
    let best = with(judgement.verdict).max_by(|a, b| a.margin().total_cmp(&b.margin())).filter(|_| claim.some);
    let nearest = points.iter().min_by(|a, b| a.margin().abs().total_cmp(&b.margin().abs()));
    match (judgement.verdict, best) {
        (Verdict::Holds | Verdict::Undecided, Some(best)) => vec![best],
        (Verdict::Holds, None) => nearest.into_iter().collect(),
        _ => with(Verdict::DoesNotHold).take(NAMED).chain(with(Verdict::Undecided).take(NAMED)).collect(),
    }
}

impl Decider {
    fn new(point: &Asked) -> Self {
        Self {
            at: point.at.clone(),
            estimate: point.value.estimate,
            low: point.low.is_finite().then_some(point.low),
            high: point.high.is_finite().then_some(point.high),
            published: point.published,
            verdict: point.verdict(),
        }
    }

    /// The labels of its points: one, or for a difference two.
    pub(crate) fn points(&self) -> Vec<&str> {
        let pair = self.at.strip_prefix("from ").and_then(|pair| pair.split_once(" to "));
        pair.map_or_else(|| vec![self.at.trim_start_matches("at ")], |(from, to)| vec![from, to])
    }

    /// `14.8 ± 1.2 at 3`.
    fn words(&self) -> String {
        format!("{} {}", self.number(), self.at)
    }

    /// `14.8 ± 1.2`.
    fn number(&self) -> String {
        with_interval(self.estimate.value, self.estimate.half_width, 3)
    }

    /// `; the paper prints 21 (we accept 18.9 to 23.1)`, or ` (our limit: below 10)`.
    fn limit(&self, ours: bool) -> String {
        let accepted = match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{} to {}", short(low), short(high)),
            (Some(low), None) => format!("above {low}"),
            (None, Some(high)) => format!("below {high}"),
            (None, None) => return String::new(),
        };
        match (self.published, ours) {
            (Some(published), _) => format!("; the paper prints {published} (we accept {accepted})"),
            (None, true) => format!(" (our limit: {accepted})"),
            (None, false) => format!(" (limit: {accepted})"),
        }
    }
}

/// `at both points`, `at all 3 points`.
fn at_all(points: usize) -> String {
    if points == 2 { "at both points".to_owned() } else { format!("at all {points} points") }
}

/// Four decimals at most, without zeros at the end.
fn short(limit: f64) -> String {
    let text = format!("{limit:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
