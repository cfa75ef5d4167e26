// SPDX-License-Identifier: MIT OR Apache-2.0
//! More seeds for what an experiment leaves undecided.

use tandem_batch::{Batch, Clock, First, Task, Until};
use tandem_results::SeedResult;
use tandem_scenario::{Scenario, units::Span};
use tandem_statistics::Looks;

use crate::{
    error::RunError,
    file::Experiment,
    findings::points,
    plan::{Planned, Reading},
    verdict::Verdict,
};

/// An experiment gets at most this many times the seeds of its file. Ours.
const MOST: usize = 4;

/// When to look at a reading whose runs have this many seeds. With one there is no interval, and nothing to look at.
pub(crate) fn looks(seeds: usize) -> Looks {
    if seeds > 1 { Looks::from_to(seeds, MOST * seeds) } else { Looks::default() }
}

/// Adds seeds to the runs of undecided points, until there are none or seeds enough. `tasks` are the reading's, `has` their seeds' results.
pub(crate) fn decide(
    experiment: &Experiment,
    xs: &[crate::patch::X],
    reading: &Reading,
    tasks: &[Task],
    has: Vec<Vec<SeedResult>>,
    batch: &Batch,
) -> Result<Vec<Vec<SeedResult>>, RunError> {
    let Some(seeds) = tasks.first().map(|task| &task.scenario.seeds).filter(|seeds| seeds.len() > 1) else {
        return Ok(has);
    };
    let looks = looks(seeds.len());
    let all = seeds[0]..seeds[0] + looks.most() as u64;
    let scenarios: Vec<Scenario> = tasks.iter().map(|task| task.scenario.clone().with_seeds(all.clone())).collect();
    let tasks: Vec<Task> = tasks.iter().zip(&scenarios).map(|(task, scenario)| Task { scenario, ..*task }).collect();
    // An interrupt ends it, and otherwise the number of seeds.
    let clock = Clock::new(Span::from_secs(u64::MAX / 2_000_000_000), batch.cancelled);
    let until = Until { looks: &looks, clock: &clock, first: First::Always };
    let open = |results: &[Vec<SeedResult>]| {
        let mut next = results.iter();
        let curves = points(experiment, xs, reading, &looks, &mut |_: &Planned| next.next().cloned());
        let mut is_open = vec![false; results.len()];
        for claim in experiment.file.claims.iter().map(toml::Spanned::get_ref) {
            let judgement = claim.judge(xs, &curves, &looks);
            if judgement.verdict != Verdict::Undecided {
                continue;
            }
            let of_claim = |curve: &str| claim.curves().any(|name| name == curve);
            let undecided = judgement.points.iter().filter(|point| point.verdict() == Verdict::Undecided);
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
        Ok::<_, tandem_batch::BatchError>(is_open)
    };
    let settled = batch.run_until(&tasks, until, has, open).map_err(|e| RunError::Batch(e.into()))?;
    Ok(settled.seeds)
}
