// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers that stay loaded: their connections, the default, and that nothing of them is left.

mod net;
mod skip;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path as File,
    thread,
};

use rustix::{io::Errno, net::sockopt::tcp_congestion};
use tandem_controllers::{Params, find};
use tandem_kernel::{available, default_controller, list, load, loadable, unload};

use net::{FAR, Loaded, Path, Registered, Space, connect, connected, transfer, unique_name, wait_until};

#[test]
fn connections_outlive_their_controllers_registration() {
    const BYTES: u64 = 60_000_000;
    if skip::cannot_load() {
        return;
    }
    let path = Path::new("tbf rate 400mbit burst 128kb limit 500kb");
    for controller in loadable() {
        let loaded = Loaded::new(controller, false);
        let name = &*loaded.name;
        let streams = connected(name, &path.near, &path.far, FAR);
        let mut is_unloaded = false;
        transfer(&streams, BYTES, |sent| {
            if is_unloaded || sent < BYTES / 2 {
                return;
            }
            is_unloaded = true;
            let unloaded = unload(name).unwrap();
            assert_eq!((unloaded.connections, unloaded.restored_defaults.len()), (1, 0));
            assert!(!available().unwrap().iter().any(|n| n == name));
            assert_eq!(tcp_congestion(&streams.0).unwrap(), name);
            let refused = path.near.enter(|| connect(name, streams.1.local_addr().unwrap()));
            assert_eq!(refused.unwrap_err().raw_os_error(), Some(Errno::NOENT.raw_os_error()));
            // The name is free again, although a connection still has a controller of that name.
            load(&Params::new(controller), name, false).unwrap();
        });
    }
}

#[test]
fn it_is_listed_as_it_was_loaded() {
    if skip::cannot_load() {
        return;
    }
    let space = Space::new();
    let mut params = Params::new(find("compound").unwrap());
    params.set("gamma", 20.0).unwrap();
    params.set("beta", 0.25).unwrap();
    let guard = Loaded { name: unique_name() };
    load(&params, &guard.name, false).unwrap();
    let _streams = connected(&guard.name, &space, &space, "127.0.0.1");
    let listed = list().unwrap().into_iter().find(|l| l.name == guard.name).unwrap();
    assert_eq!((&*listed.controller, listed.connections), ("compound", 1));
    let mut parameters = listed.parameters.clone();
    parameters.sort_by_key(|p| p.0);
    assert_eq!(parameters, [("beta", 0.25), ("gamma", 20.0)]);
    assert!(!listed.is_default && listed.replaced_default.is_empty(), "{listed:?}");
}

/// Whatever others do meanwhile, and although there is nothing at all in between.
#[test]
fn what_is_loaded_can_be_listed_at_any_time() {
    if skip::cannot_load() {
        return;
    }
    let (reno, name) = (Params::new(find("reno").unwrap()), unique_name());
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            for _ in 0..30 {
                load(&reno, &name, false).unwrap();
                unload(&name).unwrap();
            }
        });
        while !others.is_finished() {
            list().unwrap();
        }
    });
}

#[test]
fn unload_restores_the_default() {
    if skip::cannot_load() {
        return;
    }
    let machine = default_controller().unwrap();
    let (space, by_hand, other) = (Space::new(), Space::new(), Space::new());
    let before = if space.enter(default_controller).unwrap() == "reno" { "cubic" } else { "reno" };
    space.enter(|| set_default(before));
    let loaded = space.enter(|| Loaded::new(find("reno").unwrap(), true));
    by_hand.enter(|| set_default(&loaded.name));
    let defaults = || [&space, &by_hand, &other].map(|s| s.enter(default_controller).unwrap());
    let others = other.enter(default_controller).unwrap();
    assert_eq!(defaults(), [loaded.name.clone(), loaded.name.clone(), others.clone()]);
    assert_eq!(default_controller().unwrap(), machine, "only the caller's namespace is changed");
    let by_default = space.enter(|| std::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    assert_eq!(tcp_congestion(&by_default).unwrap(), loaded.name);

    let unloaded = unload(&loaded.name).unwrap();
    let mut restored = unloaded.restored_defaults[before].clone();
    restored.sort();
    let mut there = [&space, &by_hand].map(|s| s.namespace().name.clone());
    there.sort();
    assert_eq!((&restored[..], unloaded.restored_defaults.len()), (&there[..], 1));
    assert_eq!(defaults(), [before.to_owned(), before.to_owned(), others]);
    assert_eq!(default_controller().unwrap(), machine);
}

fn set_default(name: &str) {
    fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name).unwrap();
}

#[test]
fn a_failing_test_leaves_no_trace() {
    if skip::cannot_load() {
        return;
    }
    let mut names = Vec::new();
    let mut holders = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let path = Path::new("tbf rate 400mbit burst 128kb limit 500kb");
        let loaded = path.near.enter(|| Loaded::new(find("compound_auto").unwrap(), true));
        let registered = Registered::new(find("compound").unwrap());
        names = vec![loaded.name.clone(), registered.name.clone()];
        holders = vec![path.near.pid(), path.far.pid()];
        let others = connected(&names[0], &path.near, &path.far, FAR);
        let streams = connected(&names[1], &path.near, &path.far, FAR);
        transfer(&streams, 10_000_000, |sent| assert!(sent < 5 << 20, "as a test fails"));
        drop(others);
    }));
    let message = outcome.unwrap_err();
    assert_eq!(message.downcast_ref::<&str>(), Some(&"as a test fails"));

    wait_until("the names are free", || !available().unwrap().iter().any(|n| names.contains(n)));
    for holder in holders {
        assert!(!File::new(&format!("/proc/{holder}")).exists());
    }
    let folder = File::new("/sys/fs/bpf/tandem");
    for name in &names {
        assert!(!folder.join(name).exists());
    }
    // Another test, or another user of this machine, may have something loaded.
    wait_until("the BPF file system that Tandem mounts is gone with the last controller", || {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        folder.exists() || !mounts.lines().any(|l| l.starts_with("tandem /sys/fs/bpf "))
    });
}
