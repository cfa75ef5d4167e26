// SPDX-License-Identifier: MIT OR Apache-2.0
//! An estimate beside that of a reference: whether they are shown to be near enough, shown to be further apart, or neither.

use serde::{Serialize, Serializer};
use tandem_statistics::Estimate;

/// How far an estimate may lie from the reference.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    /// As a share of the reference.
    Relative(f64),
    /// As a share of the reference, or in the quantity's unit, whichever allows more.
    RelativeOr(f64, f64),
    /// In the quantity's unit.
    Absolute(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    /// The whole 95 % interval of the difference lies within the bound: equivalence is shown.
    Agrees,
    /// The interval reaches over the bound: too few runs to say.
    Open,
    /// The whole interval lies beyond the bound.
    Differs,
    NotAsked,
}

use Agreement::{Agrees, Differs, NotAsked, Open};

impl Agreement {
    /// Of a question that has no interval.
    pub fn of(agrees: bool) -> Self {
        if agrees { Agrees } else { Differs }
    }

    pub fn words(self) -> &'static str {
        match self {
            Agrees => "agrees",
            Open => "cannot be told apart",
            Differs => "differs",
            NotAsked => "not asked",
        }
    }
}

/// A question, answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Check {
    pub agreement: Agreement,
    /// The difference and half of its interval, in units of the bound; none where no distance was judged.
    pub distance: Option<(f64, f64)>,
}

impl Check {
    /// Of something that is so or is not.
    pub fn of(agrees: bool) -> Self {
        Self { agreement: Agreement::of(agrees), distance: None }
    }

    pub const NOT_ASKED: Self = Self { agreement: NotAsked, distance: None };

    /// The same, where it is asked.
    pub fn asked_if(self, asked: bool) -> Self {
        if asked { self } else { Self::NOT_ASKED }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.agreement.words())
    }
}

impl Bound {
    /// The half width of the difference of two independent estimates is the root of the sum of the squared half widths. An estimate
    /// without an interval, a single run where nothing is random, adds nothing.
    pub fn check(self, ours: &Estimate, reference: &Estimate) -> Check {
        let half = ours.half_width.unwrap_or(0.0).hypot(reference.half_width.unwrap_or(0.0));
        self.check_difference(&Estimate::kept(ours.value - reference.value, Some(half)), reference.value)
    }

    /// Of a difference that was estimated as one: the runs come in pairs.
    pub fn check_difference(self, difference: &Estimate, reference: f64) -> Check {
        let bound = match self {
            Bound::Relative(share) => share * reference.abs(),
            Bound::RelativeOr(share, distance) => (share * reference.abs()).max(distance),
            Bound::Absolute(distance) => distance,
        };
        let half = difference.half_width.unwrap_or(0.0);
        let difference = difference.value;
        let agreement = match difference.abs() {
            distance if distance + half <= bound => Agrees,
            distance if distance - half <= bound => Open,
            _ => Differs,
        };
        Check { agreement, distance: (bound > 0.0).then(|| (difference / bound, half / bound)) }
    }

    /// Of two values without chance.
    pub fn check_values(self, ours: f64, reference: f64) -> Check {
        self.check(&Estimate::kept(ours, None), &Estimate::kept(reference, None))
    }
}

/// How many agree, cannot be told apart and differ, of those that were asked.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub agree: usize,
    pub open: usize,
    pub differ: usize,
}

impl Tally {
    pub fn asked(self) -> usize {
        self.agree + self.open + self.differ
    }

    /// `10 of 12 agree`.
    pub fn words(self) -> String {
        format!("{} of {} agree", self.agree, self.asked())
    }
}

impl FromIterator<Agreement> for Tally {
    fn from_iter<T: IntoIterator<Item = Agreement>>(all: T) -> Self {
        let mut tally = Self::default();
        for agreement in all {
            match agreement {
                Agrees => tally.agree += 1,
                Open => tally.open += 1,
                Differs => tally.differ += 1,
                NotAsked => {}
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, half_width: Option<f64>) -> Estimate {
        Estimate::kept(value, half_width)
    }

    /// Half widths of 3 and 4 give a joint one of 5.
    #[test]
    fn agreement_asks_for_the_whole_interval_within_the_bound() {
        let check = |ours: (f64, f64), reference: (f64, f64), bound: Bound| {
            bound.check(&of(ours.0, Some(ours.1)), &of(reference.0, Some(reference.1))).agreement
        };
        assert_eq!(check((104.9, 3.0), (100.0, 4.0), Bound::Absolute(10.0)), Agrees);
        assert_eq!(check((105.1, 3.0), (100.0, 4.0), Bound::Absolute(10.0)), Open);
        assert_eq!(check((94.9, 3.0), (100.0, 4.0), Bound::Absolute(10.0)), Open);
        assert_eq!(check((115.1, 3.0), (100.0, 4.0), Bound::Absolute(10.0)), Differs);
        assert_eq!(check((106.0, 0.0), (110.0, 0.0), Bound::Relative(0.05)), Agrees);
        assert_eq!(check((104.4, 0.0), (110.0, 0.0), Bound::Relative(0.05)), Differs);
        assert_eq!(check((14.9, 0.0), (10.0, 0.0), Bound::RelativeOr(0.1, 5.0)), Agrees);
        assert_eq!(check((109.0, 0.0), (100.0, 0.0), Bound::RelativeOr(0.1, 5.0)), Agrees);
        assert_eq!(check((15.2, 0.0), (10.0, 0.0), Bound::RelativeOr(0.1, 5.0)), Differs);
    }

    /// The case of a review: 664 ± 39 beside 736 ± 244 was called agreement within 5 %.
    #[test]
    fn wide_intervals_are_no_agreement() {
        let check = Bound::Relative(0.05).check(&of(664.5, Some(39.3)), &of(736.3, Some(244.3)));
        assert_eq!(check.agreement, Open);
        // 71.8 below the reference, where 36.8 are allowed.
        let (off, half) = check.distance.expect("a distance was judged");
        assert!((off + 1.95).abs() < 0.01 && (half - 6.72).abs() < 0.01, "{off} ± {half}");
    }

    #[test]
    fn what_is_not_asked_is_not_counted() {
        let tally: Tally = [Agrees, NotAsked, Differs, Open].into_iter().collect();
        assert_eq!((tally.asked(), tally.words().as_str()), (3, "1 of 3 agree"));
    }
}
