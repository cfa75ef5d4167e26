// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeds in groups, until nothing is open.

use std::ops::Range;

use tandem_results::SeedResult;
use tandem_statistics::Looks;

use crate::{Batch, BatchError, Clock, Task};

/// How long seeds are added.
#[derive(Clone, Copy)]
pub struct Until<'a> {
    /// When the results of each task are looked at; one alone is for all. Tasks have as many seeds as their last look.
    pub looks: &'a [Looks],
    /// Ends it.
    pub clock: &'a Clock<'a>,
    /// What it means for the first look.
    pub first: First,
}

/// The seeds of the first look, without which there is no result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum First {
    /// They are run whatever time that takes.
    Always,
    /// They are given up, too, when the time is over.
    InTime {
        /// Of the time that they leave, this share is for more seeds.
        rest: f64,
    },
}

/// Why no more seeds were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing was open.
    Decided,
    /// There are no more seeds.
    NoMoreSeeds,
    /// The time was over.
    OutOfTime,
    /// The caller ended it.
    Interrupted,
}

/// What came of tasks, in their order.
pub struct Settled {
    /// The results of the seeds that each task had. All were finished, unless the first look was not reached.
    pub seeds: Vec<Vec<SeedResult>>,
    /// How many runs the store had.
    pub stored: usize,
    /// Why it ended.
    pub ended: Ended,
}

impl Until<'_> {
    /// Of a task.
    fn looks_of(&self, task: usize) -> &Looks {
        if let [all] = self.looks { all } else { &self.looks[task] }
    }

    /// How many seeds a task has after its `i`-th look, from 0; after its last one no more.
    fn seeds(&self, task: usize, i: usize) -> usize {
        let looks = self.looks_of(task);
        looks.iter().nth(i).map_or(looks.most(), |look| look.seeds)
    }

    /// After how many looks all is over.
    fn count(&self) -> usize {
        self.looks.iter().map(|looks| looks.iter().count()).max().unwrap_or(0)
    }
}

impl Batch<'_> {
    /// Runs the first seeds of all tasks, save those that each `has`, then more of those that `open` says, look after look. A task that was left
    /// out and is asked for again gets the seeds that it lacks: what is compared is compared by seed. Seeds of a look that was not finished are
    /// not used.
    ///
    /// # Errors
    /// As with [`Batch::run`], and what `open` fails with.
    pub fn run_until<E: From<BatchError>>(
        &self,
        tasks: &[Task],
        until: Until,
        has: Vec<Vec<SeedResult>>,
        mut open: impl FnMut(&[Vec<SeedResult>]) -> Result<Vec<bool>, E>,
    ) -> Result<Settled, E> {
        let mut settled = Settled { seeds: has, stored: 0, ended: Ended::NoMoreSeeds };
        let mut is_open = vec![true; tasks.len()];
        let mut share_done = 0.0;
        let mut later: Option<Clock> = None;
        for i in 0..until.count() {
            let lacks = |(task, (has, &is_open)): (usize, (&Vec<_>, &bool))| {
                has.len()..if is_open { until.seeds(task, i).max(has.len()) } else { has.len() }
            };
            let lacking: Vec<_> = settled.seeds.iter().zip(&is_open).enumerate().map(lacks).collect();
            let seeds: usize = (0..tasks.len()).map(|task| until.seeds(task, i)).sum();
            let most: usize = (0..tasks.len()).map(|task| until.looks_of(task).most()).sum();
            let share = seeds as f64 / most.max(1) as f64;
            let (obeys_time, rest) = match until.first {
                First::InTime { rest } if i == 0 => (true, Some(rest)),
                _ => (i > 0, None),
            };
            let clock = later.as_ref().unwrap_or(until.clock);
            let is_whole = self.add_seeds(tasks, &mut settled, &lacking, clock, obeys_time, share_done..share)?;
            later = later.or_else(|| rest.map(|rest| until.clock.part(rest)));
            if !is_whole {
                settled.ended = if until.clock.is_cancelled() { Ended::Interrupted } else { Ended::OutOfTime };
                break;
            }
            share_done = share;
            is_open = open(&settled.seeds)?;
            if !is_open.contains(&true) {
                settled.ended = Ended::Decided;
                break;
            }
        }
        self.watch.inspect(|watch| watch(1.0));
        Ok(settled)
    }

    /// Gives each task the seeds that it lacks; false if not all were finished. Then only a task that had none gets what there is. `shares` are
    /// how much of the whole was done before and is done after it.
    fn add_seeds(
        &self,
        tasks: &[Task],
        settled: &mut Settled,
        lacking: &[Range<usize>],
        clock: &Clock,
        obeys_time: bool,
        shares: Range<f64>,
    ) -> Result<bool, BatchError> {
        if lacking.iter().all(Range::is_empty) {
            return Ok(true);
        }
        let outcome = clock.watch(obeys_time, |stop| {
            let part = shares.end - shares.start;
            let watch = self.watch.map(|watch| move |share: f64| watch(shares.start + part * share));
            let watch = watch.as_ref().map(|watch| watch as &(dyn Fn(f64) + Sync));
            Batch { cancelled: Some(stop), watch, ..*self }.run_seeds(tasks, lacking)
        })?;
        settled.stored += outcome.stored;
        let is_whole = outcome.seeds.iter().zip(lacking).all(|(results, lacking)| results.len() == lacking.len());
        for (has, more) in settled.seeds.iter_mut().zip(outcome.seeds).filter(|(has, _)| is_whole || has.is_empty()) {
            has.extend(more);
        }
        Ok(is_whole)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    };

    use tandem_scenario::units::Span;

    use super::*;
    use crate::{
        Traces,
        tests::{Counting, scenario},
    };

    /// How many seeds each of two tasks has, what was told of the progress, and why it ended. `open` gets the number of the look.
    fn until(
        time: Span,
        cancelled: &AtomicBool,
        open: impl Fn(usize) -> Vec<bool>,
    ) -> (Vec<Vec<u64>>, Vec<f64>, Ended) {
        let engine = Counting::default();
        let scenarios = ["10ms", "11ms"].map(|rtt| scenario(rtt).with_seeds(7..27));
        let tasks = scenarios.each_ref().map(|scenario| Task { scenario, engine: &engine, traces: Traces::None });
        let told = Mutex::new(Vec::new());
        let watch = |share: f64| crate::lock(&told).push(share);
        let clock = Clock::new(time, Some(cancelled));
        let looks = Looks::up_to(20);
        let until = Until { looks: std::slice::from_ref(&looks), clock: &clock, first: First::Always };
        let mut look = 0;
        let batch = Batch { watch: Some(&watch), ..Batch::default() };
        let settled = batch.run_until(&tasks, until, vec![Vec::new(); 2], |_| {
            look += 1;
            Ok::<_, BatchError>(open(look))
        });
        let settled = settled.unwrap();
        let seeds = settled.seeds.iter().map(|seeds| seeds.iter().map(|seed| seed.seed).collect()).collect();
        (seeds, told.into_inner().unwrap(), settled.ended)
    }

    const LONG: Span = Span::from_secs(3600);

    #[test]
    fn what_is_open_gets_seeds_and_the_first_of_them_are_the_same_for_all() {
        let going_on = AtomicBool::new(false);
        // 5, 8, 13 and 20 seeds; the second is left out once, and comes back.
        let open = |look| match look {
            1 => vec![true, false],
            2 => vec![true, true],
            _ => vec![false, false],
        };
        let (seeds, told, ended) = until(LONG, &going_on, open);
        assert_eq!(seeds, [(7..20).collect::<Vec<u64>>(), (7..20).collect()]);
        assert_eq!(ended, Ended::Decided);
        assert!(told.is_sorted() && told.last() == Some(&1.0), "{told:?}");
        let (seeds, _, ended) = until(LONG, &going_on, |_| vec![false, true]);
        assert_eq!(seeds.iter().map(Vec::len).collect::<Vec<_>>(), [5, 20]);
        assert_eq!(ended, Ended::NoMoreSeeds);
    }

    /// 2 and 4 seeds of one, 5, 8, 13 and 20 of the other: each has its own number, look after look, and the first has no more than it may.
    #[test]
    fn tasks_have_looks_of_their_own() {
        let engine = Counting::default();
        let scenarios = [scenario("10ms").with_seeds(7..11), scenario("11ms").with_seeds(7..27)];
        let tasks = scenarios.each_ref().map(|scenario| Task { scenario, engine: &engine, traces: Traces::None });
        let clock = Clock::new(LONG, None);
        let looks = [Looks::at(&[2, 4]), Looks::up_to(20)];
        let until = Until { looks: &looks, clock: &clock, first: First::Always };
        let mut counts = Vec::new();
        let settled = Batch::default().run_until(&tasks, until, vec![Vec::new(); 2], |results| {
            counts.push([results[0].len(), results[1].len()]);
            Ok::<_, BatchError>(vec![true, true])
        });
        assert_eq!(counts, [[2, 5], [4, 8], [4, 13], [4, 20]]);
        assert_eq!(settled.unwrap().ended, Ended::NoMoreSeeds);
    }

    #[test]
    fn the_first_look_is_given_up_where_that_is_asked_for() {
        let engine = Counting::default();
        let scenario = scenario("10ms").with_seeds(1..21);
        let clock = Clock::new(Span::default(), None);
        let looks = Looks::up_to(20);
        let until = Until { looks: std::slice::from_ref(&looks), clock: &clock, first: First::InTime { rest: 0.5 } };
        let task = Task { scenario: &scenario, engine: &engine, traces: Traces::None };
        let settled = Batch::default().run_until(&[task], until, vec![Vec::new()], |_| Ok::<_, BatchError>(vec![true]));
        let settled = settled.unwrap();
        assert_eq!((settled.seeds[0].len(), settled.ended), (0, Ended::OutOfTime));
    }

    #[test]
    fn time_ends_it_after_the_first_look_and_a_caller_at_once() {
        let going_on = AtomicBool::new(false);
        let (seeds, _, ended) = until(Span::default(), &going_on, |_| vec![true, true]);
        assert_eq!((seeds[0].len(), seeds[1].len(), ended), (5, 5, Ended::OutOfTime));
        let cancelled = AtomicBool::new(false);
        let cancel = |_| {
            cancelled.store(true, Relaxed);
            vec![true, true]
        };
        let (seeds, _, ended) = until(LONG, &cancelled, cancel);
        assert_eq!((seeds[0].len(), seeds[1].len(), ended), (5, 5, Ended::Interrupted));
    }
}
