// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the runs that are missing.

use std::{
    collections::VecDeque,
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};

use anyhow::bail;
use tandem_batch::{Batch, Task, Traces};
use tandem_engine::Options;
use tandem_scenario::Scenario;
use tandem_sim::Sim;

use super::{
    settings::{Engine, SETTINGS, Setting},
    store::{Row, Store, WindowSample, window_of},
};

/// Of the simulator.
pub const SEEDS: u64 = 10;
/// A run that is not to be trusted is made again, after all others, until it has been made so often.
const MAX_TRIES: u32 = 3;

#[derive(Clone, Copy)]
struct Job {
    setting: &'static Setting,
    flows: &'static [&'static str],
    seed: u64,
    /// This one included.
    tries: u32,
}

/// Makes the kernel's runs that `store` lacks, or only those whose setting or flows `again` names; `parallel` of them at a time.
pub fn measure_missing(store: Store, again: &[String], parallel: usize) -> anyhow::Result<Store> {
    let names =
        |j: &Job| [j.setting.key.to_owned(), j.flows.join("+"), format!("{}/{}", j.setting.key, j.flows.join("+"))];
    if let Some(unknown) = again.iter().find(|name| !all_jobs().iter().any(|j| names(j).contains(name))) {
        bail!("--again: there is no `{unknown}`; give a setting (bdp), flows (compound+reno) or both (bdp/reno)");
    }
    let is_done = |j: &Job| store.runs(j.setting, j.flows).iter().any(|row| row.seed == j.seed);
    let is_named = |j: &Job| again.iter().any(|name| names(j).contains(name));
    let is_asked = |j: &Job| if again.is_empty() { !is_done(j) } else { is_named(j) };
    let jobs: VecDeque<Job> = all_jobs().into_iter().filter(is_asked).collect();
    let seconds: u32 = jobs.iter().map(|j| j.setting.duration_s()).sum();
    if !jobs.is_empty() {
        eprintln!("{} runs over real TCP, {} minutes", jobs.len(), (seconds / 60).div_ceil(parallel as u32));
    }
    let (jobs, store) = (Mutex::new(jobs), Mutex::new(store));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..parallel).map(|_| scope.spawn(|| work(&jobs, &store))).collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(store.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Every first repetition comes before any second. Settings take turns, so that those that run at a time are not all the heaviest.
fn all_jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for setting in &SETTINGS {
        for (place, &flows) in setting.flows.iter().enumerate() {
            jobs.extend((1..=setting.repetitions).map(|seed| (seed, place, Job { setting, flows, seed, tries: 1 })));
        }
    }
    jobs.sort_by_key(|&(seed, place, _)| (seed, place));
    jobs.into_iter().map(|(.., job)| job).collect()
}

fn work(jobs: &Mutex<VecDeque<Job>>, store: &Mutex<Store>) -> anyhow::Result<()> {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(job @ Job { setting, flows, seed, .. }) = next else { return Ok(()) };
        let scenario = setting.scenario(flows, Engine::Kernel);
        let options = Options { traced_flows_per_group: 1, ..Default::default() };
        let result = tandem_testbed::run(&scenario, seed, options)?;
        let Some(result) = result else { bail!("the emulator stopped in {}/{}", setting.key, flows.join("+")) };
        let row = Row::new(setting, flows, &result, kernel.trim());
        let is_trusted = row.is_trusted();
        let verdict = if is_trusted { "trusted" } else { &*row.doubts };
        eprintln!("{}/{}, seed {seed}: {verdict}", setting.key, row.flows);
        if !is_trusted && job.tries < MAX_TRIES {
            jobs.lock().unwrap_or_else(PoisonError::into_inner).push_back(Job { tries: job.tries + 1, ..job });
        }
        let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
        if is_trusted && seed == 1 && flows.len() == 1 {
            store.keep_window(setting, flows, &window_of(&result))?;
        }
        store.insert(setting, flows, row)?;
    }
}

/// What the simulator makes of it: all seeds, and the window in the first.
pub fn simulate(setting: &Setting, flows: &[&str]) -> anyhow::Result<(Vec<Row>, Vec<WindowSample>)> {
    let scenario = setting.scenario(flows, Engine::Sim).with_seeds(1..=SEEDS);
    let task = Task { scenario: &scenario, engine: &Sim, traces: Traces::FirstSeed(1) };
    let results = Batch::default().run(&[task])?.seeds.swap_remove(0);
    let rows = results.iter().map(|r| Row::new(setting, flows, r, "")).collect();
    Ok((rows, window_of(&results[0])))
}

/// Where the runs are kept.
pub fn folder() -> &'static Path {
    Path::new("experiments/reference/real-tcp")
}
