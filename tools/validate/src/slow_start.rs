// SPDX-License-Identifier: MIT OR Apache-2.0
//! The window at which slow start ends, on five paths: the kernel's own CUBIC, Tandem's in the same kernel by eBPF, and Tandem's in the simulator.
//! The table of docs/slow-start.md. The runs over real TCP need root.

use std::fmt::Write;

use anyhow::{Context, ensure};
use tandem_engine::{Engine, Options};
use tandem_results::{FlowSample, SeedResult};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse_inner},
};
use tandem_sim::Sim;
use tandem_statistics::percentile;

/// A path, and whether the receiver delays ACKs. Without that the simulator's senders have no random delay either.
struct Path {
    rate: &'static str,
    rtt: &'static str,
    queue: &'static str,
    delayed_acks: bool,
}

const fn path(rate: &'static str, rtt: &'static str, queue: &'static str) -> Path {
    Path { rate, rtt, queue, delayed_acks: true }
}

/// Five that must agree, and one with and without what sets the two apart there.
const PATHS: [Path; 7] = [
    path("20mbit", "200ms", "1bdp"),
    path("20mbit", "100ms", "2bdp"),
    path("50mbit", "50ms", "1.5bdp"),
    path("100mbit", "40ms", "1bdp"),
    path("200mbit", "20ms", "2bdp"),
    path("10mbit", "200ms", "1bdp"),
    Path { delayed_acks: false, ..path("10mbit", "200ms", "1bdp") },
];

impl Path {
    fn text(&self) -> String {
        let acks = if self.delayed_acks { "" } else { ", each packet acknowledged" };
        format!("{}, {}, {}{acks}", self.rate, self.rtt, self.queue)
    }
}

/// Asked of the kernel's CUBIC beside the simulator's.
const BOUND: f64 = 0.10;

const INFINITE: u32 = tandem_controllers::INFINITE_SSTHRESH;

fn scenario(path: &Path, controller: &str, seeds: u64) -> anyhow::Result<Scenario> {
    let Path { rate, rtt, queue, delayed_acks } = path;
    let send_jitter = if *delayed_acks { "" } else { "send_jitter = \"0s\"\n" };
    let text = format!(
        "[scenario]\nduration = \"6s\"\nwarmup = \"1s\"\nsample_interval = \"10ms\"\n{send_jitter}[scenario.dumbbell]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\n\
         queue = \"{queue}\"\n[[scenario.flows]]\ncontroller = \"{controller}\"\n\
         delayed_acks = {delayed_acks}\n"
    );
    let name = format!("{}, {controller}", path.text());
    Ok(parse_inner(&text, &name, &name, &Overrides::default())?.with_seeds(1..=seeds))
}

/// Where slow start ended, packets, and whether a loss did it: a reduction leaves less than the window was.
fn end_of_slow_start(samples: &[FlowSample]) -> Option<(u32, bool)> {
    let first = samples.iter().position(|s| s.ssthresh_packets < INFINITE && s.cwnd_packets > 0)?;
    let before = samples[..first].iter().map(|s| s.cwnd_packets).max().unwrap_or(0);
    let ssthresh = samples[first].ssthresh_packets;
    Some((before.max(ssthresh), ssthresh < before))
}

/// The windows of the runs in which nothing disturbed the engine.
fn measure(engine: &dyn Engine, scenario: &Scenario) -> anyhow::Result<Vec<(u32, bool)>> {
    let mut ends = Vec::new();
    for &seed in &scenario.seeds {
        let options = Options { traced_flows_per_group: 1, ..Options::default() };
        let result: SeedResult = engine.run(scenario, seed, options)?.context("nothing cancels it")?;
        let doubts = result.emulation.as_ref().map_or(&[][..], |e| &e.doubts);
        if !doubts.is_empty() {
            eprintln!("{}, seed {seed}: left out, {}", scenario.name, doubts.join("; "));
            continue;
        }
        let flow = result.trace.as_ref().and_then(|t| t.flows.first()).context("it was traced")?;
        ends.push(
            end_of_slow_start(&flow.samples).with_context(|| format!("{}: slow start never ended", scenario.name))?,
        );
    }
    Ok(ends)
}

fn shown(ends: &[(u32, bool)]) -> String {
    let losses = ends.iter().filter(|(_, loss)| *loss).count();
    let windows: Vec<u32> = ends.iter().map(|(window, _)| *window).collect();
    let range = windows.iter().min().zip(windows.iter().max());
    let range = range.map_or("-".into(), |(least, most)| format!("{:.0} ({least} to {most})", median(ends)));
    if losses > 0 { format!("{range}, {losses} by a loss") } else { range }
}

/// A pause of the machine that is too short for a doubt can break an ACK train in one of the runs.
fn median(ends: &[(u32, bool)]) -> f64 {
    let mut windows: Vec<f64> = ends.iter().map(|(window, _)| f64::from(*window)).collect();
    windows.sort_by(f64::total_cmp);
    percentile(&windows, 0.5).unwrap_or(f64::NAN)
}

/// The table, from this many runs of each controller on each path. Without an engine for real TCP its columns are empty.
///
/// # Errors
/// If a run fails, or no run over real TCP is to be trusted on one of the paths.
pub fn slow_start_table(real_tcp: Option<&dyn Engine>, seeds: u64) -> anyhow::Result<String> {
    let mut table = String::from(
        "| path | kernel:cubic | cubic, eBPF | cubic, simulator | simulator against kernel:cubic | within 10 % |\n|---|---:|---:|---:|---:|---|\n",
    );
    for path in &PATHS {
        let simulated = measure(&Sim, &scenario(path, "cubic", seeds)?)?;
        let real = |controller| -> anyhow::Result<Vec<_>> {
            real_tcp.map_or(Ok(Vec::new()), |engine| measure(engine, &scenario(path, controller, seeds)?))
        };
        let (kernel, loaded) = (real("kernel:cubic")?, real("cubic")?);
        ensure!(
            real_tcp.is_none() || !kernel.is_empty(),
            "no run over {} is to be trusted: run it on a machine with less to do",
            path.text()
        );
        let difference = median(&simulated) / median(&kernel) - 1.0;
        writeln!(
            table,
            "| {} | {} | {} | {} | {:+.1} % | {} |",
            path.text(),
            shown(&kernel),
            shown(&loaded),
            shown(&simulated),
            difference * 100.0,
            if difference.abs() <= BOUND { "yes" } else { "no" }
        )?;
    }
    Ok(table)
}
