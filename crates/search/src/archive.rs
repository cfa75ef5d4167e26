// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worst point of each cell: of each region of the space, each mechanism and each feature, so that one failure does not hide the others.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::{judge::Mechanism, parameter::Domain, point::Point, space::Space};

/// Where a point lies, and how it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The power of ten of the path's BDP in packets, rounded down: 2 is 100 to 999.
    pub bdp_power: i32,
    /// Of five equal parts of the scale of the parameter `queue`, from 0; 0 if there is none.
    pub queue_part: u8,
    /// How it fails.
    pub mechanism: Mechanism,
    /// What one feature shows alone would be hidden by worse that another one shows, or that takes three.
    pub features: Features,
}

/// The features of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Features {
    /// It has none.
    None,
    /// The one in this place of the space.
    One(usize),
    /// More than one.
    Many,
}

/// The worst point of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Elite {
    /// The point.
    pub point: Point,
    /// How bad it is: the least of the seeds that it was tried with.
    pub violation: f64,
}

/// All cells in which there is a point.
#[derive(Debug, Clone, Default)]
pub struct Archive(BTreeMap<Cell, Elite>);

/// Parts of the scale of `queue`.
pub const QUEUE_PARTS: u8 = 5;
const PACKET_BITS: f64 = 12_000.0;
/// With hundreds of cells, and no more than a few hundred points to be looked at, the worst would have few children if all were alike: random points
/// would be as bad. Ours.
const WORST: usize = 4;
const CHANCE_OF_WORST: f64 = 0.5;

impl Cell {
    /// Of a point.
    pub fn of(space: &Space, point: &Point, mechanism: Mechanism) -> Self {
        let bdp_packets = point.values[space.rate] * point.values[space.rtt] / PACKET_BITS;
        let queue_part = space.parameter("queue", None).map_or(0, |i| match &space.parameters[i].domain {
            Domain::OneOf(_) => 0,
            domain => (domain.share(point.values[i]) * f64::from(QUEUE_PARTS)).min(f64::from(QUEUE_PARTS) - 1.0) as u8,
        });
        let mut there = (0..point.has.len()).filter(|&i| point.has[i]);
        let features = match (there.next(), there.next()) {
            (None, _) => Features::None,
            (Some(one), None) => Features::One(one),
            (Some(_), Some(_)) => Features::Many,
        };
        Self { bdp_power: libm::floor(libm::log10(bdp_packets)) as i32, queue_part, mechanism, features }
    }
}

impl Archive {
    /// Whether a point is worse than the one in its cell, or the cell is empty.
    pub fn would_take(&self, cell: Cell, elite: &Elite) -> bool {
        self.0.get(&cell).is_none_or(|there| elite.violation > there.violation)
    }

    /// Takes a point if it is worse than the one in its cell, or the cell is empty; whether it did.
    pub fn offer(&mut self, cell: Cell, elite: Elite) -> bool {
        let is_worse = self.would_take(cell, &elite);
        if is_worse {
            self.0.insert(cell, elite);
        }
        is_worse
    }

    /// The worst point of each cell, the worst first.
    pub fn ranked(&self) -> Vec<(Cell, &Elite)> {
        let mut all: Vec<_> = self.0.iter().map(|(cell, elite)| (*cell, elite)).collect();
        // Stable: of equals the first cell comes first, so that the order is always the same.
        all.sort_by(|(_, a), (_, b)| b.violation.total_cmp(&a.violation));
        all
    }

    /// A point to go on from: as often one of the worst few as any, and rather a bad one; `None` if there is none.
    pub fn pick(&self, rng: &mut Pcg64Mcg) -> Option<&Point> {
        let ranked = self.ranked();
        let among = if rng.random_bool(CHANCE_OF_WORST) { ranked.len().min(WORST) } else { ranked.len() };
        let share: f64 = rng.random();
        ranked.get((share * share * among as f64) as usize).map(|(_, elite)| &elite.point)
    }
}

#[cfg(test)]
mod tests {
    use rand::rand_core::SeedableRng;

    use super::*;

    /// Against a plain list of all that was offered.
    #[test]
    fn each_cell_has_the_worst_that_was_offered() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let (mut archive, mut offered) = (Archive::default(), Vec::new());
        for _ in 0..2000 {
            let mechanism = Mechanism::ALL[rng.random_range(0..Mechanism::ALL.len())];
            let (bdp_power, queue_part) = (rng.random_range(-1..4), rng.random_range(0..QUEUE_PARTS));
            let features = [Features::None, Features::One(0), Features::One(1), Features::Many][rng.random_range(0..4)];
            let cell = Cell { bdp_power, queue_part, mechanism, features };
            let violation = rng.random_range(-1.0..1.0);
            let before = archive.0.len();
            let point = Point { has: Vec::new(), values: vec![violation], length: 1.0 };
            let taken = archive.offer(cell, Elite { point, violation });
            let best_before =
                offered.iter().filter(|(c, _)| *c == cell).map(|(_, v)| *v).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(taken, violation > best_before);
            assert!(archive.0.len() >= before, "a cell that had a point has one");
            offered.push((cell, violation));
        }
        let ranked = archive.ranked();
        assert!(ranked.is_sorted_by(|(_, a), (_, b)| a.violation >= b.violation));
        for (cell, elite) in &ranked {
            let worst = offered.iter().filter(|(c, _)| c == cell).map(|(_, v)| *v).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((elite.violation, elite.point.values[0]), (worst, worst));
        }
        let cells: std::collections::HashSet<Cell> = offered.iter().map(|(cell, _)| *cell).collect();
        assert_eq!(ranked.len(), cells.len());
        let picks =
            (0..1000).filter(|_| archive.pick(&mut rng).unwrap().values[0] > ranked[ranked.len() / 2].1.violation);
        assert!(picks.count() > 600, "bad points come more often");
    }
}
