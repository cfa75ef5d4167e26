// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/sim-vs-kernel.md: the simulator beside real Linux TCP over the emulated path.

mod missing_runs;
mod plot;

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use tandem_batch::{Task, Traces};
use tandem_engine::Engine;
use tandem_papers::{RealTcpRun, RealTcpRuns, WindowSample};
use tandem_results::SeedResult;
use tandem_sim::Sim;
use tandem_statistics::{Estimate, mean};

use super::{
    Validation,
    compare::{Bound, Pair, table_head, tally},
    setups::{GOODPUT_BOUND, Setup, over_real_tcp},
};
use plot::Panel;

const INTRODUCTION: &str = include_str!("introduction.md");
const REASONS: &str = include_str!("reasons.md");

/// Seeds of the simulator.
const SEEDS: u64 = 10;

/// How docs/sim-vs-kernel.md is made.
pub struct RealTcpValidation<'a> {
    /// Makes the runs over real TCP that are missing.
    pub engine: &'a dyn Engine,
    /// Only these runs, again if they are there: a set-up (`bdp`), flows (`compound+reno`) or both (`bdp/reno`).
    pub again: &'a [String],
    /// So many runs over real TCP at a time.
    pub parallel: usize,
    /// Write the page from the runs that there are.
    pub incomplete: bool,
    /// Where the images go, which the page calls `images/`.
    pub images: PathBuf,
}

/// Makes the runs that are missing in experiments/reference/real-tcp, and returns docs/sim-vs-kernel.md.
pub fn real_tcp_page(validation: &Validation, how: &RealTcpValidation) -> anyhow::Result<String> {
    let mut runs = kept_runs(validation)?;
    if !how.incomplete || !how.again.is_empty() {
        missing_runs::measure_missing(&mut runs, how.engine, &validation.batch, how.again, how.parallel)?;
    }
    let (mut compared, mut missing) = (Vec::new(), Vec::new());
    for setup in over_real_tcp() {
        let lines = compare(setup, &runs, validation, &mut missing)?;
        draw(setup, &lines, &how.images)?;
        compared.push((setup, lines));
    }
    let missing = missing.join(", ");
    ensure!(
        how.incomplete || missing.is_empty(),
        "no run over real TCP is to be trusted of: {missing}. Run it again on a machine with less to do, or add --incomplete"
    );
    let mut page = introduction(&runs) + &summary(&compared);
    if !missing.is_empty() {
        writeln!(page, "\nWithout a run that is to be trusted, hence left out: {missing}.")?;
    }
    for (setup, lines) in &compared {
        page += &part(setup, lines)?;
    }
    Ok(page + REASONS)
}

fn kept_runs(validation: &Validation) -> anyhow::Result<RealTcpRuns> {
    Ok(RealTcpRuns::open(&validation.reference.join("real-tcp/runs.jsonl"))?)
}

/// How near the simulator's goodput is to that of the kept runs of the set-up with this name.
pub(super) fn closeness(validation: &Validation, setup: &str) -> anyhow::Result<String> {
    let setup = over_real_tcp().find(|s| s.name == setup).with_context(|| format!("there is no set-up `{setup}`"))?;
    let mut missing = Vec::new();
    let lines = compare(setup, &kept_runs(validation)?, validation, &mut missing)?;
    ensure!(missing.is_empty(), "no run over real TCP is kept of: {}", missing.join(", "));
    let worst = lines.iter().flat_map(Compared::goodputs).map(|pair| pair.difference().abs()).fold(0.0, f64::max);
    // Rounded up, for it is a bound.
    Ok(format!("goodput within {:.1} %", (1000.0 * worst).ceil() / 10.0))
}

fn introduction(runs: &RealTcpRuns) -> String {
    let worst = |of: fn(&RealTcpRun) -> f64| runs.iter().filter(|r| r.is_trusted()).map(of).fold(0.0, f64::max);
    let mut kernels: Vec<&str> = runs.iter().map(|run| run.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    INTRODUCTION
        .replace("SEEDS", &SEEDS.to_string())
        .replace("KERNELS", &kernels.join(", "))
        .replace("LATENESS", &format!("{:.0}", worst(|run| run.lateness_p99_us)))
        .replace("PAUSE", &format!("{:.1}", worst(|run| run.longest_pause_ms)))
        .replace("UNTRUSTED", &runs.iter().filter(|run| !run.is_trusted()).count().to_string())
}

/// Flows that ran together, in both engines.
struct Compared {
    flows: &'static [&'static str],
    simulated: Vec<RealTcpRun>,
    measured: Vec<RealTcpRun>,
}

/// A set-up in both engines; `missing` takes the names of flows that have no run to be trusted.
fn compare(
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
    ensure!(results.len() as u64 == SEEDS, "interrupted; the same command goes on");
    let run = |result: &SeedResult| RealTcpRun::new(&setup.key(flows), &scenario, result);
    Ok(results.iter().map(run).collect())
}

fn image(setup: &Setup) -> String {
    format!("sim-vs-kernel-{}.svg", setup.name)
}

impl Compared {
    /// One quantity in both engines.
    fn pair(&self, bound: Bound, of: impl Fn(&RealTcpRun) -> f64) -> Pair {
        let values = |rows: &[RealTcpRun]| rows.iter().map(&of).collect::<Vec<_>>();
        let simulated = Estimate::of_mean(&values(&self.simulated));
        let is_shared = |run: &&RealTcpRun| self.measured.iter().any(|m| m.seed == run.seed);
        let same: Vec<f64> = self.simulated.iter().filter(is_shared).map(&of).collect();
        let same_seeds = Estimate { value: mean(&same), ..simulated };
        Pair { simulated, same_seeds, measured: Estimate::of_mean(&values(&self.measured)), bound }
    }

    fn goodput(&self, flow: usize) -> Pair {
        self.pair(GOODPUT_BOUND, |run| run.goodput_mbps.get(flow).copied().unwrap_or(f64::NAN))
    }

    fn goodputs(&self) -> impl Iterator<Item = Pair> {
        (0..self.flows.len()).map(|flow| self.goodput(flow))
    }

    fn queue(&self, setup: &Setup) -> Pair {
        self.pair(setup.queue_bound, |run| run.queue_mean_packets)
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
    fn counts(&self, of: fn(&RealTcpRun) -> u64) -> String {
        let mean_of = |rows: &[RealTcpRun]| mean(&rows.iter().map(|r| of(r) as f64).collect::<Vec<_>>());
        format!("{:.0}, {:.0}", mean_of(&self.simulated), mean_of(&self.measured))
    }
}

fn summary(compared: &[(&Setup, Vec<Compared>)]) -> String {
    let mut text = String::from("\n| | goodput within 5 % | mean queue within its bound |\n|---|---|---|\n");
    for (setup, lines) in compared {
        let goodputs = lines.iter().flat_map(Compared::goodputs).map(|p| p.verdict());
        let queues = lines.iter().map(|c| c.queue(setup).verdict());
        writeln!(text, "| {} | {} | {} |", setup.title, tally(goodputs), tally(queues)).expect("writing to a String");
    }
    text
}

/// A set-up's part of the page.
fn part(setup: &Setup, lines: &[Compared]) -> anyhow::Result<String> {
    let mut text = setup.heading();
    if lines.is_empty() {
        return Ok(text + "No run yet that is to be trusted.\n");
    }
    text += &table_head("real TCP");
    for line in lines {
        let goodputs: Vec<Pair> = line.goodputs().collect();
        for (flow, goodput) in goodputs.iter().enumerate() {
            let name = if flow == 0 { line.name() } else { format!("… its second, `{}`", line.flows[flow]) };
            let rest = if flow == 0 {
                let counts =
                    [line.counts(|r| r.retransmits), line.counts(|r| r.window_reductions), line.counts(|r| r.timeouts)];
                format!("{} | {}", line.queue(setup).cells(), counts.join(" | "))
            } else {
                " | | | | | | ".into()
            };
            writeln!(text, "| {name} | {} | {rest} |", goodput.cells())?;
        }
        if line.flows.len() > 1 {
            let together = line.pair(GOODPUT_BOUND, |run| run.goodput_mbps.iter().sum());
            writeln!(text, "| … both together | {} | | | | | | | |", together.cells())?;
        }
    }
    text += "\nCounts are means of the simulator's runs and of those over real TCP.\n";
    if setup.flows.iter().any(|f| f.len() == 1) {
        write!(text, "\n![Windows over time, simulator and real TCP: {}](images/{})\n", setup.title, image(setup))?;
    }
    Ok(text)
}
