// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bounds of what the controllers' arithmetic is proven for: contract.h.

use tandem_controllers::{MAX_PACKETS_PER_US, MAX_RTT_US};

use super::SpecError;
use crate::{
    scenario::{Group, HEADER_BYTES, Scenario},
    spec::ScenarioSpec,
    units::{NS_PER_SEC, Rate, Span},
};

const MAX_RTT: Span = Span { ns: MAX_RTT_US as u64 * 1000 };

/// A part of an RTT: the key that decides it, and the most that it can be.
type Part = (String, u64);

impl ScenarioSpec {
    /// Are RTTs and rates such that every controller can tell them?
    pub(super) fn check_bounds(&self, scenario: &Scenario) -> Result<(), SpecError> {
        for (place, group) in scenario.groups.iter().enumerate().filter(|(_, group)| group.source.is_tcp()) {
            self.check_longest_rtt(scenario, place, group)?;
            self.check_fastest_rate(scenario, place, group)?;
        }
        Ok(())
    }

    /// The RTT without a queue, at the worst time of the run. A queue may add to it whatever it holds: controllers take a sample beyond the
    /// bound for the bound, and know from shorter ones how long the path is.
    fn check_longest_rtt(&self, scenario: &Scenario, place: usize, group: &Group) -> Result<(), SpecError> {
        let parts = self.parts_of_rtt(scenario, place, group);
        let longest = Span { ns: parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.1)) };
        if longest <= MAX_RTT {
            return Ok(());
        }
        let (key, _) = parts.into_iter().max_by_key(|part| part.1).unwrap_or_default();
        let message = format!(
            "the RTT of `{}` may be {longest} without a queue, and controllers are proven up to {MAX_RTT} (2^24 us): shorten what it consists \
             of, which is propagation, transmission, `access`, `rtt_spread`, `send_jitter` and what [effects] add",
            group.name
        );
        Err(SpecError::at(key, message))
    }

    fn parts_of_rtt(&self, scenario: &Scenario, place: usize, group: &Group) -> Vec<Part> {
        let transmission_ns = |bytes: u32, bps: u64| u64::from(bytes) * 8 * NS_PER_SEC / bps.max(1);
        let (access_ns, network) = (self.flows[place].access.ns, &scenario.network);
        let mut parts = vec![
            (self.key_of_path(place), scenario.base_rtt(group).ns.saturating_sub(access_ns)),
            (format!("flows.{place}.access"), access_ns),
            (format!("flows.{place}.rtt_spread"), group.rtt_spread.ns),
            ("send_jitter".to_owned(), scenario.send_jitter.ns),
        ];
        let data = group.forward.iter().map(|&link| (&network.links[link], scenario.mtu));
        for (link, bytes) in data.chain(group.back.iter().map(|&link| (&network.links[link], HEADER_BYTES))) {
            parts.push((self.key_of_rate(place), transmission_ns(bytes, link.slowest_bps())));
            if let Some(effects) = &link.effects {
                parts.push((format!("effects.{}", link.name), effects.most_added(link.delay).ns));
            }
        }
        parts
    }

    /// A controller with a model of the path takes a higher rate for the highest that it can tell, and would not fill the path.
    fn check_fastest_rate(&self, scenario: &Scenario, place: usize, group: &Group) -> Result<(), SpecError> {
        let Some(params) = group.source.params() else { return Ok(()) };
        let most_bps = u64::from(MAX_PACKETS_PER_US) * 1_000_000 * 8 * u64::from(scenario.mtu);
        let slowest_bps = group.forward.iter().map(|&link| scenario.network.links[link].fastest_bps()).min();
        if !params.controller().wants_rate() || slowest_bps.is_none_or(|bps| bps <= most_bps) {
            return Ok(());
        }
        let name = params.controller().name;
        let message = format!(
            "`{name}` can represent rates up to {MAX_PACKETS_PER_US} packets a microsecond, {} with packets of {} bytes: give a lower rate or a \
             larger mtu",
            Rate { bps: most_bps },
            scenario.mtu
        );
        Err(SpecError::at(self.key_of_rate(place), message))
    }

    fn key_of_path(&self, place: usize) -> String {
        match (&self.dumbbell, &self.parking_lot, &self.wlan) {
            (Some(_), ..) => self.key_of_rtt(place),
            (_, Some(_), _) => "parking_lot.hop_delay".to_owned(),
            (.., Some(_)) => "wlan.rtt".to_owned(),
            _ => format!("flows.{place}"),
        }
    }

    fn key_of_rate(&self, place: usize) -> String {
        match (&self.dumbbell, &self.parking_lot) {
            (Some(_), _) => "dumbbell.rate".to_owned(),
            (_, Some(_)) => "parking_lot.rate".to_owned(),
            _ => format!("flows.{place}"),
        }
    }
}
