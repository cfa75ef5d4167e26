// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a claim holds, from the numbers alone.

use serde::{Deserialize, Serialize};

use crate::{estimate::Estimate, patch::X};

/// Something that the figure is said to show: the limits of a curve's points, at every point unless said.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub text: String,
    pub curve: String,
    /// Not the curve itself, but it divided by this one.
    pub over: Option<String>,
    /// Not the curve itself, but it less this one.
    pub minus: Option<String>,
    pub above: Option<f64>,
    pub below: Option<f64>,
    /// No further from the published value than this share of it, where there is one.
    pub published_within: Option<f64>,
    /// The value at the second is above that at the first.
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

/// Whether the numbers bear a claim out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At all points.
    Holds,
    /// Some claims or points hold, others do not.
    HoldsInPart,
    /// At no point.
    DoesNotHold,
    /// The interval reaches over the limit where the claim would be decided: chance has the say.
    Undecided,
    /// None of its points is among those that were run.
    NotAsked,
}

impl Verdict {
    /// The verdict as pages and tables write it.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::HoldsInPart => "holds in part",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Undecided => "undecided",
            Verdict::NotAsked => "not asked",
        }
    }

    /// The verdict on all claims together, or on all points of a claim. One undecided part leaves the whole undecided,
    /// unless another fails.
    pub fn of_all(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
        use Verdict::*;
        let both = |whole, next| match (whole, next) {
            (NotAsked, other) | (other, NotAsked) => other,
            (a, b) if a == b => a,
            (Holds | Undecided, Holds | Undecided) => Undecided,
            _ => HoldsInPart,
        };
        verdicts.fold(NotAsked, both)
    }
}

/// The verdict on a claim, with the points that it rests on.
pub(crate) struct Judgement {
    pub verdict: Verdict,
    pub points: Vec<Asked>,
}

/// A curve's points, with the published ones where there are any.
#[derive(Debug, Clone, Serialize)]
pub struct Points {
    /// The curve's name.
    pub name: String,
    /// One estimate for each x; `None` where nothing was run or nothing could be measured.
    pub points: Vec<Option<Estimate>>,
    /// The paper's value at each x, as far as it can be read.
    pub published: Vec<Option<f64>>,
}

/// A value at a point, and the limits that it is asked to lie between.
pub(crate) struct Asked {
    pub at: String,
    pub value: Estimate,
    pub low: f64,
    pub high: f64,
}

impl Asked {
    fn is_met(&self) -> bool {
        self.low <= self.value.mean && self.value.mean <= self.high
    }

    /// Whether the interval reaches over the limit, so that chance may have decided.
    fn is_close(&self) -> bool {
        let half = self.value.ci95.unwrap_or(0.0);
        self.margin().abs() < half
    }

    pub fn verdict(&self) -> Verdict {
        match (self.is_close(), self.is_met()) {
            (true, _) => Verdict::Undecided,
            (false, true) => Verdict::Holds,
            (false, false) => Verdict::DoesNotHold,
        }
    }

    /// How far the mean is inside the limits; negative outside.
    pub fn margin(&self) -> f64 {
        (self.value.mean - self.low).min(self.high - self.value.mean)
    }
}

impl Claim {
    /// Whether curves and points are there, and whether something is asked.
    pub fn check(&self, curves: &[&str], xs: &[X]) -> Result<(), String> {
        for name in std::iter::once(&self.curve).chain(&self.over).chain(&self.minus) {
            if !curves.contains(&name.as_str()) {
                return Err(format!("there is no curve `{name}`; there are `{}`", curves.join("`, `")));
            }
        }
        let pair = self.rises.iter().flat_map(|(from, to)| [from, to]);
        for x in self.at.iter().flatten().chain(pair) {
            if !xs.contains(x) {
                return Err(format!("{x} is none of the sweep's values"));
            }
        }
        let bounds = self.above.is_some() || self.below.is_some();
        let ways = [bounds, self.published_within.is_some(), self.rises.is_some()];
        if ways.iter().filter(|&&way| way).count() != 1 {
            return Err("say what is asked: above and below, or published_within, or rises".into());
        }
        if self.over.is_some() && self.minus.is_some() {
            return Err("a claim is about a curve over another or less another, not both".into());
        }
        Ok(())
    }

    /// The verdict on the claim, from the points that were run.
    pub fn judge(&self, xs: &[X], curves: &[Points]) -> Judgement {
        let points = self.asked(xs, curves);
        let verdicts = || points.iter().map(Asked::verdict);
        let has = |verdict| verdicts().any(|v| v == verdict);
        let verdict = match self.some {
            true if has(Verdict::Holds) => Verdict::Holds,
            true if has(Verdict::Undecided) => Verdict::Undecided,
            _ => Verdict::of_all(verdicts()),
        };
        Judgement { verdict, points }
    }

    /// The points that it is about.
    fn asked(&self, xs: &[X], curves: &[Points]) -> Vec<Asked> {
        let curve = |name: &str| curves.iter().find(|c| c.name == name).expect("checked when read");
        let own = curve(&self.curve);
        let value = |i: usize| -> Option<Estimate> {
            let value = own.points[i].as_ref()?;
            match (&self.over, &self.minus) {
                (Some(other), _) => value.over(curve(other).points[i].as_ref()?),
                (_, Some(other)) => Some(value.minus(curve(other).points[i].as_ref()?)),
                _ => Some(value.clone()),
            }
        };
        if let Some((from, to)) = &self.rises {
            let at = |x: &X| value(xs.iter().position(|other| other == x)?);
            let (Some(first), Some(second)) = (at(from), at(to)) else { return Vec::new() };
            let at = format!("{to} less {from}");
            return vec![Asked { at, value: second.minus(&first), low: 0.0, high: f64::INFINITY }];
        }
        let asked = |i: usize| {
            let (low, high) = match (self.published_within, own.published[i]) {
                (Some(share), Some(published)) => {
                    (published - share * published.abs(), published + share * published.abs())
                }
                (Some(_), None) => return None,
                (None, _) => (self.above.unwrap_or(f64::NEG_INFINITY), self.below.unwrap_or(f64::INFINITY)),
            };
            Some(Asked { at: xs[i].to_string(), value: value(i)?, low, high })
        };
        (0..xs.len()).filter(|&i| self.is_about(&xs[i])).filter_map(asked).collect()
    }

    fn is_about(&self, x: &X) -> bool {
        let within = x.number().is_none_or(|n| self.from.is_none_or(|f| n >= f) && self.to.is_none_or(|t| n <= t));
        within && self.at.as_ref().is_none_or(|at| at.contains(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::Judged;

    fn value(by_seed: &[f64]) -> Option<Estimate> {
        Some(Estimate::new(by_seed.to_vec()))
    }

    /// Half widths of the intervals, t = 4.303: at 1 and 2 0.25 of `a`, at 3 13.1.
    fn curves() -> Vec<Points> {
        let points = |name: &str, values: [&[f64]; 3], published| Points {
            name: name.into(),
            points: values.iter().map(|v| value(v)).collect(),
            published,
        };
        vec![
            points("a", [&[1.0, 1.1, 1.2], &[2.0, 2.1, 2.2], &[4.0, 6.0, 14.0]], vec![Some(1.0), None, Some(5.0)]),
            points("b", [&[2.0, 2.2, 2.4], &[2.0, 2.1, 2.2], &[1.0, 1.0, 1.0]], vec![None; 3]),
        ]
    }

    const XS: [X; 3] = [X::Number(1.0), X::Number(2.0), X::Number(3.0)];

    fn judge(claim: &str) -> Judged {
        let claim: Claim = toml::from_str(&format!("text = 't'\ncurve = 'a'\n{claim}")).unwrap();
        claim.check(&["a", "b"], &XS).unwrap();
        Judged::new(&claim, &claim.judge(&XS, &curves()))
    }

    #[test]
    fn every_point_counts_unless_said() {
        assert_eq!(judge("above = 0.5\nto = 2").verdict, Verdict::Holds);
        assert_eq!(judge("above = 1.5\nto = 2").verdict, Verdict::HoldsInPart);
        assert_eq!(judge("above = 1.5\nat = [2]").verdict, Verdict::Holds);
        assert_eq!(judge("above = 1.5\nat = [1]\nsome = true").verdict, Verdict::DoesNotHold);
        assert_eq!(judge("above = 1.5\nsome = true").verdict, Verdict::Holds);
        assert_eq!(judge("below = -90").verdict, Verdict::DoesNotHold);
        assert_eq!(judge("above = 0\nfrom = 9").verdict, Verdict::NotAsked);
    }

    #[test]
    fn chance_decides_nothing() {
        assert_eq!(judge("above = 1\nat = [1]").verdict, Verdict::Undecided, "met by less than the interval");
        assert_eq!(judge("below = 1\nat = [1]").verdict, Verdict::Undecided, "missed by less than the interval");
        assert_eq!(judge("above = 0.5").verdict, Verdict::Undecided, "clear but for one point");
        assert_eq!(judge("above = 1.5").verdict, Verdict::HoldsInPart, "missed at 1, met at 2, open at 3");
        assert_eq!(judge("above = 5\nsome = true").verdict, Verdict::Undecided, "perhaps at 3");
        let some = judge("above = 1.5\nsome = true");
        assert!(some.detail.starts_with("2: 2.1"), "the point that decides, not the farthest: {}", some.detail);
        let detail = judge("below = 9\nfrom = 2").detail;
        assert!(detail.contains("the interval reaches over the limit at 1 of 2: 3: 8"), "{detail}");
        assert!(!judge("below = 9\nat = [1]").detail.contains("interval"));
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
        assert!(judged.detail.starts_with("the interval reaches over the limit at 1 of 2: 3: 8"), "{}", judged.detail);
        assert!(judge("published_within = 0.4\nat = [1]").detail.starts_with("1: 1.1"));
    }

    #[test]
    fn claims_add_up() {
        use Verdict::*;
        let of = |verdicts: &[Verdict]| Verdict::of_all(verdicts.iter().copied());
        assert_eq!(of(&[Holds, NotAsked, Holds]), Holds);
        assert_eq!(of(&[Holds, DoesNotHold]), HoldsInPart);
        assert_eq!(of(&[DoesNotHold, DoesNotHold]), DoesNotHold);
        assert_eq!(of(&[NotAsked]), NotAsked);
        assert_eq!(of(&[Holds, Undecided, Holds]), Undecided);
        assert_eq!(of(&[Undecided, DoesNotHold]), HoldsInPart);
        assert_eq!(of(&[HoldsInPart, Undecided]), HoldsInPart);
    }
}
