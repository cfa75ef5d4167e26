// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is read while a run goes on, and what it amounts to.

use std::{collections::HashMap, io, net::SocketAddr, sync::atomic::Ordering::Relaxed};

use hdrhistogram::Histogram;
use linux_raw_sys::net::tcp_info;
use tandem_controllers::View;
use tandem_network::{QueueSamples, agenda::NEVER, distribution, histogram};
use tandem_scenario::{
    Scenario,
    result::{FlowResult, FlowSample, FlowTrace, LinkTrace, SeedResult, Trace},
};

use crate::{
    controllers::Controllers,
    emulator::Emulator,
    error::{Doing, Error},
    path::Path,
    socket::read_tcp_info,
    traffic::{Flow, Kind},
};

/// Sockets and queues are read at least this often: RTTs and queue lengths are percentiles of these samples.
const MAX_INTERVAL_NS: u64 = 10_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A flow's counters.
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    received_bytes: u64,
    sent_packets: u64,
    retransmits: u64,
    timeouts: u64,
    window_reductions: u64,
}

pub struct Recorder<'a> {
    scenario: &'a Scenario,
    interval: u64,
    next_sample: u64,
    next_second: u64,
    /// By flow.
    at_warmup: Vec<Counters>,
    infos: Vec<Option<tcp_info>>,
    window_reductions: Vec<u64>,
    received_by_second: Vec<u64>,
    received_mbit: Vec<Vec<f32>>,
    /// By group, us.
    rtts: Vec<Histogram<u64>>,
    /// By link.
    queues: Vec<QueueSamples>,
    tracer: Option<Tracer>,
}

impl<'a> Recorder<'a> {
    /// Traces the first `traced_flows_per_group` TCP flows of each group.
    pub fn new(scenario: &'a Scenario, seed: u64, flows: &[Flow], traced_flows_per_group: usize) -> Self {
        let interval = scenario.sample_interval.ns.min(MAX_INTERVAL_NS);
        Self {
            scenario,
            interval,
            next_sample: interval,
            next_second: SECOND_NS,
            at_warmup: if scenario.warmup.ns == 0 { vec![Counters::default(); flows.len()] } else { Vec::new() },
            infos: vec![None; flows.len()],
            window_reductions: vec![0; flows.len()],
            received_by_second: vec![0; flows.len()],
            received_mbit: vec![Vec::new(); flows.len()],
            rtts: scenario.groups.iter().map(|_| histogram()).collect(),
            queues: scenario.network.links.iter().map(|_| QueueSamples::default()).collect(),
            tracer: (traced_flows_per_group > 0).then(|| Tracer::new(scenario, seed, flows, traced_flows_per_group)),
        }
    }

    /// When there is next something to read.
    pub fn next(&self) -> u64 {
        let warmup = if self.at_warmup.is_empty() { self.scenario.warmup.ns } else { NEVER };
        let trace = self.tracer.as_ref().map_or(NEVER, |t| t.next);
        self.next_sample.min(self.next_second).min(warmup).min(trace)
    }

    /// Reads what is due at `now`, ns since the start; the emulator's times are `origin` later. To be called inside the
    /// senders' namespace.
    pub fn on_tick(
        &mut self,
        now: u64,
        flows: &[Flow],
        controllers: &Controllers,
        origin: u64,
        emulator: &Emulator,
    ) -> Result<(), Error> {
        let traced = self.tracer.as_ref().is_some_and(|t| now >= t.next);
        if now >= self.next_sample || traced || (self.at_warmup.is_empty() && now >= self.scenario.warmup.ns) {
            self.read_sockets(now, flows).doing("read the flows' sockets")?;
        }
        if self.at_warmup.is_empty() && now >= self.scenario.warmup.ns {
            self.at_warmup = self.counters(flows);
        }
        if now >= self.next_sample {
            self.next_sample = now + self.interval;
            if now >= self.scenario.warmup.ns {
                let links = &mut emulator.path().network.links;
                self.queues.iter_mut().zip(links).for_each(|(samples, link)| samples.take(origin + now, link));
            }
        }
        if now >= self.next_second {
            self.next_second += SECOND_NS;
            for (f, flow) in flows.iter().enumerate() {
                let received = flow.received_bytes - self.received_by_second[f];
                self.received_mbit[f].push(received as f32 * 8e-6);
                self.received_by_second[f] = flow.received_bytes;
            }
        }
        if let Some(tracer) = self.tracer.as_mut().filter(|_| traced) {
            tracer.sample(now, flows, &self.infos, &controllers.views()?);
            tracer.sample_queues(origin + now, &mut emulator.path());
        }
        Ok(())
    }

    fn read_sockets(&mut self, now: u64, flows: &[Flow]) -> io::Result<()> {
        for (f, flow) in flows.iter().enumerate() {
            let Kind::Tcp(tcp) = &flow.kind else { continue };
            let info = read_tcp_info(&tcp.sender)?;
            self.window_reductions[f] += u64::from(self.infos[f].is_some_and(|last| is_reduced(&last, &info)));
            if now >= self.scenario.warmup.ns && info.tcpi_unacked > 0 {
                self.rtts[flow.group].saturating_record(u64::from(info.tcpi_rtt));
            }
            self.infos[f] = Some(info);
        }
        Ok(())
    }

    fn counters(&self, flows: &[Flow]) -> Vec<Counters> {
        let of = |(f, flow): (usize, &Flow)| {
            let received_bytes = flow.received_bytes;
            match (&flow.kind, &self.infos[f]) {
                (Kind::Tcp(_), Some(info)) => Counters {
                    received_bytes,
                    sent_packets: u64::from(info.tcpi_data_segs_out),
                    retransmits: u64::from(info.tcpi_total_retrans),
                    timeouts: u64::from(info.tcpi_total_rto),
                    window_reductions: self.window_reductions[f],
                },
                (Kind::Udp(udp), _) => {
                    Counters { received_bytes, sent_packets: udp.sent_packets.load(Relaxed), ..Counters::default() }
                }
                (Kind::Tcp(_), None) => Counters::default(),
            }
        };
        flows.iter().enumerate().map(of).collect()
    }

    /// The run is over. `base_rtts_ns` by flow.
    pub fn result(mut self, flows: &[Flow], base_rtts_ns: &[u64], path: &Path) -> io::Result<SeedResult> {
        self.read_sockets(self.scenario.duration.ns, flows)?;
        let measured_s = self.scenario.measured().as_secs_f64();
        let at_end = self.counters(flows);
        let received_mbit = std::mem::take(&mut self.received_mbit);
        let flow_result = |(f, received_mbit_by_second): (usize, Vec<f32>)| {
            let (start, end) = (self.at_warmup.get(f).copied().unwrap_or_default(), at_end[f]);
            FlowResult {
                goodput_mbps: (end.received_bytes - start.received_bytes) as f64 * 8e-6 / measured_s,
                sent_packets: end.sent_packets - start.sent_packets,
                retransmits: end.retransmits - start.retransmits,
                timeouts: end.timeouts - start.timeouts,
                window_reductions: end.window_reductions - start.window_reductions,
                base_rtt_ms: base_rtts_ns[f] as f64 / 1e6,
                completion_times_s: self.completion_times_s(&flows[f]),
                received_mbit_by_second,
            }
        };
        let results = received_mbit.into_iter().enumerate().map(flow_result).collect();
        let mut data_packets = 0;
        for flow in flows {
            data_packets += match &flow.kind {
                Kind::Tcp(tcp) => u64::from(read_tcp_info(&tcp.receiver)?.tcpi_data_segs_in),
                Kind::Udp(udp) => udp.received_packets,
            };
        }
        Ok(SeedResult {
            flows: results,
            rtt_ms: self.rtts.iter().map(|h| distribution(h, 1e-3)).collect(),
            links: self.queues.iter().zip(&path.network.links).map(|(q, link)| q.result(link, measured_s)).collect(),
            data_packets,
            trace: self.tracer.map(|t| t.trace),
            ..SeedResult::default()
        })
    }

    fn completion_times_s(&self, flow: &Flow) -> Vec<f64> {
        let Kind::Tcp(tcp) = &flow.kind else { return Vec::new() };
        let measured = tcp.completed.iter().filter(|(at, _)| *at >= self.scenario.warmup.ns);
        measured.map(|&(_, took)| took as f64 / 1e9).collect()
    }
}

/// Has TCP reduced the window between two samples? It has entered a recovery, or a timeout within one. A recovery that began and ended
/// between them shows as retransmissions with another slow-start threshold, unless that is what it was.
fn is_reduced(last: &tcp_info, info: &tcp_info) -> bool {
    const CWR: u8 = 2;
    const LOSS: u8 = 4;
    let enters = last.tcpi_ca_state < CWR && info.tcpi_ca_state >= CWR;
    let times_out = last.tcpi_ca_state != LOSS && info.tcpi_ca_state == LOSS;
    let has_recovered = last.tcpi_ca_state < CWR
        && info.tcpi_total_retrans > last.tcpi_total_retrans
        && info.tcpi_snd_ssthresh != last.tcpi_snd_ssthresh;
    enters || times_out || has_recovered
}

/// Samples windows and queues over time.
struct Tracer {
    interval: u64,
    next: u64,
    last: u64,
    received_bytes: Vec<u64>,
    trace: Trace,
}

impl Tracer {
    fn new(scenario: &Scenario, seed: u64, flows: &[Flow], per_group: usize) -> Self {
        let mut traced: Vec<FlowTrace> = Vec::new();
        for (flow, Flow { group, kind, .. }) in flows.iter().enumerate() {
            let is_tcp = matches!(kind, Kind::Tcp(_));
            if is_tcp && traced.iter().filter(|t| t.group == *group).count() < per_group {
                traced.push(FlowTrace { flow, group: *group, samples: Vec::new() });
            }
        }
        let link = |l: &tandem_scenario::Link| LinkTrace { name: l.name.clone(), queue_packets: Vec::new() };
        Self {
            interval: scenario.sample_interval.ns,
            next: scenario.sample_interval.ns,
            last: 0,
            received_bytes: vec![0; traced.len()],
            trace: Trace {
                seed,
                time_s: Vec::new(),
                flows: traced,
                links: scenario.network.links.iter().map(link).collect(),
            },
        }
    }

    fn sample(&mut self, now: u64, flows: &[Flow], infos: &[Option<tcp_info>], views: &HashMap<SocketAddr, View>) {
        let interval_s = (now - self.last) as f32 / 1e9;
        self.last = now;
        // Regular on the whole, though a tick comes late.
        self.next = (self.next + self.interval).max(now);
        self.trace.time_s.push(now as f64 / 1e9);
        for (trace, last) in self.trace.flows.iter_mut().zip(&mut self.received_bytes) {
            let received = flows[trace.flow].received_bytes;
            let goodput_mbps = (received - *last) as f32 * 8e-6 / interval_s;
            *last = received;
            let mut sample = infos[trace.flow].map_or_else(FlowSample::default, |info| flow_sample(&info));
            sample.goodput_mbps = goodput_mbps;
            if let Some(&view) = views.get(&flows[trace.flow].address) {
                sample = sample.with_view(view);
            }
            trace.samples.push(sample);
        }
    }

    /// `now` in the emulator's time.
    fn sample_queues(&mut self, now: u64, path: &mut Path) {
        for (trace, link) in self.trace.links.iter_mut().zip(&mut path.network.links) {
            trace.queue_packets.push(link.waiting(now) as f32);
        }
    }
}

/// Of a congestion control that shows no parts of its window: all of it is the loss window.
fn flow_sample(info: &tcp_info) -> FlowSample {
    FlowSample {
        cwnd_packets: info.tcpi_snd_cwnd,
        loss_window_packets: info.tcpi_snd_cwnd,
        ssthresh_packets: info.tcpi_snd_ssthresh,
        srtt_ms: info.tcpi_rtt as f32 / 1e3,
        base_rtt_ms: info.tcpi_min_rtt as f32 / 1e3,
        in_flight_packets: (info.tcpi_unacked + info.tcpi_retrans).saturating_sub(info.tcpi_sacked + info.tcpi_lost),
        ..FlowSample::default()
    }
}
