// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `flows` tells of connections, against the path's own figures and what the kernel tells in TCP_INFO.

mod net;
mod skip;

use std::net::{IpAddr, SocketAddr, TcpStream};

use tandem_controllers::{Params, Signal, find};
use tandem_kernel::{Flow, loadable};

use net::{FAR, Path, Registered, Space, connected, info, transfer, wait_until};

/// 100 Mbit/s, and a queue of at most 20 ms: the path itself takes no time.
const SHAPE: &str = "tbf rate 100mbit burst 16kb limit 250kb";
const QUEUE_US: u32 = 20_000;
const BYTES: u64 = 20_000_000;

fn only_flow(path: &Path, registered: &Registered) -> Flow {
    let flows = path.near.enter(|| registered.flows()).unwrap();
    let [flow] = flows[..] else { panic!("one connection, not {flows:?}") };
    flow
}

fn assert_sane(flow: &Flow, streams: &(TcpStream, TcpStream)) {
    assert_eq!((flow.local(), flow.remote()), (streams.0.local_addr().unwrap(), streams.1.local_addr().unwrap()));
    let view = flow.view;
    assert_eq!(view.loss_window + view.delay_window, flow.snd_cwnd, "{flow:?}");
    assert!(flow.snd_cwnd >= 1 && flow.snd_ssthresh >= 2, "{flow:?}");
}

#[test]
fn flows_are_as_the_path_and_tcp_info_have_them() {
    if skip::cannot_load() {
        return;
    }
    let path = Path::new(SHAPE);
    for controller in loadable() {
        let registered = Registered::new(controller);
        let streams = connected(&registered.name, &path.near, &path.far, FAR);
        let mut seen: Vec<Flow> = Vec::new();
        transfer(&streams, BYTES, |_| {
            let flow = only_flow(&path, &registered);
            assert_sane(&flow, &streams);
            assert!(seen.last().is_none_or(|last| flow.bytes_acked >= last.bytes_acked), "{flow:?} after {seen:?}");
            seen.push(flow);
        });
        assert!(seen.last().unwrap().bytes_acked > BYTES / 2, "{seen:?}");

        // With nothing in flight nothing changes: both must tell the same.
        wait_until("all is acknowledged", || info(&streams.0).tcpi_unacked == 0);
        let (flow, info) = (only_flow(&path, &registered), info(&streams.0));
        assert_sane(&flow, &streams);
        assert_eq!(
            (
                flow.snd_cwnd,
                flow.snd_ssthresh,
                flow.packets_out,
                flow.mss,
                flow.srtt_us,
                flow.retransmitted,
                flow.bytes_acked
            ),
            (
                info.tcpi_snd_cwnd,
                info.tcpi_snd_ssthresh,
                info.tcpi_unacked,
                info.tcpi_snd_mss,
                info.tcpi_rtt,
                info.tcpi_total_retrans,
                info.tcpi_bytes_acked
            ),
            "{controller:?}: {flow:?}"
        );
        // Some that steer by delay keep so small a queue short, and HyStart ends slow start before it is full: they lose nothing.
        let has_hystart = Params::new(controller).get("hystart").is_some_and(|which| which != 0.0);
        if has_hystart || controller.signal != Signal::Loss && controller.family != "compound" {
            continue;
        }
        // The queue is full at times, so packets are lost; and empty at the start, so that the least RTT is the path's own.
        assert!(flow.lost > 0 && flow.retransmitted > 0, "{controller:?}: {flow:?}");
        // As long as the queue makes it. A host that pauses makes some longer, so the upper bound is asked of the median.
        let mut srtts_us: Vec<u32> = seen.iter().map(|f| f.srtt_us).collect();
        srtts_us.sort_unstable();
        let (median_us, longest_us) = (srtts_us[srtts_us.len() / 2], srtts_us[srtts_us.len() - 1]);
        assert!(
            longest_us > QUEUE_US / 4 && median_us < 2 * QUEUE_US,
            "{controller:?}: {median_us} us, {longest_us} us"
        );
        if controller.family == "compound" {
            let base_rtt_us = flow.view.base_rtt_us;
            assert!((info.tcpi_min_rtt..QUEUE_US / 4).contains(&base_rtt_us), "{controller:?}: {flow:?}");
            assert!(flow.view.gamma_q8 > 0, "{flow:?}");
        }
    }
}

#[test]
fn only_its_own_connections_with_the_addresses_that_their_users_see() {
    if skip::cannot_load() {
        return;
    }
    let (space, elsewhere) = (Space::new(), Space::new());
    let registered = Registered::new(find("reno").unwrap());
    let name = &*registered.name;
    let pairs = [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::ffff:127.0.0.1", "127.0.0.1")];
    let connections = pairs.map(|(address, shown)| (connected(name, &space, &space, address), shown));
    // The kernel's reno is another, and so is another namespace.
    let _others =
        [connected("reno", &space, &space, "127.0.0.1"), connected(name, &elsewhere, &elsewhere, "127.0.0.1")];

    let mut expected: Vec<_> = connections
        .iter()
        .map(|((near, _), shown)| {
            let ip: IpAddr = shown.parse().unwrap();
            let address = |at: SocketAddr| SocketAddr::new(ip, at.port());
            (address(near.local_addr().unwrap()), address(near.peer_addr().unwrap()))
        })
        .collect();
    let flows = space.enter(|| registered.flows()).unwrap();
    let mut shown: Vec<_> = flows.iter().map(|f| (f.local(), f.remote())).collect();
    expected.sort();
    shown.sort();
    assert_eq!(shown, expected);
    assert_eq!(elsewhere.enter(|| registered.flows()).unwrap().len(), 1);
}
