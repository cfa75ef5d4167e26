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
    compare::Bound,
    table::{Cell, Table},
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

    fn stations(&self) -> String {
        let Ns3Run { stations, ap_sends, .. } = self.row();
        if *ap_sends == 1 { format!("{stations} and the AP") } else { stations.to_string() }
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

fn row(phy: &str, stations: String, here: Estimate, there: Estimate) -> Vec<Cell> {
    let estimate = |estimate| Cell::Estimate(estimate, 2);
    vec![phy.into(), stations.into(), estimate(here), estimate(there), BOUND.check(&here, &there).into()]
}

/// The rows of one cell: all of it, and the access point's part if it sends.
fn rows(case: &Case, scenario: &Scenario, run: &Run) -> anyhow::Result<Vec<Vec<Cell>>> {
    let cell = run.cell.as_ref().context("a run of a cell has its channel's use")?;
    let Ns3Run { phy, ap_sends, .. } = case.row();
    let mut whole = row(phy, case.stations(), throughput(scenario, run, false), case.estimate(|r| r.throughput_mbps));
    let collisions = Cell::Number(cell.collision_rate, 4);
    if *ap_sends == 0 {
        let jain = Cell::Number(case.estimate(|r| r.jain).value, 4);
        whole.extend([Cell::Number(cell.station_jain, 4), jain, collisions]);
        return Ok(vec![whole]);
    }
    whole.extend([Cell::Empty, Cell::Empty, collisions]);
    let mut ap = row(phy, "the AP's part".into(), throughput(scenario, run, true), case.estimate(|r| r.ap_mbps));
    ap.extend([Cell::Empty, Cell::Empty, Cell::Empty]);
    Ok(vec![whole, ap])
}

pub(super) fn part(validation: &Validation) -> anyhow::Result<Table> {
    let there = ns3::runs(validation.reference)?;
    let cases = Case::all(&there);
    let scenarios = cases.iter().map(|c| c.scenario(validation.seeds)).collect::<anyhow::Result<Vec<_>>>()?;
    let runs = validation.run(&scenarios)?;
    let each = cases.iter().zip(&scenarios).zip(&runs);
    let rows = each.map(|((case, scenario), run)| rows(case, scenario, run)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Table {
        title: "A saturated wireless cell (ns-3)".into(),
        setup: format!(
            "An 802.11 cell: every station, and where said the access point, always has packets of 1500 bytes to send; throughput in \
             whole packets, {SECONDS} s a seed here, 10 s and three seeds in ns-3."
        ),
        asked: "throughput within 5 %".into(),
        columns: &[
            "PHY",
            "stations",
            "Tandem, Mb/s",
            "ns-3, Mb/s",
            "throughput",
            "Jain, Tandem",
            "Jain, ns-3",
            "share of frames that collide",
        ],
        rows: rows.concat(),
    })
}
