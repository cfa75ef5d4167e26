// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is read at regular times: queue lengths, received data, traces. The hot path counts nothing that this can read.

use tandem_network::{QueueSamples, wlan::CellSamples};
use tandem_scenario::{
    Scenario,
    result::{FlowSample, FlowTrace, LinkTrace, Trace},
};

use crate::{
    agenda::NEVER,
    flow::{Endpoints, Flow},
    net::Net,
    sender::Counters,
};

/// Queues are read at least this often, for their percentiles.
const MAX_QUEUE_INTERVAL_NS: u64 = 10_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A flow's counters at the end of the warm-up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Snapshot {
    pub received: u64,
    pub sent: u64,
    pub counters: Counters,
}

pub struct Clock {
    warmup: u64,
    queue_interval: u64,
    next_queue: u64,
    next_second: u64,
    pub at_warmup: Vec<Snapshot>,
    /// By link.
    pub queues: Vec<QueueSamples>,
    pub cell: CellSamples,
    /// By flow: packets received by the last second, and megabits received in each.
    received: Vec<u64>,
    pub received_mbit: Vec<Vec<f32>>,
    packet_mbit: f32,
    tracer: Option<Tracer>,
}

impl Clock {
    pub fn new(scenario: &Scenario, seed: u64, flows: &[Flow], traced_flows_per_group: usize) -> Self {
        let tracer = (traced_flows_per_group > 0).then(|| Tracer::new(scenario, seed, flows, traced_flows_per_group));
        let links = scenario.network.links.len();
        // Without a warm-up all counts, also what is sent at time 0, before the clock's first tick.
        let at_warmup = if scenario.warmup.ns == 0 { vec![Snapshot::default(); flows.len()] } else { Vec::new() };
        Self {
            warmup: scenario.warmup.ns,
            queue_interval: scenario.sample_interval.ns.min(MAX_QUEUE_INTERVAL_NS),
            next_queue: scenario.warmup.ns,
            next_second: SECOND_NS,
            at_warmup,
            queues: (0..links).map(|_| QueueSamples::default()).collect(),
            cell: CellSamples::default(),
            received: vec![0; flows.len()],
            received_mbit: vec![Vec::new(); flows.len()],
            packet_mbit: scenario.mss() as f32 * 8.0 / 1e6,
            tracer,
        }
    }

    /// When the clock is next to be read.
    pub fn next(&self) -> u64 {
        let trace = self.tracer.as_ref().map_or(NEVER, |t| t.next);
        let warmup = if self.at_warmup.is_empty() { self.warmup } else { NEVER };
        self.next_queue.min(self.next_second).min(trace).min(warmup)
    }

    pub fn on_tick(&mut self, now: u64, flows: &[Flow], net: &mut Net) {
        if self.at_warmup.is_empty() && now >= self.warmup {
            self.at_warmup = flows.iter().map(Snapshot::of).collect();
        }
        if now >= self.next_queue {
            self.next_queue += self.queue_interval;
            for (samples, link) in self.queues.iter_mut().zip(&mut net.network.links) {
                samples.take(now, link);
            }
            if let Some(air) = &net.network.air {
                self.cell.take(now, &air.cell);
            }
        }
        if now >= self.next_second {
            self.next_second += SECOND_NS;
            self.read_received(flows);
        }
        if let Some(tracer) = self.tracer.as_mut().filter(|t| now >= t.next) {
            tracer.sample(now, flows, net);
        }
    }

    fn read_received(&mut self, flows: &[Flow]) {
        for (i, flow) in flows.iter().enumerate() {
            let received = flow.received();
            self.received_mbit[i].push((received - self.received[i]) as f32 * self.packet_mbit);
            self.received[i] = received;
        }
    }

    pub fn into_trace(self) -> Option<Trace> {
        self.tracer.map(|t| t.trace)
    }
}

impl Snapshot {
    pub fn of(flow: &Flow) -> Self {
        match &flow.endpoints {
            Endpoints::Tcp(tcp) => {
                let counters = tcp.sender.counters;
                Self { received: flow.received(), sent: counters.sent, counters }
            }
            Endpoints::Udp(udp) => Self { received: flow.received(), sent: udp.sent, counters: Counters::default() },
        }
    }
}

/// Samples windows and queues.
struct Tracer {
    interval: u64,
    next: u64,
    /// By traced flow: packets received by the last sample.
    received: Vec<u64>,
    packet_mbit: f32,
    trace: Trace,
}

impl Tracer {
    fn new(scenario: &Scenario, seed: u64, flows: &[Flow], per_group: usize) -> Self {
        let mut traced: Vec<FlowTrace> = Vec::new();
        for (flow, group) in flows.iter().map(|f| f.group).enumerate() {
            let is_tcp = matches!(flows[flow].endpoints, Endpoints::Tcp(_));
            if is_tcp && traced.iter().filter(|t| t.group == group).count() < per_group {
                traced.push(FlowTrace { flow, group, samples: Vec::new() });
            }
        }
        let link = |l: &tandem_scenario::Link| LinkTrace { name: l.name.clone(), queue_packets: Vec::new() };
        Self {
            interval: scenario.sample_interval.ns,
            next: scenario.sample_interval.ns,
            received: vec![0; traced.len()],
            packet_mbit: scenario.mss() as f32 * 8.0 / 1e6,
            trace: Trace {
                seed,
                time_s: Vec::new(),
                flows: traced,
                links: scenario.network.links.iter().map(link).collect(),
            },
        }
    }

    fn sample(&mut self, now: u64, flows: &[Flow], net: &mut Net) {
        self.next += self.interval;
        self.trace.time_s.push(now as f64 / 1e9);
        let interval_s = self.interval as f32 / 1e9;
        for (trace, last) in self.trace.flows.iter_mut().zip(&mut self.received) {
            let flow = &flows[trace.flow];
            let received = flow.received();
            let goodput_mbps = (received - *last) as f32 * self.packet_mbit / interval_s;
            *last = received;
            trace.samples.push(flow_sample(flow, goodput_mbps));
        }
        let wired = net.network.links.iter_mut().map(|link| link.waiting(now) as f32);
        let air = net.network.air.iter().flat_map(|air| air.cell.waiting_up_and_down(now));
        for (trace, queue_packets) in self.trace.links.iter_mut().zip(wired.chain(air)) {
            trace.queue_packets.push(queue_packets);
        }
    }
}

fn flow_sample(flow: &Flow, goodput_mbps: f32) -> FlowSample {
    let Endpoints::Tcp(tcp) = &flow.endpoints else { return FlowSample::default() };
    let sender = &tcp.sender;
    let sample = FlowSample {
        cwnd_packets: sender.conn.snd_cwnd,
        ssthresh_packets: sender.conn.snd_ssthresh,
        srtt_ms: sender.rtt.srtt_ns as f32 / 1e6,
        in_flight_packets: sender.board.in_flight() as u32,
        goodput_mbps,
        ..FlowSample::default()
    };
    sample.with_view(sender.view())
}
