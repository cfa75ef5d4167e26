// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a claim holds, from the numbers alone.

use serde::{Deserialize, Serialize};
use tandem_report::with_interval;

use crate::{measure::Value, patch::X};

/// Something that the figure is said to show: what a curve's points must be, at every point unless said.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Holds,
    HoldsInPart,
    DoesNotHold,
    /// The interval reaches over the limit where it would be decided: chance has the say.
    Undecided,
    /// None of its points is among those that were run.
    NotAsked,
}

impl Outcome {
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::HoldsInPart => "holds in part",
            Outcome::DoesNotHold => "does not hold",
            Outcome::Undecided => "undecided",
            Outcome::NotAsked => "not asked",
        }
    }

    /// Of all claims together, or of all points of a claim. What is undecided leaves the whole so, unless something else fails.
    pub fn of_all(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
        use Outcome::*;
        let both = |whole, next| match (whole, next) {
            (NotAsked, other) | (other, NotAsked) => other,
            (a, b) if a == b => a,
            (Holds | Undecided, Holds | Undecided) => Undecided,
            _ => HoldsInPart,
        };
        outcomes.fold(NotAsked, both)
    }
}

/// A claim and what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    pub text: String,
    pub outcome: Outcome,
    /// The points that decide it, with their numbers.
    pub detail: String,
}

/// A curve's points, with the published ones where there are any.
#[derive(Debug, Clone, Serialize)]
pub struct Points {
    pub name: String,
    pub points: Vec<Option<Value>>,
    pub published: Vec<Option<f64>>,
}

/// A value, and between what it should be.
struct Asked {
    at: String,
    value: Value,
    low: f64,
    high: f64,
}

impl Asked {
    fn is_met(&self) -> bool {
        self.low <= self.value.mean && self.value.mean <= self.high
    }

    /// Does the interval reach over the limit, so that chance may have decided?
    fn is_close(&self) -> bool {
        let half = self.value.ci95.unwrap_or(0.0);
        self.margin().abs() < half
    }

    fn outcome(&self) -> Outcome {
        match (self.is_close(), self.is_met()) {
            (true, _) => Outcome::Undecided,
            (false, true) => Outcome::Holds,
            (false, false) => Outcome::DoesNotHold,
        }
    }

    /// How far inside; negative outside.
    fn margin(&self) -> f64 {
        (self.value.mean - self.low).min(self.high - self.value.mean)
    }

    fn text(&self) -> String {
        format!("{}: {}", self.at, with_interval(self.value.mean, self.value.ci95, 3))
    }

    fn limit(&self) -> String {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => format!("{:.4} to {:.4}", self.low, self.high),
            (true, false) => format!("above {}", self.low),
            _ => format!("below {}", self.high),
        }
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

    pub fn judge(&self, xs: &[X], curves: &[Points]) -> Judged {
        let asked = self.asked(xs, curves);
        let at_points = || asked.iter().map(Asked::outcome);
        let has = |outcome| at_points().any(|o| o == outcome);
        let outcome = match self.some {
            true if has(Outcome::Holds) => Outcome::Holds,
            true if has(Outcome::Undecided) => Outcome::Undecided,
            _ => Outcome::of_all(at_points()),
        };
        Judged { text: self.text.clone(), outcome, detail: self.detail(&asked, outcome) }
    }

    /// The points that it is about.
    fn asked(&self, xs: &[X], curves: &[Points]) -> Vec<Asked> {
        let curve = |name: &str| curves.iter().find(|c| c.name == name).expect("checked when read");
        let own = curve(&self.curve);
        let value = |i: usize| -> Option<Value> {
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

    fn detail(&self, asked: &[Asked], outcome: Outcome) -> String {
        const NAMED: usize = 5;
        let list = |which: &dyn Fn(&Asked) -> bool, with_limit: bool| {
            let chosen: Vec<&Asked> = asked.iter().filter(|a| which(a)).collect();
            let text = |a: &&Asked| match with_limit && self.published_within.is_some() {
                true => format!("{} (asked: {})", a.text(), a.limit()),
                false => a.text(),
            };
            let named = chosen.iter().take(NAMED).map(text).collect::<Vec<_>>().join("; ");
            let more = chosen.len().saturating_sub(NAMED);
            if more > 0 { format!("{named}; and {more} more") } else { named }
        };
        let limit = match asked.first() {
            Some(first) if self.published_within.is_none() => first.limit(),
            _ => String::new(),
        };
        let nearest = asked.iter().min_by(|a, b| a.margin().abs().total_cmp(&b.margin().abs()));
        // Of `some`: the point that decides.
        let deciding = asked.iter().filter(|a| a.outcome() == outcome).max_by(|a, b| a.margin().total_cmp(&b.margin()));
        let mut parts = Vec::new();
        let is_missed = |a: &Asked| a.outcome() == Outcome::DoesNotHold;
        let is_open = |a: &Asked| a.outcome() == Outcome::Undecided;
        match (outcome, nearest, deciding) {
            (Outcome::NotAsked, ..) | (_, None, _) => {
                return "none of its points is among those that were run".into();
            }
            (Outcome::Holds, _, Some(deciding)) if self.some => parts.push(deciding.text()),
            (Outcome::Undecided, _, Some(deciding)) if self.some => {
                parts.push(format!("{}; the interval reaches over the limit", deciding.text()));
            }
            (Outcome::Holds, Some(nearest), _) if asked.len() > 1 => {
                parts.push(format!("all {} points; nearest to the limit at {}", asked.len(), nearest.text()));
            }
            (Outcome::Holds, Some(nearest), _) => parts.push(nearest.text()),
            _ => {
                let missed = asked.iter().filter(|a| is_missed(a)).count();
                if missed > 0 {
                    parts.push(format!("missed at {missed} of {}: {}", asked.len(), list(&is_missed, true)));
                }
                let open = asked.iter().filter(|a| is_open(a)).count();
                if open > 0 {
                    let places = list(&is_open, true);
                    parts.push(format!("the interval reaches over the limit at {open} of {}: {places}", asked.len()));
                }
            }
        }
        if !limit.is_empty() {
            parts.push(format!("asked: {limit}"));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(by_seed: &[f64]) -> Option<Value> {
        let mean = tandem_scenario::stats::mean(by_seed);
        Some(Value { mean, ci95: tandem_scenario::stats::ci95(by_seed), by_seed: by_seed.to_vec() })
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
        claim.judge(&XS, &curves())
    }

    #[test]
    fn every_point_counts_unless_said() {
        assert_eq!(judge("above = 0.5\nto = 2").outcome, Outcome::Holds);
        assert_eq!(judge("above = 1.5\nto = 2").outcome, Outcome::HoldsInPart);
        assert_eq!(judge("above = 1.5\nat = [2]").outcome, Outcome::Holds);
        assert_eq!(judge("above = 1.5\nat = [1]\nsome = true").outcome, Outcome::DoesNotHold);
        assert_eq!(judge("above = 1.5\nsome = true").outcome, Outcome::Holds);
        assert_eq!(judge("below = -90").outcome, Outcome::DoesNotHold);
        assert_eq!(judge("above = 0\nfrom = 9").outcome, Outcome::NotAsked);
    }

    #[test]
    fn chance_decides_nothing() {
        assert_eq!(judge("above = 1\nat = [1]").outcome, Outcome::Undecided, "met by less than the interval");
        assert_eq!(judge("below = 1\nat = [1]").outcome, Outcome::Undecided, "missed by less than the interval");
        assert_eq!(judge("above = 0.5").outcome, Outcome::Undecided, "clear but for one point");
        assert_eq!(judge("above = 1.5").outcome, Outcome::HoldsInPart, "missed at 1, met at 2, open at 3");
        assert_eq!(judge("above = 5\nsome = true").outcome, Outcome::Undecided, "perhaps at 3");
        let some = judge("above = 1.5\nsome = true");
        assert!(some.detail.starts_with("2: 2.1"), "the point that decides, not the farthest: {}", some.detail);
        let detail = judge("below = 9\nfrom = 2").detail;
        assert!(detail.contains("the interval reaches over the limit at 1 of 2: 3: 8"), "{detail}");
        assert!(!judge("below = 9\nat = [1]").detail.contains("interval"));
    }

    #[test]
    fn curves_are_set_against_each_other() {
        // 0.5, 1, 8.
        assert_eq!(judge("over = 'b'\nabove = 0.4\nbelow = 0.6\nat = [1]").outcome, Outcome::Holds);
        assert_eq!(judge("over = 'b'\nbelow = 0.6\nat = [2]").outcome, Outcome::DoesNotHold);
        // -1.1 with 0.25.
        assert_eq!(judge("minus = 'b'\nbelow = -0.8\nat = [1]").outcome, Outcome::Holds);
        assert_eq!(judge("rises = [1, 2]").outcome, Outcome::Holds);
        assert_eq!(judge("rises = [2, 1]").outcome, Outcome::DoesNotHold);
    }

    #[test]
    fn published_values_are_asked_for_where_they_are() {
        // 1.1 with 0.25 in 0.6 to 1.4, 8 with 13.1 in 3 to 7.
        let judged = judge("published_within = 0.4");
        assert_eq!(judged.outcome, Outcome::Undecided);
        assert!(judged.detail.starts_with("the interval reaches over the limit at 1 of 2: 3: 8"), "{}", judged.detail);
        assert!(judge("published_within = 0.4\nat = [1]").detail.starts_with("1: 1.1"));
    }

    #[test]
    fn claims_add_up() {
        use Outcome::*;
        let of = |outcomes: &[Outcome]| Outcome::of_all(outcomes.iter().copied());
        assert_eq!(of(&[Holds, NotAsked, Holds]), Holds);
        assert_eq!(of(&[Holds, DoesNotHold]), HoldsInPart);
        assert_eq!(of(&[DoesNotHold, DoesNotHold]), DoesNotHold);
        assert_eq!(of(&[NotAsked]), NotAsked);
        assert_eq!(of(&[Holds, Undecided, Holds]), Undecided);
        assert_eq!(of(&[Undecided, DoesNotHold]), HoldsInPart);
        assert_eq!(of(&[HoldsInPart, Undecided]), HoldsInPart);
    }
}
