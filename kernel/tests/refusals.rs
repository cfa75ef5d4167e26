// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel or Tandem refuses, and that each refusal says what is wrong and what to do.
#![expect(unsafe_code)]

mod net;
mod skip;

use std::thread;

use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
    thread::{UnshareFlags, unshare_unsafe},
};
use tandem_controllers::{Params, find};
use tandem_kernel::{Error, attach, available, check_loadable, list, load, refused, unload, usual_name};

use net::{Loaded, Registered, as_nobody, unique_name};

/// The object of `bpf/SOURCE.bpf.c`.
macro_rules! object {
    ($source:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $source, ".test.o"))
    };
}

const LICENCE: &str = "Dual BSD/GPL";
const NAME: &str = "tandem_minimal";

/// The object with nothing wrong, with `to` in place of the text `from`.
fn changed(from: &str, to: &str) -> Vec<u8> {
    let mut bytes = object!("minimal").to_vec();
    let text = [from.as_bytes(), b"\0"].concat();
    let at = bytes.windows(text.len()).position(|w| w == text).expect("the object has the text");
    bytes[at..at + from.len()].fill(0);
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    bytes
}

/// The message of a refusal, which must hold all of `words`.
fn assert_says<T>(outcome: Result<T, Error>, words: &[&str]) {
    let message = outcome.err().expect("it is refused").to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

fn reno() -> Params {
    Params::new(find("reno").unwrap())
}

#[test]
fn the_kernel_takes_an_object_with_nothing_wrong() {
    if skip::cannot_load() {
        return;
    }
    refused(&changed(NAME, &unique_name()), "minimal").unwrap();
}

#[test]
fn licence() {
    if skip::cannot_load() {
        return;
    }
    let outcome = refused(&changed(LICENCE, "Proprietary"), "secret");
    assert_says(outcome, &["does not accept the licence of `secret`", "GPL compatible"]);
}

#[test]
fn missing_operation() {
    if skip::cannot_load() {
        return;
    }
    assert_says(
        refused(object!("incomplete"), "incomplete"),
        &["`incomplete` is incomplete", "ssthresh, undo_cwnd and cong_avoid"],
    );
}

#[test]
fn operation_that_only_the_kernels_own_may_have() {
    if skip::cannot_load() {
        return;
    }
    assert_says(refused(object!("get_info"), "get_info"), &["`get_info` sets a member", "unsupported member get_info"]);
}

#[test]
fn structure_of_another_size() {
    if skip::cannot_load() {
        return;
    }
    assert_says(refused(object!("wrong_size"), "wrong_size"), &["the kernel refuses `wrong_size`", "flags"]);
}

#[test]
fn state_that_exceeds_a_connections_room() {
    if skip::cannot_load() {
        return;
    }
    assert_says(
        refused(object!("large_state"), "large_state"),
        &["verifier rejects `large_state`", "uname -r", "no write support"],
    );
}

#[test]
fn endless_loop() {
    if skip::cannot_load() {
        return;
    }
    assert_says(
        refused(object!("endless_loop"), "endless_loop"),
        &["verifier rejects `endless_loop`", "infinite loop detected"],
    );
}

#[test]
fn names_that_the_kernel_has() {
    if skip::cannot_load() {
        return;
    }
    for name in ["reno", "cubic"] {
        assert_says(
            attach(&reno(), name),
            &[&format!("has a controller named `{name}`"), &format!("--as tandem_{name}")],
        );
    }
    // And by the kernel itself, should somebody take the name in between.
    assert_says(refused(&changed(NAME, "reno"), "reno"), &["already has a controller named `reno`"]);
    let registered = Registered::new(find("compound").unwrap());
    assert_says(load(&reno(), &registered.name, false), &["already has a controller named", "--as"]);
}

/// Every kernel has `reno`, and none has `compound_tube`.
#[test]
fn a_controller_whose_name_is_taken_has_another() {
    if skip::cannot_load() {
        return;
    }
    let name = |controller| usual_name(find(controller).unwrap()).unwrap();
    assert_eq!((&*name("reno"), &*name("compound_tube")), ("tandem_reno", "compound_tube"));
}

#[test]
fn a_controller_that_no_kernel_can_run() {
    assert_says(
        check_loadable(find("prague").unwrap()),
        &["`prague` does not run in the kernel", "ECT(1)", "accurate ECN", "simulator"],
    );
}

#[test]
fn loading_twice() {
    if skip::cannot_load() {
        return;
    }
    let loaded = Loaded::new(find("reno").unwrap(), false);
    let again = load(&reno(), &loaded.name, false);
    assert_says(again, &[&format!("`{}` is loaded already", loaded.name), "unload it first", "--as"]);
    assert!(list().unwrap().iter().any(|l| l.name == loaded.name), "the first stays");
}

#[test]
fn unloading_what_is_not_loaded() {
    if skip::cannot_load() {
        return;
    }
    let loaded = Loaded::new(find("reno").unwrap(), false);
    assert_says(unload("nonsuch"), &["`nonsuch` is not loaded", "loaded: ", &loaded.name]);
    assert_says(
        unload("cubic"),
        &["`cubic` belongs to the kernel or to another program", "the controllers that it loaded: ", &loaded.name],
    );
    let registered = Registered::new(find("reno").unwrap());
    assert_says(unload(&registered.name), &["another program"]);
}

#[test]
fn bad_names() {
    for name in ["", "sixteen_letters_", "with space", "a/b", "a-b", "..", "über", "a\nb", "a\0b"] {
        assert_says(load(&reno(), name, false), &[&format!("`{name}` cannot name a controller"), "1 to 15 letters"]);
        assert_says(attach(&reno(), name).map(drop), &["cannot name a controller"]);
    }
}

#[test]
fn no_rights() {
    if skip::cannot_load() {
        return;
    }
    let loaded = Loaded::new(find("reno").unwrap(), false);
    let mend = "run it as root, or with the capabilities CAP_BPF, CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_NET_ADMIN";
    as_nobody(|| {
        assert_says(attach(&reno(), "of_nobody"), &["not permitted to load a controller", mend]);
        assert_says(load(&reno(), "of_nobody", false), &["not permitted to load a controller", mend]);
        assert_says(unload(&loaded.name), &["not permitted to", mend]);
        assert_says(list(), &["not permitted to see the loaded controllers", mend]);
    });
    assert!(!available().unwrap().iter().any(|n| n == "of_nobody"));
}

#[test]
fn kernel_without_btf() {
    if skip::cannot_load() {
        return;
    }
    // Where this thread looks, and only there, the file is hidden.
    let hide = || {
        // SAFETY: only CLONE_FILES, which is not asked for, has a condition.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::FS) }.unwrap();
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
        mount("none", "/sys/kernel/btf", "tmpfs", MountFlags::empty(), None).unwrap();
        assert_says(attach(&reno(), &unique_name()), &["no /sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF=y"]);
    };
    thread::scope(|scope| scope.spawn(hide).join()).unwrap();
}
