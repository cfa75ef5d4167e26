// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures a run and makes its result: the same way in all engines that send packets.

use std::sync::Arc;

use tandem_network::{QueueSamples, Tally, agenda::NEVER, distribution, wlan::CellSamples};
use tandem_results::{Delivery, FlowResult, FlowSample, LinkResult, SeedResult, Trace};
use tandem_scenario::{Group, Scenario};

use crate::{Quality, Transfers, tracer::Tracer};

/// Queues and smoothed RTTs are read at least this often, for their percentiles.
const MAX_INTERVAL_NS: u64 = 10_000_000;
const SECOND_NS: u64 = 1_000_000_000;

fn megabits(bytes: u32) -> f32 {
    bytes as f32 * 8.0 / 1e6
}

/// What the links counted by the second comes with a trace: few ask for it.
fn with_seconds(mut trace: Trace, queues: Vec<QueueSamples>) -> Trace {
    for (link, queue) in trace.links.iter_mut().zip(queues) {
        [link.offered_by_second, link.lost_by_second] = queue.into_seconds();
    }
    trace
}

/// A flow's counts since its start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    /// Data that has arrived, in the engine's unit.
    pub received: u64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts that expired.
    pub timeouts: u64,
    /// Reductions of the window, timeouts included.
    pub window_reductions: u64,
}

/// A run at the moment of a reading.
pub trait Readable {
    /// The counts of a flow.
    fn counters(&self, flow: usize) -> Counters;

    /// The smoothed RTT of a flow, us; `None` while nothing is outstanding, and for UDP.
    fn srtt_us(&self, flow: usize) -> Option<u64>;

    /// A TCP flow's sample for the trace, without its goodput.
    fn windows(&self, flow: usize) -> FlowSample;

    /// By link: the packets that wait, in a wireless cell the mean of the stations.
    fn waiting_packets(&mut self) -> Vec<f32>;

    /// Takes a sample of each queue: of links with a rate of their own, in order, and of the wireless cell.
    fn sample_queues(&mut self, links: &mut [QueueSamples], cell: &mut CellSamples);
}

/// What an engine shows of its flows, and what to sample of them.
#[derive(Debug, Clone, Copy)]
pub struct RecorderOptions {
    /// The unit of [`Counters::received`], bytes of payload: 1, or those of a full packet, where UDP counts packets of its own size.
    pub unit_bytes: u32,
    /// Does it tell each RTT that an ACK measures? Otherwise there are smoothed ones only.
    pub has_raw_rtts: bool,
    /// Flows of each group to sample over time; 0 = no trace.
    pub traced_flows_per_group: usize,
}

/// A flow when the run is over, beside its counts.
pub struct FlowEnd<'a> {
    /// The smallest RTT that was possible, ns.
    pub base_rtt_ns: u64,
    /// `None` for UDP.
    pub transfers: Option<&'a Transfers>,
    /// `None` for all but UDP.
    pub quality: Option<&'a Quality>,
}

/// Reads a run at regular times. The engine calls [`on_tick`](Self::on_tick) at [`next`](Self::next) or as soon after as it can.
pub struct Recorder<'a> {
    scenario: &'a Scenario,
    seed: u64,
    /// By flow.
    unit_bytes: Vec<u32>,
    group_of_flow: Vec<usize>,
    warmup: u64,
    interval: u64,
    next_sample: u64,
    next_second: u64,
    /// By flow; empty until the warm-up is over.
    at_warmup: Vec<Counters>,
    /// By flow: what it had received by the last second, and megabits received in each.
    received: Vec<u64>,
    received_mbit: Vec<Vec<f32>>,
    /// By group, us. Empty if the engine does not tell them.
    rtts: Vec<Tally>,
    /// By group, us.
    srtts: Vec<Tally>,
    /// Samples of the queues of links with a rate of their own, in order.
    pub queues: Vec<QueueSamples>,
    /// Samples of a wireless cell's queues; empty without a cell.
    pub cell: CellSamples,
    tracer: Option<Tracer>,
}

/// RTTs of one group.
pub struct Rtts<'a> {
    warmup: u64,
    tally: Option<&'a mut Tally>,
}

impl Rtts<'_> {
    /// As [`Recorder::rtt`].
    #[inline(always)]
    pub fn record(&mut self, now: u64, rtt_us: u64) {
        if now >= self.warmup
            && let Some(tally) = &mut self.tally
        {
            tally.record(rtt_us);
        }
    }
}

impl<'a> Recorder<'a> {
    /// Nothing is recorded yet. The first reading is due at [`next`](Self::next).
    pub fn new(scenario: &'a Scenario, seed: u64, options: RecorderOptions) -> Self {
        let RecorderOptions { unit_bytes, has_raw_rtts, traced_flows_per_group } = options;
        let group_of_flow = scenario.group_of_flow();
        let flows = group_of_flow.len();
        // An engine that counts bytes does so for packets of any size.
        let unit_of = |group: &Group| if unit_bytes == 1 { 1 } else { group.source.payload_bytes(unit_bytes) };
        Self {
            scenario,
            seed,
            unit_bytes: group_of_flow.iter().map(|&g| unit_of(&scenario.groups[g])).collect(),
            group_of_flow,
            warmup: scenario.warmup.ns,
            interval: scenario.sample_interval.ns.min(MAX_INTERVAL_NS),
            next_sample: scenario.warmup.ns,
            next_second: SECOND_NS,
            // Without a warm-up all counts, also what is sent at time 0, before the first tick.
            at_warmup: if scenario.warmup.ns == 0 { vec![Counters::default(); flows] } else { Vec::new() },
            received: vec![0; flows],
            received_mbit: vec![Vec::new(); flows],
            rtts: if has_raw_rtts { vec![Tally::default(); scenario.groups.len()] } else { Vec::new() },
            srtts: vec![Tally::default(); scenario.groups.len()],
            queues: scenario.network.links.iter().map(|_| QueueSamples::default()).collect(),
            cell: CellSamples::default(),
            tracer: (traced_flows_per_group > 0)
                .then(|| Tracer::new(scenario, seed, traced_flows_per_group, megabits(unit_bytes))),
        }
    }

    /// An ACK has measured an RTT. Nothing is recorded if the engine does not tell all of them.
    #[inline]
    pub fn rtt(&mut self, now: u64, group: usize, rtt_us: u64) {
        self.rtts(group).record(now, rtt_us);
    }

    /// Where the RTTs of a group are recorded, for one who has several.
    #[inline]
    pub fn rtts(&mut self, group: usize) -> Rtts<'_> {
        Rtts { warmup: self.warmup, tally: self.rtts.get_mut(group) }
    }

    /// When there is next something to read.
    pub fn next(&self) -> u64 {
        let warmup = if self.at_warmup.is_empty() { self.warmup } else { NEVER };
        let trace = self.tracer.as_ref().map_or(NEVER, |t| t.next);
        self.next_sample.min(self.next_second).min(warmup).min(trace)
    }

    /// Is a sample for the trace due?
    pub fn is_trace_due(&self, now: u64) -> bool {
        self.tracer.as_ref().is_some_and(|t| now >= t.next)
    }

    /// The samples over time so far; `None` if none are taken.
    pub fn trace(&self) -> Option<&Trace> {
        self.tracer.as_ref().map(|tracer| &tracer.trace)
    }

    /// Reads what is due at `now`.
    pub fn on_tick(&mut self, now: u64, run: &mut impl Readable) {
        if self.at_warmup.is_empty() && now >= self.warmup {
            self.at_warmup = (0..self.group_of_flow.len()).map(|flow| run.counters(flow)).collect();
        }
        if now >= self.next_sample {
            // Regular on the whole, even if a sample comes late.
            self.next_sample = (self.next_sample + self.interval).max(now);
            self.sample(run);
        }
        if now >= self.next_second {
            self.next_second += SECOND_NS;
            self.count_received(run);
        }
        if let Some(tracer) = self.tracer.as_mut().filter(|t| now >= t.next) {
            tracer.sample(now, run);
        }
    }

    fn sample(&mut self, run: &mut impl Readable) {
        run.sample_queues(&mut self.queues, &mut self.cell);
        for (flow, &group) in self.group_of_flow.iter().enumerate() {
            if let Some(srtt_us) = run.srtt_us(flow) {
                self.srtts[group].record(srtt_us);
            }
        }
    }

    fn count_received(&mut self, run: &impl Readable) {
        for (flow, last) in self.received.iter_mut().enumerate() {
            let received = run.counters(flow).received;
            self.received_mbit[flow].push((received - *last) as f32 * megabits(self.unit_bytes[flow]));
            *last = received;
        }
    }

    /// The run is over. `links` are the results of all links, `data_packets` how many reached receivers.
    pub fn result(
        mut self,
        run: &impl Readable,
        flows: &[FlowEnd],
        links: Vec<LinkResult>,
        data_packets: u64,
    ) -> SeedResult {
        let deliveries = self.deliveries(flows);
        let received_mbit = std::mem::take(&mut self.received_mbit);
        let flow = |((flow, end), by_second): ((usize, &FlowEnd), Vec<f32>)| FlowResult {
            received_mbit_by_second: by_second,
            ..self.flow_result(flow, run.counters(flow), end)
        };
        let flows = flows.iter().enumerate().zip(received_mbit).map(flow).collect();
        let trace = self.tracer.take().map(|tracer| Arc::new(with_seconds(tracer.trace, self.queues)));
        let in_ms = |us: &Tally| distribution(&us.to_histogram(), 1e-3);
        SeedResult {
            seed: self.seed,
            flows,
            rtt_ms: self.rtts.iter().map(in_ms).collect(),
            srtt_ms: self.srtts.iter().map(in_ms).collect(),
            deliveries,
            links,
            data_packets,
            trace,
            ..SeedResult::default()
        }
    }

    /// By group; empty without UDP.
    fn deliveries(&self, flows: &[FlowEnd]) -> Vec<Option<Delivery>> {
        if flows.iter().all(|flow| flow.quality.is_none()) {
            return Vec::new();
        }
        let of_group = |group: usize| {
            let in_group = flows.iter().zip(&self.group_of_flow).filter(move |&(_, &of)| of == group);
            Quality::delivery(in_group.filter_map(|(flow, _)| flow.quality))
        };
        (0..self.scenario.groups.len()).map(of_group).collect()
    }

    fn flow_result(&self, flow: usize, end: Counters, facts: &FlowEnd) -> FlowResult {
        let start = self.at_warmup.get(flow).copied().unwrap_or_default();
        let measured_s = self.scenario.measured().as_secs_f64();
        FlowResult {
            goodput_mbps: (end.received - start.received) as f64 * f64::from(self.unit_bytes[flow]) * 8.0
                / 1e6
                / measured_s,
            sent_packets: end.sent_packets - start.sent_packets,
            retransmits: end.retransmits - start.retransmits,
            timeouts: end.timeouts - start.timeouts,
            window_reductions: end.window_reductions - start.window_reductions,
            base_rtt_ms: facts.base_rtt_ns as f64 / 1e6,
            completion_times_s: facts.transfers.map_or(Vec::new(), |t| t.completion_times_s(self.warmup)),
            short_flows: facts.transfers.map_or(Vec::new(), |t| t.short_flows(self.warmup, self.scenario.duration.ns)),
            received_mbit_by_second: Vec::new(),
        }
    }
}
