// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wireless cell beside ns-3's: saturated UDP, on the cells of experiments/reference/ns3/saturation.csv.

use std::fmt::Write;

use anyhow::Context;
use tandem_results::Run;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_statistics::Estimate;

use super::{
    Validation,
    compare::{Bound, tally},
};
use crate::reference::ns3::{self, Ns3Run};

const BOUND: Bound = Bound::Relative(0.05);
const SECONDS: u32 = 20;

/// The runs of one cell, which differ in their seeds.
struct Case<'a>(Vec<&'a Ns3Run>);

impl<'a> Case<'a> {
    /// In the order in which the runs name them first.
    fn all(rows: &'a [Ns3Run]) -> Vec<Self> {
        let cell = |r: &Ns3Run| (r.phy.clone(), r.stations, r.ap_sends);
        let mut cases: Vec<Self> = Vec::new();
        for row in rows {
            match cases.iter_mut().find(|case| cell(case.row()) == cell(row)) {
                Some(case) => case.0.push(row),
                None => cases.push(Self(vec![row])),
            }
        }
        cases
    }

    fn row(&self) -> &'a Ns3Run {
        self.0[0]
    }

    fn estimate(&self, of: fn(&Ns3Run) -> f64) -> Estimate {
        Estimate::of_mean(&self.0.iter().map(|r| of(r)).collect::<Vec<_>>())
    }

    fn scenario(&self, seeds: u64) -> anyhow::Result<Scenario> {
        let Ns3Run { phy, data_mbps, ack_mbps, stations, ap_sends, .. } = self.row();
        // More than one sender alone gets through, so that nobody's queue is ever empty.
        let enough = 0.75 * data_mbps;
        let mut text = format!(
            "duration = \"{}s\"\nwarmup = \"1s\"\nseeds = {seeds}\n[wlan]\nphy = \"{phy}\"\nstations = {stations}\n\
             rate = \"{data_mbps}mbit\"\ncontrol_rate = \"{ack_mbps}mbit\"\nqueue = \"100p\"\nstation_queue = \"100p\"\n\
             wired_rate = \"1gbit\"\nrtt = \"2ms\"\n[[flows]]\ncount = {stations}\nudp = {{ rate = \"{enough}mbit\" }}\n",
            SECONDS + 1
        );
        if *ap_sends == 1 {
            let each = enough / f64::from(*stations);
            write!(text, "[[flows]]\ncount = {stations}\nreverse = true\nudp = {{ rate = \"{each}mbit\" }}\n")?;
        }
        parse(&text, "a cell of ns-3", "cell", &Overrides::default()).context("ns-3's set-up as a scenario")
    }

    fn name(&self) -> String {
        let Ns3Run { phy, stations, ap_sends, .. } = self.row();
        let ap = if *ap_sends == 1 { " and the AP" } else { "" };
        format!("{phy} | {stations}{ap}")
    }
}

/// Packets of the MTU got through, Mb/s by seed: of all groups, or of the access point's alone.
fn throughput(scenario: &Scenario, run: &Run, only_ap: bool) -> Estimate {
    let whole = f64::from(scenario.mtu) / f64::from(scenario.mss());
    let groups = if only_ap { &run.groups[1..] } else { &run.groups[..] };
    let seeds = 0..run.seeds.len();
    Estimate::of_mean(
        &seeds.map(|s| groups.iter().map(|g| g.goodput_by_seed_mbps[s]).sum::<f64>() * whole).collect::<Vec<_>>(),
    )
}

/// The part of the page.
pub(super) fn part(validation: &Validation) -> anyhow::Result<String> {
    let rows = ns3::runs(validation.reference)?;
    let cases = Case::all(&rows);
    let scenarios = cases.iter().map(|c| c.scenario(validation.seeds)).collect::<anyhow::Result<Vec<_>>>()?;
    let runs = validation.run(&scenarios)?;
    let mut text = String::from(
        "| PHY | stations | Tandem, Mb/s | ns-3, Mb/s | difference | agrees | Jain: Tandem | ns-3 | frames that collide |\n\
         |---|---:|---:|---:|---:|---|---:|---:|---:|\n",
    );
    let mut verdicts = Vec::new();
    for ((case, scenario), run) in cases.iter().zip(&scenarios).zip(&runs) {
        let mut line = |name: String, here: Estimate, there: Estimate, rest: String| {
            verdicts.push(BOUND.judge(&here, &there));
            let difference = 100.0 * (here.value / there.value - 1.0);
            writeln!(
                text,
                "| {name} | {} | {} | {difference:+.1} % | {} | {rest} |",
                here.text(2),
                there.text(2),
                BOUND.cell(&here, &there)
            )
        };
        let cell = run.cell.as_ref().context("a run of a cell has its channel's use")?;
        let jain = case.estimate(|r| r.jain);
        let rest = match case.row().ap_sends {
            1 => format!("| | {:.1} %", 100.0 * cell.collision_rate),
            _ => format!("{:.4} | {:.4} | {:.1} %", cell.station_jain, jain.value, 100.0 * cell.collision_rate),
        };
        line(case.name(), throughput(scenario, run, false), case.estimate(|r| r.throughput_mbps), rest)?;
        if case.row().ap_sends == 1 {
            let name = format!("{} | the AP's part", case.row().phy);
            line(name, throughput(scenario, run, true), case.estimate(|r| r.ap_mbps), "| |".into())?;
        }
    }
    Ok(format!(
        "\n## A saturated wireless cell (ns-3)\n\n\
         The 802.11 cell of [scenarios](howto/scenarios.md#a-wireless-cell) beside ns-3 3.37's ([`experiments/reference/ns3`](../experiments/reference/ns3/README.md)): every station, \
         and where said the access point, always has packets of 1500 bytes to send; throughput in whole packets, {SECONDS} s a seed here, 10 s and three seeds there. \
         Asked: within 5 %: {} agree.\n\n{text}",
        tally(verdicts)
    ))
}
