// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Prague and a CUBIC flow beside the runs of Linux's that others published.

use anyhow::Context;
use tandem_results::Run;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_statistics::mean;

use super::seeds;
use crate::{
    Validation,
    compare::Bound,
    reference::l4s::{TwoFlows, two_flows},
    table::{Cell, Table},
};

/// Of the measured goodput. An interval of two runs would be of no use.
const BOUND: Bound = Bound::Relative(0.10);

/// The columns that are asked.
pub(crate) const PRAGUE: &str = "Prague";
pub(crate) const CUBIC: &str = "CUBIC";

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

fn row(path: &Path, run: &Run) -> Vec<Cell> {
    let [prague, cubic] = [0, 1].map(|group: usize| run.groups[group].goodput_mbps);
    let (linux_prague, linux_cubic) = (path.measured(|r| r.prague_mbps), path.measured(|r| r.cubic_mbps));
    let number = |value| Cell::Number(value, 2);
    vec![
        Cell::count(path.0[0].rate_mbps),
        Cell::count(path.0[0].rtt_ms),
        number(prague),
        number(linux_prague),
        BOUND.check_values(prague, linux_prague).into(),
        number(cubic),
        number(linux_cubic),
        BOUND.check_values(cubic, linux_cubic).into(),
        number(prague / cubic),
        number(linux_prague / linux_cubic),
    ]
}

pub(crate) fn part(validation: &Validation) -> anyhow::Result<Table> {
    let there = two_flows(validation.reference)?;
    let paths: Vec<Path> =
        there.chunk_by(|a, b| (a.rate_mbps, a.rtt_ms) == (b.rate_mbps, b.rtt_ms)).map(Path).collect();
    let seeds = seeds(validation);
    let scenarios = paths.iter().map(|path| path.scenario(seeds)).collect::<anyhow::Result<Vec<_>>>()?;
    let runs = validation.run(&scenarios)?;
    Ok(Table {
        title: "Prague and CUBIC beside Linux's".into(),
        setup: format!(
            "The two flows that Pete Heist and Jonathan Morton measured with Linux's `tcp_prague`, CUBIC and DualPI2 of 2020 \
             (experiments/reference/l4s), two runs a row. That Prague has no virtual RTT (`prague@virtual_rtt=0`), and Linux's CUBIC \
             keeps its alpha (`cubic@alpha_rises=0`). Here both use ECN; theirs may not have, and without it CUBIC has up to 2 % less \
             here. 180 s, of which the last 60 s count, {seeds} seeds here."
        ),
        asked: "goodputs within 10 %".into(),
        columns: &[
            "rate, Mb/s",
            "RTT, ms",
            "Prague, Tandem, Mb/s",
            "Prague, Linux, Mb/s",
            PRAGUE,
            "CUBIC, Tandem, Mb/s",
            "CUBIC, Linux, Mb/s",
            CUBIC,
            "ratio, Tandem",
            "ratio, Linux",
        ],
        rows: paths.iter().zip(&runs).map(|(path, run)| row(path, run)).collect(),
    })
}
