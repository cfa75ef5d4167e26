// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who says how bad points are: an engine, in which the contender and the baseline run on the same path.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};
use tandem_batch::{Batch, BatchError, Clock, Task, Traces};
use tandem_engine::{Engine, EngineError};
use tandem_results::SeedResult;
use tandem_scenario::{FileError, Scenario};

use crate::{
    point::Point,
    question::{Measured, Question, Ran},
    space::Space,
    worst::Worst,
};

/// Why points were not judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The space makes a scenario that is none.
    #[error("the space produces an invalid scenario: {0}")]
    Scenario(#[from] FileError),
    /// A run failed.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// An engine cannot be used here.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// One of the two that are compared: a controller, and what runs it.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// As scenarios spell it.
    pub controller: &'a str,
    /// In virtual time.
    pub engine: &'a dyn Engine,
}

/// How the contender fails, by what its own flows show beside the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// Its retransmission timer expires again and again.
    Timeouts,
    /// It loses far more.
    Losses,
    /// It keeps a far longer queue.
    Queue,
    /// It reduces its window more often.
    Reductions,
    /// Its window goes up and down, and nothing is lost.
    Swings,
    /// None of these: its window is small, or slow to grow.
    SmallWindow,
}

/// What came of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// By seed.
    pub measured: Measured,
    /// Of the first seed.
    pub mechanism: Mechanism,
}

/// Judges points.
pub trait Judge {
    /// Each point with all of these seeds, in the order of the points; of a point that cannot be judged nothing. `None`: it was stopped.
    ///
    /// # Errors
    /// [`JudgeError`].
    fn judge(&self, points: &[Point], seeds: &[u64]) -> Result<Option<Vec<Option<Judged>>>, JudgeError>;
}

/// Judges by running an engine.
pub struct ByRuns<'a> {
    /// Makes scenarios of points.
    pub space: &'a Space,
    /// Who is judged.
    pub contender: Side<'a>,
    /// Whom it is compared with.
    pub baseline: Side<'a>,
    /// What is asked.
    pub question: &'a Question,
    /// How they run.
    pub batch: Batch<'a>,
    /// Ends it.
    pub clock: &'a Clock<'a>,
    /// Counts the data packets of all runs, those of the store included: the same search does the same work on any machine.
    pub packets: &'a AtomicU64,
}

impl ByRuns<'_> {
    /// A point's scenario for one of the two; `None` if it costs too much, or the engine does not have what it asks for.
    fn scenario(&self, point: &Point, side: Side, seeds: &[u64]) -> Result<Option<Scenario>, JudgeError> {
        let Some(scenario) = self.space.scenario(point, side.controller).transpose()? else { return Ok(None) };
        match side.engine.check(&scenario, false) {
            Ok(_) => Ok(Some(scenario.with_seeds(seeds.iter().copied()))),
            Err(EngineError::Refused(_)) => Ok(None),
            Err(failed) => Err(failed.into()),
        }
    }
}

impl Judge for ByRuns<'_> {
    fn judge(&self, points: &[Point], seeds: &[u64]) -> Result<Option<Vec<Option<Judged>>>, JudgeError> {
        let pair = |point| {
            let own = self.scenario(point, self.contender, seeds)?;
            Ok(own.zip(self.scenario(point, self.baseline, seeds)?))
        };
        let pairs: Vec<Option<(Scenario, Scenario)>> = points.iter().map(pair).collect::<Result<_, JudgeError>>()?;
        let traces = if self.question.worst == Worst::Oscillation { Traces::EverySeed(1) } else { Traces::None };
        let engines = [self.contender.engine, self.baseline.engine];
        let all = pairs.iter().flatten().flat_map(|(own, baseline)| [own, baseline].into_iter().zip(engines));
        let tasks: Vec<Task> = all.map(|(scenario, engine)| Task { scenario, engine, traces }).collect();
        let outcome = self.clock.watch(true, |stop| Batch { cancelled: Some(stop), ..self.batch }.run(&tasks))?;
        if outcome.seeds.iter().any(|runs| runs.len() < seeds.len()) {
            return Ok(None);
        }
        let packets = outcome.seeds.iter().flatten().map(|seed| seed.data_packets).sum();
        self.packets.fetch_add(packets, Relaxed);
        let mut runs = outcome.seeds.chunks_exact(2);
        let judged = pairs.iter().map(|pair| {
            let (own, baseline) = pair.as_ref()?;
            let runs = runs.next()?;
            let ran = |scenario, seeds| Ran { scenario, seeds };
            let measured = self.question.measured(ran(own, &runs[0]), ran(baseline, &runs[1]))?;
            let is_of_window = self.question.worst == Worst::Oscillation;
            Some(Judged { measured, mechanism: Mechanism::of(own, runs[0].first()?, runs[1].first()?, is_of_window) })
        });
        Ok(Some(judged.collect()))
    }
}

impl Mechanism {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Timeouts, Self::Losses, Self::Queue, Self::Reductions, Self::Swings, Self::SmallWindow];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Timeouts => "its retransmission timer expires again and again",
            Self::Losses => "it loses and sends again far more packets",
            Self::Queue => "it keeps a far longer queue",
            Self::Reductions => "it reduces its window far more often",
            Self::Swings => "its window goes up and down without a loss",
            Self::SmallWindow => "its window stays small, or grows slowly",
        }
    }

    /// By the first sign that is at least twice the baseline's; what is told apart is ours.
    fn of(scenario: &Scenario, own: &SeedResult, baseline: &SeedResult, is_of_window: bool) -> Self {
        let count = scenario.groups[0].flows as usize;
        let sum = |seed: &SeedResult, of: fn(&tandem_results::FlowResult) -> u64| -> f64 {
            seed.flows.iter().take(count).map(of).sum::<u64>() as f64
        };
        let share = |seed: &SeedResult| sum(seed, |f| f.retransmits) / sum(seed, |f| f.sent_packets).max(1.0);
        let queue = |seed: &SeedResult| seed.links.first().map_or(0.0, |link| link.queue_packets.mean);
        let is_twice = |own: f64, baseline: f64, least: f64| own >= least && own >= 2.0 * baseline;
        if is_of_window && sum(own, |f| f.retransmits + f.window_reductions) == 0.0 {
            Self::Swings
        } else if is_twice(sum(own, |f| f.timeouts), sum(baseline, |f| f.timeouts), 3.0) {
            Self::Timeouts
        } else if is_twice(share(own), share(baseline), 0.01) {
            Self::Losses
        } else if is_twice(queue(own), queue(baseline), 2.0) {
            Self::Queue
        } else if is_twice(sum(own, |f| f.window_reductions), sum(baseline, |f| f.window_reductions), 3.0) {
            Self::Reductions
        } else {
            Self::SmallWindow
        }
    }
}
