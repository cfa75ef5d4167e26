// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a wireless cell, over all seeds.

use serde::{Deserialize, Serialize};
use tandem_scenario::{Scenario, wlan::WlanCell};
use tandem_statistics::{jain, mean};

use crate::seed::{CellResult, LinkResult, SeedResult};

/// How the channel of a wireless cell was used, mean over seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CellSummary {
    /// Number of stations besides the access point.
    pub stations: u32,
    /// What the flows of each station get together, up and down.
    pub per_station_goodput_mbps: Vec<f64>,
    /// Jain's index (RFC 5166 section 2.3.1) of the stations that have flows.
    pub station_jain: f64,
    /// Successful exchanges from stations, as a share of time like the next three.
    pub up_airtime: f64,
    /// Successful exchanges from the access point.
    pub down_airtime: f64,
    /// Collisions.
    pub collision_airtime: f64,
    /// Frames damaged without a collision.
    pub error_airtime: f64,
    /// Share of the data frames sent that collided.
    pub collision_rate: f64,
    /// Data frames sent, each try counted.
    pub frames: f64,
    /// Packets that the access point's full queue dropped.
    pub ap_drops: f64,
    /// Packets that stations and access point gave up after the last try.
    pub given_up: f64,
}

pub(crate) fn summarise(scenario: &Scenario, cell: &WlanCell, seeds: &[SeedResult]) -> CellSummary {
    let each =
        |f: fn(&CellResult) -> f64| mean(&seeds.iter().map(|s| s.cell.as_ref().map_or(0.0, f)).collect::<Vec<_>>());
    let by_link = |links: &[usize], f: fn(&LinkResult) -> u64| {
        mean(&seeds.iter().map(|s| links.iter().map(|&l| f(&s.links[l]) as f64).sum()).collect::<Vec<_>>())
    };
    let by_seed: Vec<Vec<f64>> = seeds.iter().map(|s| station_goodputs(scenario, cell, s)).collect();
    let used = |goodputs: &[f64]| {
        let has_flow = stations_with_flows(scenario, cell);
        goodputs.iter().zip(has_flow).filter(|(_, has_flow)| *has_flow).map(|(&g, _)| g).collect::<Vec<f64>>()
    };
    let frames = each(|c| c.frames as f64);
    let collided = each(|c| c.collided_frames as f64);
    CellSummary {
        stations: cell.stations,
        per_station_goodput_mbps: (0..cell.stations as usize)
            .map(|i| mean(&by_seed.iter().map(|goodputs| goodputs[i]).collect::<Vec<_>>()))
            .collect(),
        station_jain: mean(&by_seed.iter().map(|goodputs| jain(&used(goodputs))).collect::<Vec<_>>()),
        up_airtime: each(|c| c.up_airtime),
        down_airtime: each(|c| c.down_airtime),
        collision_airtime: each(|c| c.collision_airtime),
        error_airtime: each(|c| c.error_airtime),
        collision_rate: if frames > 0.0 { collided / frames } else { 0.0 },
        frames,
        ap_drops: by_link(&[cell.downlink], |l| l.drops),
        given_up: by_link(&[cell.uplink, cell.downlink], |l| l.random_losses),
    }
}

/// Goodput of each station's flows together, Mb/s.
fn station_goodputs(scenario: &Scenario, cell: &WlanCell, seed: &SeedResult) -> Vec<f64> {
    let mut goodputs = vec![0.0; cell.stations as usize];
    for (flow, station) in seed.flows.iter().zip(scenario.station_of_flow()) {
        goodputs[station] += flow.goodput_mbps;
    }
    goodputs
}

fn stations_with_flows(scenario: &Scenario, cell: &WlanCell) -> Vec<bool> {
    let mut has_flow = vec![false; cell.stations as usize];
    scenario.station_of_flow().into_iter().for_each(|station| has_flow[station] = true);
    has_flow
}
