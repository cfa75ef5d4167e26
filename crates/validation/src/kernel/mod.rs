// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/sim-vs-kernel.md: the simulator beside real Linux TCP over the emulated path.

mod measure;
mod plot;
mod settings;
mod store;

use std::{fmt::Write, path::Path};

use anyhow::{Context, ensure};
use tandem_scenario::stats::mean;

use crate::compare::{Bound, Measured};
use measure::{SEEDS, folder, measure_missing, simulate};
use plot::Panel;
use settings::{GOODPUT_BOUND, SETTINGS, Setting};
use store::{Row, Store};

const INTRODUCTION: &str = include_str!("introduction.md");
const REASONS: &str = include_str!("reasons.md");

/// Of `--kernel`.
#[derive(clap::Args)]
pub struct KernelArgs {
    /// The simulator beside real Linux TCP instead, docs/sim-vs-kernel.md; runs that are kept in experiments/reference/real-tcp are not made
    /// again, those that are missing take root and as long as they emulate
    #[arg(long, conflicts_with_all = ["only", "model"])]
    pub kernel: bool,

    /// Only these runs over real TCP, again if they are there: a setting (bdp), flows (compound+reno) or both (bdp/reno)
    #[arg(long, requires = "kernel")]
    again: Vec<String>,

    /// Runs over real TCP at a time; more than the machine carries are not trusted and made again
    #[arg(long, requires = "kernel", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    parallel: u8,

    /// The page from the runs that there are; without --again, none is made
    #[arg(long, requires = "kernel")]
    incomplete: bool,
}

/// Makes what is missing; the page. Its images go to `images`, which it calls `images/`.
pub fn page(args: &KernelArgs, images: &Path) -> anyhow::Result<String> {
    let mut store = Store::open(folder())?;
    if !args.incomplete || !args.again.is_empty() {
        store = measure_missing(store, &args.again, usize::from(args.parallel))?;
    }
    let (mut compared, mut missing) = (Vec::new(), Vec::new());
    for setting in &SETTINGS {
        compared.push((setting, compare(setting, &store, images, &mut missing)?));
    }
    let missing = missing.join(", ");
    ensure!(
        args.incomplete || missing.is_empty(),
        "no run over real TCP is to be trusted of: {missing}. Run it again on a machine with less to do, or add --incomplete"
    );
    let mut page = INTRODUCTION
        .replace("SEEDS", &SEEDS.to_string())
        .replace("KERNELS", &store.kernels().join(", "))
        .replace("LATENESS", &format!("{:.0}", store.lateness_p99_us()))
        .replace("PAUSE", &format!("{:.1}", store.longest_pause_ms()))
        .replace("UNTRUSTED", &store.untrusted().to_string());
    page += &summary(&compared);
    if !missing.is_empty() {
        writeln!(page, "\nWithout a run that is to be trusted, hence left out: {missing}.")
            .expect("writing to a String");
    }
    for (setting, lines) in &compared {
        page += &part(setting, lines);
    }
    Ok(page + REASONS)
}

/// Flows that ran together, in both engines.
struct Compared {
    flows: &'static [&'static str],
    simulated: Vec<Row>,
    measured: Vec<Row>,
}

/// `missing` takes the names of those that have no run to be trusted.
fn compare(
    setting: &Setting,
    store: &Store,
    images: &Path,
    missing: &mut Vec<String>,
) -> anyhow::Result<Vec<Compared>> {
    let mut compared = Vec::new();
    let mut panels = Vec::new();
    for &flows in setting.flows {
        let measured: Vec<Row> = store.runs(setting, flows).into_iter().cloned().collect();
        let what = format!("{}/{}", setting.key, flows.join("+"));
        if measured.is_empty() {
            missing.push(what);
            continue;
        }
        let (simulated, window) = simulate(setting, flows)?;
        if let [controller] = flows {
            let title = (*controller).to_owned();
            panels.push(Panel { title, simulated: window, measured: store.window(setting, flows)? });
        }
        compared.push(Compared { flows, simulated, measured });
    }
    if !panels.is_empty() {
        let path = images.join(image(setting));
        let svg = plot::svg(&panels, f64::from(setting.duration_s()))?;
        tandem_report::write_atomically(&path, svg.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(compared)
}

fn image(setting: &Setting) -> String {
    format!("sim-vs-kernel-{}.svg", setting.key)
}

/// One quantity of a line, in both engines.
struct Pair {
    simulated: Measured,
    /// Of the seeds that were also run over real TCP: starts and random losses are the same.
    same_seeds: Measured,
    measured: Measured,
    bound: Bound,
}

impl Pair {
    fn new(compared: &Compared, bound: Bound, of: impl Fn(&Row) -> f64) -> Self {
        let values = |rows: &[Row]| rows.iter().map(&of).collect::<Vec<_>>();
        let simulated = Measured::of(&values(&compared.simulated));
        let is_shared = |row: &&Row| compared.measured.iter().any(|m| m.seed == row.seed);
        let same: Vec<f64> = compared.simulated.iter().filter(is_shared).map(&of).collect();
        let same_seeds = Measured { mean: mean(&same), ..simulated };
        Self { simulated, same_seeds, measured: Measured::of(&values(&compared.measured)), bound }
    }

    fn agrees(&self) -> bool {
        self.same_seeds.agrees(self.measured, self.bound)
    }

    fn cells(&self) -> String {
        format!(
            "{} | {} | {:+.1} % | {}",
            self.simulated.text(1),
            self.measured.text(1),
            100.0 * (self.same_seeds.mean / self.measured.mean - 1.0),
            self.same_seeds.verdict(self.measured, self.bound)
        )
    }
}

impl Compared {
    fn goodput(&self, flow: usize) -> Pair {
        Pair::new(self, GOODPUT_BOUND, |row| row.goodput_mbps(flow))
    }

    fn goodputs(&self) -> impl Iterator<Item = Pair> {
        (0..self.flows.len()).map(|flow| self.goodput(flow))
    }

    fn queue(&self, setting: &Setting) -> Pair {
        Pair::new(self, setting.queue_bound, |row| row.queue_mean_packets)
    }

    fn name(&self) -> String {
        self.flows.join(", ")
    }

    /// Means of a count, simulated and over real TCP.
    fn counts(&self, of: fn(&Row) -> u64) -> String {
        let mean_of = |rows: &[Row]| mean(&rows.iter().map(|r| of(r) as f64).collect::<Vec<_>>());
        format!("{:.0}, {:.0}", mean_of(&self.simulated), mean_of(&self.measured))
    }
}

fn summary(compared: &[(&Setting, Vec<Compared>)]) -> String {
    let mut text = String::from("\n| | goodput within 5 % | mean queue within its bound |\n|---|---|---|\n");
    let tally = |agree: Vec<bool>| format!("{} of {}", agree.iter().filter(|a| **a).count(), agree.len());
    for (setting, lines) in compared {
        let goodputs = lines.iter().flat_map(Compared::goodputs).map(|p| p.agrees()).collect();
        let queues = lines.iter().map(|c| c.queue(setting).agrees()).collect();
        writeln!(text, "| {} | {} | {} |", setting.title, tally(goodputs), tally(queues)).expect("writing to a String");
    }
    text
}

/// A setting's part of the page.
fn part(setting: &Setting, lines: &[Compared]) -> String {
    let queue_bound = match setting.queue_bound {
        Bound::RelativeOr(share, packets) => format!("{:.0} % or {packets} packets", share * 100.0),
        Bound::Relative(share) => format!("{:.0} %", share * 100.0),
        Bound::Interval => "the joint interval".into(),
    };
    let mut text = format!(
        "\n## {}\n\n{}. Asked: goodput within 5 %, mean queue within {queue_bound}.\n\n",
        setting.title,
        setting.text()
    );
    if lines.is_empty() {
        return text + "No run yet that is to be trusted.\n";
    }
    text += "| flows | goodput, simulator, Mb/s | real TCP | difference | agrees | mean queue, simulator, packets | real TCP | difference | agrees | retransmissions | reductions | timeouts |\n";
    text += "|---|---:|---:|---:|---|---:|---:|---:|---|---:|---:|---:|\n";
    for line in lines {
        let goodputs: Vec<Pair> = line.goodputs().collect();
        for (flow, goodput) in goodputs.iter().enumerate() {
            let name = if flow == 0 { line.name() } else { format!("… its second, `{}`", line.flows[flow]) };
            let rest = if flow == 0 {
                let counts =
                    [line.counts(|r| r.retransmits), line.counts(|r| r.window_reductions), line.counts(|r| r.timeouts)];
                format!("{} | {}", line.queue(setting).cells(), counts.join(" | "))
            } else {
                " | | | | | | ".into()
            };
            writeln!(text, "| {name} | {} | {rest} |", goodput.cells()).expect("writing to a String");
        }
        if line.flows.len() > 1 {
            let together =
                Pair::new(line, GOODPUT_BOUND, |row| (0..line.flows.len()).map(|f| row.goodput_mbps(f)).sum());
            writeln!(text, "| … both together | {} | | | | | | | |", together.cells()).expect("writing to a String");
        }
    }
    text += "\nCounts are means of the simulator's runs and of those over real TCP.\n";
    if setting.flows.iter().any(|f| f.len() == 1) {
        write!(text, "\n![Windows over time, simulator and real TCP: {}](images/{})\n", setting.title, image(setting))
            .expect("writing to a String");
    }
    text
}
