// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runs over real TCP that the page needs.

use std::{sync::Mutex, thread};

use anyhow::bail;
use tandem_batch::Batch;
use tandem_engine::Engine;

use tandem_papers::{Missing, RealTcpRuns, measure_shared};

use super::{super::setups::Setup, RealTcpValidation};

/// A run that is not to be trusted is made again, after all others, until it has been made so often.
const MAX_TRIES: u32 = 3;

/// One run that the page asks for.
struct Wanted<'a> {
    setup: &'a Setup,
    flows: &'static [&'static str],
    seed: u64,
}

impl Wanted<'_> {
    fn is_named(&self, names: &[String]) -> bool {
        let label = self.setup.label(self.flows);
        names.iter().any(|name| name == self.setup.name || *name == self.flows.join("+") || *name == label)
    }
}

/// Makes the runs of the set-ups that are missing, or only those whose set-up or flows `how.again` names; `how.parallel` of them at a time.
pub fn measure_missing(
    setups: &[&Setup],
    runs: &mut RealTcpRuns,
    how: &RealTcpValidation,
    batch: &Batch,
) -> anyhow::Result<()> {
    let (again, wanted) = (how.again, wanted(setups));
    if let Some(unknown) = again.iter().find(|name| !wanted.iter().any(|w| w.is_named(&[(*name).clone()]))) {
        bail!("--again: there is no `{unknown}`; give a set-up (bdp), flows (compound+reno) or both (bdp/reno)");
    }
    let is_asked = |w: &&Wanted| again.is_empty() || w.is_named(again);
    let wanted = wanted.iter().filter(is_asked).map(|w| w.setup.wanted(w.flows, w.seed));
    let is_there = |m: &Missing| again.is_empty() && runs.is_trusted(&m.key, m.seed());
    let mut missing: Vec<Missing> = wanted.filter(|m| !is_there(m)).collect();
    for _ in 0..MAX_TRIES {
        measure_in_parallel(&missing, how.engine, runs, batch, how.parallel)?;
        missing.retain(|m| m.is_doubtful(runs));
    }
    Ok(())
}

/// Each thread takes every so manieth run, so that the heaviest do not meet.
fn measure_in_parallel(
    missing: &[Missing],
    engine: &dyn Engine,
    runs: &mut RealTcpRuns,
    batch: &Batch,
    parallel: usize,
) -> anyhow::Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let seconds: f64 = missing.iter().map(|m| m.scenario.duration.as_secs_f64()).sum();
    eprintln!("{} runs over real TCP, {:.0} minutes", missing.len(), (seconds / 60.0 / parallel as f64).ceil());
    let part = |first: usize| missing.iter().skip(first).step_by(parallel).cloned().collect::<Vec<_>>();
    let runs = &Mutex::new(runs);
    thread::scope(|scope| {
        let work = |first| scope.spawn(move || measure_shared(&part(first), engine, runs, batch));
        let workers: Vec<_> = (0..parallel).map(work).collect();
        workers.into_iter().try_for_each(|worker| {
            match worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))? {
                true => Ok(()),
                false => bail!("interrupted; the same command continues"),
            }
        })
    })
}

/// Every first seed comes before any second. Set-ups take turns, so that the runs at a time are not all the heaviest.
fn wanted<'a>(setups: &[&'a Setup]) -> Vec<Wanted<'a>> {
    let mut wanted = Vec::new();
    for &setup in setups {
        for (place, &flows) in setup.flows.iter().enumerate() {
            wanted.extend((1..=setup.repetitions).map(|seed| (seed, place, Wanted { setup, flows, seed })));
        }
    }
    wanted.sort_by_key(|&(seed, place, _)| (seed, place));
    wanted.into_iter().map(|(.., wanted)| wanted).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use tandem_engine::{EngineError, Options, Warning};
    use tandem_results::{Emulation, FlowResult, LinkResult, SeedResult};
    use tandem_scenario::Scenario;

    use super::*;
    use crate::setups::over_real_tcp;

    /// Doubts the first of its runs.
    struct DoubtsFirst(AtomicU32);

    impl Engine for DoubtsFirst {
        fn name(&self) -> &'static str {
            "kernel"
        }

        fn description(&self) -> &'static str {
            "Runs nothing"
        }

        fn arithmetic(&self) -> &'static str {
            "of a test"
        }

        fn check(&self, _: &Scenario, _: bool) -> Result<Vec<Warning>, EngineError> {
            Ok(Vec::new())
        }

        fn run(&self, scenario: &Scenario, seed: u64, _: Options) -> Result<Option<SeedResult>, EngineError> {
            let doubts = if self.0.fetch_add(1, Relaxed) == 0 { vec!["late".to_owned()] } else { Vec::new() };
            Ok(Some(SeedResult {
                seed,
                flows: vec![FlowResult::default(); scenario.flow_count()],
                links: vec![LinkResult::default(); scenario.network.links.len()],
                emulation: Some(Emulation { doubts, ..Emulation::default() }),
                ..SeedResult::default()
            }))
        }
    }

    /// bdp/reno is run with two seeds; the doubtful one is made again, and the next time nothing is left.
    #[test]
    fn doubtful_runs_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        let engine = DoubtsFirst(AtomicU32::new(0));
        let measure = |again: &str| {
            let mut runs = RealTcpRuns::open(&path).unwrap();
            let (again, setups) = ([again.to_owned()], over_real_tcp().collect::<Vec<_>>());
            let how = RealTcpValidation {
                engine: &engine,
                again: &again,
                parallel: 2,
                incomplete: false,
                images: folder.path().into(),
            };
            measure_missing(&setups, &mut runs, &how, &Batch::default()).map(|_| engine.0.load(Relaxed))
        };
        assert_eq!(measure("bdp/reno").unwrap(), 3);
        assert_eq!(measure("bdp/reno").unwrap(), 5, "named, they are made again");
        assert!(measure("bdp/rino").unwrap_err().to_string().contains("there is no `bdp/rino`"));
        let runs = RealTcpRuns::open(&path).unwrap();
        assert!(runs.iter().all(|run| run.is_trusted() && run.asked_by == "bdp/reno"));
        assert_eq!(runs.iter().count(), 2);
    }
}
