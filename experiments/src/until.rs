// SPDX-License-Identifier: MIT OR Apache-2.0
//! More seeds for what an experiment leaves undecided.

use std::ops::Range;

use tandem_batch::{Batch, Clock, First, Task, Until};
use tandem_results::SeedResult;
use tandem_scenario::{Scenario, units::Span};
use tandem_statistics::Looks;

use crate::{
    error::RunError,
    file::Experiment,
    findings::points,
    judge::Asked,
    patch::X,
    plan::{Planned, Reading},
};

/// An experiment as its file sets it up gets at most this many times the file's seeds. Ours.
const MOST: usize = 4;

/// The first look is at this share of the seeds that the file says, and at no fewer than five. Ours.
const FIRST: usize = 3;
const FEWEST: usize = 5;

/// When to look at the seeds of a reading that has this many, more than 1. Variants get no more than that: no verdict depends on them.
pub(crate) fn looks(seeds: usize, is_variant: bool) -> Looks {
    Looks::from_to((seeds / FIRST).max(FEWEST).min(seeds), if is_variant { seeds } else { MOST * seeds })
}

/// A reading whose runs may get more seeds.
pub(crate) struct Undecided<'a> {
    pub experiment: &'a Experiment,
    pub xs: &'a [X],
    pub reading: &'a Reading,
    /// How many seeds the file says for it.
    pub of_file: usize,
    /// Its runs among all tasks; each has the same seeds.
    pub runs: Range<usize>,
}

/// Adds seeds to the runs of undecided points until there are none that seeds are likely to decide: a look at all experiments, then more seeds
/// for what is undecided of all, so that no core waits for one experiment. `has` are the tasks' results, which get the new ones.
pub(crate) fn decide(
    all: &[Undecided],
    tasks: &[Task],
    has: &mut [Vec<SeedResult>],
    batch: &Batch,
) -> Result<(), RunError> {
    let places = || all.iter().flat_map(|one| one.runs.clone().map(move |run| (run, &one.reading.looks)));
    let more = |(run, looks): (usize, &Looks)| {
        let scenario = tasks[run].scenario;
        scenario.clone().with_seeds(scenario.seeds[0]..scenario.seeds[0] + looks.most() as u64)
    };
    let scenarios: Vec<Scenario> = places().map(more).collect();
    let with_more: Vec<Task> =
        places().zip(&scenarios).map(|((run, _), scenario)| Task { scenario, ..tasks[run] }).collect();
    let looks: Vec<Looks> = places().map(|(_, looks)| looks.clone()).collect();
    // An interrupt ends it, and otherwise the number of seeds.
    let clock = Clock::new(Span::from_secs(u64::MAX / 2_000_000_000), batch.cancelled);
    let until = Until { looks: &looks, clock: &clock, first: First::Always };
    let open = |mut results: &[Vec<SeedResult>]| {
        let mut is_open = Vec::new();
        for undecided in all {
            let (own, others) = results.split_at(undecided.runs.len());
            is_open.extend(undecided.open(own));
            results = others;
        }
        Ok::<_, tandem_batch::BatchError>(is_open)
    };
    let so_far = places().map(|(run, _)| std::mem::take(&mut has[run])).collect();
    let settled = batch.run_until(&with_more, until, so_far, open).map_err(|e| RunError::Batch(e.into()))?;
    for ((run, _), seeds) in places().zip(settled.seeds) {
        has[run] = seeds;
    }
    Ok(())
}

impl Undecided<'_> {
    /// Which of its runs are of an undecided point that more seeds may decide. Beyond the seeds of the file headlines alone are asked, which
    /// decide the figure.
    fn open(&self, results: &[Vec<SeedResult>]) -> Vec<bool> {
        let Self { experiment, xs, reading, of_file, .. } = self;
        let looks = &reading.looks;
        let mut next = results.iter();
        let curves = points(experiment, xs, reading, &mut |_: &Planned| next.next().cloned());
        let mut is_open = vec![false; results.len()];
        for claim in experiment.file.claims.iter().map(toml::Spanned::get_ref) {
            let judgement = claim.judge(xs, &curves, looks);
            if !claim.hangs_on_undecided(&judgement) {
                continue;
            }
            let of_claim = |curve: &str| claim.curves().any(|name| name == curve);
            let is_worth = |point: &&Asked| {
                (claim.headline || point.value.by_seed.len() < *of_file) && point.is_worth_seeds(looks)
            };
            let undecided = judgement.points.iter().filter(is_worth);
            let at: Vec<usize> = undecided.flat_map(|point| point.places.iter().copied()).collect();
            let mut task = 0;
            for (curve, of_curve) in experiment.file.curves.iter().zip(&reading.curves) {
                for (x, point) in of_curve.iter().enumerate() {
                    let runs = point.iter().flat_map(|point| point.runs()).count();
                    let is_asked = of_claim(&curve.get_ref().name) && at.contains(&x);
                    is_open[task..task + runs].iter_mut().for_each(|is_open| *is_open |= is_asked);
                    task += runs;
                }
            }
        }
        is_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a third first, then 1.6 times as many each time.
    #[test]
    fn a_third_first_and_what_is_most() {
        let seeds = |looks: Looks| looks.iter().map(|look| look.seeds).collect::<Vec<_>>();
        assert_eq!(seeds(looks(30, false)), [10, 16, 26, 42, 68, 109, 120]);
        assert_eq!(seeds(looks(30, true)), [10, 16, 26, 30]);
        assert_eq!((seeds(looks(10, true)), seeds(looks(3, true))), (vec![5, 8, 10], vec![3]));
    }
}
