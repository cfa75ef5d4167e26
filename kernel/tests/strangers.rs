// SPDX-License-Identifier: MIT OR Apache-2.0
//! Root is not alone on a machine: others may not block it, nor lose or keep what it loads, and less than root suffices.
#![expect(unsafe_code)]

mod net;
mod skip;

use std::{
    fs::File,
    net::{SocketAddr, TcpListener},
    sync::mpsc,
    thread,
};

use rustix::{
    fs::{FlockOperation, flock},
    mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount},
    net::sockopt::set_tcp_congestion,
    process::Uid,
    thread::{
        CapabilitySet, CapabilitySets, UnshareFlags, set_capabilities, set_keep_capabilities, set_thread_res_uid,
        unshare_unsafe,
    },
};
use tandem_controllers::{Params, find};
use tandem_kernel::{
    Error, Unloaded, available, default_controller, list, load,
    sockops::{PolicyFile, Question, ask_policy, load_policy, policy, remove_policy},
    unload,
};
use tandem_testing::PATIENCE;

use net::{Group, Loaded, Space, as_nobody, unique_name};

fn reno() -> Params {
    Params::new(find("reno").unwrap())
}

fn is_available(name: &str) -> bool {
    available().unwrap().iter().any(|n| n == name)
}

fn set_default(name: &str) {
    std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name).unwrap();
}

/// On a thread that nobody waits for, lest the test hang where it ought to fail.
#[test]
fn a_stranger_s_lock_does_not_block_root() {
    if skip::cannot_load() {
        return;
    }
    let _locked: Vec<File> = ["/sys/fs", "/sys/fs/bpf", "/run"]
        .into_iter()
        .filter_map(|folder| as_nobody(|| File::open(folder)).ok())
        .inspect(|file| flock(file, FlockOperation::NonBlockingLockExclusive).unwrap())
        .collect();
    let (finished, is_finished) = mpsc::channel();
    thread::spawn(move || {
        drop(Loaded::new(find("reno").unwrap(), false));
        finished.send(()).unwrap();
    });
    is_finished.recv_timeout(PATIENCE).expect("load and unload do not wait for the lock");
}

/// As `ip netns exec` does: with mounts of its own, and a /sys in which there is no BPF file system.
fn with_own_mounts<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let inside = || {
        // SAFETY: only CLONE_FILES, which is not asked for, has a condition.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::FS) }.unwrap();
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
        unmount("/sys", UnmountFlags::DETACH).unwrap();
        mount("sysfs", "/sys", "sysfs", MountFlags::empty(), None).unwrap();
        work()
    };
    thread::scope(|scope| scope.spawn(inside).join()).unwrap()
}

#[test]
fn what_would_not_outlast_the_command_is_not_loaded() {
    if skip::cannot_load() {
        return;
    }
    let name = unique_name();
    let refused = with_own_mounts(|| load(&reno(), &name, false)).unwrap_err();
    assert!(matches!(refused, Error::OwnMounts), "{refused}");
    assert!(!is_available(&name));
    // Nor a policy, and one that is loaded is not said not to be.
    let file = PolicyFile::parse("192.0.2.0/24 -> reno").unwrap();
    let group = Group::new();
    let refused = with_own_mounts(|| load_policy(&file, Some(&group.path))).unwrap_err();
    assert!(matches!(refused, Error::OwnMounts | Error::NoCgroups | Error::BadCgroup { .. }), "{refused}");
    let refused = with_own_mounts(policy).unwrap_err();
    assert!(matches!(refused, Error::OwnMounts), "{refused}");
    // What is loaded is not said to be another's.
    let loaded = Loaded::new(find("reno").unwrap(), false);
    let refused = with_own_mounts(|| unload(&loaded.name)).unwrap_err();
    assert!(matches!(refused, Error::OwnMounts), "{refused}");
}

/// Controllers that only the machine's first namespace may use are no default for others, whatever it was before.
#[test]
fn a_namespace_that_has_it_by_default_does_not_keep_it() {
    if skip::cannot_load() {
        return;
    }
    let (space, loaded) = (Space::new(), Loaded::new(find("reno").unwrap(), false));
    space.enter(|| set_default(&loaded.name));
    let unloaded = unload(&loaded.name).unwrap();
    let default = space.enter(default_controller).unwrap();
    assert_ne!(default, loaded.name);
    let restored = [(default, vec![space.namespace().name.clone()])].into();
    assert_eq!((unloaded.restored_defaults, unloaded.still_default_in), (restored, Vec::new()));
}

#[test]
fn the_default_comes_back_in_whatever_order_controllers_go() {
    if skip::cannot_load() {
        return;
    }
    let space = Space::new();
    space.enter(|| set_default("reno"));
    let load = || space.enter(|| Loaded::new(find("compound").unwrap(), true));
    let default = || space.enter(default_controller).unwrap();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let loaded = [load(), load(), load()];
        assert_eq!(default(), loaded[2].name);
        for which in order {
            unload(&loaded[which].name).unwrap();
            assert_ne!(default(), loaded[which].name);
        }
        assert_eq!(default(), "reno", "{order:?}");
    }
}

#[test]
fn unload_names_the_listeners_that_still_give_it_away() {
    if skip::cannot_load() {
        return;
    }
    let space = Space::new();
    let loaded = Loaded::new(find("compound_tube").unwrap(), false);
    let listen = |address: &str| {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    };
    let (chosen, asked) = space.enter(|| listen("127.0.0.1:0"));
    set_tcp_congestion(&chosen, &loaded.name).unwrap();
    let (_other, _) = space.enter(|| listen("127.0.0.1:0"));
    space.enter(|| set_default(&loaded.name));
    let (_by_default, inherited) = space.enter(|| listen("[::1]:0"));
    let Unloaded { listeners: Some(listeners), .. } = unload(&loaded.name).unwrap() else {
        return tandem_testing::skip("this kernel has no tcp_diag");
    };
    let mut expected = [asked, inherited];
    expected.sort();
    let mut found: Vec<SocketAddr> = listeners.iter().map(|l| l.address).collect();
    found.sort();
    assert_eq!(found, expected);
    assert!(listeners.iter().all(|l| l.namespace == format!("pid {}", space.pid())), "{listeners:?}");
}

/// What errors, `check` and the documents name.
#[test]
fn the_documented_capabilities_suffice() {
    if skip::cannot_load() {
        return;
    }
    let documented = CapabilitySet::BPF
        | CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::NET_ADMIN
        | CapabilitySet::PERFMON
        | CapabilitySet::SYS_ADMIN
        | CapabilitySet::SYS_PTRACE;
    let space = Space::new();
    let (by_nobody, by_root) = (unique_name(), Loaded::new(find("reno").unwrap(), false));
    let (group, policy_file) = (Group::new(), PolicyFile::parse("default -> reno").unwrap());
    let with_capabilities = || {
        set_keep_capabilities(true).unwrap();
        let uid = Uid::from_raw(65534);
        // Only this thread changes its user.
        set_thread_res_uid(uid, uid, uid).unwrap();
        let inheritable = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: documented, permitted: documented, inheritable }).unwrap();
        // Its own user may not enter the folder in which it pins.
        load(&reno(), &by_nobody, false).unwrap();
        unload(&by_root.name).unwrap();
        load_policy(&policy_file, Some(&group.path)).unwrap();
        let asked = Question { peer: "192.0.2.7".parse().unwrap(), port: 443, cgroup: None };
        assert!(ask_policy(&asked).unwrap().rule.is_some());
        remove_policy().unwrap();
        list().unwrap().len()
    };
    let loaded = thread::scope(|scope| scope.spawn(with_capabilities).join()).unwrap();
    assert!(loaded >= 1);
    // Root takes what it left for its own.
    let by_nobody = Loaded { name: by_nobody };
    space.enter(|| set_default(&by_nobody.name));
    unload(&by_nobody.name).unwrap();
}
