// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole search: it looks for bad points as long as it may, then makes finds of them.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicU64},
};

use tandem_batch::{Batch, Clock};
use tandem_scenario::units::Span;

use crate::{
    explore::{Explorer, GENERATION},
    file::Compared,
    judge::{ByRuns, Judge, JudgeError, Judged},
    point::Point,
    posed::starts,
    settle::{Asked, Settled, settle},
    space::Space,
};

/// The share of the time that is for looking; the rest is for making finds small.
const LOOKING: f64 = 2.0 / 3.0;
/// For a search whose length is a number of points.
const NO_END: Span = Span::from_secs(1_000_000);

/// How long a search goes on.
#[derive(Debug, Clone, Copy)]
pub enum Budget {
    /// Until the time is over; the last third is for making finds small.
    Time(Span),
    /// Until this many points were looked at. Finds are made small however long that takes, so that there are the same everywhere.
    Evaluations(u32),
}

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// When it ends.
    pub budget: Budget,
    /// What is a find; its seed also draws the points.
    pub asked: Asked,
    /// All points are drawn at random.
    pub is_random: bool,
}

/// How far a search is.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// This many points were looked at, and this is the largest violation.
    Looked(usize, Option<f64>),
    /// This many of the worst points, of this many, were looked at closely.
    Settling(usize, usize),
    /// This many smaller or near points were tried.
    Tried(usize),
}

/// What a search did.
pub struct Done {
    /// How often points were drawn.
    pub generations: usize,
    /// Points that could be judged.
    pub judged: usize,
    /// What came of the worst.
    pub settled: Settled,
    /// The worst of the archive, whether or not it holds.
    pub worst: Option<f64>,
    /// Data packets of all runs.
    pub packets: u64,
    /// Somebody cancelled it.
    pub is_interrupted: bool,
}

impl Budget {
    /// Until when, and the share of that for looking.
    fn clock<'a>(self, cancelled: Option<&'a AtomicBool>) -> (Clock<'a>, f64) {
        match self {
            Self::Time(time) => (Clock::new(time, cancelled), LOOKING),
            Self::Evaluations(_) => (Clock::new(NO_END, cancelled), 1.0),
        }
    }

    fn is_reached(self, generations: usize) -> bool {
        matches!(self, Self::Evaluations(points) if generations * GENERATION >= points as usize)
    }
}

/// Searches a space with runs that `batch` makes; it also says how a search is cancelled. `told` is called as it goes on.
///
/// # Errors
/// [`JudgeError`].
pub fn hunt(
    space: &Space,
    compared: &Compared,
    plan: &Plan,
    batch: Batch,
    told: &dyn Fn(Progress),
) -> Result<Done, JudgeError> {
    let (whole, share) = plan.budget.clock(batch.cancelled);
    let looking = whole.part(share);
    let packets = AtomicU64::new(0);
    let judge = |clock| ByRuns {
        space,
        contender: compared.contender,
        baseline: compared.baseline,
        question: compared.question,
        batch,
        clock,
        packets: &packets,
    };
    let mut explorer = Explorer::new(space, plan.asked.seed, plan.asked.limit, plan.is_random, starts(space));
    let by_runs = judge(&looking);
    let worst = |explorer: &Explorer| explorer.archive.ranked().first().map(|(_, elite)| elite.violation);
    while !plan.budget.is_reached(explorer.generations) && explorer.step(&by_runs)? {
        told(Progress::Looked(explorer.generations * GENERATION, worst(&explorer)));
    }
    let closely = Told { judge: &judge(&whole), told, tried: Cell::new(0) };
    let settled = settle(space, &explorer, &closely, &plan.asked, |done, all| told(Progress::Settling(done, all)))?;
    Ok(Done {
        generations: explorer.generations,
        judged: explorer.judged,
        settled,
        worst: worst(&explorer),
        packets: packets.into_inner(),
        is_interrupted: whole.is_cancelled(),
    })
}

/// A judge that tells of each question.
struct Told<'a> {
    judge: &'a dyn Judge,
    told: &'a dyn Fn(Progress),
    tried: Cell<usize>,
}

impl Judge for Told<'_> {
    fn judge(&self, points: &[Point], seeds: &[u64]) -> Result<Option<Vec<Option<Judged>>>, JudgeError> {
        self.tried.set(self.tried.get() + points.len());
        (self.told)(Progress::Tried(self.tried.get()));
        self.judge.judge(points, seeds)
    }
}
