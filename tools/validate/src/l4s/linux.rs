// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Prague and a CUBIC flow beside the runs of Linux's that others published.

use std::fmt::Write;

use anyhow::Context;
use tandem_papers::Verdict;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_statistics::mean;

use super::seeds;
use crate::{
    Validation,
    compare::{cell, tally, verdict},
    reference::l4s::{TwoFlows, two_flows},
};

/// Of the measured goodput. An interval of two runs would let nearly all pass.
const BOUND: f64 = 0.10;

const HEADING: &str = "\
\n### Prague and CUBIC beside Linux's

Pete Heist and Jonathan Morton [measured the same two flows](../experiments/reference/l4s/README.md) with Linux's own `tcp_prague`, CUBIC and DualPI2 of 2020, \
two runs a row. That Prague has no virtual RTT (`prague@virtual_rtt=0`), and Linux's CUBIC keeps its alpha (`cubic@alpha_rises=0`). Here both \
use ECN; theirs may not have, and without it CUBIC has up to 2 % less here. 180 s, of which the last 60 s count, SEEDS seeds here. The measured rates are not \
near equal either: Prague has 1.7 to 2.7 times as much as CUBIC. \
Asked: goodput within 10 %.";

/// The runs of one path.
struct Path<'a>(&'a [TwoFlows]);

impl Path<'_> {
    fn measured(&self, of: fn(&TwoFlows) -> f64) -> f64 {
        mean(&self.0.iter().map(of).collect::<Vec<_>>())
    }

    fn scenario(&self, seeds: u64) -> anyhow::Result<Scenario> {
        let TwoFlows { rate_mbps, rtt_ms, .. } = self.0[0];
        // HTB counts the Ethernet header, a link here does not.
        let rate_kbps = (rate_mbps * 1e3 * 1500.0 / 1514.0).round();
        let text = format!(
            "duration = \"180s\"\nwarmup = \"120s\"\nseeds = {seeds}\n[dumbbell]\nrate = \"{rate_kbps}kbit\"\nrtt = \"{rtt_ms}ms\"\n\
             queue = \"1000p\"\naqm = \"dualpi2\"\n[[flows]]\ncontroller = \"prague@virtual_rtt=0\"\nstart_spread = \"100ms\"\n\
             [[flows]]\ncontroller = \"cubic@alpha_rises=0\"\necn = \"rfc3168\"\nstart_spread = \"100ms\"\n"
        );
        parse(&text, "two flows on Linux", "l4s", &Overrides::default()).context("the paths as scenarios")
    }
}

struct Table {
    rows: String,
    prague: Vec<Verdict>,
    cubic: Vec<Verdict>,
}

impl Table {
    fn agreement(&self) -> String {
        let [prague, cubic] = [&self.prague, &self.cubic].map(|verdicts| tally(verdicts.iter().copied()));
        format!("{prague} of Prague's goodputs and {cubic} of CUBIC's agree")
    }
}

fn table(validation: &Validation) -> anyhow::Result<Table> {
    let runs = two_flows(validation.reference)?;
    let paths: Vec<Path> = runs.chunk_by(|a, b| (a.rate_mbps, a.rtt_ms) == (b.rate_mbps, b.rtt_ms)).map(Path).collect();
    let scenarios = paths.iter().map(|path| path.scenario(seeds(validation))).collect::<anyhow::Result<Vec<_>>>()?;
    let rows = String::from(
        "| Mb/s | RTT, ms | Prague, Mb/s | Linux | agrees | CUBIC, Mb/s | Linux | agrees | ratio | Linux |\n\
         |---:|---:|---:|---:|---|---:|---:|---|---:|---:|\n",
    );
    let mut table = Table { rows, prague: Vec::new(), cubic: Vec::new() };
    for (path, run) in paths.iter().zip(validation.run(&scenarios)?) {
        let [prague, cubic] = [0, 1].map(|group: usize| run.groups[group].goodput_mbps);
        let (linux_prague, linux_cubic) = (path.measured(|r| r.prague_mbps), path.measured(|r| r.cubic_mbps));
        let (agrees, cubic_agrees) = (is_near(prague, linux_prague), is_near(cubic, linux_cubic));
        writeln!(
            table.rows,
            "| {} | {} | {prague:.2} | {linux_prague:.2} | {} | {cubic:.2} | {linux_cubic:.2} | {} | {:.2} | {:.2} |",
            path.0[0].rate_mbps,
            path.0[0].rtt_ms,
            cell(agrees),
            cell(cubic_agrees),
            prague / cubic,
            linux_prague / linux_cubic,
        )?;
        table.prague.push(agrees);
        table.cubic.push(cubic_agrees);
    }
    Ok(table)
}

fn is_near(ours: f64, measured: f64) -> Verdict {
    verdict((ours / measured - 1.0).abs() <= BOUND)
}

pub(crate) fn agreement(validation: &Validation) -> anyhow::Result<String> {
    Ok(table(validation)?.agreement())
}

pub(super) fn part(validation: &Validation) -> anyhow::Result<String> {
    let table = table(validation)?;
    let heading = HEADING.replace("SEEDS", &seeds(validation).to_string());
    Ok(format!("{heading} {}.\n\n{}", table.agreement(), table.rows))
}
