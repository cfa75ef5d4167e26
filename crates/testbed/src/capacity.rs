// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether real TCP and this machine can run a scenario, before it begins.

use std::thread;

use tandem_scenario::{CongestionControl, Group, Link, Scenario, Source, TcpSource};

use crate::{
    addresses::{MAX_FLOWS_PER_GROUP, MAX_GROUPS},
    error::Error,
};

/// Packets read and written a second for each core, with two threads at work. Measured on two cores of 2.4 GHz: 1 Gb/s of
/// 1500 bytes with an ACK for each second packet makes 250 000 and is carried.
const MOVES_PER_SECOND_AND_CORE: f64 = 130_000.0;

/// What is doubtful about a scenario here; an error if it cannot run at all, or hardly can and is not forced to.
pub fn check(scenario: &Scenario, force: bool) -> Result<Vec<String>, Error> {
    let refuse = |why: String| Err(Error::Unsupported(why));
    if scenario.groups.len() > MAX_GROUPS {
        return refuse(format!("the kernel engine has addresses for {MAX_GROUPS} groups of flows: use fewer"));
    }
    if let Some(group) = scenario.groups.iter().find(|g| g.flows > MAX_FLOWS_PER_GROUP) {
        return refuse(format!(
            "the kernel engine has addresses for {MAX_FLOWS_PER_GROUP} flows of a group; `{}` has {}",
            group.name, group.flows
        ));
    }
    for group in &scenario.groups {
        if let Source::Tcp(TcpSource { controller: CongestionControl::Tandem(params), .. }) = &group.source {
            tandem_kernel::check_loadable(params.controller())?;
        }
    }
    let needed = moves_per_second(scenario);
    let cores = thread::available_parallelism().map_or(1, |n| n.get()).min(2);
    let carried = MOVES_PER_SECOND_AND_CORE * cores as f64;
    if needed <= carried {
        return Ok(Vec::new());
    }
    let why = format!(
        "this scenario needs up to {needed:.0} packets read and written a second; this machine is likely to keep time up to {carried:.0}"
    );
    if force { Ok(vec![format!("warning: {why}")]) } else { refuse(format!("{why}: lower the rates, or use --force")) }
}

/// Each packet is read once and written once, and so is its ACK.
fn moves_per_second(scenario: &Scenario) -> f64 {
    let data = entering(scenario, |g| g.forward.first()).min(entering(scenario, |g| g.forward.last()));
    let acks = scenario.groups.iter().map(acks_per_packet).fold(0.0, f64::max);
    2.0 * data * (1.0 + acks)
}

fn acks_per_packet(group: &Group) -> f64 {
    match &group.source {
        Source::Tcp(tcp) if tcp.delayed_acks => 0.5,
        Source::Tcp(_) => 1.0,
        Source::Udp { .. } => 0.0,
    }
}

/// Data packets a second that the links which `choose` takes of each group carry at most.
fn entering(scenario: &Scenario, choose: fn(&Group) -> Option<&usize>) -> f64 {
    let carried_by = |(l, link): (usize, &Link)| {
        let users = scenario.groups.iter().filter(|g| choose(g) == Some(&l));
        let offered_bps = |g: &Group| match &g.source {
            Source::Tcp(_) => f64::INFINITY,
            Source::Udp { rate, .. } => rate.bps as f64 * f64::from(g.flows),
        };
        users.map(offered_bps).sum::<f64>().min(link.rate.bps as f64)
    };
    let bps: f64 = scenario.network.links.iter().enumerate().map(carried_by).sum();
    bps / 8.0 / f64::from(scenario.mtu)
}
