// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads sockets and queues for the recorder while a run goes on.

use std::{collections::HashMap, io, net::SocketAddr, sync::atomic::Ordering::Relaxed};

use linux_raw_sys::net::tcp_info;
use tandem_controllers::View;
use tandem_engine::{Counters, FlowEnd, Readable, Recorder, RecorderOptions};
use tandem_network::{QueueSamples, wlan::CellSamples};
use tandem_results::{FlowSample, SeedResult};
use tandem_scenario::Scenario;

use crate::{
    controllers::Controllers,
    emulator::{Emulator, monotonic_ns},
    error::{Doing, Error},
    path::Path,
    socket::read_tcp_info,
    traffic::{Flow, Kind},
};

/// Reads the flows' sockets, and has the recorder keep what they say.
pub struct Reader<'a> {
    scenario: &'a Scenario,
    recorder: Recorder<'a>,
    sockets: Sockets,
}

/// The sockets' state at the last reading, by flow.
struct Sockets {
    infos: Vec<Option<tcp_info>>,
    window_reductions: Vec<u64>,
}

impl<'a> Reader<'a> {
    /// Traces the first `traced_flows_per_group` TCP flows of each group.
    pub fn new(scenario: &'a Scenario, seed: u64, traced_flows_per_group: usize) -> Self {
        // TCP_INFO has the smoothed RTT only.
        let recording = RecorderOptions { unit_bytes: 1, has_raw_rtts: false, traced_flows_per_group };
        let flows = scenario.flow_count();
        let sockets = Sockets { infos: vec![None; flows], window_reductions: vec![0; flows] };
        Self { scenario, recorder: Recorder::new(scenario, seed, recording), sockets }
    }

    /// When there is next something to read.
    pub fn next(&self) -> u64 {
        self.recorder.next()
    }

    /// Reads what is due at `now`, ns since the start. To be called inside the senders' namespace.
    pub fn on_tick(
        &mut self,
        now: u64,
        flows: &[Flow],
        controllers: &Controllers,
        emulator: &Emulator,
    ) -> Result<(), Error> {
        self.sockets.read(flows).doing("read the flows' sockets")?;
        let views = if self.recorder.is_trace_due(now) { controllers.views()? } else { HashMap::new() };
        let path = &mut emulator.path();
        // The path has gone on since `now`: at an earlier time than its own, queues would seem longer than they ever were.
        let emulator_now = monotonic_ns();
        let mut moment = Moment { emulator_now, flows, sockets: &self.sockets, views: &views, path };
        self.recorder.on_tick(now, &mut moment);
        Ok(())
    }

    /// The run is over.
    pub fn result(mut self, flows: &[Flow], path: &mut Path) -> io::Result<SeedResult> {
        self.sockets.read(flows)?;
        let mut data_packets = 0;
        for flow in flows {
            data_packets += match &flow.kind {
                Kind::Tcp(tcp) => {
                    tcp.past().received_packets + u64::from(read_tcp_info(&tcp.receiver)?.tcpi_data_segs_in)
                }
                Kind::Udp(udp) => udp.receiver.received_packets,
            };
        }
        let measured_s = self.scenario.measured().as_secs_f64();
        let links =
            self.recorder.queues.iter().zip(&path.network.links).map(|(q, link)| q.result(link, measured_s)).collect();
        let ends: Vec<FlowEnd> =
            flows.iter().enumerate().map(|(f, flow)| flow_end(flow, path.base_rtt_ns(f))).collect();
        let views = HashMap::new();
        let moment = Moment { emulator_now: 0, flows, sockets: &self.sockets, views: &views, path };
        Ok(self.recorder.result(&moment, &ends, links, data_packets))
    }
}

fn flow_end(flow: &Flow, base_rtt_ns: u64) -> FlowEnd<'_> {
    match &flow.kind {
        Kind::Tcp(tcp) => FlowEnd { base_rtt_ns, transfers: Some(&tcp.transfers), quality: None },
        Kind::Udp(udp) => FlowEnd { base_rtt_ns, transfers: None, quality: Some(&udp.receiver.quality) },
    }
}

impl Sockets {
    fn read(&mut self, flows: &[Flow]) -> io::Result<()> {
        for (f, flow) in flows.iter().enumerate() {
            let Kind::Tcp(tcp) = &flow.kind else { continue };
            let info = read_tcp_info(&tcp.sender)?;
            self.window_reductions[f] += u64::from(self.infos[f].is_some_and(|last| is_reduced(&last, &info)));
            self.infos[f] = Some(info);
        }
        Ok(())
    }
}

/// The run as it was read last.
struct Moment<'a> {
    /// In the emulator's time.
    emulator_now: u64,
    flows: &'a [Flow],
    sockets: &'a Sockets,
    /// By the sender's address; empty unless a sample for the trace is due.
    views: &'a HashMap<SocketAddr, View>,
    path: &'a mut Path,
}

impl Readable for Moment<'_> {
    fn counters(&self, flow: usize) -> Counters {
        let Flow { kind, received_bytes: received } = &self.flows[flow];
        match (kind, &self.sockets.infos[flow]) {
            (Kind::Tcp(tcp), Some(info)) => Counters {
                received: *received,
                sent_packets: tcp.past().sent_packets + u64::from(info.tcpi_data_segs_out),
                retransmits: tcp.past().retransmits + u64::from(info.tcpi_total_retrans),
                timeouts: tcp.past().timeouts + u64::from(info.tcpi_total_rto),
                window_reductions: self.sockets.window_reductions[flow],
            },
            (Kind::Udp(udp), _) => {
                Counters { received: *received, sent_packets: udp.sent_packets.load(Relaxed), ..Counters::default() }
            }
            (Kind::Tcp(_), None) => Counters::default(),
        }
    }

    fn srtt_us(&self, flow: usize) -> Option<u64> {
        let info = self.sockets.infos[flow].filter(|info| info.tcpi_unacked > 0)?;
        Some(u64::from(info.tcpi_rtt))
    }

    fn windows(&self, flow: usize) -> FlowSample {
        let sample = self.sockets.infos[flow].as_ref().map_or_else(FlowSample::default, flow_sample);
        let Kind::Tcp(tcp) = &self.flows[flow].kind else { return sample };
        // Its socket has the address as long as it lives.
        match tcp.sender.local_addr().ok().and_then(|address| self.views.get(&address)) {
            Some(&view) => sample.with_view(view),
            None => sample,
        }
    }

    fn waiting_packets(&mut self) -> Vec<f32> {
        self.path.network.links.iter_mut().map(|link| link.waiting(self.emulator_now) as f32).collect()
    }

    fn sample_queues(&mut self, links: &mut [QueueSamples], _cell: &mut CellSamples) {
        links
            .iter_mut()
            .zip(&mut self.path.network.links)
            .for_each(|(samples, link)| samples.take(self.emulator_now, link));
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

/// A congestion control that shows no parts of its window has a loss window only.
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
