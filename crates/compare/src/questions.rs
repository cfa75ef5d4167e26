// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a comparison asks, and seeds until each question is decided, or its answer as narrow as asked.
//!
//! A question is about one number: the difference in goodput of two contenders, what a contender takes from its neighbours, or the share of one
//! of two. It is decided when the interval, which is as wide as looking again and again makes it ([`Looks`]), leaves out the value
//! that means "no difference". Runs that no open question is about get no more seeds.

use tandem_batch::{Batch, BatchError, Ended, Settled, Task, Until};
use tandem_results::{MatrixCell, Run};
use tandem_statistics::{Estimate, mean};

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
    /// Each task's seeds summed up; `None` for one of which no seed was finished.
    pub runs: Vec<Option<Run>>,
    /// What they did not decide.
    pub open: Vec<Open>,
}

/// Adds seeds until `ask` finds nothing open. It sets what runs have of each other, too.
///
/// # Errors
/// As with [`Batch::run`].
pub fn decide(
    batch: &Batch,
    tasks: &[Task],
    until: Until,
    ask: impl Fn(&mut [Option<Run>]) -> Vec<Open>,
) -> Result<Decided, BatchError> {
    let sum_up = |results: &[Vec<_>], planned: &[usize]| {
        let of_task = |((task, results), &planned): ((&Task, &Vec<_>), &usize)| {
            let run = || Run::from_seeds(task.scenario, task.engine.name(), planned, results.clone());
            (!results.is_empty()).then(|| run().looked_at(until.looks))
        };
        tasks.iter().zip(results).zip(planned).map(of_task).collect::<Vec<_>>()
    };
    let look = |results: &[Vec<_>]| {
        let has: Vec<usize> = results.iter().map(Vec::len).collect();
        let open = ask(&mut sum_up(results, &has));
        let is_open = |i| open.iter().any(|question| question.runs.contains(&i));
        Ok::<_, BatchError>((0..tasks.len()).map(is_open).collect())
    };
    let settled = batch.run_until(tasks, until, vec![Vec::new(); tasks.len()], look)?;
    let mut runs = sum_up(&settled.seeds, &settled.planned);
    let open = ask(&mut runs);
    Ok(Decided { settled, runs, open })
}

/// So many open questions are named.
const NAMED: usize = 4;

impl Decided {
    /// Why there are as many seeds as there are, in a sentence.
    pub fn why(&self, budget: Budget) -> String {
        let Budget { most_seeds, time, precision } = budget;
        let narrow = format!("±{} %", precision * 100.0);
        let named: Vec<&str> = self.open.iter().take(NAMED).map(|open| &*open.what).collect();
        let others = match self.open.len() - named.len() {
            0 => String::new(),
            n => format!("; and {n} more"),
        };
        let open = format!("open, and not known to {narrow}: {}{others}", named.join("; "));
        match self.settled.ended {
            _ if self.open.is_empty() => {
                format!("More seeds were not needed: every difference is decided, or known to {narrow}.")
            }
            Ended::OutOfTime => format!("After {time} (--time) no more seeds were run. Still {open}."),
            Ended::Interrupted => format!("Interrupted. Still {open}."),
            Ended::Decided | Ended::NoMoreSeeds => format!("After {most_seeds} seeds (--most-seeds) still {open}."),
        }
    }
}
