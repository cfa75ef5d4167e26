// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a result cannot mean although it looks so: said with every result.

use std::collections::BTreeMap;

use tandem_controllers::Signal;
use tandem_scenario::{
    CongestionControl, Ecn, Group, LinkConfig, Scenario, TcpSource, Transfer, Transport,
    aqm::marking_names,
    bulk_groups, slow_start_end_s,
    units::{NS_PER_SEC, Rate},
};

use crate::seed::SeedResult;

/// Losses that a flow should meet before its mean says little of where in its cycle the measure began. Ours.
const ENOUGH_LOSSES: f64 = 3.0;
/// Seeds of which an interval says something: Student's t is 4.3 with three, 12.7 with two.
const ENOUGH_SEEDS: usize = 3;

/// What the results of these seeds cannot mean: sentences without a full stop. Those about some groups name them.
pub fn cautions(scenario: &Scenario, seeds: &[SeedResult]) -> Vec<String> {
    let bulk: Vec<(usize, &Group, &TcpSource)> = bulk_groups(scenario).collect();
    let mut groups_of: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for &(index, group, source) in &bulk {
        let of_group =
            losses(scenario, index, group, source, seeds).into_iter().chain(slow_start(scenario, group, source));
        let of_group = of_group.chain(always_probes(scenario, group, source));
        of_group.for_each(|caution| groups_of.entry(caution).or_default().push(&group.name));
    }
    let about = |(caution, groups): (String, Vec<&str>)| {
        if groups.len() == bulk.len() { caution } else { format!("{}: {caution}", groups.join(", ")) }
    };
    let mut all: Vec<String> = groups_of.into_iter().map(about).collect();
    all.extend(scenario.groups.iter().enumerate().filter_map(|group| missing_transfers(scenario, group, seeds)));
    all.extend(no_marks(scenario));
    all.extend(no_room_for_bursts(scenario));
    all.extend(no_room_on_the_way(scenario));
    if (2..ENOUGH_SEEDS).contains(&scenario.seeds.len()) {
        all.push("two seeds make a very wide interval: use five or more".to_owned());
    }
    all
}

/// ECN that never has an effect: `compare --ecn` refuses it in these words, but a sweep may well go over queues that do not mark.
fn no_marks(scenario: &Scenario) -> Option<String> {
    let tcp = || scenario.groups.iter().filter(|group| group.source.is_tcp());
    let names: Vec<&str> = tcp().filter(|group| has_ecn_in_vain(scenario, group)).map(|group| &*group.name).collect();
    let about = if names.len() == tcp().count() { String::new() } else { format!("{}: ", names.join(", ")) };
    (!names.is_empty()).then(|| {
        format!(
            "{about}ECN needs a queue that marks, and none on the way does: give its `aqm` {} with `ecn = true`",
            marking_names()
        )
    })
}

fn has_ecn_in_vain(scenario: &Scenario, group: &Group) -> bool {
    let Some(source) = group.source.tcp() else { return false };
    let is_l4s = group.source.params().is_some_and(|params| params.controller().sends_ect1());
    source.ecn != Ecn::Off && !group.forward.iter().any(|&link| scenario.network.links[link].aqm.marks(is_l4s))
}

/// A queue that has no room for what a single ACK releases. That is as many packets as it acknowledges and, where the window grows, one more;
/// `send_jitter` may move another ACK's burst to the same time. The first packet goes on at once.
fn no_room_for_bursts(scenario: &Scenario) -> Option<String> {
    let burst_packets = |group: &Group| {
        let tcp = group.source.tcp().filter(|tcp| !sends_evenly(group, tcp))?;
        Some(2 + u64::from(tcp.delayed_acks) + u64::from(scenario.send_jitter.ns > 0))
    };
    let bursts = scenario.groups.iter().filter_map(|group| Some((group, burst_packets(group)?)));
    let (group, burst, link) = bursts
        .flat_map(|(group, burst)| meets_bursts(scenario, group).map(move |link| (group, burst, link)))
        .find(|&(_, burst, link)| link.limit.whole_packets(scenario.mtu) < burst - 1)?;
    let delays_acks = group.source.tcp().is_some_and(|tcp| tcp.delayed_acks);
    let ack = if delays_acks { "a delayed ACK" } else { "an ACK" };
    Some(format!(
        "the queue of `{}` is shorter than {ack}'s burst, up to {burst} packets at once: almost every round loses packets, and flows stay far \
         below the link's rate. Give it a queue of {} packets or more, or flows `pacing = true`",
        link.name,
        burst - 1
    ))
}

/// A delay that has less room than the route's slowest link puts into it: the trap of `tc netem`, whose limit is 1000 packets if nobody sets it.
fn no_room_on_the_way(scenario: &Scenario) -> Option<String> {
    scenario.groups.iter().find_map(|group| {
        let links = || group.forward.iter().map(|&link| &scenario.network.links[link]);
        let slowest_bps = links().map(|link| link.rate.bps).min()?;
        links().find_map(|link| no_room_on(link, scenario.mtu, slowest_bps))
    })
}

fn no_room_on(link: &LinkConfig, mtu: u32, slowest_bps: u64) -> Option<String> {
    let limit = link.effects.as_ref()?.delay_limit?;
    let (delay_ns, packet) = (u128::from(link.delay.ns), 8 * u128::from(mtu) * NS_PER_SEC as u128);
    let packets = (u128::from(slowest_bps) * delay_ns).div_ceil(packet);
    (u128::from(limit) < packets).then(|| {
        let most = Rate { bps: (u128::from(limit) * packet / delay_ns) as u64 };
        format!(
            "`{}` has room for {limit} packets on their way (`delay_limit`), and a full path has {packets} there: it drops what exceeds {most}",
            link.name
        )
    })
}

/// Does no ACK release several packets at once?
fn sends_evenly(group: &Group, tcp: &TcpSource) -> bool {
    tcp.pacing || group.source.sets_own_rate() || tcp.transport == Some(Transport::Quic)
}

/// The links that a burst meets undivided: each one that is slower than all before it on the way.
fn meets_bursts<'a>(scenario: &'a Scenario, group: &'a Group) -> impl Iterator<Item = &'a LinkConfig> {
    let mut slowest_bps = u64::MAX;
    let links = group.forward.iter().map(|&link| &scenario.network.links[link]);
    links.filter(move |link| {
        let is_slower = link.rate.bps < slowest_bps;
        slowest_bps = slowest_bps.min(link.rate.bps);
        is_slower
    })
}

/// The times of those transfers that took longest are the ones that are missing.
fn missing_transfers(scenario: &Scenario, (index, group): (usize, &Group), seeds: &[SeedResult]) -> Option<String> {
    let Transfer::Finite { pause: None, .. } = group.source.tcp()?.transfer else { return None };
    let group_of_flow = scenario.group_of_flow();
    let flows = || seeds.iter().flat_map(|seed| seed.flows.iter().zip(&group_of_flow)).filter(|&(_, &of)| of == index);
    let (all, missing) = (flows().count(), flows().filter(|(flow, _)| flow.completion_times_s.is_empty()).count());
    (missing > 0).then(|| {
        format!(
            "{}: {missing} of {all} transfers did not end between the warm-up and the end of the run, so the times leave them out: run longer, or \
             with a shorter warm-up",
            group.name
        )
    })
}

/// A controller that waits for losses shows nothing of itself without them.
fn losses(
    scenario: &Scenario,
    index: usize,
    group: &Group,
    source: &TcpSource,
    seeds: &[SeedResult],
) -> Option<String> {
    let waits_for_losses = source.controller.listed().is_some_and(|c| matches!(c.signal, Signal::Loss | Signal::Both));
    let group_of_flow = scenario.group_of_flow();
    let reductions: u64 = seeds
        .iter()
        .flat_map(|seed| seed.flows.iter().zip(&group_of_flow))
        .filter(|&(_, &of)| of == index)
        .map(|(flow, _)| flow.window_reductions)
        .sum();
    let measured_s = scenario.measured().as_secs_f64();
    let each = reductions as f64 / (seeds.len() * group.flows as usize) as f64;
    if !waits_for_losses || each >= ENOUGH_LOSSES {
        return None;
    }
    Some(match reductions {
        0 => format!(
            "no flow met a loss in the {measured_s} s that were measured, so what controllers do after one is not in these figures: run longer"
        ),
        _ => format!(
            "a flow met fewer than three losses in the {measured_s} s that were measured, so the figures depend on where in their cycle the \
             measurement began: run longer"
        ),
    })
}

/// BBR measures the RTT anew, with little in flight, when its sample is older than `rtt_window`, version 3 than `probe_rtt_interval`.
fn always_probes(scenario: &Scenario, group: &Group, source: &TcpSource) -> Option<String> {
    let CongestionControl::Tandem(params) = &source.controller else { return None };
    let key = ["probe_rtt_interval", "rtt_window"].into_iter().find(|key| params.get(key).is_some())?;
    let (window_s, rtt_s) = (params.get(key)?, scenario.mean_base_rtt(group).as_secs_f64());
    let name = params.controller().name;
    (rtt_s >= window_s).then(|| {
        format!(
            "`{name}` measures the RTT again, with little in flight, every `{key}` = {window_s} s, and a round here takes {rtt_s:.1} s: \
             it does hardly anything else. Give it `{name}@{key}={:.0}` or more",
            (3.0 * rtt_s).ceil()
        )
    })
}

fn slow_start(scenario: &Scenario, group: &Group, source: &TcpSource) -> Option<String> {
    let ends_s = slow_start_end_s(scenario, group, source)?;
    let warmup_s = scenario.warmup.as_secs_f64();
    // A flow that is to begin later is looked at as it begins.
    (group.start.as_secs_f64() <= warmup_s && ends_s > warmup_s).then(|| {
        format!(
            "slow start may last until {ends_s:.1} s, and the warm-up is {warmup_s} s: the figures include slow start"
        )
    })
}
