// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repeated samples of the machine's connections that use Tandem's controllers, with their rates.

use std::{
    collections::HashMap,
    net::SocketAddr,
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{Error, Flow, bpffs, netns, read_flows};

/// A connection and what it did in the interval that has just ended.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    /// The network namespace: empty for the caller's own, otherwise its name in `ip netns`, or `pid N`.
    pub namespace: String,
    /// The name under which its controller is loaded.
    pub controller: String,
    /// The address and port on this machine.
    pub local: SocketAddr,
    /// The address and port of the other end.
    pub remote: SocketAddr,
    /// The congestion window, packets: `loss_window + delay_window`.
    pub snd_cwnd: u32,
    /// The loss window, packets.
    pub loss_window: u32,
    /// The delay window, packets.
    pub delay_window: u32,
    /// The slow-start threshold, packets.
    pub snd_ssthresh: u32,
    /// Packets sent and not yet acknowledged cumulatively.
    pub packets_out: u32,
    /// The backlog that counts as early congestion, packets.
    pub gamma_packets: f64,
    /// The backlog of the last round, packets.
    pub diff_packets: f64,
    /// Smoothed RTT, microseconds.
    pub srtt_us: u32,
    /// The smallest RTT that the controller has seen, microseconds; 0 if it has none.
    pub base_rtt_us: u32,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// Payload acknowledged in the interval, bits a second.
    pub rate_bps: f64,
    /// Packets lost in the interval.
    pub lost: u32,
    /// Packets lost since the connection began.
    pub lost_total: u32,
    /// Packets retransmitted since the connection began.
    pub retransmitted_total: u32,
    /// Bytes acknowledged since the connection began.
    pub bytes_acked: u64,
}

type Key = (String, SocketAddr, SocketAddr);

/// Samples the connections; remembers the last sample, to compute rates.
#[derive(Debug)]
pub struct Watcher {
    last: HashMap<Key, Flow>,
    looked: Instant,
}

impl Watcher {
    /// Starts the first interval with a first look at the connections.
    pub fn new() -> Result<Self, Error> {
        let looked = Instant::now();
        let last = look()?.into_iter().map(|(key, _, flow)| (key, flow)).collect();
        Ok(Self { last, looked })
    }

    /// The length of the interval since the last look, and each connection that exists now, ordered by namespace and address.
    pub fn sample(&mut self) -> Result<(Duration, Vec<Sample>), Error> {
        let now = Instant::now();
        let interval = now - self.looked;
        let mut flows = look()?;
        flows.sort_by(|a, b| a.0.cmp(&b.0));
        let samples = flows.iter().map(|(key, controller, flow)| {
            // All that a new connection did, it did in this interval; another connection may have had its addresses before.
            let before = self.last.get(key).filter(|before| before.bytes_acked <= flow.bytes_acked);
            let bytes = flow.bytes_acked - before.map_or(0, |b| b.bytes_acked);
            let lost = flow.lost.saturating_sub(before.map_or(0, |b| b.lost));
            Sample::new(key, controller, flow, bytes as f64 * 8.0 / interval.as_secs_f64(), lost)
        });
        let samples = samples.collect();
        self.last = flows.into_iter().map(|(key, _, flow)| (key, flow)).collect();
        self.looked = now;
        Ok((interval, samples))
    }
}

/// All connections with the names of their controllers, in all namespaces.
fn look() -> Result<Vec<(Key, String, Flow)>, Error> {
    let names = bpffs::names()?;
    let mut all = Vec::new();
    for namespace in netns::all()? {
        for name in &names {
            let flows = match read_flows(&namespace, name) {
                Ok(flows) => flows,
                // Unloaded, or the namespace gone, since the list was made.
                Err(Error::Io { .. }) => continue,
                Err(e) => return Err(e),
            };
            let keyed = flows.into_iter().filter(Flow::is_connected);
            all.extend(keyed.map(|f| ((namespace.name.clone(), f.local(), f.remote()), name.clone(), f)));
        }
    }
    Ok(all)
}

impl Sample {
    fn new((namespace, local, remote): &Key, controller: &str, flow: &Flow, rate_bps: f64, lost: u32) -> Self {
        let packets = |q8: u32| f64::from(q8) / 256.0;
        Self {
            namespace: namespace.clone(),
            controller: controller.to_owned(),
            local: *local,
            remote: *remote,
            snd_cwnd: flow.snd_cwnd,
            loss_window: flow.view.loss_window,
            delay_window: flow.view.delay_window,
            snd_ssthresh: flow.snd_ssthresh,
            packets_out: flow.packets_out,
            gamma_packets: packets(flow.view.gamma_q8),
            diff_packets: packets(flow.view.diff_q8),
            srtt_us: flow.srtt_us,
            base_rtt_us: flow.view.base_rtt_us,
            mss_bytes: flow.mss,
            rate_bps,
            lost,
            lost_total: flow.lost,
            retransmitted_total: flow.retransmitted,
            bytes_acked: flow.bytes_acked,
        }
    }
}
