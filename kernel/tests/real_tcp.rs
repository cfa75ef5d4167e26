// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each controller with the kernel's own TCP: what is sent arrives as it was sent.

mod net;
mod skip;

use std::{collections::HashSet, net::SocketAddr, sync::Arc, thread};

use rustix::net::{
    AddressFamily, SocketType, socket,
    sockopt::{set_tcp_congestion, tcp_congestion},
};
use tandem_controllers::find;
use tandem_kernel::loadable;

use net::{FAR, Path, Registered, Space, as_nobody, connected, transfer, wait_until};

const MEGABYTE: u64 = 1_000_000;
/// Faster than this machine can carry it: now and then it drops packets.
const FAST: &str = "tbf rate 5gbit burst 1mb limit 1mb";

/// Each controller is a program of its own, so each sends. A tenth of a gigabyte meets losses, recovery and the end of slow start; the nightly
/// run sends all of it.
#[test]
fn a_gigabyte_arrives_intact() {
    if skip::cannot_load() {
        return;
    }
    let bytes = if std::env::var_os("TANDEM_NIGHTLY").is_some() { 1000 * MEGABYTE } else { 100 * MEGABYTE };
    let path = Path::new(FAST);
    for controller in loadable() {
        let registered = Registered::new(controller);
        let streams = connected(&registered.name, &path.near, &path.far, FAR);
        assert_eq!(tcp_congestion(&streams.0).unwrap(), registered.name);
        transfer(&streams, bytes, |_| ());
    }
}

#[test]
fn loopback_arrives_intact() {
    if skip::cannot_load() {
        return;
    }
    let space = Space::new();
    for controller in loadable() {
        let registered = Registered::new(controller);
        let streams = connected(&registered.name, &space, &space, "127.0.0.1");
        transfer(&streams, 100 * MEGABYTE, |_| ());
    }
}

#[test]
fn a_live_connection_changes_its_controller() {
    if skip::cannot_load() {
        return;
    }
    let path = Path::new(FAST);
    let ours: Vec<Registered> = loadable().map(Registered::new).collect();
    // In turn with the kernel's own, whose use of the state is another.
    let names: Vec<&str> = ours.iter().flat_map(|o| [&*o.name, "reno", "cubic"]).collect();
    let mut choices = names.iter().cycle();
    let streams = connected("reno", &path.near, &path.far, FAR);
    transfer(&streams, 200 * MEGABYTE, |_| {
        let name = choices.next().unwrap();
        set_tcp_congestion(&streams.0, name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(&tcp_congestion(&streams.0).unwrap(), name);
    });
}

#[test]
fn two_hundred_connections_open_and_close_under_load() {
    const CONNECTIONS: usize = 200;
    if skip::cannot_load() {
        return;
    }
    let path = Path::new("tbf rate 1gbit burst 256kb limit 500kb");
    let registered = Registered::new(find("compound_tube").unwrap());
    let open = &|| connected(&registered.name, &path.near, &path.far, FAR);
    let shown = || -> HashSet<SocketAddr> {
        let flows = path.near.enter(|| registered.flows()).unwrap();
        flows.iter().map(|f| f.local()).collect()
    };
    thread::scope(|scope| {
        // Let go when the connections are closed, and when the test fails.
        let needed = Arc::new(());
        let load = Arc::downgrade(&needed);
        scope.spawn(move || {
            while load.strong_count() > 0 {
                transfer(&open(), 10 * MEGABYTE, |_| ());
            }
        });
        for _ in 0..2 {
            let pairs: Vec<_> = (0..CONNECTIONS).map(|_| open()).collect();
            let addresses: HashSet<SocketAddr> = pairs.iter().map(|(near, _)| near.local_addr().unwrap()).collect();
            assert!(shown().is_superset(&addresses));
            let transfers = pairs.into_iter().map(|pair| scope.spawn(move || transfer(&pair, 200_000, |_| ())));
            for transfer in transfers.collect::<Vec<_>>() {
                transfer.join().unwrap();
            }
        }
        drop(needed);
    });
    wait_until("each connection is closed", || shown().is_empty());
}

/// Containers have namespaces of their own, and their programs no rights.
#[test]
fn a_program_without_rights_in_a_child_namespace_can_choose_it() {
    if skip::cannot_load() {
        return;
    }
    let space = Space::new();
    for controller in loadable() {
        let registered = Registered::new(controller);
        let choose = || {
            let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
            set_tcp_congestion(&socket, &registered.name).and_then(|()| tcp_congestion(&socket))
        };
        let chosen = space.enter(|| as_nobody(choose));
        assert_eq!(chosen.as_ref(), Ok(&registered.name));
    }
}
