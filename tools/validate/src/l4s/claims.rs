// SPDX-License-Identifier: MIT OR Apache-2.0
//! DualPI2 against RFC 9332's own claims: a scalable and a CUBIC flow share a link.

use std::fmt::Write;

use anyhow::Context;
use tandem_papers::Verdict;
use tandem_results::Run;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

use super::seeds;
use crate::{
    Validation,
    compare::{cell, tally, verdict},
};

const RATES_MBPS: [u32; 5] = [4, 12, 40, 120, 200];
const RTTS_MS: [u32; 5] = [5, 10, 20, 50, 100];

const HEADING: &str = "\
\n## L4S (RFC 9332's claims)

One `prague` flow and one `cubic` flow share a link with `dualpi2`; both have the RTT of the row, without the queue. SEEDS seeds of 60 s,
the first 20 s cut. *Wait* is the time in the queue beyond the packet's own transmission, from the RTTs. RFC 9332 claims \"approximately
equal\" rates and a queueing delay of the L4S queue of about a millisecond, without saying how near. Asked here: a ratio of goodputs from
1/2 to 2, and a mean wait of L4S packets of at most 1.2 ms or half the time of a packet.";

/// Rate and RTT.
#[derive(Clone, Copy)]
struct Point(u32, u32);

impl Point {
    fn all() -> Vec<Self> {
        RATES_MBPS.iter().flat_map(|&rate| RTTS_MS.map(|rtt| Self(rate, rtt))).collect()
    }

    fn scenario(self, seeds: u64) -> anyhow::Result<Scenario> {
        let Self(rate, rtt) = self;
        let text = format!(
            "duration = \"60s\"\nwarmup = \"20s\"\nseeds = {seeds}\n[dumbbell]\nrate = \"{rate}mbit\"\nrtt = \"{rtt}ms\"\nqueue = \"250ms\"\n\
             aqm = \"dualpi2\"\n[[flows]]\ncontroller = \"prague\"\nstart_spread = \"100ms\"\n[[flows]]\ncontroller = \"cubic\"\n\
             start_spread = \"100ms\"\n"
        );
        parse(&text, "a point of the grid", "l4s", &Overrides::default()).context("the grid as scenarios")
    }

    /// Time of a packet of the MTU on the link, ms.
    fn packet_ms(self) -> f64 {
        12.0 / f64::from(self.0)
    }

    /// Mean and 99th percentile of a group's wait, ms.
    fn wait_ms(self, run: &Run, group: usize) -> anyhow::Result<(f64, f64)> {
        let rtt = run.groups[group].rtt_ms.as_ref().context("the simulator knows the RTTs")?;
        let wait = |rtt: f64| rtt - f64::from(self.1) - self.packet_ms();
        Ok((wait(rtt.mean), wait(rtt.p99)))
    }
}

/// The grid, and which of its points are as the RFC claims.
struct Grid {
    table: String,
    equal: Vec<Verdict>,
    short: Vec<Verdict>,
}

impl Grid {
    fn agreement(&self) -> String {
        let [equal, short] = [&self.equal, &self.short].map(|verdicts| tally(verdicts.iter().copied()));
        format!("{equal} ratios and {short} waits are as asked")
    }
}

fn grid(validation: &Validation) -> anyhow::Result<Grid> {
    let points = Point::all();
    let seeds = seeds(validation);
    let scenarios = points.iter().map(|point| point.scenario(seeds)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut table = String::from(
        "| Mb/s | RTT, ms | Prague, Mb/s | CUBIC, Mb/s | ratio | in 1/2 to 2 | L4S wait, ms: mean | 99 % | short | Classic wait, ms: mean | 99 % | utilisation |\n\
         |---:|---:|---:|---:|---:|---|---:|---:|---|---:|---:|---:|\n",
    );
    let (mut equal, mut short) = (Vec::new(), Vec::new());
    for (point, run) in points.iter().zip(validation.run(&scenarios)?) {
        let [prague, cubic] = [0, 1].map(|group: usize| run.groups[group].goodput_mbps);
        let (l4s, classic) = (point.wait_ms(&run, 0)?, point.wait_ms(&run, 1)?);
        let ratio = prague / cubic;
        let is_equal = verdict((0.5..=2.0).contains(&ratio));
        let is_short = verdict(l4s.0 <= f64::max(1.2, point.packet_ms() / 2.0));
        writeln!(
            table,
            "| {} | {} | {prague:.2} | {cubic:.2} | {ratio:.2} | {} | {:.2} | {:.2} | {} | {:.1} | {:.1} | {:.1} % |",
            point.0,
            point.1,
            cell(is_equal),
            l4s.0,
            l4s.1,
            cell(is_short),
            classic.0,
            classic.1,
            100.0 * run.links[0].utilisation,
        )?;
        equal.push(is_equal);
        short.push(is_short);
    }
    Ok(Grid { table, equal, short })
}

/// How many points are as the RFC claims.
pub(crate) fn agreement(validation: &Validation) -> anyhow::Result<String> {
    Ok(grid(validation)?.agreement())
}

pub(super) fn part(validation: &Validation) -> anyhow::Result<String> {
    let grid = grid(validation)?;
    let heading = HEADING.replace("SEEDS", &seeds(validation).to_string());
    Ok(format!("{heading}\n{}. [Why not all](paths.md#l4s).\n\n{}", grid.agreement(), grid.table))
}
