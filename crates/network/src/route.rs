// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way that a flow's packets take.

use tandem_scenario::Scenario;

use crate::{End, Rng, Stream, access_ns, wlan::AP};

/// A flow's way through the network.
#[derive(Debug, Clone)]
pub struct Route {
    forward: Box<[u32]>,
    back: Box<[u32]>,
    /// Two-way delay outside the links, ns; spent on the way back.
    pub access_ns: u64,
    /// Each packet on the way back arrives a random time up to this later, ns, but never before one sent earlier.
    pub send_jitter_ns: u64,
    /// The number of the flow's station in a wireless cell.
    pub(crate) station: usize,
    pub(crate) rng: Rng,
}

impl Route {
    /// A route over these links to the receiver and back, without delay outside them. `rng` draws the jitter.
    pub fn new(forward: &[usize], back: &[usize], rng: Rng) -> Self {
        let numbers = |links: &[usize]| links.iter().map(|&l| l as u32).collect();
        Self { forward: numbers(forward), back: numbers(back), access_ns: 0, send_jitter_ns: 0, station: AP + 1, rng }
    }

    /// The routes of a scenario's flows, in the order in which engines number flows.
    pub fn of_flows(scenario: &Scenario, seed: u64) -> Vec<Self> {
        let stations = scenario.station_of_flow();
        let route = |(flow, group): (usize, usize)| {
            let group = &scenario.groups[group];
            let mut rng = Rng::new(seed, Stream::Flow(flow));
            let access_ns = access_ns(group, &mut rng);
            let send_jitter_ns = if group.source.sets_own_rate() { 0 } else { scenario.send_jitter.ns };
            let station = AP + 1 + stations[flow];
            Self { access_ns, send_jitter_ns, station, ..Self::new(&group.forward, &group.back, rng) }
        };
        scenario.group_of_flow().into_iter().enumerate().map(route).collect()
    }

    /// The links to an end, in order.
    pub fn links(&self, to: End) -> &[u32] {
        match to {
            End::Receivers => &self.forward,
            End::Senders => &self.back,
        }
    }
}
