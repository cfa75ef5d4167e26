// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes a point small: features off, choices simple, fewer, shorter, rounder, until nothing can go without losing what it shows.

use crate::{parameter::Domain, point::Point, space::Space};

/// A way to make a point smaller.
#[derive(Debug, Clone, Copy)]
enum Move {
    /// Without a feature.
    Without(usize),
    /// The first, simplest value of a choice.
    Simplest(usize),
    /// The smallest count.
    Fewest(usize),
    /// Half as many.
    Half(usize),
    /// One less.
    OneLess(usize),
    /// Half as long.
    Shorter,
    /// A rounder value: this one of those there are.
    Rounder(usize, usize),
}

/// Shorter than this share of the usual length nothing is tried.
const LEAST_LENGTH: f64 = 0.125;

fn moves(space: &Space) -> Vec<Move> {
    let all = || 0..space.parameters.len();
    let features = (0..space.features.len()).map(Move::Without);
    let choices = all().map(Move::Simplest);
    let counts = all().map(Move::Fewest).chain(all().map(Move::Half)).chain(all().map(Move::OneLess));
    let values = all().flat_map(|i| (0..2).map(move |n| Move::Rounder(i, n)));
    features.chain(choices).chain(counts).chain([Move::Shorter]).chain(values).collect()
}

impl Move {
    /// The smaller point; `None` if it would be the same.
    fn of(self, space: &Space, point: &Point) -> Option<Point> {
        let mut smaller = point.clone();
        let domain = |i: usize| &space.parameters[i].domain;
        match self {
            Self::Without(feature) => smaller.has[feature] = false,
            Self::Simplest(i) if matches!(domain(i), Domain::OneOf(_)) => smaller.values[i] = 0.0,
            Self::Fewest(i) | Self::Half(i) | Self::OneLess(i) => {
                let Domain::Range { whole: true, from, .. } = domain(i) else { return None };
                let fewer = match self {
                    Self::Fewest(_) => *from,
                    Self::Half(_) => (point.values[i] / 2.0).floor(),
                    _ => point.values[i] - 1.0,
                };
                smaller.values[i] = fewer.max(*from);
            }
            Self::Shorter => smaller.length = (point.length / 2.0).max(LEAST_LENGTH),
            Self::Rounder(i, n) => smaller.values[i] = *domain(i).rounder(point.values[i]).get(n)?,
            Self::Simplest(_) => return None,
        }
        // What a point lacks has no value that could be smaller.
        let means_something = match self {
            Self::Simplest(i) | Self::Fewest(i) | Self::Half(i) | Self::OneLess(i) | Self::Rounder(i, _) => {
                space.active(point).any(|active| active == i)
            }
            Self::Without(_) => true,
            Self::Shorter => space.path(&smaller).map(|path| path.run_s) != space.path(point).map(|path| path.run_s),
        };
        (means_something && smaller != *point && space.path(&smaller).is_some()).then_some(smaller)
    }
}

/// The smallest point that still `holds`, and whether it was found before `holds` said that it was stopped (`None`).
///
/// # Errors
/// Those of `holds`.
pub fn minimise<E>(
    space: &Space,
    start: Point,
    mut holds: impl FnMut(&Point) -> Result<Option<bool>, E>,
) -> Result<(Point, bool), E> {
    let (moves, mut point, mut in_vain) = (moves(space), start, 0);
    // Round after round, until a whole round is in vain: then none of the moves can be made.
    for made in moves.iter().cycle() {
        if in_vain == moves.len() {
            break;
        }
        in_vain += 1;
        let Some(smaller) = made.of(space, &point) else { continue };
        match holds(&smaller)? {
            None => return Ok((point, false)),
            Some(true) => (point, in_vain) = (smaller, 0),
            Some(false) => {}
        }
    }
    Ok((point, true))
}
