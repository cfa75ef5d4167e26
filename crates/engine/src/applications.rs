// SPDX-License-Identifier: MIT OR Apache-2.0
//! The applications of a scenario's flows.

use tandem_network::{Rng, Stream, agenda::NEVER, start_ns};
use tandem_scenario::{Group, Scenario, TcpSource, Traffic, Transfer, short_flows::Arrivals};

use crate::{ConstantRate, Transfers, demand::SharedDemand};

/// Makes the application of each flow. Flows of a group whose transfers come as a Poisson process share them.
#[derive(Debug)]
pub struct Applications<'a> {
    scenario: &'a Scenario,
    seed: u64,
    /// By group.
    shared: Vec<Option<SharedDemand>>,
}

impl<'a> Applications<'a> {
    /// Those of one seed.
    pub fn new(scenario: &'a Scenario, seed: u64) -> Self {
        let mut first_flow = 0;
        let mut shared = Vec::new();
        for group in &scenario.groups {
            let poisson = group.source.short().filter(|short| matches!(short.arrivals, Arrivals::Poisson { .. }));
            shared.push(poisson.map(|short| SharedDemand::new(short, seed, first_flow, group.start.ns)));
            first_flow += group.flows as usize;
        }
        Self { scenario, seed, shared }
    }

    /// When a TCP flow of this group has data to send. The engine counts data in units of `unit_bytes`. Each flow is to be asked for once,
    /// in order.
    pub fn transfers(&self, source: &TcpSource, flow: usize, group: usize, unit_bytes: u32) -> Transfers {
        let (start, stop) = self.times(flow, group);
        let Transfer::Short(short) = &source.transfer else { return Transfers::new(source, unit_bytes, start, stop) };
        let own_demand = || SharedDemand::new(short, self.seed, flow, start);
        Transfers::short(self.shared[group].clone().unwrap_or_else(own_demand), unit_bytes, start, stop)
    }

    /// When a flow of this group sends its UDP packets; `None` for TCP.
    pub fn constant_rate(&self, flow: usize, group: usize) -> Option<ConstantRate> {
        let source = &self.scenario.groups[group].source;
        let Traffic::Udp(udp) = source else { return None };
        let (start, stop) = self.times(flow, group);
        let packets = ConstantRate::new(udp.rate, udp.on_off, source.packet_bytes(self.scenario.mtu), start, stop);
        Some(if udp.is_random { packets.at_random(Rng::new(self.seed, Stream::Transfers(flow))) } else { packets })
    }

    /// When the flow begins and ends.
    fn times(&self, flow: usize, group: usize) -> (u64, u64) {
        let group: &Group = &self.scenario.groups[group];
        (start_ns(group, self.seed, flow), group.stop.map_or(NEVER, |stop| stop.ns))
    }
}
