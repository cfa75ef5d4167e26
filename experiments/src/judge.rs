// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a claim holds, from the numbers alone.

use serde::{Deserialize, Serialize};
use tandem_statistics::{Estimate, Looks};

use crate::{patch::X, sample::Sample, verdict::Verdict};

/// Something that the figure is said to show: the limits of a curve's points, at every point unless said.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub text: String,
    /// What was found, as a sentence: `gamma is {} with three flows`, with `{at}` for `at 3` and `{x}` for `3`. Without `{}` it is only about
    /// a failure.
    pub found: Option<String>,
    /// The paper's text makes it about this figure. These alone make the experiment's verdict.
    #[serde(default)]
    pub headline: bool,
    /// The paper does not print the limit; it was chosen here.
    #[serde(default)]
    pub ours: bool,
    /// Whose the limit is: an RFC, a draft, a paper; for `ours`, how it was chosen.
    pub owner: Option<String>,
    pub curve: String,
    /// Not the curve itself, but it divided by this one.
    pub over: Option<String>,
    /// Not the curve itself, but it less this one.
    pub minus: Option<String>,
    pub above: Option<f64>,
    pub below: Option<f64>,
    /// No further from zero than this, on either side.
    pub within: Option<f64>,
    /// No further from the published value than this share of it, where there is one.
    pub published_within: Option<f64>,
    /// Not the points themselves, but the value at the second less that at the first; above zero unless limits are given.
    pub rises: Option<(X, X)>,
    /// Only at these.
    pub at: Option<Vec<X>>,
    /// Only from here, to here.
    pub from: Option<f64>,
    pub to: Option<f64>,
    /// At one point at least.
    #[serde(default)]
    pub some: bool,
}

/// The verdict on a claim, with the points that it rests on.
pub(crate) struct Judgement {
    pub verdict: Verdict,
    pub points: Vec<Asked>,
}

/// A curve's points, with the published ones where there are any.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// The curve's name.
    pub name: String,
    /// One estimate for each x; `None` where nothing was run or nothing could be measured.
    pub points: Vec<Option<Sample>>,
    /// The paper's value at each x, as far as it can be read.
    pub published: Vec<Option<f64>>,
}

/// A point that four times the seeds decide less often than this gets none. Trials are given up for futility at such chances; ours.
const WORTH_SEEDS: f64 = 0.2;

/// Half the width of a single run's interval, as a share of its value, at least; ours. Engines that are close differ by as much.
const SURE: f64 = 0.05;

/// A value at a point, and the limits that it is asked to lie between.
pub(crate) struct Asked {
    /// `at 3`, or `from 1 to 8`.
    pub at: String,
    /// The places of its points on the x axis.
    pub places: Vec<usize>,
    pub value: Sample,
    pub low: f64,
    pub high: f64,
    /// The printed value that the limits lie around.
    pub published: Option<f64>,
}

impl Asked {
    fn is_met(&self) -> bool {
        self.low <= self.value.estimate.value && self.value.estimate.value <= self.high
    }

    /// Whether the interval reaches over the limit, so that chance may have decided.
    fn is_close(&self) -> bool {
        let half = self.value.estimate.half_width.unwrap_or(0.0);
        self.margin().abs() < half
    }

    pub fn verdict(&self) -> Verdict {
        match (self.is_close(), self.is_met()) {
            (true, _) => Verdict::Undecided,
            (false, true) => Verdict::Holds,
            (false, false) => Verdict::DoesNotHold,
        }
    }

    /// With the interval that `like`, an estimate from other runs, would have with as few runs as this one has, unless its own is wider. A
    /// single run is not surer than [`SURE`].
    pub fn widened_like(mut self, like: &Estimate) -> Self {
        let own = &mut self.value.estimate;
        let runs = own.n.max(1) as f64;
        let of_like = like.half_width.map(|half| half * (like.n as f64 / runs).sqrt());
        let least = SURE * own.value.abs() / runs.sqrt();
        own.half_width = own.half_width.into_iter().chain(of_like).chain([least]).reduce(f64::max);
        self
    }

    /// Whether more seeds are likely enough to decide it, up to the last look.
    pub fn is_worth_seeds(&self, looks: &Looks) -> bool {
        let chance = || looks.chance_to_exclude(self.margin(), &self.value.estimate);
        self.verdict() == Verdict::Undecided && chance().is_none_or(|chance| chance >= WORTH_SEEDS)
    }

    /// How many seeds would decide it if the mean and the spread stayed as they are, as a round number; `None` if none would, or if it is decided.
    pub fn would_take(&self) -> Option<usize> {
        let half = self.value.estimate.half_width?;
        let ratio = half / self.margin().abs();
        let seeds = self.value.estimate.n as f64 * ratio * ratio;
        let step = 10_f64.powf(seeds.log10().floor());
        (self.is_close() && seeds.is_finite()).then(|| ((seeds / step).ceil() * step) as usize)
    }

    /// How far the mean is inside the limits; negative outside.
    pub fn margin(&self) -> f64 {
        (self.value.estimate.value - self.low).min(self.high - self.value.estimate.value)
    }
}

impl Claim {
    /// Whether curves and points are there, and whether something is asked.
    pub(crate) fn check(&self, curves: &[&str], xs: &[X]) -> Result<(), String> {
        for name in self.curves() {
            if !curves.contains(&name) {
                return Err(format!("there is no curve `{name}`; there are `{}`", curves.join("`, `")));
            }
        }
        let pair = self.rises.iter().flat_map(|(from, to)| [from, to]);
        for x in self.at.iter().flatten().chain(pair) {
            if !xs.contains(x) {
                return Err(format!("{x} is not among the sweep's values"));
            }
        }
        self.check_limits()?;
        if self.over.is_some() && self.minus.is_some() {
            return Err("a claim is about a curve over another or less another, not both".into());
        }
        if !xs.iter().any(|x| self.is_about(x)) {
            return Err("none of the sweep's values lies in `from`, `to` and `at`".into());
        }
        Ok(())
    }

    /// Whether one thing is asked, and can be met.
    fn check_limits(&self) -> Result<(), String> {
        let bounds = self.above.is_some() || self.below.is_some();
        let ways = [bounds, self.within.is_some(), self.published_within.is_some()].iter().filter(|&&way| way).count();
        let problem = if ways > 1 || ways == 0 && self.rises.is_none() {
            "give one kind of limit: above and below, or within, or published_within, or rises"
        } else if self.rises.is_some() && self.published_within.is_some() {
            "rises is about a difference, which is not published: use above, below or within"
        } else if self.rises.is_some() && (self.is_selective() || self.some) {
            "rises is about its two points alone: leave out at, from, to and some"
        } else if self.within.is_some() && self.over.is_some() {
            "within is about a value or a difference: for a ratio use above and below"
        } else if self.within.or(self.published_within).is_some_and(|width| width.is_nan() || width <= 0.0) {
            "within and published_within must be above 0"
        } else if matches!((self.above, self.below), (Some(above), Some(below)) if above >= below) {
            "nothing lies above `above` and below `below`"
        } else if self.ours && self.published_within.is_some() {
            "the width of published_within is always ours: leave `ours` out"
        } else if self.ours && ways == 0 {
            "without a limit nothing can be ours: leave `ours` out"
        } else {
            return Ok(());
        };
        Err(problem.into())
    }

    /// The curves that it concerns.
    pub fn curves(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.curve).chain(&self.over).chain(&self.minus).map(String::as_str)
    }

    /// The verdict on the claim, from the points that were run. Intervals are as wide as `looks` asks.
    pub fn judge(&self, xs: &[X], curves: &[Points], looks: &Looks) -> Judgement {
        self.judgement(self.asked(xs, curves, looks))
    }

    /// The verdict on the claim, from its points.
    pub fn judgement(&self, points: Vec<Asked>) -> Judgement {
        Judgement { verdict: self.verdict(points.iter().map(Asked::verdict)), points }
    }

    fn verdict(&self, points: impl Iterator<Item = Verdict> + Clone) -> Verdict {
        let has = |verdict| points.clone().any(|v| v == verdict);
        match self.some {
            true if has(Verdict::Holds) => Verdict::Holds,
            true if has(Verdict::Undecided) => Verdict::Undecided,
            _ => Verdict::of_points(points),
        }
    }

    /// Whether the verdict depends on undecided points: it would differ between all of them failing and all of them holding.
    pub fn hangs_on_undecided(&self, judgement: &Judgement) -> bool {
        let points = judgement.points.iter().map(Asked::verdict);
        let if_decided = |as_if| self.verdict(points.clone().map(|v| if v == Verdict::Undecided { as_if } else { v }));
        if_decided(Verdict::Holds) != if_decided(Verdict::DoesNotHold)
    }

    /// The points that it concerns.
    fn asked(&self, xs: &[X], curves: &[Points], looks: &Looks) -> Vec<Asked> {
        let curve = |name: &str| curves.iter().find(|c| c.name == name).expect("checked when read");
        let own = curve(&self.curve);
        let value = |i: usize| -> Option<Sample> {
            let value = own.points[i].as_ref()?;
            match (&self.over, &self.minus) {
                (Some(other), _) => value.over(curve(other).points[i].as_ref()?),
                (_, Some(other)) => Some(value.minus(curve(other).points[i].as_ref()?)),
                _ => Some(value.clone()),
            }
        };
        if let Some((from, to)) = &self.rises {
            let place = |x: &X| xs.iter().position(|other| other == x);
            let (Some(from_place), Some(to_place)) = (place(from), place(to)) else { return Vec::new() };
            let (Some(first), Some(second)) = (value(from_place), value(to_place)) else { return Vec::new() };
            let (low, high) = if self.has_limits() { self.limits() } else { (0.0, f64::INFINITY) };
            return vec![Asked {
                at: format!("from {from} to {to}"),
                places: vec![from_place, to_place],
                value: second.minus(&first).looked_at(looks),
                low,
                high,
                published: None,
            }];
        }
        let asked = |i: usize| {
            let published = own.published[i].filter(|_| self.published_within.is_some());
            let (low, high) = match (self.published_within, published) {
                (Some(share), Some(value)) => (value - share * value.abs(), value + share * value.abs()),
                (Some(_), None) => return None,
                (None, _) => self.limits(),
            };
            let value = value(i)?.looked_at(looks);
            Some(Asked { at: format!("at {}", xs[i]), places: vec![i], value, low, high, published })
        };
        (0..xs.len()).filter(|&i| self.is_about(&xs[i])).filter_map(asked).collect()
    }

    fn has_limits(&self) -> bool {
        self.above.or(self.below).or(self.within).is_some()
    }

    /// The same at every point.
    fn limits(&self) -> (f64, f64) {
        let above = self.above.or(self.within.map(|width| -width));
        (above.unwrap_or(f64::NEG_INFINITY), self.below.or(self.within).unwrap_or(f64::INFINITY))
    }

    fn is_selective(&self) -> bool {
        self.at.is_some() || self.from.is_some() || self.to.is_some()
    }

    /// Whether the point is one of its own.
    pub fn is_about(&self, x: &X) -> bool {
        let within = x.number().is_none_or(|n| self.from.is_none_or(|f| n >= f) && self.to.is_none_or(|t| n <= t));
        within && self.at.as_ref().is_none_or(|at| at.contains(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::Judged;

    fn value(by_seed: &[f64]) -> Option<Sample> {
        Some(Sample::new(by_seed.to_vec()))
    }

    /// Half widths of the intervals, t = 4.303: at 1 and 2 0.25 of `a`, at 3 13.1.
    fn curves() -> Vec<Points> {
        let points = |name: &str, values: [&[f64]; 3], published| Points {
            name: name.into(),
            points: values.iter().map(|v| value(v)).chain([None]).collect(),
            published,
        };
        vec![
            points(
                "a",
                [&[1.0, 1.1, 1.2], &[2.0, 2.1, 2.2], &[4.0, 6.0, 14.0]],
                vec![Some(1.0), None, Some(5.0), None],
            ),
            points("b", [&[2.0, 2.2, 2.4], &[2.0, 2.1, 2.2], &[1.0, 1.0, 1.0]], vec![None; 4]),
        ]
    }

    /// The last is not run.
    const XS: [X; 4] = [X::Number(1.0), X::Number(2.0), X::Number(3.0), X::Number(4.0)];

    fn judge(claim: &str) -> Judged {
        let claim: Claim = toml::from_str(&format!("text = 't'\ncurve = 'a'\n{claim}")).unwrap();
        claim.check(&["a", "b"], &XS).unwrap();
        Judged::new(&claim, &claim.judge(&XS, &curves(), &Looks::default()))
    }

    #[test]
    fn every_point_counts_unless_said() {
        let both = judge("above = 0.5\nto = 2");
        assert_eq!(both.verdict, Verdict::Holds);
        assert_eq!(both.at_each.iter().map(|point| &*point.at).collect::<Vec<_>>(), ["at 1", "at 2"]);
        assert_eq!(judge("above = 1.5\nto = 2").verdict, Verdict::HoldsInPart);
        assert_eq!(judge("above = 1.5\nat = [2]").verdict, Verdict::Holds);
        assert_eq!(judge("above = 1.5\nat = [1]\nsome = true").verdict, Verdict::DoesNotHold);
        assert_eq!(judge("above = 1.5\nsome = true").verdict, Verdict::Holds);
        assert_eq!(judge("below = -90").verdict, Verdict::DoesNotHold);
        assert_eq!(judge("above = 0\nat = [4]").verdict, Verdict::NotAsked, "a point that was not run");
    }

    /// At 1, 2 and 3: what more seeds may change of the verdict.
    #[test]
    fn more_seeds_are_for_what_the_verdict_hangs_on() {
        let hangs = |claim: &str| {
            let claim: Claim = toml::from_str(&format!("text = 't'\ncurve = 'a'\n{claim}")).unwrap();
            claim.hangs_on_undecided(&claim.judge(&XS, &curves(), &Looks::default()))
        };
        assert!(hangs("above = 0.5"), "holds, holds, open: in whole or in part");
        assert!(hangs("above = 5"), "fails, fails, open: not at all or in part");
        assert!(!hangs("above = 1.5"), "fails, holds, open: in part in any case");
        assert!(!hangs("above = 0.5\nto = 2"), "holds, holds");
        assert!(hangs("above = 5\nsome = true") && !hangs("above = 1.5\nsome = true"));
    }

    #[test]
    fn chance_decides_nothing() {
        assert_eq!(judge("above = 1\nat = [1]").verdict, Verdict::Undecided, "met by less than the interval");
        assert_eq!(judge("below = 1\nat = [1]").verdict, Verdict::Undecided, "missed by less than the interval");
        assert_eq!(judge("above = 0.5").verdict, Verdict::Undecided, "clear except for one point");
        assert_eq!(judge("above = 1.5").verdict, Verdict::HoldsInPart, "missed at 1, met at 2, open at 3");
        assert_eq!(judge("above = 5\nsome = true").verdict, Verdict::Undecided, "perhaps at 3");
        let some = judge("above = 1.5\nsome = true");
        assert!(some.line().starts_with("t: holds: 2.1"), "the point that decides, not the farthest: {}", some.line());
        assert!(some.line().contains(" at 2 ("), "{}", some.line());
        let open = judge("below = 9\nfrom = 2").line();
        assert!(open.starts_with("t: undecided at 1 of 2 points: 8"), "{open}");
        assert!(!judge("below = 9\nat = [1]").line().contains("undecided"));
    }

    #[test]
    fn curves_are_set_against_each_other() {
        // 0.5, 1, 8.
        assert_eq!(judge("over = 'b'\nabove = 0.4\nbelow = 0.6\nat = [1]").verdict, Verdict::Holds);
        assert_eq!(judge("over = 'b'\nbelow = 0.6\nat = [2]").verdict, Verdict::DoesNotHold);
        // -1.1 with 0.25.
        assert_eq!(judge("minus = 'b'\nbelow = -0.8\nat = [1]").verdict, Verdict::Holds);
        assert_eq!(judge("rises = [1, 2]").verdict, Verdict::Holds);
        assert_eq!(judge("rises = [2, 1]").verdict, Verdict::DoesNotHold);
    }

    #[test]
    fn published_values_are_asked_for_where_they_are() {
        // 1.1 with 0.25 in 0.6 to 1.4, 8 with 13.1 in 3 to 7.
        let judged = judge("published_within = 0.4");
        assert_eq!(judged.verdict, Verdict::Undecided);
        let line = judged.line();
        assert!(
            line.starts_with("t: undecided at 1 of 2 points: 8")
                && line.contains("; the paper prints 5 (we accept 3 to 7)"),
            "{line}"
        );
        assert!(judge("published_within = 0.4\nat = [1]").line().starts_with("t: holds: 1.1"));
    }

    /// Of 9 seeds the half width is 1.2: of one run it is 1.2 * 3.
    #[test]
    fn a_single_run_is_as_wide_as_many_say() {
        let claim: Claim = toml::from_str("text = 't'\ncurve = 'a'\nbelow = 10").unwrap();
        let like = Estimate { n: 9, ..Estimate::kept(8.0, Some(1.2)) };
        let verdict = |by_seed: &[f64]| {
            let at = Asked {
                at: "at 1".into(),
                places: vec![0],
                value: Sample::new(by_seed.to_vec()),
                low: f64::NEG_INFINITY,
                high: 10.0,
                published: None,
            };
            claim.judgement(vec![at.widened_like(&like)]).verdict
        };
        assert_eq!(verdict(&[7.0]), Verdict::Undecided, "3 below the limit");
        assert_eq!((verdict(&[6.0]), verdict(&[14.0])), (Verdict::Holds, Verdict::DoesNotHold));
        assert_eq!(verdict(&[1.0, 8.0]), Verdict::Undecided, "their own interval is wider");
        let exact = |value: f64| Asked {
            at: "at 1".into(),
            places: vec![0],
            value: Sample::new(vec![value]),
            low: f64::NEG_INFINITY,
            high: 10.0,
            published: None,
        };
        let still = Estimate { n: 9, ..Estimate::kept(8.0, Some(0.0)) };
        let verdict = |value| exact(value).widened_like(&still).verdict();
        assert_eq!((verdict(9.6), verdict(9.4)), (Verdict::Undecided, Verdict::Holds), "a twentieth");
    }

    #[test]
    fn a_band_has_two_sides() {
        // 1.1 at 1, 2.1 at 2, each with 0.25; b less a at 1: 1.1 with 0.25.
        assert_eq!(judge("within = 2.5\nto = 2").verdict, Verdict::Holds);
        assert_eq!(judge("within = 1.5\nto = 2").verdict, Verdict::HoldsInPart);
        assert_eq!(judge("minus = 'b'\nwithin = 1.5\nat = [1]").verdict, Verdict::Holds);
        assert_eq!(judge("minus = 'b'\nwithin = 0.5\nat = [1]").verdict, Verdict::DoesNotHold, "given away");
        assert_eq!(judge("minus = 'b'\nwithin = 1\nat = [1]").verdict, Verdict::Undecided);
        let line = judge("within = 1.5\nto = 2").line();
        assert!(
            line.starts_with("t: fails at 1 of 2 points: 2.1") && line.ends_with(" at 2 (limit: -1.5 to 1.5)"),
            "{line}"
        );
    }

    #[test]
    fn a_rise_may_have_limits() {
        // 1 from 1 to 2, the same with each seed.
        assert_eq!(judge("rises = [1, 2]\nabove = 0.9").verdict, Verdict::Holds);
        assert_eq!(judge("rises = [1, 2]\nabove = 1.1").verdict, Verdict::DoesNotHold);
        assert_eq!(judge("rises = [2, 1]\nwithin = 1.1").verdict, Verdict::Holds);
        assert_eq!(judge("rises = [2, 1]\nbelow = -1.1").verdict, Verdict::DoesNotHold);
        assert!(
            judge("rises = [1, 2]\nabove = 0.9\nours = true").line().ends_with("from 1 to 2 (our limit: above 0.9)")
        );
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let refused = |claim: &str, message: &str| {
            let claim: Claim = toml::from_str(&format!("text = 't'\ncurve = 'a'\n{claim}")).unwrap();
            let error = claim.check(&["a", "b"], &XS).unwrap_err();
            assert!(error.contains(message), "{error}");
        };
        refused("", "give one kind of limit");
        refused("within = 1\nabove = 2", "give one kind of limit");
        refused("within = 1\nover = 'b'", "for a ratio");
        refused("within = 0", "above 0");
        refused("above = 2\nbelow = 1", "nothing lies");
        refused("published_within = 0.1\nours = true", "always ours");
        refused("rises = [1, 2]\nours = true", "without a limit");
        refused("rises = [1, 2]\nat = [1]", "two points alone");
        refused("rises = [1, 2]\npublished_within = 0.1", "which is not published");
        refused("above = 1\nfrom = 9", "none of the sweep's values");
        refused("above = 1\nat = [9]", "not among the sweep's values");
    }
}
