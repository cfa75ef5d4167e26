// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `flows` tells of connections, against the path's own figures and what the kernel tells in TCP_INFO.

mod net;
mod skip;

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    thread,
};

use libc::tcp_info;
use tandem_controllers::{Controller, Params, Reading, Signal, find};
use tandem_kernel::{Flow, loadable};

use net::{FAR, Path, Registered, Space, connected, info, transfer, wait_until};

/// 20 Mbit/s, which a busy machine fills, too, and a queue of at most 20 ms: the path itself takes no time.
const SHAPE: &str = "tbf rate 20mbit burst 16kb limit 50kb";
const QUEUE_US: u32 = 20_000;
const BYTES: u64 = 4 << 20;
/// Less than any window, so that the path is empty after each.
const PART_BYTES: usize = 4 << 10;
/// Connections until the path must have shown itself: a busy machine hides it from some of them.
const MOST_CONNECTIONS: u32 = 10;

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

/// Sends all of it over a connection of its own. What `flows` told of it each mebibyte and at the end, and what the kernel told then.
fn carry(path: &Path, registered: &Registered) -> (Vec<Flow>, tcp_info) {
    let streams = connected(&registered.name, &path.near, &path.far, FAR);
    let mut seen: Vec<Flow> = Vec::new();
    transfer(&streams, BYTES, |_| {
        let flow = only_flow(path, registered);
        assert_sane(&flow, &streams);
        assert!(seen.last().is_none_or(|last| flow.bytes_acked >= last.bytes_acked), "{flow:?} after {seen:?}");
        seen.push(flow);
    });
    // With nothing in flight nothing changes: both must tell the same.
    wait_until("all is acknowledged", || {
        let info = info(&streams.0);
        (info.tcpi_unacked, info.tcpi_notsent_bytes) == (0, 0)
    });
    let (flow, info) = (only_flow(path, registered), info(&streams.0));
    assert_sane(&flow, &streams);
    assert!(flow.bytes_acked >= BYTES, "{flow:?}");
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
        "{flow:?}"
    );
    seen.push(flow);
    drop(streams);
    wait_until("the connection is gone", || path.near.enter(|| registered.flows()).unwrap().is_empty());
    (seen, info)
}

/// The queue is full at times, so packets are lost and wait; and empty at the start, so that the least RTT is the path's own.
fn shows_the_path(seen: &[Flow], is_compound: bool) -> bool {
    let last = seen.last().unwrap();
    let has_waited = seen.iter().any(|flow| flow.srtt_us > QUEUE_US / 4);
    let knows_the_path = seen.iter().any(|flow| (1..QUEUE_US / 4).contains(&flow.view.base_rtt_us));
    last.lost > 0 && last.retransmitted > 0 && has_waited && (!is_compound || knows_the_path)
}

/// What BBR names of what it knows, against the pacing rate that the kernel has: gain * bw, less 1 %, once the path has been full.
/// From a pause to the next ACK the gain is 1 in PROBE_BW [draft-ietf-ccwg-bbr 5.4.1]: a busy machine's sender pauses, too.
/// Is it a gain other than 1 that fits?
fn probes_fit_the_pacing_rate(controller: &Controller, flow: &Flow) -> bool {
    let readings: HashMap<_, _> =
        controller.readings(&flow.view).map(|(probe, reading)| (probe.name, reading)).collect();
    let number = |name: &str| readings[name].and_then(Reading::number).expect(name);
    assert!(readings["state"].and_then(Reading::word).is_some(), "{readings:?}");
    if number("full_bw_reached") == 0.0 {
        return false;
    }
    let (_, bytes_per_s) = flow.pacing().expect("it paces");
    let gain = bytes_per_s as f64 * 8e-6 / (number("bw_mbps") * 0.99);
    let is = |shown: f64| (gain / shown - 1.0).abs() < 0.001;
    assert!(is(number("pacing_gain")) || is(1.0), "{bytes_per_s} B/s, a gain of {gain}, but {readings:?}");
    !is(1.0)
}

#[test]
fn flows_are_as_the_path_and_tcp_info_have_them() {
    if skip::cannot_load() {
        return;
    }
    let path = Path::new(SHAPE);
    for controller in loadable() {
        let registered = Registered::new(controller);
        let is_compound = controller.family == "compound";
        // Some that steer by delay keep so small a queue short, and HyStart ends slow start before it is full: they lose nothing.
        let has_hystart = Params::new(controller).get("hystart").is_some_and(|which| which != 0.0);
        let fills_the_queue = !has_hystart && (controller.signal == Signal::Loss || is_compound);
        for connection in 1.. {
            let (seen, info) = carry(&path, &registered);
            let view = seen.last().unwrap().view;
            if controller.family == "bbr" {
                // Each is asserted, also after the first that fits.
                let fits = |seen: Vec<Flow>| {
                    let each = seen.iter().map(|flow| probes_fit_the_pacing_rate(controller, flow));
                    each.collect::<Vec<_>>().contains(&true)
                };
                wait_until("a gain other than 1 is the rate's", || fits(carry(&path, &registered).0));
            }
            if is_compound && fills_the_queue {
                assert!(view.base_rtt_us >= info.tcpi_min_rtt && view.gamma_q8 > 0, "{controller:?}: {view:?}");
            }
            if !fills_the_queue || shows_the_path(&seen, is_compound) {
                break;
            }
            assert!(connection < MOST_CONNECTIONS, "{controller:?}: {seen:?}");
        }
    }
}

#[test]
fn the_pacing_rate_fits_what_bbr_shows_after_pauses_too() {
    if skip::cannot_load() {
        return;
    }
    let path = Path::new(SHAPE);
    let write = |(near, _): &(TcpStream, TcpStream), bytes| (&*near).write_all(&vec![0; bytes]).unwrap();
    let read = |(_, far): &(TcpStream, TcpStream), bytes| (&*far).read_exact(&mut vec![0; bytes]).unwrap();
    for controller in loadable().filter(|controller| controller.family == "bbr") {
        let registered = Registered::new(controller);
        let streams = connected(&registered.name, &path.near, &path.far, FAR);
        thread::scope(|scope| {
            scope.spawn(|| read(&streams, BYTES as usize));
            write(&streams, BYTES as usize);
        });
        // Eight gains in turn, each for a few parts.
        for _ in 0..200 {
            wait_until("all is acknowledged", || info(&streams.0).tcpi_unacked == 0);
            write(&streams, PART_BYTES);
            probes_fit_the_pacing_rate(controller, &only_flow(&path, &registered));
            read(&streams, PART_BYTES);
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
