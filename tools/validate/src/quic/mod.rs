// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/sim-vs-quic.md: the simulator's TCP beside a real QUIC stack in virtual time, on the paths of docs/sim-vs-kernel.md.

use anyhow::ensure;
use tandem_batch::{Task, Traces};
use tandem_engine::Engine;
use tandem_papers::bottleneck;
use tandem_results::{FlowResult, SeedResult};
use tandem_scenario::Scenario;
use tandem_sim::Sim;
use tandem_statistics::{Estimate, mean};

use super::{
    Validation,
    compare::Bound,
    evidence::Evidence,
    pair::{COLUMNS, Pair},
    setups::{GOODPUT_BOUND, SETUPS, Setup},
    table::{Cell, Table},
};

/// The same seeds in both engines.
const SEEDS: u64 = 5;

const CONTROLLERS: [&str; 5] = ["reno", "cubic", "compound", "compound_tube", "bbr"];

/// The QUIC stack's own, and as the page calls them.
const OWN: [(&str, &str); 2] = [("noq:cubic", "noq's CUBIC"), ("noq:bbr3", "noq's BBRv3")];

/// The same flows in both engines, all seeds.
struct Compared {
    name: &'static str,
    /// None for the stack's own congestion control.
    simulated: Vec<SeedResult>,
    measured: Vec<SeedResult>,
    bottleneck: usize,
}

/// Simulates with both engines, and returns what docs/sim-vs-quic.md rests on.
///
/// # Errors
/// If a run fails.
pub fn quic(validation: &Validation, engine: &dyn Engine) -> anyhow::Result<Evidence> {
    // The last set-up is the first path again, with other controllers.
    let paths = &SETUPS[..SETUPS.len() - 1];
    let of = |setup| Ok(table(setup, &compare(setup, validation, engine)?));
    let tables = paths.iter().map(of).collect::<anyhow::Result<_>>()?;
    Ok(Evidence { name: "sim-vs-quic", runs: format!("{SEEDS} seeds in each engine."), tables })
}

fn compare(setup: &Setup, validation: &Validation, engine: &dyn Engine) -> anyhow::Result<Vec<Compared>> {
    let flows = setup.flows[0].len();
    let scenario = |controller| setup.simulated(&vec![controller; flows], SEEDS);
    let ours: Vec<Scenario> = CONTROLLERS.map(scenario).into();
    let own: Vec<Scenario> = OWN.iter().map(|(controller, _)| scenario(controller)).collect();
    let task = |scenario, engine| Task { scenario, engine, traces: Traces::None };
    let mut tasks: Vec<Task> = ours.iter().map(|scenario| task(scenario, &Sim as &dyn Engine)).collect();
    tasks.extend(ours.iter().chain(&own).map(|scenario| task(scenario, engine)));
    let outcome = validation.batch.run(&tasks)?;
    ensure!(!outcome.interrupted, "interrupted; the same command continues");
    let mut results = outcome.seeds.into_iter();
    let simulated: Vec<_> = results.by_ref().take(CONTROLLERS.len()).chain(OWN.iter().map(|_| Vec::new())).collect();
    let names = CONTROLLERS.into_iter().chain(OWN.iter().map(|(_, name)| *name));
    let bottleneck = bottleneck(&ours[0]).unwrap_or_default();
    let line = |((name, simulated), measured)| Compared { name, simulated, measured, bottleneck };
    Ok(names.zip(simulated).zip(results).map(line).collect())
}

impl Compared {
    fn pair(&self, bound: Bound, of: impl Fn(&SeedResult) -> f64) -> Pair {
        let values = |results: &[SeedResult]| results.iter().map(&of).collect::<Vec<_>>();
        let (simulated, measured) = (values(&self.simulated), values(&self.measured));
        let difference = Estimate::of_difference(&simulated, &measured);
        Pair { simulated: Estimate::of_mean(&simulated), measured: Estimate::of_mean(&measured), difference, bound }
    }

    /// Of all flows together.
    fn goodput(&self) -> Pair {
        self.pair(GOODPUT_BOUND, |result| result.flows.iter().map(|flow| flow.goodput_mbps).sum())
    }

    fn queue(&self, setup: &Setup) -> Pair {
        self.pair(setup.queue_bound(), |result| result.links[self.bottleneck].queue_packets.mean)
    }

    /// Means of a count, simulated (if it was) and over QUIC.
    fn counts(&self, of: fn(&FlowResult) -> u64) -> [Cell; 2] {
        let count = |result: &SeedResult| result.flows.iter().map(of).sum::<u64>() as f64;
        let mean_of = |results: &[SeedResult]| mean(&results.iter().map(count).collect::<Vec<_>>());
        [&self.simulated, &self.measured].map(|results| match results.is_empty() {
            true => Cell::Empty,
            false => Cell::count(mean_of(results)),
        })
    }

    fn cells(&self, pair: &Pair) -> [Cell; 3] {
        match self.simulated.is_empty() {
            true => [Cell::Empty, Cell::Estimate(pair.measured, 1), Cell::Empty],
            false => pair.cells(),
        }
    }

    fn row(&self, setup: &Setup) -> Vec<Cell> {
        let mut row: Vec<Cell> = vec![self.name.into()];
        row.extend(self.cells(&self.goodput()));
        row.extend(self.cells(&self.queue(setup)));
        let counts = [
            |flow: &FlowResult| flow.retransmits,
            |flow: &FlowResult| flow.window_reductions,
            |flow: &FlowResult| flow.timeouts,
        ];
        row.extend(counts.into_iter().flat_map(|count| self.counts(count)));
        row
    }
}

fn table(setup: &Setup, lines: &[Compared]) -> Table {
    Table {
        title: setup.title.into(),
        setup: format!("{}. Measured: over QUIC. Counts are means.", setup.text()),
        asked: setup.asked(),
        columns: &COLUMNS,
        rows: lines.iter().map(|line| line.row(setup)).collect(),
    }
}
