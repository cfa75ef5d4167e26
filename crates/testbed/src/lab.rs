// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two namespaces of a scenario, with the emulated path between them.

use netlink_packet_route::route::RouteMetric;
use tandem_network::Route;
use tandem_scenario::{Ecn, Group, Scenario};

use crate::{
    addresses::{Address, prefix},
    emulator::Emulator,
    error::Error,
    namespace::{Namespace, set_ipv4_sysctl},
    netlink::Netlink,
    path::{ENDS, End, Path},
    trust::Measure,
    tun::Tun,
};

const DEVICE: &str = "path";
/// Of the route's features (linux/rtnetlink.h).
const RTAX_FEATURE_ECN: u32 = 1;

pub struct Lab {
    /// In the order of [`ENDS`].
    pub namespaces: [Namespace; 2],
    /// The devices' numbers inside.
    pub devices: [u32; 2],
    pub measure: Measure,
    pub emulator: Emulator,
}

impl Lab {
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, Error> {
        let namespaces = [Namespace::new()?, Namespace::new()?];
        let attach = |end: End| namespaces[end as usize].enter(|| attach(scenario, end));
        let devices = [attach(End::Senders)?, attach(End::Receivers)?];
        let indices = [devices[0].index(), devices[1].index()];
        let path = Path::new(&scenario.network, Route::of_flows(scenario, seed));
        let base_rtts_ns: Vec<u64> = (0..scenario.flow_count()).map(|f| path.base_rtt_ns(f)).collect();
        let data_links = scenario.groups.iter().flat_map(|g| &g.forward).map(|&l| &scenario.network.links[l]);
        let measure = Measure::new(&base_rtts_ns, data_links, scenario.mtu);
        let classifier = Box::new(classifier(scenario));
        let emulator = Emulator::start(path, devices, scenario.mtu, measure.pauses(), classifier)?;
        Ok(Self { namespaces, devices: indices, measure, emulator })
    }

    /// Packets that the devices have dropped so far, unseen by any queue of ours.
    pub fn device_drops(&self) -> Result<u64, Error> {
        let mut sum = 0;
        for end in ENDS {
            let device = self.devices[end as usize];
            let stats = self.namespaces[end as usize].enter(|| Netlink::new()?.stats(device))?;
            sum += stats.tx_dropped + stats.rx_dropped;
        }
        Ok(sum)
    }
}

/// Tells a packet's flow by its source address.
fn classifier(scenario: &Scenario) -> impl Fn(End, &[u8]) -> Option<usize> + Send + Sync + 'static {
    let mut first = 0;
    let mut groups = Vec::new();
    for group in &scenario.groups {
        groups.push((first, group.flows));
        first += group.flows as usize;
    }
    move |end, packet| {
        let address = Address::source_of(packet).filter(|a| a.end == end)?;
        let &(first, flows) = groups.get(address.group)?;
        (address.flow < flows).then_some(first + address.flow as usize)
    }
}

/// Sets the calling thread's namespace up as one end, and makes its device.
fn attach(scenario: &Scenario, end: End) -> Result<Tun, Error> {
    let mut netlink = Netlink::new()?;
    let lo = netlink.index_of("lo")?;
    netlink.bring_up(lo, None)?;
    // A flow must not begin with what another one has learnt.
    set_ipv4_sysctl("tcp_no_metrics_save", "1")?;
    let device = Tun::new(&mut netlink, DEVICE, scenario.mtu)?;
    for (g, group) in scenario.groups.iter().enumerate() {
        netlink.add_local(prefix(g, end))?;
        netlink.add_route(prefix(g, end.other()), device.index(), metrics(group, end))?;
    }
    Ok(device)
}

/// What TCP takes from the route: the initial window at the senders' end, whether ACKs are delayed at the other.
fn metrics(group: &Group, end: End) -> Vec<RouteMetric> {
    match (group.source.tcp(), end) {
        (Some(tcp), End::Senders) => {
            // Who connects asks for ECN; Linux's default is to agree when asked.
            let ecn = (tcp.ecn != Ecn::Off).then_some(RouteMetric::Features(RTAX_FEATURE_ECN));
            [RouteMetric::InitCwnd(tcp.initial_window)].into_iter().chain(ecn).collect()
        }
        (Some(tcp), End::Receivers) if !tcp.delayed_acks => vec![RouteMetric::QuickAck(1)],
        _ => Vec::new(),
    }
}
