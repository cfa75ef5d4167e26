// SPDX-License-Identifier: MIT OR Apache-2.0
//! A judged claim in words.

use serde::Serialize;
use tandem_report::with_interval;

use crate::{
    judge::{Asked, Claim, Judgement},
    verdict::Verdict,
};

/// A claim and its verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    /// The claim in words.
    pub text: String,
    /// The paper's text makes it about this figure: it counts for the verdict on the figure.
    pub headline: bool,
    /// The paper does not print its limit.
    pub ours: bool,
    /// Whether it holds.
    pub verdict: Verdict,
    /// The points that decide it, with their numbers.
    pub detail: String,
    /// The number at the first of these points, and the limit.
    pub deciding: String,
}

/// So many points are named at most.
const NAMED: usize = 5;

impl Judged {
    pub(crate) fn new(claim: &Claim, judgement: &Judgement) -> Self {
        let words = Words { claim, judgement };
        let text = claim.text.clone();
        let (headline, ours) = (claim.headline, claim.ours);
        Self { text, headline, ours, verdict: judgement.verdict, detail: words.detail(), deciding: words.deciding() }
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
        format!("{}: {} ({})", self.text, self.verdict.words(), self.detail)
    }
}

/// What is said of a judgement.
struct Words<'a> {
    claim: &'a Claim,
    judgement: &'a Judgement,
}

impl<'a> Words<'a> {
    fn with(&self, verdict: Verdict) -> Vec<&'a Asked> {
        self.judgement.points.iter().filter(|point| point.verdict() == verdict).collect()
    }

    fn nearest_to_the_limit(&self) -> Option<&'a Asked> {
        self.judgement.points.iter().min_by(|a, b| a.margin().abs().total_cmp(&b.margin().abs()))
    }

    /// Where one point is enough: the best of those with the claim's own verdict.
    fn best(&self) -> Option<&'a Asked> {
        self.with(self.judgement.verdict).into_iter().max_by(|a, b| a.margin().total_cmp(&b.margin()))
    }

    /// Whether each point has a limit of its own.
    fn has_many_limits(&self) -> bool {
        self.claim.published_within.is_some()
    }

    fn detail(&self) -> String {
        let points = &self.judgement.points;
        let (Some(first), Some(nearest)) = (points.first(), self.nearest_to_the_limit()) else {
            return "none of its points is among those that were run".into();
        };
        let mut parts = Vec::new();
        match (self.judgement.verdict, self.best().filter(|_| self.claim.some)) {
            (Verdict::Holds, Some(best)) => parts.push(at(best)),
            (Verdict::Undecided, Some(best)) => {
                parts.push(format!("{}; the interval reaches over the limit", at(best)))
            }
            (Verdict::Holds, None) if points.len() > 1 => {
                parts.push(format!("all {} points; nearest to the limit at {}", points.len(), at(nearest)));
            }
            (Verdict::Holds, None) => parts.push(at(nearest)),
            _ => {
                let ways =
                    [("missed", Verdict::DoesNotHold), ("the interval reaches over the limit", Verdict::Undecided)];
                for (words, verdict) in ways {
                    let which = self.with(verdict);
                    if !which.is_empty() {
                        parts.push(format!("{words} at {} of {}: {}", which.len(), points.len(), self.list(&which)));
                    }
                }
            }
        }
        if !self.has_many_limits() {
            parts.push(format!("asked: {}", self.limit(first)));
        }
        let would_take = points.iter().filter_map(Asked::would_take).max();
        if let Some(seeds) = would_take.filter(|_| self.judgement.verdict == Verdict::Undecided) {
            parts.push(format!("some {seeds} seeds would decide it"));
        }
        parts.join("; ")
    }

    fn list(&self, points: &[&Asked]) -> String {
        let text = |point: &&Asked| match self.has_many_limits() {
            true => format!("{} (asked: {})", at(point), self.limit(point)),
            false => at(point),
        };
        let named = points.iter().take(NAMED).map(text).collect::<Vec<_>>().join("; ");
        let more = points.len().saturating_sub(NAMED);
        if more > 0 { format!("{named}; and {more} more") } else { named }
    }

    fn limit(&self, point: &Asked) -> String {
        let text = match (point.low.is_finite(), point.high.is_finite()) {
            (true, true) => format!("{} to {}", short(point.low), short(point.high)),
            (true, false) => format!("above {}", point.low),
            _ => format!("below {}", point.high),
        };
        match (point.published, self.claim.ours) {
            (Some(published), _) => format!("{text}, printed {published}"),
            (None, true) => format!("{text} (our limit)"),
            (None, false) => text,
        }
    }

    /// The first point of [`Self::detail`].
    fn deciding(&self) -> String {
        let is_one_enough = self.claim.some.then(|| self.best()).flatten();
        let decider = match self.judgement.verdict {
            Verdict::Holds => is_one_enough.or(self.nearest_to_the_limit()),
            Verdict::Undecided => is_one_enough.or(self.with(Verdict::Undecided).first().copied()),
            _ => self.with(Verdict::DoesNotHold).first().copied(),
        };
        let Some(point) = decider else { return String::new() };
        let found = format!("{} at {}", number(point), point.at);
        // Where each point has a limit of its own and all hold, the claim's words say enough.
        match self.has_many_limits() && self.judgement.verdict == Verdict::Holds {
            true => found,
            false => format!("{found}; asked: {}", self.limit(point)),
        }
    }
}

fn at(point: &Asked) -> String {
    format!("{}: {}", point.at, number(point))
}

fn number(point: &Asked) -> String {
    with_interval(point.value.estimate.value, point.value.estimate.half_width, 3)
}

/// Four decimals at most, without zeros at the end.
fn short(limit: f64) -> String {
    let text = format!("{limit:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
