// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs over real TCP that experiments need and that are kept in a file.

use std::sync::atomic::Ordering;

use tandem_batch::Batch;
use tandem_engine::Engine;
use tandem_papers::{Experiment, Missing, RealTcpRuns, measure, missing};

use crate::{engine::check, failure::Failure, interrupt, terminal::note};

/// The engine for experiments on real machines.
pub const KERNEL: &str = "kernel";

/// How what is missing is made.
pub struct Making<'a> {
    pub kernel: &'a dyn Engine,
    /// What this machine is unlikely to carry, too.
    pub force: bool,
    /// How often at most, where a run is doubted.
    pub tries: usize,
    pub batch: &'a Batch<'a>,
}

impl Making<'_> {
    /// Runs over real TCP what is not there yet, after a look at whether that can be done here. An interrupt shows in the batch.
    pub fn missing(&self, experiments: &[&Experiment], kept: &mut RealTcpRuns) -> Result<(), Failure> {
        let todo = |kept: &RealTcpRuns| missing(experiments.iter().copied(), kept).map_err(anyhow::Error::from);
        let mut missing = todo(kept)?;
        if missing.is_empty() {
            return Ok(());
        }
        check(self.kernel, missing.iter().map(|run| &run.scenario), self.force)?;
        note(&format!("Runs over real TCP: {}, {}", missing.len(), about(&missing)));
        for again in (0..self.tries).rev() {
            let unbroken = self.kernel.needs_machine().then(interrupt::unbroken);
            measure(&missing, self.kernel, kept, self.batch).map_err(anyhow::Error::from)?;
            drop(unbroken);
            let doubtful = missing.iter().filter(|m| m.is_doubtful(kept)).count();
            let is_cancelled = self.batch.cancelled.is_some_and(|flag| flag.load(Ordering::Relaxed));
            if doubtful == 0 || is_cancelled {
                break;
            }
            if again == 0 {
                note(&format!(
                    "{doubtful} of them are doubtful: the same command repeats them, best on an otherwise idle machine"
                ));
                break;
            }
            missing = todo(kept)?;
            note(&format!("{doubtful} of them are doubtful and repeated, {}", about(&missing)));
        }
        Ok(())
    }
}

/// How long runs take: as long as what they emulate.
fn about(runs: &[Missing]) -> String {
    let seconds: f64 = runs.iter().map(|m| m.scenario.duration.as_secs_f64()).sum();
    match (seconds / 60.0).ceil() {
        1.0 => "a minute".to_owned(),
        minutes => format!("{minutes:.0} minutes"),
    }
}
