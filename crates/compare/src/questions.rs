// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a comparison asks, and seeds until each question is decided, or its answer as narrow as asked.
//!
//! A question is about one number: the difference in goodput of two contenders, what a contender takes from its neighbours, or the share of one
//! of two. It is decided when the interval, which is as wide as looking again and again makes it ([`Looks`]), leaves out the value
//! that means "no difference". Runs that no open question is about get no more seeds.

use tandem_batch::{Batch, BatchError, Clock, Ended, First, Settled, Task, Until};
use tandem_results::{MatrixCell, Run, SeedResult};
use tandem_scenario::Scenario;
use tandem_statistics::{Estimate, Looks, mean};

use crate::{Budget, Plan};

/// Something that more seeds could decide.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// What is asked, for the list at the end of a sentence.
    pub what: String,
    /// The runs that it is about, by their places.
    pub runs: Vec<usize>,
}

/// Decided, or as narrow as asked. Without an interval it is neither.
fn is_settled(estimate: Estimate, narrow: f64) -> bool {
    estimate.half_width.is_some_and(|half| half <= narrow || half < estimate.value.abs())
}

impl Plan {
    /// What is open: of each two contenders, who gets more; of each with neighbours, whether it takes something from them. A difference in
    /// goodput is narrow enough at ± `precision` of the greater of the two, a share at ± `precision`. `runs` belong to [`Plan::scenarios`], in
    /// their order.
    pub fn open(&self, runs: &[Option<Run>], precision: f64) -> Vec<Open> {
        let contenders: Vec<(usize, &Run)> = runs
            .iter()
            .enumerate()
            .filter(|(i, _)| Some(*i) != self.baseline)
            .filter_map(|(i, run)| Some((i, run.as_ref()?)))
            .collect();
        let mut open = Vec::new();
        for (place, &(i, first)) in contenders.iter().enumerate() {
            for &(j, second) in &contenders[place + 1..] {
                let [own, other] = [first, second].map(|run| self.yields(run));
                let both = own.len().min(other.len());
                let scale = mean(&own[..both]).max(mean(&other[..both]));
                let difference = first.looks.widened(Estimate::of_difference(&own, &other));
                if !is_settled(difference, precision * scale) {
                    open.push(Open {
                        what: format!("whether {} gets more or {}", first.name, second.name),
                        runs: vec![i, j],
                    });
                }
            }
        }
        let Some(baseline) = self.baseline else { return open };
        for (i, run) in contenders {
            let neighbours = run.groups[1..=self.neighbours].iter();
            let mut shares = neighbours.filter_map(|group| Some(Estimate::kept(group.stolen?, group.stolen_ci95)));
            if shares.any(|stolen| !is_settled(stolen, precision)) {
                open.push(Open {
                    what: format!("what {} takes from its neighbours", run.name),
                    runs: vec![i, baseline],
                });
            }
        }
        open
    }

    /// What counts of a contender, seed by seed: its goodput, or with finite transfers how fast they were.
    fn yields(&self, run: &Run) -> Vec<f64> {
        let own = &run.groups[0];
        let all_ended = own.completion_times_s.len() == run.seeds.len() * own.flows as usize;
        if own.completion_times_s.is_empty() || !all_ended {
            return own.goodput_by_seed_mbps.clone();
        }
        own.completion_times_s.chunks(own.flows as usize).map(|times| 1.0 / mean(times)).collect()
    }
}

/// What is open of pairs that share a link: whose share is the larger. It is narrow enough at ± `precision`.
pub fn open_shares(runs: &[Option<Run>], precision: f64) -> Vec<Open> {
    let mut open = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        let Some((run, cell)) = run.as_ref().and_then(|run| Some((run, MatrixCell::of(run)?))) else { continue };
        // Between equals it is luck.
        if run.groups[0].controller == run.groups[1].controller {
            continue;
        }
        if !is_settled(Estimate::kept(cell.share - 0.5, cell.share_ci95), precision) {
            open.push(Open { what: format!("who gets more of {}", run.name), runs: vec![i] });
        }
    }
    open
}

/// What came of a comparison to which seeds were added.
pub struct Decided {
    /// The seeds of each task, and why there are no more.
    pub settled: Settled,
    /// When the results were looked at.
    pub looks: Looks,
    /// Each task's seeds summed up; `None` for one of which no seed was finished.
    pub runs: Vec<Option<Run>>,
    /// What they did not decide.
    pub open: Vec<Open>,
    /// Why there are as many seeds as there are, in a sentence; `None` with an engine that knows no chance and runs one.
    pub why: Option<String>,
}

/// Adds seeds until `ask` finds nothing open, or the budget is spent. It sets what runs have of each other, too. Tasks have the seeds that the
/// budget allows.
///
/// # Errors
/// As with [`Batch::run`].
pub fn decide(
    batch: &Batch,
    tasks: &[Task],
    budget: Budget,
    ask: impl Fn(&mut [Option<Run>]) -> Vec<Open>,
) -> Result<Decided, BatchError> {
    let most = tasks.iter().map(|task| task.scenario.seeds.len()).min().unwrap_or(1);
    let looks = Looks::up_to(most);
    let clock = Clock::new(budget.time, batch.cancelled);
    let until = Until { looks: std::slice::from_ref(&looks), clock: &clock, first: First::Always };
    let sum_up = |results: &[Vec<_>]| {
        let of_task = |(task, results): (&Task, &Vec<SeedResult>)| {
            // What is less than the first look was interrupted.
            let planned = results.len().max(looks.first());
            let run = || Run::from_seeds(task.scenario, task.engine.name(), planned, results.clone());
            (!results.is_empty()).then(|| run().looked_at(&looks))
        };
        tasks.iter().zip(results).map(of_task).collect::<Vec<_>>()
    };
    let look = |results: &[Vec<_>]| {
        let open = ask(&mut sum_up(results));
        let is_open = |i| open.iter().any(|question| question.runs.contains(&i));
        Ok::<_, BatchError>((0..tasks.len()).map(is_open).collect())
    };
    let settled = batch.run_until(tasks, until, vec![Vec::new(); tasks.len()], look)?;
    let mut runs = sum_up(&settled.seeds);
    let open = ask(&mut runs);
    let why = (most > 1).then(|| why(&open, settled.ended, most, budget));
    Ok(Decided { settled, looks, runs, open, why })
}

impl Decided {
    /// The seeds that each of these scenarios, which belong to the tasks, was to have when it ended.
    pub fn as_run(&self, scenarios: &[Scenario]) -> Vec<Scenario> {
        let as_run = |(scenario, has): (&Scenario, &Vec<_>)| {
            let seeds = scenario.seeds.iter().copied().take(has.len().max(self.looks.first()));
            scenario.clone().with_seeds(seeds)
        };
        scenarios.iter().zip(&self.settled.seeds).map(as_run).collect()
    }
}

/// This many open questions are named.
const NAMED: usize = 4;

/// Why there are no more seeds than `most`, or fewer.
fn why(open: &[Open], ended: Ended, most: usize, budget: Budget) -> String {
    let Budget { time, precision, .. } = budget;
    let narrow = format!("±{} %", (precision * 1e6).round() / 1e4);
    let named: Vec<&str> = open.iter().take(NAMED).map(|open| &*open.what).collect();
    let others = match open.len() - named.len() {
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    let still = format!("open, and not known to {narrow}: {}{others}", named.join("; "));
    match ended {
        _ if open.is_empty() => {
            format!("More seeds were not needed: every difference is decided, or known to {narrow}.")
        }
        Ended::OutOfTime => format!("After {time} (--time) no more seeds were run. Still {still}."),
        Ended::Interrupted => format!("Interrupted. Still {still}."),
        Ended::Decided | Ended::NoMoreSeeds => format!("After {most} seeds (--most-seeds) still {still}."),
    }
}
