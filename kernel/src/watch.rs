// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repeated samples of the machine's connections that use Tandem's controllers, with their rates.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use serde::{Serialize, Serializer};
use tandem_controllers::{Controller, Reading};

use crate::{
    Error, Flow, Pacer,
    flow::{flows_here, some_flows_here},
    netns,
    registry::{kind_of, loaded_names},
};

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
    /// What paces its packets; `None` if nothing does, as without a pacing rate.
    pub paced_by: Option<Pacer>,
    /// The pacing rate, bits of payload a second.
    pub pacing_bps: Option<f64>,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// Payload acknowledged in the interval, bits a second; 0 at the first look at a connection.
    pub rate_bps: f64,
    /// Packets lost in the interval; 0 at the first look at a connection.
    pub lost: u32,
    /// Packets lost since the connection began.
    pub lost_total: u32,
    /// Packets retransmitted since the connection began.
    pub retransmitted_total: u32,
    /// Bytes acknowledged since the connection began.
    pub bytes_acked: u64,
    /// The values that the controller exports ([`Controller::probes`]), in its order; `None` if one has no value now.
    #[serde(serialize_with = "as_map")]
    pub probes: Vec<(&'static str, Option<Reading>)>,
}

fn as_map<S: Serializer>(probes: &[(&'static str, Option<Reading>)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(probes.iter().copied())
}

/// A namespace's inode and a connection's ends, because a namespace may be named after a process, and the name changes with it.
type Key = (u64, SocketAddr, SocketAddr);

/// A connection as one look finds it.
struct Seen {
    key: Key,
    namespace: String,
    controller: String,
    /// Which one that is; `None` if it was unloaded since.
    kind: Option<&'static Controller>,
    flow: Flow,
}

/// Samples the connections; remembers the last sample, to compute rates.
#[derive(Debug)]
pub struct Watcher {
    last: HashMap<Key, Flow>,
    looked: Instant,
}

impl Watcher {
    /// Starts the first interval with a first look at the connections.
    ///
    /// # Errors
    /// If the connections cannot be listed.
    pub fn new() -> Result<Self, Error> {
        let looked = Instant::now();
        let last = look()?.into_iter().map(|seen| (seen.key, seen.flow)).collect();
        Ok(Self { last, looked })
    }

    /// The length of the interval since the last look, and each connection that exists now, ordered by namespace and address.
    ///
    /// # Errors
    /// If the connections cannot be listed.
    pub fn sample(&mut self) -> Result<(Duration, Vec<Sample>), Error> {
        let now = Instant::now();
        let interval = now - self.looked;
        let mut all = look()?;
        all.sort_by(|a, b| (&a.namespace, a.key).cmp(&(&b.namespace, b.key)));
        let samples = all.iter().map(|seen| Sample::new(seen, self.last.get(&seen.key), interval)).collect();
        self.last = all.into_iter().map(|seen| (seen.key, seen.flow)).collect();
        self.looked = now;
        Ok((interval, samples))
    }
}

/// All connections with the names of their controllers, in all namespaces.
fn look() -> Result<Vec<Seen>, Error> {
    let names = loaded_names()?;
    let kinds: Vec<Option<&Controller>> = names.iter().map(|name| kind_of(name)).collect();
    let mut all = Vec::new();
    let look_here = |_: &netns::Namespace| names.iter().map(|name| flows_here(name)).collect::<Vec<_>>();
    for (namespace, flows) in netns::visit(look_here)? {
        for ((name, kind), flows) in names.iter().zip(&kinds).zip(flows) {
            let flows = match flows {
                Ok(flows) => flows,
                // Unloaded since the list was made.
                Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(e),
            };
            all.extend(flows.into_iter().filter(Flow::is_connected).map(|flow| Seen {
                key: (namespace.inode, flow.local(), flow.remote()),
                namespace: namespace.name.clone(),
                controller: name.clone(),
                kind: *kind,
                flow,
            }));
        }
    }
    Ok(all)
}

impl Sample {
    /// `before` is the last look at the same addresses.
    fn new(Seen { key, namespace, controller, kind, flow }: &Seen, before: Option<&Flow>, interval: Duration) -> Self {
        // Another connection may have had the addresses before. Of one that is seen for the first time nobody knows how long it has
        // been there: it may have changed its controller to one of ours just now.
        let before = before.filter(|before| before.bytes_acked <= flow.bytes_acked).unwrap_or(flow);
        let packets = |q8: u32| f64::from(q8) / 256.0;
        Self {
            namespace: namespace.clone(),
            controller: controller.clone(),
            local: key.1,
            remote: key.2,
            snd_cwnd: flow.snd_cwnd,
            loss_window: flow.view.loss_window,
            delay_window: flow.view.delay_window,
            snd_ssthresh: flow.snd_ssthresh,
            packets_out: flow.packets_out,
            gamma_packets: packets(flow.view.gamma_q8),
            diff_packets: packets(flow.view.diff_q8),
            srtt_us: flow.srtt_us,
            base_rtt_us: flow.view.base_rtt_us,
            paced_by: flow.pacing().map(|(pacer, _)| pacer),
            pacing_bps: flow.pacing().map(|(_, bytes_per_s)| bytes_per_s as f64 * 8.0),
            mss_bytes: flow.mss,
            rate_bps: (flow.bytes_acked - before.bytes_acked) as f64 * 8.0 / interval.as_secs_f64(),
            lost: flow.lost.saturating_sub(before.lost),
            lost_total: flow.lost,
            retransmitted_total: flow.retransmitted,
            bytes_acked: flow.bytes_acked,
            probes: kind.iter().flat_map(|c| c.readings(&flow.view)).map(|(p, reading)| (p.name, reading)).collect(),
        }
    }
}

/// The values that a controller exports, for some of its connections.
#[derive(Debug, Clone)]
pub struct Probed {
    /// The name under which it is loaded.
    pub controller: String,
    /// By the probe's name; connections that have no such value now have none.
    pub readings: Vec<(&'static str, Vec<Reading>)>,
}

/// For at most this many connections of each loaded controller.
///
/// # Errors
/// [`Error`] if this process may not see which are loaded, or the namespaces.
pub fn probe(most: usize) -> Result<Vec<Probed>, Error> {
    let mut all = Vec::new();
    for name in loaded_names()? {
        // Unloaded since the list was made.
        let Some(kind) = kind_of(&name) else { continue };
        let mut readings: Vec<_> = kind.probes().map(|probe| (probe.name, Vec::new())).collect();
        // A namespace whose connections cannot be read now has none to show.
        let flows = netns::visit(|_| some_flows_here(&name, most).unwrap_or_default())?;
        for flow in flows.iter().flat_map(|(_, flows)| flows).filter(|flow| flow.is_connected()).take(most) {
            for ((_, of_probe), (_, reading)) in readings.iter_mut().zip(kind.readings(&flow.view)) {
                of_probe.extend(reading);
            }
        }
        all.push(Probed { controller: name, readings });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use tandem_controllers::find;

    use super::*;

    fn seen(bytes_acked: u64, lost: u32) -> Seen {
        let mut flow = crate::flow::read(&[0; size_of::<Flow>()][..]).unwrap()[0];
        (flow.bytes_acked, flow.lost) = (bytes_acked, lost);
        Seen {
            key: (1, flow.local(), flow.remote()),
            namespace: String::new(),
            controller: "ours".into(),
            kind: find("dctcp").ok(),
            flow,
        }
    }

    /// 1.25 MB/s are 10 Mb/s. The kernel has a rate even for a connection that nothing paces; it is not obeyed.
    #[test]
    fn a_pacing_rate_is_shown_where_something_paces() {
        let shown = |pacing| {
            let mut seen = seen(0, 0);
            (seen.flow.pacing, seen.flow.pacing_bytes_per_s) = (pacing, 1_250_000);
            let sample = Sample::new(&seen, None, Duration::from_secs(1));
            (sample.paced_by, sample.pacing_bps)
        };
        assert_eq!(
            [0, 1, 2].map(shown),
            [(None, None), (Some(Pacer::Socket), Some(1e7)), (Some(Pacer::Fq), Some(1e7))]
        );
    }

    /// DCTCP's alpha is in 1/2^24.
    #[test]
    fn probes_are_in_users_units() {
        let mut seen = seen(0, 0);
        seen.flow.view.probes[0] = 3 << 22;
        let sample = Sample::new(&seen, None, Duration::from_secs(1));
        assert_eq!(sample.probes, [("alpha", Some(Reading::Number(0.75)))]);
        assert!(serde_json::to_string(&sample).unwrap().ends_with(r#""probes":{"alpha":0.75}}"#));
    }

    /// 12.5 MB in a second are 100 Mb/s. What a connection did before it was seen for the first time, it did not do in one interval.
    #[test]
    fn a_rate_is_between_two_looks_at_one_connection() {
        let rate = |now: &Seen, before: Option<&Flow>| {
            let sample = Sample::new(now, before, Duration::from_secs(1));
            (sample.rate_bps, sample.lost)
        };
        let (now, before) = (seen(112_500_000, 7), seen(100_000_000, 4).flow);
        assert_eq!(rate(&now, Some(&before)), (1e8, 3));
        assert_eq!(rate(&now, None), (0.0, 0));
        // Another connection with the same addresses.
        assert_eq!(rate(&seen(1000, 0), Some(&before)), (0.0, 0));
    }
}
