// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long slow start may last: a warm-up that ends before it has slow start in the figures.

use crate::{
    scenario::{Group, Scenario},
    traffic::{TcpSource, Transfer},
};

/// The groups with endless data, each with its index.
pub fn bulk_groups(scenario: &Scenario) -> impl Iterator<Item = (usize, &Group, &TcpSource)> {
    scenario.groups.iter().enumerate().filter_map(|(index, group)| {
        let source = group.source.tcp().filter(|source| source.transfer == Transfer::Bulk)?;
        Some((index, group, source))
    })
}

/// When slow start ends at the latest, seconds from the start of the run: the window doubles in each round, or grows by half with delayed
/// ACKs, until the path and its queue are full.
pub fn slow_start_end_s(scenario: &Scenario, group: &Group, source: &TcpSource) -> Option<f64> {
    let link = group.forward.iter().map(|&l| &scenario.network.links[l]).min_by_key(|link| link.rate.bps)?;
    let packets_per_s = link.rate.packets_per_s(scenario.mtu);
    let rtt_s = scenario.base_rtt(group).as_secs_f64();
    let full = (packets_per_s * rtt_s + link.limit.packets(scenario.mtu)) / f64::from(group.flows);
    let growth: f64 = if source.delayed_acks { 1.5 } else { 2.0 };
    let rounds = (full / f64::from(source.initial_window)).max(1.0).ln() / growth.ln();
    Some(group.start.as_secs_f64() + group.start_spread.as_secs_f64() + rounds * rtt_s)
}

/// When the slow start of the last group with endless data ends at the latest, seconds from the start of the run; 0 without such groups.
pub fn last_slow_start_end_s(scenario: &Scenario) -> f64 {
    bulk_groups(scenario).filter_map(|(_, group, source)| slow_start_end_s(scenario, group, source)).fold(0.0, f64::max)
}
