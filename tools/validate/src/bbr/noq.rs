// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bbr3` in the simulator and over QUIC beside the BBRv3 that the QUIC stack has of its own.

use std::fmt::Write;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tandem_batch::{Batch, Task, Traces};
use tandem_engine::Engine;
use tandem_papers::{bottleneck, prose::with_short_lines};
use tandem_results::SeedResult;
use tandem_sim::Sim;
use tandem_statistics::{Estimate, mean};

use crate::setups::{Setup, for_bbr};

/// The same seeds in both engines.
const SEEDS: u64 = 5;

/// One path; of each figure what the simulator, `bbr3` over QUIC and noq's BBRv3 have.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    path: String,
    setup: String,
    goodput_mbps: [Estimate; 3],
    queue_packets: [Estimate; 3],
    lost_packets: [f64; 3],
    /// Of noq's goodput to that of `bbr3` over QUIC.
    ratio: Estimate,
}

/// Runs all three on ten paths.
pub(super) fn lines(engine: &dyn Engine, batch: &Batch) -> anyhow::Result<Vec<Line>> {
    for_bbr().iter().map(|setup| compare(setup, engine, batch).context(setup.name)).collect()
}

fn compare(setup: &Setup, engine: &dyn Engine, batch: &Batch) -> anyhow::Result<Line> {
    let scenario = |controller| setup.simulated(&[controller], SEEDS);
    let (ours, own) = (scenario("bbr3"), scenario("noq:bbr3"));
    let task = |scenario, engine| Task { scenario, engine, traces: Traces::None };
    let outcome = batch.run(&[task(&ours, &Sim), task(&ours, engine), task(&own, engine)])?;
    ensure!(!outcome.interrupted, "interrupted; the same command continues");
    let of = |figure: &dyn Fn(&SeedResult) -> f64| -> Vec<Vec<f64>> {
        outcome.seeds.iter().map(|seeds| seeds.iter().map(figure).collect()).collect()
    };
    let bottleneck = bottleneck(&ours).unwrap_or_default();
    let goodputs = of(&|seed| seed.flows[0].goodput_mbps);
    let queues = of(&|seed| seed.links[bottleneck].queue_packets.mean);
    let losses = of(&|seed| seed.flows[0].retransmits as f64);
    let estimates = |values: &[Vec<f64>]| [0, 1, 2].map(|who| Estimate::of_mean(&values[who]));
    Ok(Line {
        path: setup.name.into(),
        setup: setup.text(),
        goodput_mbps: estimates(&goodputs),
        queue_packets: estimates(&queues),
        lost_packets: [0, 1, 2].map(|who| mean(&losses[who])),
        ratio: Estimate::of_ratio(&goodputs[2], &goodputs[1]).context("`bbr3` carries nothing over QUIC")?,
    })
}

pub(super) fn text(lines: &[Line]) -> String {
    let mut text =
        String::from("| path | simulator, Mb/s | QUIC | noq's | noq's to QUIC |\n|---|---:|---:|---:|---:|\n");
    for line in lines {
        let [simulated, quic, own] = line.goodput_mbps.map(|goodput| format!("{:.1}", goodput.value));
        let (path, share) = (&line.path, (line.ratio * 100.0).text(1));
        writeln!(text, "| {path} | {simulated} | {quic} | {own} | {share} % |").expect("a String");
    }
    with_short_lines(&text)
}

#[cfg(test)]
pub(super) fn assert_current(lines: &[Line]) {
    let of_setups: Vec<String> = for_bbr().iter().map(Setup::text).collect();
    let of_lines: Vec<&String> = lines.iter().map(|line| &line.setup).collect();
    assert_eq!(of_lines, of_setups.iter().collect::<Vec<_>>(), "run it again: tandem-validate --bbr");
}
