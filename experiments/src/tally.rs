// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claims counted: how many of a reading hold, and which of them tells most.

use crate::{findings::Reading, judged::Judged, verdict::Verdict};

impl Reading {
    /// How many headlines hold, or how many side claims.
    pub fn tally(&self, headline: bool) -> Tally {
        let mut tally = Tally::default();
        for claim in self.claims.iter().filter(|claim| claim.headline == headline) {
            match claim.verdict {
                Verdict::NotAsked => tally.not_asked += 1,
                verdict => {
                    tally.asked += 1;
                    tally.held += usize::from(verdict == Verdict::Holds);
                }
            }
        }
        tally
    }

    /// How many headlines and side claims hold: `1 of 2 headlines, 3 of 3 side claims`.
    pub(crate) fn tallies(&self) -> String {
        let (headlines, side) = (self.tally(true), self.tally(false));
        let has_side = side.asked + side.not_asked > 0;
        let side = if has_side { format!(", {}", side.words("side claims")) } else { String::new() };
        headlines.words("headlines") + &side
    }

    /// The headline that tells most: the first of those that fail furthest; where all hold, the first.
    pub fn telling(&self) -> Option<&Judged> {
        use Verdict::*;
        let of = |verdict| self.claims.iter().find(|claim| claim.headline && claim.verdict == verdict);
        [DoesNotHold, HoldsInPart, Undecided, Holds].into_iter().find_map(of)
    }

    /// Whether a claim was asked and does not hold, headline or not.
    pub(crate) fn differs(&self) -> bool {
        self.claims.iter().any(|claim| !matches!(claim.verdict, Verdict::Holds | Verdict::NotAsked))
    }

    /// How many claims hold; then the numbers of the others, or of all if all hold.
    pub(crate) fn reason(&self) -> String {
        let differs = self.differs();
        let is_named = |claim: &&Judged| match claim.verdict {
            Verdict::NotAsked => false,
            Verdict::Holds => !differs,
            _ => true,
        };
        let parts = self.claims.iter().filter(is_named).map(Judged::marked_line).collect::<Vec<_>>().join(". ");
        format!("{} hold. {parts}", self.tallies())
    }
}

/// How many claims of a kind hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that hold.
    pub held: usize,
    /// Those of which a point was run.
    pub asked: usize,
    /// Those of which no point was run.
    pub not_asked: usize,
}

impl Tally {
    /// `2 of 3 headlines`.
    pub(crate) fn words(self, claims: &str) -> String {
        let not_asked = if self.not_asked > 0 { format!(" ({} not run)", self.not_asked) } else { String::new() };
        format!("{} of {} {claims}{not_asked}", self.held, self.asked)
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        let add = |a: Self, b: Self| Self {
            held: a.held + b.held,
            asked: a.asked + b.asked,
            not_asked: a.not_asked + b.not_asked,
        };
        tallies.fold(Self::default(), add)
    }
}
