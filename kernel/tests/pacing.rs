// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers that own the window, with the kernel's own TCP: who paces, how fast at most, and what an idle time leaves of the window.
#![expect(unsafe_code)]

mod net;
mod skip;

use std::{io::Write, net::TcpStream, os::fd::AsRawFd, thread, time::Duration};

use tandem_controllers::{Params, find};
use tandem_kernel::{Attached, Flow, Pacer, attach};

use net::{FAR, Path, Registered, connected, info, transfer, unique_name, wait_until};

fn only_flow(path: &Path, attached: &Attached) -> Flow {
    let flows = path.near.enter(|| attached.flows()).unwrap();
    let [flow] = flows[..] else { panic!("one connection, not {flows:?}") };
    flow
}

/// A megabyte with a controller; what paces, and how fast.
fn pacing_of(controller: &str, path: &Path) -> Option<(Pacer, u64)> {
    let registered = Registered::new(find(controller).unwrap());
    let streams = connected(&registered.name, &path.near, &path.far, FAR);
    transfer(&streams, 1_000_000, |_| ());
    only_flow(path, &registered).pacing()
}

/// Without fq the socket's own timer paces what owns its window, and nothing else.
#[test]
fn the_socket_paces_a_controller_with_a_rate() {
    if skip::cannot_load() {
        return;
    }
    let path = Path::wire();
    assert_eq!(pacing_of("reno", &path), None);
    let (pacer, bytes_per_s) = pacing_of("bbr", &path).expect("it asks for it");
    assert_eq!(pacer, Pacer::Socket);
    // From the first packet on BBR has a rate: ten packets in a millisecond, times 2.89, where nothing is measured. The kernel's own value
    // for no rate is the largest number.
    assert!((1_000..1 << 40).contains(&bytes_per_s), "{bytes_per_s}");
}

/// fq says so in the socket, and a controller leaves it at that: otherwise both would pace.
#[test]
fn fq_paces_where_it_is() {
    if skip::cannot_load() {
        return;
    }
    let path = Path::wire();
    let added = path.near.start("tc qdisc add dev eth0 root fq").output();
    if !added.status.success() {
        tandem_testing::skip("this kernel has no qdisc fq");
        return;
    }
    for controller in ["reno", "bbr"] {
        let pacing = pacing_of(controller, &path);
        assert_eq!(pacing.map(|(pacer, _)| pacer), Some(Pacer::Fq), "{controller}");
    }
}

/// The user's limit: 1 MB/s where BBR would send a thousand times as fast.
#[test]
fn the_rate_stays_below_the_users_limit() {
    const LIMIT_BYTES_PER_S: u64 = 1_000_000;
    if skip::cannot_load() {
        return;
    }
    let path = Path::wire();
    let registered = Registered::new(find("bbr").unwrap());
    let streams = connected(&registered.name, &path.near, &path.far, FAR);
    limit_rate(&streams.0, LIMIT_BYTES_PER_S);
    transfer(&streams, 300_000, |_| {
        let (_, bytes_per_s) = only_flow(&path, &registered).pacing().unwrap();
        assert!(bytes_per_s <= LIMIT_BYTES_PER_S, "{bytes_per_s}");
    });
    let (pacer, bytes_per_s) = only_flow(&path, &registered).pacing().unwrap();
    assert_eq!((pacer, bytes_per_s), (Pacer::Socket, LIMIT_BYTES_PER_S));
    assert_eq!(info(&streams.0).tcpi_pacing_rate, LIMIT_BYTES_PER_S);
}

/// SO_MAX_PACING_RATE.
fn limit_rate(stream: &TcpStream, bytes_per_s: u64) {
    let (from, length) = ((&raw const bytes_per_s).cast(), size_of::<u64>() as libc::socklen_t);
    // SAFETY: the kernel reads `length` bytes.
    let status =
        unsafe { libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, from, length) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

/// Longer than the smallest RTT counts here.
const IDLE: Duration = Duration::from_millis(2500);

/// Other controllers' windows the kernel cuts to the initial one. BBR's stays: it is told that sending resumes, otherwise its next ACK would begin
/// PROBE_RTT, since the smallest RTT is too old by then, with a window of four.
#[test]
fn an_idle_time_leaves_the_window() {
    if skip::cannot_load() {
        return;
    }
    let mut params = Params::new(find("bbr").unwrap());
    params.set("rtt_window", 2.0).unwrap();
    let name = unique_name();
    let attached = attach(&params, &name).unwrap();
    let path = Path::wire();
    for attempt in 0.. {
        let (near, far) = connected(&name, &path.near, &path.far, FAR);
        let reader = thread::spawn(move || std::io::copy(&mut &far, &mut std::io::sink()));
        let mut stream = &near;
        stream.write_all(&vec![0; 3_000_000]).unwrap();
        let acknowledged = || info(&near).tcpi_unacked == 0 && info(&near).tcpi_notsent_bytes == 0;
        wait_until("all is acknowledged", acknowledged);
        // On a machine that stood still for two seconds it is in PROBE_RTT already.
        let window = only_flow(&path, &attached).snd_cwnd;
        if window > 4 {
            thread::sleep(IDLE);
            let before = info(&near).tcpi_bytes_acked;
            stream.write_all(b"x").unwrap();
            wait_until("the next byte is acknowledged", || info(&near).tcpi_bytes_acked > before);
            let after = only_flow(&path, &attached).snd_cwnd;
            assert!(after >= window.min(10), "{after} after {window}");
        }
        drop(near);
        reader.join().unwrap().unwrap();
        wait_until("the connection is gone", || path.near.enter(|| attached.flows()).unwrap().is_empty());
        if window > 4 {
            return;
        }
        assert!(attempt < 10, "it is in PROBE_RTT each time");
    }
}
