// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the tables of docs/sim-vs-quic.md to standard output: `cargo run --release -p tandem-quic-engine --example sim_vs_quic`.

use tandem_engine::{Engine, Options};
use tandem_quic_engine::{Congestion, run_stack};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
    result::SeedResult,
};

struct Path {
    title: &'static str,
    dumbbell: &'static str,
    duration_s: u32,
    warmup_s: u32,
    flows: u32,
    seeds: u64,
}

/// Those of docs/sim-vs-kernel.md.
const PATHS: [Path; 6] = [
    path("100 Mb/s, 40 ms, a buffer of one BDP", "rate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\""),
    path("100 Mb/s, 40 ms, a buffer of BDP/4", "rate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"0.25bdp\""),
    path(
        "100 Mb/s, 40 ms, one BDP, random loss of 1e-4",
        "rate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\nloss = 1e-4",
    ),
    path(
        "100 Mb/s, 40 ms, one BDP, random loss of 1e-3",
        "rate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\nloss = 1e-3",
    ),
    Path {
        flows: 2,
        duration_s: 110,
        ..path(
            "Two flows, 100 Mb/s, 40 ms, a buffer of one BDP",
            "rate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"",
        )
    },
    Path {
        duration_s: 200,
        warmup_s: 30,
        ..path("300 Mb/s, 100 ms, 500 packets", "rate = \"300mbit\"\nrtt = \"100ms\"\nqueue = \"500p\"")
    },
];

const fn path(title: &'static str, dumbbell: &'static str) -> Path {
    Path { title, dumbbell, duration_s: 80, warmup_s: 20, flows: 1, seeds: 3 }
}

const CONTROLLERS: [&str; 5] = ["reno", "cubic", "compound", "compound_tube", "bbr"];

impl Path {
    fn scenario(&self, controller: &str) -> Scenario {
        let Self { dumbbell, duration_s, warmup_s, flows, .. } = self;
        let text = format!(
            "duration = \"{duration_s}s\"\nwarmup = \"{warmup_s}s\"\n[dumbbell]\n{dumbbell}\n[[flows]]\n\
             controller = \"{controller}\"\ncount = {flows}\nstart_spread = \"100ms\"\n"
        );
        parse(&text, "path.toml", "path", &Overrides::default()).expect("a good scenario")
    }
}

/// Goodput of all flows, Mb/s; mean queue, packets; reductions; packets sent again.
type Figures = [f64; 4];

fn figures(result: &SeedResult) -> Figures {
    let sum = |f: fn(&tandem_scenario::result::FlowResult) -> f64| result.flows.iter().map(f).sum();
    [
        sum(|f| f.goodput_mbps),
        result.links[0].queue_packets.mean,
        sum(|f| f.window_reductions as f64),
        sum(|f| f.retransmits as f64),
    ]
}

/// Means, and half the 95 % interval of the first two (Student's t for so many seeds).
fn summary(runs: &[Figures]) -> (Figures, [f64; 2]) {
    const T: [f64; 11] = [0.0, 0.0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    let n = runs.len() as f64;
    let mean = std::array::from_fn(|i| runs.iter().map(|r| r[i]).sum::<f64>() / n);
    let half = std::array::from_fn(|i| {
        let variance = runs.iter().map(|r| (r[i] - mean[i]).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        T[runs.len().min(10)] * (variance / n).sqrt()
    });
    (mean, half)
}

fn main() {
    let only: Option<usize> = std::env::args().nth(1).and_then(|n| n.parse().ok());
    for (number, path) in PATHS.iter().enumerate().filter(|(n, _)| only.is_none_or(|o| o == *n)) {
        println!("\n## {}\n", path.title);
        println!("{} s of which {} s warm-up, {} seeds.\n", path.duration_s, path.warmup_s, path.seeds);
        println!(
            "| flows | goodput, simulator, Mb/s | QUIC | difference | mean queue, simulator, packets | QUIC | difference | reductions | lost |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
        for controller in CONTROLLERS {
            let scenario = path.scenario(controller);
            let seeds = 1..=path.seeds;
            let run = |seed, quic: bool| {
                let result = match quic {
                    true => tandem_quic_engine::Quic.run(&scenario, seed, Options::default()),
                    false => tandem_sim::Sim.run(&scenario, seed, Options::default()),
                };
                figures(&result.expect("a good scenario").expect("nobody cancels"))
            };
            let (sim, sim_half) = summary(&seeds.clone().map(|s| run(s, false)).collect::<Vec<_>>());
            let (quic, quic_half) = summary(&seeds.map(|s| run(s, true)).collect::<Vec<_>>());
            let difference = |i: usize| format!("{:+.1} %", (quic[i] / sim[i] - 1.0) * 100.0);
            println!(
                "| {controller} | {:.1} ± {:.1} | {:.1} ± {:.1} | {} | {:.1} ± {:.1} | {:.1} ± {:.1} | {} | {:.0}, {:.0} | {:.0}, {:.0} |",
                sim[0],
                sim_half[0],
                quic[0],
                quic_half[0],
                difference(0),
                sim[1],
                sim_half[1],
                quic[1],
                quic_half[1],
                difference(1),
                sim[2],
                quic[2],
                sim[3],
                quic[3],
            );
        }
        for (name, congestion) in [("noq's cubic", Congestion::StackCubic), ("noq's BBRv3", Congestion::StackBbr)] {
            let scenario = path.scenario("cubic");
            let run = |seed| figures(&run_stack(&scenario, seed, Options::default(), congestion).unwrap().unwrap());
            let (own, half) = summary(&(1..=path.seeds).map(run).collect::<Vec<_>>());
            println!(
                "| {name} | | {:.1} ± {:.1} | | | {:.1} ± {:.1} | | {:.0} | {:.0} |",
                own[0], half[0], own[1], half[1], own[2], own[3]
            );
        }
        eprintln!("path {number} is done");
    }
}
