// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event loop, and what it makes of a run.

use std::sync::atomic::Ordering::Relaxed;

use rustix::time::{ClockId, clock_gettime};
use tandem_network::{Alarm, Event, Tally, distribution};
use tandem_scenario::{
    Scenario,
    result::{FlowResult, SeedResult},
};

use crate::{
    Options,
    clock::{Clock, Snapshot},
    flow::{Endpoints, Flow},
    net::Net,
};

pub struct World<'a> {
    scenario: &'a Scenario,
    seed: u64,
    options: Options<'a>,
    flows: Vec<Flow>,
    net: Net,
    clock: Clock,
    /// RTT samples by group, us.
    rtts: Vec<Tally>,
    cpu_start_s: f64,
}

/// CPU time of this thread, seconds.
fn cpu_s() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

impl<'a> World<'a> {
    pub fn new(scenario: &'a Scenario, seed: u64, options: Options<'a>) -> Self {
        let cpu_start_s = cpu_s();
        let group_of_flow = scenario.group_of_flow();
        let flows: Vec<Flow> =
            group_of_flow.iter().enumerate().map(|(f, &g)| Flow::new(scenario, f, g, seed)).collect();
        let mut net = Net::new(scenario, seed);
        for (f, flow) in flows.iter().enumerate() {
            net.wake(f, flow.start());
        }
        let clock = Clock::new(scenario, seed, &flows, options.traced_flows_per_group);
        net.network.wake(Alarm::Host, clock.next());
        let rtts = vec![Tally::default(); scenario.groups.len()];
        Self { scenario, seed, options, flows, net, clock, rtts, cpu_start_s }
    }

    /// Runs to the end; `None` if cancelled.
    pub fn run(mut self) -> Option<SeedResult> {
        let warmup = self.scenario.warmup.ns;
        let mut last_tick = 0;
        while let Some((now, event)) = self.net.advance(self.scenario.duration.ns) {
            match event {
                Event::AtReceiver(data) => {
                    let f = data.flow as usize;
                    self.flows[f].on_data(now, f, data.seq, &mut self.net);
                }
                Event::AtSender(f, ack) => {
                    let flow = &mut self.flows[f];
                    let rtt_ns = flow.on_ack(now, f, ack, &mut self.net);
                    if let Some(rtt_ns) = rtt_ns.filter(|_| now >= warmup) {
                        self.rtts[flow.group].record(rtt_ns / 1000);
                    }
                }
                Event::Alarm(Alarm::Flow(f)) => self.flows[f].on_timer(now, f, &mut self.net),
                Event::Alarm(Alarm::Host) => {
                    if self.options.cancelled.is_some_and(|c| c.load(Relaxed)) {
                        return None;
                    }
                    if let Some(progress) = self.options.progress_ns {
                        progress.fetch_add(now - last_tick, Relaxed);
                    }
                    last_tick = now;
                    self.clock.on_tick(now, &self.flows, &mut self.net);
                    self.net.network.wake(Alarm::Host, self.clock.next());
                }
            }
        }
        Some(self.result())
    }

    fn result(mut self) -> SeedResult {
        let measured_s = self.scenario.measured().as_secs_f64();
        let received_mbit = std::mem::take(&mut self.clock.received_mbit);
        let clock = &self.clock;
        let flows = self
            .flows
            .iter()
            .enumerate()
            .zip(received_mbit)
            .map(|((f, flow), by_second)| {
                let base_rtt_ns = self.net.network.base_rtt_ns(f);
                FlowResult {
                    base_rtt_ms: base_rtt_ns as f64 / 1e6,
                    received_mbit_by_second: by_second,
                    ..flow_result(self.scenario, flow, &clock.at_warmup[f], measured_s)
                }
            })
            .collect();
        let wired = clock.queues.iter().zip(&self.net.network.links).map(|(q, link)| q.result(link, measured_s));
        let air = self.net.network.air.as_ref().map(|air| &air.cell);
        let links = wired.chain(air.into_iter().flat_map(|cell| clock.cell.links(cell, measured_s))).collect();
        SeedResult {
            seed: self.seed,
            flows,
            rtt_ms: self.rtts.iter().map(|t| distribution(&t.to_histogram(), 1e-3)).collect(),
            links,
            cell: air.map(|cell| cell.result(measured_s)),
            data_packets: self.flows.iter().map(|f| f.arrived_packets).sum(),
            cpu_s: cpu_s() - self.cpu_start_s,
            emulation: None,
            trace: self.clock.into_trace(),
        }
    }
}

fn flow_result(scenario: &Scenario, flow: &Flow, start: &Snapshot, measured_s: f64) -> FlowResult {
    let end = Snapshot::of(flow);
    let completion_times_s = match &flow.endpoints {
        Endpoints::Tcp(tcp) => {
            let measured = tcp.completed.iter().filter(|(at, _)| *at >= scenario.warmup.ns);
            measured.map(|&(_, took)| took as f64 / 1e9).collect()
        }
        Endpoints::Udp(_) => Vec::new(),
    };
    FlowResult {
        goodput_mbps: (end.received - start.received) as f64 * f64::from(scenario.mss()) * 8.0 / 1e6 / measured_s,
        sent_packets: end.sent - start.sent,
        retransmits: end.counters.retransmits - start.counters.retransmits,
        timeouts: end.counters.timeouts - start.counters.timeouts,
        window_reductions: end.counters.window_reductions - start.counters.window_reductions,
        completion_times_s,
        ..FlowResult::default()
    }
}
