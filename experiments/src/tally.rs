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
        let side = if side.all() > 0 { format!(", {}", side.words("side claim")) } else { String::new() };
        headlines.words("headline") + &side
    }

    /// The same in sentences: `1 of 2 headlines holds. Both side claims hold.` A single headline is left out, since its verdict is the
    /// figure's.
    pub(crate) fn tallies_in_words(&self) -> String {
        let (headlines, side) = (self.tally(true), self.tally(false));
        let headlines = (headlines.all() > 1).then(|| headlines.sentence("headline"));
        let side = (side.all() > 0).then(|| side.sentence("side claim"));
        headlines.into_iter().chain(side).collect::<Vec<_>>().join(" ")
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
        format!("{} {parts}", self.tallies_in_words()).trim().to_owned()
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
    /// How many there are, run or not.
    fn all(self) -> usize {
        self.asked + self.not_asked
    }

    /// `2 of 3 headlines`.
    pub(crate) fn words(self, claim: &str) -> String {
        let plural = if self.asked == 1 { "" } else { "s" };
        format!("{} of {} {claim}{plural}{}", self.held, self.asked, self.not_run())
    }

    /// `2 of 3 headlines hold.`
    fn sentence(self, claim: &str) -> String {
        let not_run = self.not_run();
        match (self.held, self.asked) {
            (_, 0) => format!("No {claim} was run."),
            (1, 1) => format!("The {claim} holds{not_run}."),
            (0, 1) => format!("The {claim} does not hold{not_run}."),
            (2, 2) => format!("Both {claim}s hold{not_run}."),
            (held, asked) if held == asked => format!("All {asked} {claim}s hold{not_run}."),
            (1, asked) => format!("1 of {asked} {claim}s holds{not_run}."),
            (held, asked) => format!("{held} of {asked} {claim}s hold{not_run}."),
        }
    }

    fn not_run(self) -> String {
        if self.not_asked > 0 { format!(" ({} not run)", self.not_asked) } else { String::new() }
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
