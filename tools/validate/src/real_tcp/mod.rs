// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/sim-vs-kernel.md: the simulator beside real Linux TCP over the emulated path.

mod missing_runs;
mod plot;

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use tandem_batch::{Task, Traces};
use tandem_engine::Engine;
use tandem_papers::{RealTcpRun, RealTcpRuns, WindowSample};
use tandem_results::SeedResult;
use tandem_sim::Sim;
use tandem_statistics::{Estimate, mean};

use super::{
    Validation,
    compare::Bound,
    evidence::Evidence,
    pair::{COLUMNS, Pair},
    setups::{GOODPUT_BOUND, Setup, over_real_tcp},
    table::{Cell, Table},
};
pub(super) use missing_runs::measure_missing;
use plot::Panel;

/// The set-ups whose windows the page shows.
const DRAWN: [&str; 3] = ["bdp", "long", "cellular"];

/// Seeds of the simulator.
const SEEDS: u64 = 10;

/// How docs/sim-vs-kernel.md is made.
pub struct RealTcpValidation<'a> {
    /// Makes the runs over real TCP that are missing.
    pub engine: &'a dyn Engine,
    /// Only these runs, again if they are there: a set-up (`bdp`), flows (`compound+reno`) or both (`bdp/reno`).
    pub again: &'a [String],
    /// Runs over real TCP at a time.
    pub parallel: usize,
    /// Write the page from the runs that there are.
    pub incomplete: bool,
    /// Where the images go, which the page calls `images/`.
    pub images: PathBuf,
}

/// Makes the runs that are missing in experiments/reference/real-tcp, and returns what docs/sim-vs-kernel.md rests on.
///
/// # Errors
/// If kept runs cannot be read or written, or a run fails.
pub fn real_tcp(validation: &Validation, how: &RealTcpValidation) -> anyhow::Result<Evidence> {
    let mut runs = kept_runs(validation)?;
    if !how.incomplete || !how.again.is_empty() {
        measure_missing(&over_real_tcp().collect::<Vec<_>>(), &mut runs, how, &validation.batch)?;
    }
    let (mut compared, mut missing) = (Vec::new(), Vec::new());
    for setup in over_real_tcp() {
        let lines = compare(setup, &runs, validation, &mut missing)?;
        if DRAWN.contains(&setup.name) {
            draw(setup, &lines, &how.images)?;
        }
        compared.push((setup, lines));
    }
    let missing = missing.join(", ");
    ensure!(
        how.incomplete || missing.is_empty(),
        "no run over real TCP is to be trusted of: {missing}. Run it again on a machine with less to do, or add --incomplete"
    );
    let mut said = about(&runs);
    if !missing.is_empty() {
        said += &format!(" Left out, for want of a run that is to be trusted: {missing}.");
    }
    let tables = compared.iter().map(|(setup, lines)| table(setup, lines)).collect();
    Ok(Evidence { name: "sim-vs-kernel", runs: said, tables })
}

fn kept_runs(validation: &Validation) -> anyhow::Result<RealTcpRuns> {
    Ok(RealTcpRuns::open(&validation.reference.join("real-tcp/runs.jsonl"))?)
}

/// How near the simulator's goodput is to the goodput of the kept runs of the set-up with this name.
pub(super) fn closeness(validation: &Validation, setup: &str) -> anyhow::Result<String> {
    let setup = over_real_tcp().find(|s| s.name == setup).with_context(|| format!("there is no set-up `{setup}`"))?;
    let mut missing = Vec::new();
    let lines = compare(setup, &kept_runs(validation)?, validation, &mut missing)?;
    ensure!(missing.is_empty(), "no run over real TCP is kept of: {}", missing.join(", "));
    let worst =
        lines.iter().flat_map(Compared::goodputs).map(|pair| pair.relative_difference().abs()).fold(0.0, f64::max);
    // Rounded up, as a bound is.
    Ok(format!("goodput within {:.1} %", (1000.0 * worst).ceil() / 10.0))
}

/// What only the runs know.
pub(super) fn about(runs: &RealTcpRuns) -> String {
    let worst = |of: fn(&RealTcpRun) -> f64| runs.iter().filter(|r| r.is_trusted()).map(of).fold(0.0, f64::max);
    let mut kernels: Vec<&str> = runs.iter().map(|run| run.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    format!(
        "{SEEDS} seeds in the simulator; kernels `{}`. In the worst run that counts, 1 % of the packets left {:.0} us late or more, and \
         the longest pause was {:.1} ms. {} untrusted runs are left out.",
        kernels.join("`, `"),
        worst(|run| run.lateness_p99_us),
        worst(|run| run.longest_pause_ms),
        runs.iter().filter(|run| !run.is_trusted()).count()
    )
}

/// Flows that ran together, in both engines.
pub(super) struct Compared {
    flows: &'static [&'static str],
    simulated: Vec<RealTcpRun>,
    measured: Vec<RealTcpRun>,
}

/// A set-up in both engines; `missing` takes the names of flows that have no run to be trusted.
pub(super) fn compare(
    setup: &Setup,
    runs: &RealTcpRuns,
    validation: &Validation,
    missing: &mut Vec<String>,
) -> anyhow::Result<Vec<Compared>> {
    let mut compared = Vec::new();
    for &flows in setup.flows {
        let measured: Vec<RealTcpRun> = runs.trusted(&setup.key(flows)).cloned().collect();
        if measured.is_empty() {
            missing.push(setup.label(flows));
            continue;
        }
        compared.push(Compared { flows, simulated: simulate(setup, flows, validation)?, measured });
    }
    Ok(compared)
}

/// The windows of the flows that are alone.
fn draw(setup: &Setup, compared: &[Compared], images: &Path) -> anyhow::Result<()> {
    let panels: Vec<Panel> = compared.iter().filter_map(Compared::panel).collect();
    if panels.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(images).with_context(|| format!("cannot make {}", images.display()))?;
    let path = images.join(image(setup));
    let svg = plot::svg(&panels, f64::from(setup.duration_s()))?;
    tandem_report::write_atomically(&path, svg.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// The simulator's runs of all seeds, with the window of the first, in the form in which runs over real TCP are kept.
fn simulate(setup: &Setup, flows: &[&str], validation: &Validation) -> anyhow::Result<Vec<RealTcpRun>> {
    let scenario = setup.simulated(flows, SEEDS);
    let task = Task { scenario: &scenario, engine: &Sim, traces: Traces::FirstSeed(1) };
    let results = validation.batch.run(&[task])?.seeds.swap_remove(0);
    ensure!(results.len() as u64 == SEEDS, "interrupted; the same command continues");
    let run = |result: &SeedResult| RealTcpRun::new(&setup.key(flows), &scenario, result);
    Ok(results.iter().map(run).collect())
}

fn image(setup: &Setup) -> String {
    format!("sim-vs-kernel-{}.svg", setup.name)
}

impl Compared {
    /// What both have over real TCP: this one in the place of the simulator's.
    pub fn beside(self, other: Self) -> Self {
        Self { flows: other.flows, simulated: self.measured, measured: other.measured }
    }

    /// One quantity in both engines.
    fn pair(&self, bound: Bound, of: impl Fn(&RealTcpRun) -> f64) -> Pair {
        let values = |rows: &[RealTcpRun]| Estimate::of_mean(&rows.iter().map(&of).collect::<Vec<_>>());
        let of_same_seed = |run: &RealTcpRun| self.simulated.iter().find(|simulated| simulated.seed == run.seed);
        let differences: Vec<f64> =
            self.measured.iter().filter_map(|run| Some(of(of_same_seed(run)?) - of(run))).collect();
        let (simulated, measured) = (values(&self.simulated), values(&self.measured));
        Pair { simulated, measured, difference: Estimate::of_mean(&differences), bound }
    }

    pub fn goodput(&self, flow: usize) -> Pair {
        self.pair(GOODPUT_BOUND, |run| run.goodput_mbps.get(flow).copied().unwrap_or(f64::NAN))
    }

    fn goodputs(&self) -> impl Iterator<Item = Pair> {
        (0..self.flows.len()).map(|flow| self.goodput(flow))
    }

    pub fn queue(&self, setup: &Setup) -> Pair {
        self.pair(setup.queue_bound(), |run| run.queue_mean_packets)
    }

    fn name(&self) -> String {
        self.flows.join(", ")
    }

    /// The windows of a flow on its own.
    fn panel(&self) -> Option<Panel> {
        let [controller] = self.flows else { return None };
        let window = |runs: &[RealTcpRun]| -> Vec<WindowSample> {
            runs.iter().find(|run| run.seed == 1).map_or(Vec::new(), |run| run.window.clone())
        };
        let (simulated, measured) = (window(&self.simulated), window(&self.measured));
        Some(Panel { title: (*controller).to_owned(), simulated, measured })
    }

    /// Means of a count, simulated and over real TCP.
    fn counts(&self, of: fn(&RealTcpRun) -> u64) -> [Cell; 2] {
        let mean_of = |rows: &[RealTcpRun]| mean(&rows.iter().map(|r| of(r) as f64).collect::<Vec<_>>());
        [&self.simulated, &self.measured].map(|runs| Cell::count(mean_of(runs)))
    }

    /// One row for the first flow, with all that belongs to the path, and one for each other.
    fn rows(&self, setup: &Setup) -> Vec<Vec<Cell>> {
        let row = |name: String, goodput: Pair| [vec![name.into()], goodput.cells().into()].concat();
        let mut rows: Vec<Vec<Cell>> =
            self.goodputs().enumerate().map(|(flow, goodput)| row(self.flow_name(flow), goodput)).collect();
        rows[0].extend(self.queue(setup).cells());
        for count in [
            |run: &RealTcpRun| run.retransmits,
            |run: &RealTcpRun| run.window_reductions,
            |run: &RealTcpRun| run.timeouts,
        ] {
            rows[0].extend(self.counts(count));
        }
        if self.flows.len() > 1 {
            let together = self.pair(GOODPUT_BOUND, |run| run.goodput_mbps.iter().sum());
            rows.push(row(format!("{}: both together", self.name()), together));
        }
        rows.iter_mut().for_each(|row| row.resize(COLUMNS.len(), Cell::Empty));
        rows
    }

    fn flow_name(&self, flow: usize) -> String {
        match self.flows.len() {
            1 => self.name(),
            _ => format!("{}: flow {}, `{}`", self.name(), flow + 1, self.flows[flow]),
        }
    }
}

fn table(setup: &Setup, lines: &[Compared]) -> Table {
    Table {
        title: setup.title.into(),
        setup: format!("{}. Counts are means.", setup.text()),
        asked: setup.asked(),
        columns: &COLUMNS,
        rows: lines.iter().flat_map(|line| line.rows(setup)).collect(),
    }
}
