// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the worst points to finds: each must hold with other seeds and around it, and is made small.

use std::collections::BTreeMap;

use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::{
    archive::{Cell, Elite, Features},
    explore::{Explorer, FIRST_SEED},
    judge::{Judge, JudgeError, Judged, Mechanism},
    minimise::minimise,
    point::Point,
    space::{CONTENDER, Space},
};

/// Seeds with which a find must hold.
pub const SEEDS: u64 = 5;
/// Seeds with which a smaller point is tried.
const SEEDS_TRIED: u64 = 3;
/// Points around a find that are looked at, how far away they are at most, as shares of each scale, and how many of them must hold.
pub const NEIGHBOURS: usize = 8;
const NEAR: f64 = 0.05;
const NEIGHBOURS_HOLD: usize = 6;
/// What a neighbour, and a smaller point, must keep of the violation.
const NEIGHBOUR_KEEPS: f64 = 0.5;
const SMALLER_KEEPS: f64 = 0.7;
/// Points that are looked at closely for each find that is wanted, at most; also of one mechanism until another one comes.
const TRIES_PER_FIND: usize = 4;

/// What is a find.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The least violation.
    pub limit: f64,
    /// How many finds are made small.
    pub finds: usize,
    /// Neighbours need not hold.
    pub knife_edge: bool,
    /// Of the neighbours that are drawn.
    pub seed: u64,
}

/// A point at which the contender fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Find {
    /// As small as it could be made.
    pub point: Point,
    /// With seeds from [`FIRST_SEED`] on, [`SEEDS`] of them.
    pub judged: Judged,
    /// The least violation of a seed.
    pub least: f64,
    /// The mean violation.
    pub mean: f64,
    /// The mean at the point as it was found, before it was reduced.
    pub found_mean: f64,
    /// How many of [`NEIGHBOURS`] points around it also fail.
    pub neighbours: usize,
    /// Nothing more can go; otherwise the time was over.
    pub is_minimal: bool,
    /// Points of other cells that the same explains.
    pub others: usize,
    /// Points drawn at random that show the same, of [`Settled::drawn`]: how likely it is on the space's paths.
    pub drawn: usize,
}

/// What came of a search's worst points.
#[derive(Debug, Default)]
pub struct Settled {
    /// The worst first.
    pub finds: Vec<Find>,
    /// How many points were bad with the first seed, but not with others.
    pub by_chance: usize,
    /// How many were bad with all seeds, but not around them.
    pub on_edges: usize,
    /// How many were left because it was stopped.
    pub left: usize,
    /// How many points were drawn at random.
    pub drawn: usize,
}

/// Looks at the worst points that were found: those of each mechanism until one holds, then of each with no feature, one, and more, then the
/// others. `told` is called before each, with how many were looked at and how many there are.
///
/// # Errors
/// [`JudgeError`].
pub fn settle(
    space: &Space,
    explored: &Explorer,
    judge: &dyn Judge,
    asked: &Asked,
    mut told: impl FnMut(usize, usize),
) -> Result<Settled, JudgeError> {
    let settler = Settler { space, judge, asked };
    let mut settled = Settled { drawn: explored.draws.len(), ..Settled::default() };
    let bad = explored.archive.ranked().into_iter().filter(|(_, elite)| elite.violation >= asked.limit);
    let mut order = Order { left: bad.collect(), tries: BTreeMap::new() };
    let all = order.left.len();
    let mut tries = asked.finds * TRIES_PER_FIND;
    while let Some((cell, elite)) = order.next() {
        told(all - order.left.len() - 1, all);
        if let Some(same) = settled.finds.iter_mut().find(|find| find.explains(space, &elite.point, cell)) {
            same.others += 1;
            continue;
        }
        if settled.finds.len() == asked.finds || tries == 0 {
            continue;
        }
        tries -= 1;
        let outcome = settler.find(&elite.point)?;
        order.note(cell, matches!(outcome, Outcome::Found(_)));
        match outcome {
            Outcome::Found(find) => match settled.finds.iter_mut().find(|known| known.is_like(space, &find)) {
                Some(same) => same.others += 1,
                None => settled.finds.push(find),
            },
            Outcome::ByChance => settled.by_chance += 1,
            Outcome::OnEdge => settled.on_edges += 1,
            Outcome::Stopped => {
                settled.left = order.left.len() + 1;
                break;
            }
        }
    }
    for find in &mut settled.finds {
        let shows = |(cell, elite): &&(Cell, Elite)| {
            elite.violation >= asked.limit && find.explains(space, &elite.point, *cell)
        };
        find.drawn = explored.draws.iter().filter(shows).count();
    }
    settled.finds.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    Ok(settled)
}

/// In which order points are looked at.
struct Order<'a> {
    /// The worst first.
    left: Vec<(Cell, &'a Elite)>,
    /// How many more points of a mechanism, and of a mechanism with some features, come before others; [`TRIES_PER_FIND`] at first.
    tries: BTreeMap<(Mechanism, Option<Features>), usize>,
}

impl<'a> Order<'a> {
    fn next(&mut self) -> Option<(Cell, &'a Elite)> {
        let is_open = |way| self.tries.get(&way) != Some(&0);
        let place = |is_next: &dyn Fn(Cell) -> bool| self.left.iter().position(|(cell, _)| is_next(*cell));
        let of_mechanism = place(&|cell| is_open((cell.mechanism, None)));
        let of_way = || place(&|cell| is_open((cell.mechanism, Some(cell.features))));
        let next = of_mechanism.or_else(of_way).unwrap_or(0);
        (!self.left.is_empty()).then(|| self.left.remove(next))
    }

    /// Whether the point of a cell held.
    fn note(&mut self, cell: Cell, held: bool) {
        for way in [None, Some(cell.features)] {
            let tries = self.tries.entry((cell.mechanism, way)).or_insert(TRIES_PER_FIND);
            *tries = if held { 0 } else { tries.saturating_sub(1) };
        }
    }
}

impl Find {
    /// Whether another point shows the same: it fails in the same way, and has all that this one needs.
    fn explains(&self, space: &Space, point: &Point, cell: Cell) -> bool {
        let region = |cell: Cell| (cell.bdp_power, cell.queue_part);
        let own = Cell::of(space, &self.point, self.judged.mechanism);
        let has_all = self.point.has.iter().zip(&point.has).all(|(needed, has)| !needed || *has);
        own.mechanism == cell.mechanism && has_all && (self.point.has.contains(&true) || region(own) == region(cell))
    }

    /// Whether both fail in the same way in the same scenario. Points may also differ in what means nothing there.
    fn is_like(&self, space: &Space, other: &Self) -> bool {
        let table = |find: &Self| space.table(&find.point, CONTENDER);
        self.judged.mechanism == other.judged.mechanism && table(self) == table(other)
    }
}

enum Outcome {
    Found(Find),
    ByChance,
    OnEdge,
    Stopped,
}

struct Settler<'a> {
    space: &'a Space,
    judge: &'a dyn Judge,
    asked: &'a Asked,
}

impl Settler<'_> {
    fn find(&self, start: &Point) -> Result<Outcome, JudgeError> {
        let Some(whole) = self.judge_one(start, SEEDS)? else { return Ok(Outcome::Stopped) };
        let Some(whole) = whole.filter(|judged| least(judged) >= self.asked.limit) else {
            return Ok(Outcome::ByChance);
        };
        let Some(around) = self.around(start, mean(&whole))? else { return Ok(Outcome::Stopped) };
        if around < NEIGHBOURS_HOLD && !self.asked.knife_edge {
            return Ok(Outcome::OnEdge);
        }
        let found_mean = mean(&whole);
        let keep = self.asked.limit.max(SMALLER_KEEPS * found_mean);
        let (mut point, is_minimal) = minimise(self.space, start.clone(), |point| {
            let judged = self.judge_one(point, SEEDS_TRIED)?;
            Ok::<_, JudgeError>(judged.map(|judged| judged.is_some_and(|judged| least(&judged) >= keep)))
        })?;
        let mut last = self.last(&point)?;
        if last.is_none() {
            // What is small was not seen with all seeds, and what was found was.
            (point, last) = (start.clone(), Some((whole, around)));
        }
        let Some((judged, neighbours)) = last else { return Ok(Outcome::Stopped) };
        let (least, mean) = (least(&judged), mean(&judged));
        let find = Find { point, judged, least, mean, found_mean, neighbours, is_minimal, others: 0, drawn: 0 };
        Ok(Outcome::Found(find))
    }

    /// The figures of the small point; `None` if it fails with the seeds it was not tried with, or there was no time.
    fn last(&self, point: &Point) -> Result<Option<(Judged, usize)>, JudgeError> {
        let Some(Some(judged)) = self.judge_one(point, SEEDS)? else { return Ok(None) };
        if least(&judged) < self.asked.limit {
            return Ok(None);
        }
        let around = self.around(point, mean(&judged))?;
        Ok(around.filter(|&around| around >= NEIGHBOURS_HOLD || self.asked.knife_edge).map(|around| (judged, around)))
    }

    /// Outer `None`: stopped; inner `None`: it cannot be judged.
    fn judge_one(&self, point: &Point, seeds: u64) -> Result<Option<Option<Judged>>, JudgeError> {
        let seeds: Vec<u64> = (FIRST_SEED..FIRST_SEED + seeds).collect();
        let judged = self.judge.judge(std::slice::from_ref(point), &seeds)?;
        Ok(judged.map(|mut judged| judged.pop().flatten()))
    }

    /// How many points around one are about as bad; `None`: it was stopped.
    fn around(&self, point: &Point, violation: f64) -> Result<Option<usize>, JudgeError> {
        let mut rng = Pcg64Mcg::seed_from_u64(self.asked.seed);
        let near: Vec<Point> = (0..NEIGHBOURS).map(|_| self.space.neighbour(point, NEAR, &mut rng)).collect();
        let judged = self.judge.judge(&near, &[FIRST_SEED])?;
        let holds = |judged: &Judged| least(judged) >= NEIGHBOUR_KEEPS * violation;
        Ok(judged.map(|all| all.iter().flatten().filter(|judged| holds(judged)).count()))
    }
}

fn least(judged: &Judged) -> f64 {
    judged.measured.violations.iter().copied().fold(f64::INFINITY, f64::min)
}

fn mean(judged: &Judged) -> f64 {
    tandem_statistics::mean(&judged.measured.violations)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worst that holds is a find, even if worse ones of its mechanism do not hold; but a mechanism that never holds does not hide another one.
    #[test]
    fn the_worst_of_a_mechanism_comes_first_until_one_holds() {
        let elites: Vec<Elite> = (1..=8)
            .map(|rank| {
                let point = Point { has: Vec::new(), values: Vec::new(), length: 1.0 };
                Elite { point, violation: 1.0 - 0.1 * f64::from(rank) }
            })
            .collect();
        let looked_at = |holds: &[usize]| {
            let (losses, queue, none, one) = (Mechanism::Losses, Mechanism::Queue, Features::None, Features::One(0));
            let ways = [(losses, none); 5].into_iter().chain([(losses, one), (queue, none), (queue, none)]);
            let cell = |(mechanism, features)| Cell { bdp_power: 1, queue_part: 0, mechanism, features };
            let mut order = Order { left: ways.map(cell).zip(&elites).collect(), tries: BTreeMap::new() };
            let mut ranks = Vec::new();
            while let Some((cell, elite)) = order.next() {
                let rank = elites.iter().position(|other| other == elite).unwrap() + 1;
                ranks.push(rank);
                order.note(cell, holds.contains(&rank));
            }
            ranks
        };
        // The second holds; then it is the queue's turn, then that of the losses with a feature.
        assert_eq!(looked_at(&[2, 7]), [1, 2, 7, 6, 3, 4, 5, 8]);
        // Four of the losses are enough.
        assert_eq!(looked_at(&[7]), [1, 2, 3, 4, 7, 6, 5, 8]);
    }
}
