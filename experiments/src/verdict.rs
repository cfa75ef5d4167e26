// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verdicts, and the two rules that add them up: of points to a claim's, of headline claims to an experiment's.

use serde::{Deserialize, Serialize};

/// Whether the numbers bear a claim out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At all points.
    Holds,
    /// Something fails, but no headline fails at all of its points.
    HoldsInPart,
    /// At no point.
    DoesNotHold,
    /// The interval reaches over the limit where the claim would be decided: chance has the say.
    Undecided,
    /// None of its points is among those that were run.
    NotAsked,
}

use Verdict::{DoesNotHold, Holds, HoldsInPart, NotAsked, Undecided};

impl Verdict {
    /// The verdict as pages and tables write it.
    pub fn words(self) -> &'static str {
        match self {
            Holds => "holds",
            HoldsInPart => "holds in part",
            DoesNotHold => "fails",
            Undecided => "undecided",
            NotAsked => "not run",
        }
    }

    /// The verdict on a claim from those at its points. One undecided point leaves the claim undecided, unless another fails.
    /// A claim that fails at some points and is undecided at all others holds in part, because it does not fail at all.
    pub fn of_points(points: impl Iterator<Item = Verdict>) -> Verdict {
        let both = |whole, next| match (whole, next) {
            (NotAsked, other) | (other, NotAsked) => other,
            (a, b) if a == b => a,
            (Holds | Undecided, Holds | Undecided) => Undecided,
            _ => HoldsInPart,
        };
        points.fold(NotAsked, both)
    }

    /// The verdict on an experiment from those on its headline claims. One headline that fails at all of its points fails the
    /// experiment, whatever the others do. A headline that was not asked does not count.
    pub fn of_headlines(headlines: impl Iterator<Item = Verdict> + Clone) -> Verdict {
        match headlines.clone().any(|verdict| verdict == DoesNotHold) {
            true => DoesNotHold,
            false => Self::of_points(headlines),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_add_up_to_a_claim() {
        let of = |verdicts: &[Verdict]| Verdict::of_points(verdicts.iter().copied());
        assert_eq!(of(&[Holds, NotAsked, Holds]), Holds);
        assert_eq!(of(&[Holds, DoesNotHold]), HoldsInPart);
        assert_eq!(of(&[DoesNotHold, DoesNotHold]), DoesNotHold);
        assert_eq!(of(&[]), NotAsked);
        assert_eq!(of(&[Holds, Undecided, Holds]), Undecided);
        assert_eq!(of(&[Undecided, DoesNotHold]), HoldsInPart);
        assert_eq!(of(&[DoesNotHold, Undecided, DoesNotHold]), HoldsInPart);
    }

    #[test]
    fn headlines_add_up_to_an_experiment() {
        let of = |verdicts: &[Verdict]| Verdict::of_headlines(verdicts.iter().copied());
        assert_eq!(of(&[Holds, Holds]), Holds);
        assert_eq!(of(&[Holds, Holds, DoesNotHold]), DoesNotHold, "others do not lift it");
        assert_eq!(of(&[Undecided, DoesNotHold, HoldsInPart]), DoesNotHold);
        assert_eq!(of(&[Holds, HoldsInPart]), HoldsInPart);
        assert_eq!(of(&[Undecided, HoldsInPart]), HoldsInPart);
        assert_eq!(of(&[Holds, Undecided]), Undecided);
        assert_eq!(of(&[NotAsked, Holds]), Holds, "a reduced form judges what it asks");
        assert_eq!(of(&[NotAsked, NotAsked]), NotAsked);
    }
}
