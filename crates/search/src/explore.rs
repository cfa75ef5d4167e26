// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looks through a space, generation after generation.
//!
//! The method is that of MAP-Elites (Mouret, Clune 2015): the worst point of each cell is kept, and new points are mutations of those. No
//! library that is kept well has it together with parameters that are numbers, choices and on or off. `cmaes` and `egobox` look for one
//! optimum among numbers alone: an archive would have to be built around as many of them as there are sets of features, each with a hundredth
//! of the budget.

use rand::{RngExt, rand_core::SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{
    archive::{Archive, Cell, Elite},
    judge::{Judge, JudgeError, Judged},
    point::Point,
    space::Space,
};

/// Points of a generation. It is fixed, so that the same seed gives the same finds on any number of cores.
pub const GENERATION: usize = 16;
/// Generations at the start that are drawn at random.
const RANDOM_GENERATIONS: usize = 3;
/// The share of later generations that is drawn at random.
const RANDOM_SHARE: f64 = 0.125;
/// The seed of the simulated runs of a generation.
pub const FIRST_SEED: u64 = 1;

/// Seeds with which a point must be as bad before it is kept in the archive: otherwise chance would fill it.
const MORE_SEEDS: [u64; 2] = [FIRST_SEED + 1, FIRST_SEED + 2];

/// A search that goes on as long as it is asked.
pub struct Explorer<'a> {
    space: &'a Space,
    rng: Pcg64Mcg,
    /// The least violation of a find: what is less need not hold with other seeds, and only leads on.
    limit: f64,
    /// Draws all points at random: what a search is compared with.
    is_random: bool,
    /// Where it begins, the last first.
    starts: Vec<Point>,
    /// Generations until it leaves the random ones.
    random_until: usize,
    /// What was found.
    pub archive: Archive,
    /// What was drawn at random: as often as in the space.
    pub draws: Vec<(Cell, Elite)>,
    /// How many generations there were.
    pub generations: usize,
    /// How many points of them could be judged.
    pub judged: usize,
}

impl<'a> Explorer<'a> {
    /// One that has not begun, looks for violations of at least `limit`, and begins with `starts`. The same seed gives the same points.
    pub fn new(space: &'a Space, seed: u64, limit: f64, is_random: bool, mut starts: Vec<Point>) -> Self {
        starts.reverse();
        let random_until = RANDOM_GENERATIONS + starts.len().div_ceil(GENERATION);
        let (rng, archive, draws) = (Pcg64Mcg::seed_from_u64(seed), Archive::default(), Vec::new());
        Self { space, rng, limit, is_random, starts, random_until, archive, draws, generations: 0, judged: 0 }
    }

    /// One more generation; false if it was stopped, and then it counts for nothing.
    ///
    /// # Errors
    /// [`JudgeError`].
    pub fn step(&mut self, judge: &dyn Judge) -> Result<bool, JudgeError> {
        let asked: Vec<(Point, bool)> = (0..GENERATION).map(|_| self.next()).collect();
        let (points, are_drawn): (Vec<Point>, Vec<bool>) = asked.into_iter().unzip();
        let Some(judged) = judge.judge(&points, &[FIRST_SEED])? else { return Ok(false) };
        let all = points.into_iter().zip(judged).zip(are_drawn);
        let mut found: Vec<(Cell, Elite, bool)> = all
            .filter_map(|((point, judged), is_drawn)| {
                let Judged { measured, mechanism } = judged?;
                let cell = Cell::of(self.space, &point, mechanism);
                Some((cell, Elite { point, violation: measured.violations[0] }, is_drawn))
            })
            .collect();
        let judged = found.len();
        let drawn = found.iter().filter(|(.., is_drawn)| *is_drawn);
        let drawn: Vec<(Cell, Elite)> = drawn.map(|(cell, elite, _)| (*cell, elite.clone())).collect();
        let mut archive = self.archive.clone();
        found.retain(|(cell, elite, _)| {
            let is_bad = elite.violation >= self.limit;
            if !is_bad {
                archive.offer(*cell, elite.clone());
            }
            is_bad && archive.would_take(*cell, elite)
        });
        let worse: Vec<Point> = found.iter().map(|(_, elite, _)| elite.point.clone()).collect();
        let again = if worse.is_empty() { Some(Vec::new()) } else { judge.judge(&worse, &MORE_SEEDS)? };
        let Some(again) = again else { return Ok(false) };
        for ((cell, elite, _), again) in found.into_iter().zip(again) {
            let Some(again) = again else { continue };
            let violation = again.measured.violations.iter().copied().fold(elite.violation, f64::min);
            archive.offer(cell, Elite { violation, ..elite });
        }
        self.archive = archive;
        self.draws.extend(drawn);
        self.judged += judged;
        self.generations += 1;
        Ok(true)
    }

    /// A point, and whether it was drawn at random.
    fn next(&mut self) -> (Point, bool) {
        if let (Some(start), false) = (self.starts.pop(), self.is_random) {
            return (start, false);
        }
        let is_random = self.is_random || self.generations < self.random_until;
        if !is_random && !self.rng.random_bool(RANDOM_SHARE) {
            let parents = (self.archive.pick(&mut self.rng).cloned(), self.archive.pick(&mut self.rng).cloned());
            if let (Some(one), Some(other)) = parents {
                return (self.space.mutate(&one, &other, &mut self.rng), false);
            }
        }
        (self.space.draw(&mut self.rng), true)
    }
}
