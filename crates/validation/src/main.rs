// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repeats the runs of experiments/reference/ns2 and experiments/reference/ns3 in Tandem's simulator and writes the comparison to docs/validation.md; with
//! `--model`, compares the analytical model with all there is and writes docs/model.md; with `--kernel`, compares the simulator
//! with real TCP and writes docs/sim-vs-kernel.md.

mod compare;
mod controllers;
mod dumbbell;
mod kernel;
mod model;
mod ns2;
mod wlan;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use tandem_scenario::{Scenario, stats::stolen};

use compare::{Bound, Line, Measured, table, tally};
use dumbbell::{Setup, run_all};

/// Repeats the runs of experiments/reference/ns2 and experiments/reference/ns3 and writes docs/validation.md
#[derive(Parser)]
struct Args {
    /// Seeds of each point (one for the runs without chance)
    #[arg(long, default_value_t = 30)]
    seeds: u64,

    /// Only these experiments: fig3, fig4, fig5, fig6, fig8, controllers, wlan; prints them instead of writing the page
    #[arg(long)]
    only: Vec<String>,

    /// The page of the analytical model instead, docs/model.md
    #[arg(long, conflicts_with = "only")]
    model: bool,

    #[command(flatten)]
    kernel: kernel::KernelArgs,

    /// Where the page goes [default: docs/validation.md, docs/model.md or docs/sim-vs-kernel.md]; images go to `images` beside it
    #[arg(long)]
    out: Option<PathBuf>,
}

/// One experiment's part of the page.
struct Part {
    name: &'static str,
    run: fn(&Path, u64) -> anyhow::Result<String>,
}

const PARTS: [Part; 7] = [
    Part { name: "fig3", run: figure3 },
    Part { name: "fig4", run: figure4 },
    Part { name: "fig5", run: figure5 },
    Part { name: "fig6", run: figure6 },
    Part { name: "fig8", run: figure8 },
    Part { name: "controllers", run: controllers::part },
    Part { name: "wlan", run: wlan::part },
];

const INTRODUCTION: &str = include_str!("introduction.md");
const REASONS: &str = include_str!("reasons.md");

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let data = Path::new("experiments/reference/ns2");
    if args.model {
        return write(args.out.unwrap_or("docs/model.md".into()), &model::page(data)?);
    }
    if args.kernel.kernel {
        let out = args.out.unwrap_or("docs/sim-vs-kernel.md".into());
        let images = out.with_file_name("images");
        return write(out, &kernel::page(&args.kernel, &images)?);
    }
    if args.only.is_empty() {
        let mut page = INTRODUCTION.replace("SEEDS", &args.seeds.to_string());
        for part in &PARTS {
            page += &(part.run)(data, args.seeds)?;
        }
        page += REASONS;
        return write(args.out.unwrap_or("docs/validation.md".into()), &page);
    }
    for name in &args.only {
        let part = PARTS.iter().find(|p| p.name == name).with_context(|| format!("there is no experiment `{name}`"))?;
        print!("{}", (part.run)(data, args.seeds)?);
    }
    Ok(())
}

fn write(path: PathBuf, page: &str) -> anyhow::Result<()> {
    tandem_report::write_atomically(&path, page.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

const GIGABIT: Setup = Setup {
    rate_mbps: 1000.0,
    rtt_ms: 100,
    queue_packets: 1500,
    loss: 0.0,
    duration_s: 150,
    warmup_s: 30,
    send_jitter: false,
    spread: true,
};

fn loss_text(loss: f64) -> String {
    format!("{loss:e}")
}

fn number_text(value: f64) -> String {
    format!("{value}")
}

/// Goodput of four flows of one kind against the loss rate.
fn figure3(data: &Path, seeds: u64) -> anyhow::Result<String> {
    let rows = ns2::read(data, "fig3")?;
    let mut cases = Vec::new();
    for loss in ns2::points(&rows, |r| r.loss) {
        for controller in ["reno", "compound", "compound_tube"] {
            cases.push((loss, controller, Setup { loss, ..GIGABIT }.scenario(&[(controller, 4)], seeds)));
        }
    }
    let scenarios: Vec<_> = cases.iter().map(|c| c.2.clone()).collect();
    let lines: Vec<Line> = run_all(&scenarios)?
        .iter()
        .zip(&cases)
        .map(|(run, &(loss, controller, _))| Line {
            point: loss_text(loss),
            controller: controller.into(),
            tandem: Measured::of(&run.groups[0].goodput_by_seed_mbps),
            ns2: Measured::of(&ns2::column(&rows, ns2::label(controller), |r| r.loss, loss, |r| r.goodput_a_mbps)),
            bound: Bound::Relative(0.05),
        })
        .collect();
    Ok(format!(
        "\n## Goodput of four flows against random loss (S0 Figure 3, S1 Figure 7)\n\n\
         1 Gb/s, 100 ms, 1500 packets, 150 s of which 30 s warm-up. Asked: within 5 % or the joint 95 % interval: {}.\n\n{}",
        tally(&lines),
        table("loss rate", "Mb/s", 1, &lines)
    ))
}

/// Bandwidth stolen from four Reno flows by four others: the experiment, what it varies and how a point is set up.
struct Stolen {
    experiment: &'static str,
    axis: ns2::Axis,
    setup: fn(f64) -> Setup,
}

impl Stolen {
    fn lines(&self, data: &Path, seeds: u64, point_text: fn(f64) -> String) -> anyhow::Result<Vec<Line>> {
        let rows = ns2::read(data, self.experiment)?;
        let points = ns2::points(&rows, self.axis);
        const HEADS: [&str; 3] = ["reno", "compound", "compound_tube"];
        let scenarios: Vec<_> = points
            .iter()
            .flat_map(|&p| HEADS.map(|head| (self.setup)(p).scenario(&[(head, 4), ("reno", 4)], seeds)))
            .collect();
        let mut runs = run_all(&scenarios)?;
        let mut lines = Vec::new();
        for (runs, &point) in runs.chunks_mut(HEADS.len()).zip(&points) {
            let (baseline, others) = runs.split_first_mut().expect("three runs a point");
            for (run, head) in others.iter_mut().zip(&HEADS[1..]) {
                run.set_stolen(1, baseline);
                let tandem =
                    Measured { mean: run.groups[1].stolen.unwrap_or(f64::NAN), half_width: run.groups[1].stolen_ci95 };
                let p = ns2::column(&rows, "reno", self.axis, point, |r| r.goodput_b_mbps);
                let q = ns2::column(&rows, ns2::label(head), self.axis, point, |r| r.goodput_b_mbps);
                let (mean, half_width) = stolen(&p, &q).context("ns-2 rows without a baseline")?;
                lines.push(Line {
                    point: point_text(point),
                    controller: (*head).into(),
                    tandem,
                    ns2: Measured { mean, half_width },
                    bound: Bound::Interval,
                });
            }
        }
        Ok(lines)
    }
}

fn stolen_part(title: &str, setup: &str, axis: &str, lines: &[Line]) -> String {
    format!(
        "\n## {title}\n\n{setup} Bandwidth stolen is (P - Q) / P, with P and Q of the same four flows and seed; 0 is friendly. Asked: within the joint 95 % interval: {}.\n\n{}",
        tally(lines),
        table(axis, "stolen", 2, lines)
    )
}

fn figure4(data: &Path, seeds: u64) -> anyhow::Result<String> {
    let stolen = Stolen { experiment: "fig4", axis: |r| r.loss, setup: |loss| Setup { loss, ..GIGABIT } };
    let lines = stolen.lines(data, seeds, loss_text)?;
    let setup = "Four flows against four Reno flows on the same path.";
    Ok(stolen_part("Bandwidth stolen against random loss (S0 Figure 4)", setup, "loss rate", &lines))
}

fn figure5(data: &Path, seeds: u64) -> anyhow::Result<String> {
    let setup = |rate_mbps: f64| Setup {
        rate_mbps,
        queue_packets: (rate_mbps * 0.1 * 1e6 / 12000.0).round() as u32,
        duration_s: 300,
        warmup_s: 60,
        send_jitter: true,
        ..GIGABIT
    };
    let stolen = Stolen { experiment: "fig5r", axis: |r| r.rate_mbps, setup };
    let lines = stolen.lines(data, seeds, number_text)?;
    let setup = "100 ms, buffer of one BDP, 300 s of which 60 s warm-up, random send delay up to one packet time.";
    Ok(stolen_part("Bandwidth stolen against the rate (S0 Figure 5)", setup, "Mb/s", &lines))
}

fn figure6(data: &Path, seeds: u64) -> anyhow::Result<String> {
    let setup = |packets: f64| Setup { queue_packets: packets as u32, send_jitter: true, ..GIGABIT };
    let stolen = Stolen { experiment: "fig6r", axis: |r| f64::from(r.queue_packets), setup };
    let lines = stolen.lines(data, seeds, number_text)?;
    let setup = "1 Gb/s, 100 ms, random send delay up to one packet time.";
    Ok(stolen_part("Bandwidth stolen against the buffer (S0 Figure 6)", setup, "packets", &lines))
}

/// One Compound flow on S2's path: 50 ms, 100 packets.
fn isolated_flow(rate_mbps: f64) -> Scenario {
    let setup =
        Setup { rate_mbps, rtt_ms: 50, queue_packets: 100, duration_s: 320, warmup_s: 20, spread: false, ..GIGABIT };
    setup.scenario(&[("compound", 1)], 1)
}

/// Utilisation by one Compound flow against the rate: no chance, one run a point.
fn figure8(data: &Path, _seeds: u64) -> anyhow::Result<String> {
    let rows = ns2::read(data, "blanc")?;
    let rates = ns2::points(&rows, |r| r.rate_mbps);
    let scenarios: Vec<_> = rates.iter().map(|&r| isolated_flow(r)).collect();
    let runs = run_all(&scenarios)?;
    let mut text = String::from(
        "| Mb/s | Tandem util | ns-2 la30 util | difference | agrees | ns-2 la30np util | Tandem queue | la30 queue | la30np queue |\n\
         |---:|---:|---:|---:|---|---:|---:|---:|---:|\n",
    );
    let (mut agreed, mut asked) = (0, 0);
    for (run, &rate) in runs.iter().zip(&rates) {
        let of = |label, value: fn(&ns2::Row) -> f64| ns2::column(&rows, label, |r| r.rate_mbps, rate, value)[0];
        let link = &run.links[0];
        let (paced, unpaced) = (of("la30", |r| r.utilisation), of("la30np", |r| r.utilisation));
        let free = (250.0..=400.0).contains(&rate);
        let agrees = (link.utilisation / paced - 1.0).abs() <= 0.03;
        asked += u32::from(!free);
        agreed += u32::from(!free && agrees);
        let verdict = match (free, agrees) {
            (true, _) => "not asked",
            (false, true) => "yes",
            (false, false) => "**no**",
        };
        text += &format!(
            "| {rate} | {:.4} | {paced:.4} | {:+.1} % | {verdict} | {unpaced:.4} | {:.1} | {:.1} | {:.1} |\n",
            link.utilisation,
            100.0 * (link.utilisation / paced - 1.0),
            link.queue_packets.mean,
            of("la30", |r| r.queue_mean_packets),
            of("la30np", |r| r.queue_mean_packets),
        );
    }
    Ok(format!(
        "\n## Utilisation by one Compound flow (S2 Figures 8 and 9)\n\n\
         50 ms, 100 packets, 320 s of which 20 s warm-up, no random element, one run a point. `la30` spreads the growth of the \
         delay window over half a round, `la30np` is the module as S2 used it. Asked: within 3 % of `la30`, but for \
         250 to 400 Mb/s, where the border between the cases lies and differs from module to module: {agreed} of {asked} agree.\n\n{text}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two points of S2's sweep, one on either side of its transitions; `make validate` does them all.
    #[test]
    fn an_isolated_flow_uses_as_much_of_the_link_as_in_ns2() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/reference/ns2");
        let rows = ns2::read(&data, "blanc").expect("the results are in the repository");
        for rate in [100.0, 500.0] {
            let run = &run_all(&[isolated_flow(rate)]).expect("nothing fails")[0];
            let there = ns2::column(&rows, "la30", |r| r.rate_mbps, rate, |r| r.utilisation)[0];
            let here = run.links[0].utilisation;
            assert!((here / there - 1.0).abs() <= 0.03, "{rate} Mb/s: {here} here, {there} in ns-2");
        }
    }
}
