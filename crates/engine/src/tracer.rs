// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows and queues over time.

use tandem_results::{FlowTrace, LinkTrace, Trace};
use tandem_scenario::Scenario;

use crate::Readable;

/// Samples windows and queues at regular times.
pub struct Tracer {
    interval: u64,
    pub next: u64,
    last: u64,
    /// By traced flow: what it had received by the last sample.
    received: Vec<u64>,
    unit_mbit: f32,
    pub trace: Trace,
}

impl Tracer {
    /// Traces the first `per_group` TCP flows of each group.
    pub fn new(scenario: &Scenario, seed: u64, per_group: usize, unit_mbit: f32) -> Self {
        let mut traced: Vec<FlowTrace> = Vec::new();
        for (flow, group) in scenario.group_of_flow().into_iter().enumerate() {
            let is_wanted = traced.iter().filter(|t| t.group == group).count() < per_group;
            if is_wanted && scenario.groups[group].source.is_tcp() {
                traced.push(FlowTrace { flow, group, samples: Vec::new() });
            }
        }
        let link = |l: &tandem_scenario::LinkConfig| LinkTrace { name: l.name.clone(), ..LinkTrace::default() };
        let links = scenario.network.links.iter().map(link).collect();
        Self {
            interval: scenario.sample_interval.ns,
            next: scenario.sample_interval.ns,
            last: 0,
            received: vec![0; traced.len()],
            unit_mbit,
            trace: Trace { seed, time_s: Vec::new(), flows: traced, links },
        }
    }

    pub fn sample(&mut self, now: u64, run: &mut impl Readable) {
        let interval_s = (now - self.last) as f32 / 1e9;
        self.last = now;
        // Regular on the whole, even if a sample comes late.
        self.next = (self.next + self.interval).max(now);
        self.trace.time_s.push(now as f64 / 1e9);
        for (trace, last) in self.trace.flows.iter_mut().zip(&mut self.received) {
            let received = run.counters(trace.flow).received;
            let mut sample = run.windows(trace.flow);
            sample.goodput_mbps = (received - *last) as f32 * self.unit_mbit / interval_s;
            *last = received;
            trace.samples.push(sample);
        }
        for (trace, packets) in self.trace.links.iter_mut().zip(run.waiting_packets()) {
            trace.queue_packets.push(packets);
        }
    }
}
