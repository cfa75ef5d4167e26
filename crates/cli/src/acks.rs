// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem run --acks`: what each ACK and timer did to a sender.

use std::{cell::RefCell, collections::BTreeMap, path::Path, rc::Rc};

use anyhow::Context as _;
use tandem_engine::Options;
use tandem_report::{ACKS_FILE, write_acks};
use tandem_results::{FlowTrace, Trace};
use tandem_scenario::Scenario;
use tandem_sim::{Look, Sim, run_watched};

use crate::{engine::Engines, failure::Failure, interrupt::flag, output::remove, terminal::note};

/// This many rows take some 300 MB of memory while they are collected.
const MOST_ROWS: usize = 2_000_000;

/// Only the simulator shows a sender at each ACK.
pub fn check(engines: &Engines) -> Result<(), Failure> {
    use tandem_engine::Engine as _;
    if engines.iter().any(|engine| engine.name() == Sim.name()) {
        return Ok(());
    }
    Err(Failure::usage("--acks works only in the simulator: use --engine sim, or leave out --acks"))
}

/// The state of each flow so far.
#[derive(Default)]
struct Log {
    groups: Vec<usize>,
    traces: BTreeMap<usize, Trace>,
    rows: usize,
    /// Time of the last row, ns.
    last_ns: u64,
}

impl Log {
    fn add(&mut self, seed: u64, look: &Look) {
        if self.rows == MOST_ROWS {
            return;
        }
        let new = || {
            let flow = FlowTrace { flow: look.flow, group: self.groups[look.flow], samples: Vec::new() };
            Trace { seed, flows: vec![flow], ..Trace::default() }
        };
        let trace = self.traces.entry(look.flow).or_insert_with(new);
        trace.time_s.push(look.now as f64 / 1e9);
        trace.flows[0].samples.push(look.sample());
        (self.rows, self.last_ns) = (self.rows + 1, look.now);
    }
}

/// Writes `acks.parquet`: the first seed's, a row for each ACK and timer of each TCP flow.
pub fn write(folder: &Path, scenario: &Scenario) -> Result<(), Failure> {
    let log = Log { groups: scenario.group_of_flow(), ..Log::default() };
    let (log, seed) = (Rc::new(RefCell::new(log)), scenario.seeds[0]);
    let to = Rc::clone(&log);
    let watch = Rc::new(RefCell::new(move |look: Look| to.borrow_mut().add(seed, &look)));
    let options = Options { cancelled: Some(flag()), ..Options::default() };
    let whole = run_watched(scenario, seed, options, &|_| true, watch).map_err(|e| Failure::Failed(e.into()))?;
    whole.ok_or(Failure::Interrupted)?;
    let log = log.take();
    let traces: Vec<Trace> = log.traces.into_values().collect();
    write_acks(folder, scenario, &traces).with_context(|| format!("cannot write `{}`", folder.display()))?;
    if log.rows == MOST_ROWS {
        let end_s = log.last_ns as f64 / 1e9;
        note(&format!("{ACKS_FILE} ends at {end_s:.3} s of the run: it has {MOST_ROWS} rows, the maximum."));
    }
    Ok(())
}

/// Removes the file of an earlier run, which would pass for this run's.
pub fn remove_old(folder: &Path) -> Result<(), Failure> {
    remove(&folder.join(ACKS_FILE))
}
