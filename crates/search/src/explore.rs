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

/// A search that goes on as long as it is asked.
pub struct Explorer<'a> {
    space: &'a Space,
    rng: Pcg64Mcg,
    /// Draws all points at random: what a search is compared with.
    is_random: bool,
    /// What was found.
    pub archive: Archive,
    /// How many generations there were.
    pub generations: usize,
    /// How many points of them could be judged.
    pub judged: usize,
}

impl<'a> Explorer<'a> {
    /// One that has not begun. The same seed gives the same points.
    pub fn new(space: &'a Space, seed: u64, is_random: bool) -> Self {
        let rng = Pcg64Mcg::seed_from_u64(seed);
        Self { space, rng, is_random, archive: Archive::default(), generations: 0, judged: 0 }
    }

    /// One more generation; false if it was stopped, and then it counts for nothing.
    ///
    /// # Errors
    /// [`JudgeError`].
    pub fn step(&mut self, judge: &dyn Judge) -> Result<bool, JudgeError> {
        let points = self.ask();
        let Some(judged) = judge.judge(&points, &[FIRST_SEED])? else { return Ok(false) };
        self.tell(points, &judged);
        Ok(true)
    }

    fn ask(&mut self) -> Vec<Point> {
        (0..GENERATION).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> Point {
        let is_random = self.is_random || self.generations < RANDOM_GENERATIONS;
        if !is_random && !self.rng.random_bool(RANDOM_SHARE) {
            let parents = (self.archive.pick(&mut self.rng).cloned(), self.archive.pick(&mut self.rng).cloned());
            if let (Some(one), Some(other)) = parents {
                return self.space.mutate(&one, &other, &mut self.rng);
            }
        }
        self.space.draw(&mut self.rng)
    }

    fn tell(&mut self, points: Vec<Point>, judged: &[Option<Judged>]) {
        for (point, judged) in points.into_iter().zip(judged) {
            let Some(Judged { measured, mechanism }) = judged else { continue };
            let cell = Cell::of(self.space, &point, *mechanism);
            self.archive.offer(cell, Elite { point, violation: measured.violations[0] });
            self.judged += 1;
        }
        self.generations += 1;
    }
}
