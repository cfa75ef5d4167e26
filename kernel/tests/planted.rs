// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others have put where Tandem keeps its controllers is neither followed nor removed. Alone in its program, which waits for those of
//! other tests: none may load anything meanwhile.

mod net;
mod skip;

use std::{
    fs,
    os::unix::fs::{chown, lchown, symlink},
    path::Path,
};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tandem_controllers::{Params, find};
use tandem_kernel::{Error, available, clean_up, list, load, unload};

use net::unique_name;

const BPFFS: &str = "/sys/fs/bpf";
const PLANTED: &str = "/sys/fs/bpf/tandem";
const NOBODY: u32 = 65534;

/// A BPF file system that everybody may write to, as `mount -t bpf` makes it, unless the machine has one.
struct SharedMount {
    is_own: bool,
}

impl SharedMount {
    fn new() -> Self {
        let is_mounted = fs::read_to_string("/proc/mounts").unwrap().lines().any(|l| l.contains(" /sys/fs/bpf bpf "));
        if !is_mounted {
            mount("none", BPFFS, "bpf", MountFlags::empty(), Some(c"mode=1777")).unwrap();
        }
        Self { is_own: !is_mounted }
    }
}

impl Drop for SharedMount {
    fn drop(&mut self) {
        let _ = fs::remove_file(PLANTED);
        let _ = fs::remove_dir(PLANTED);
        if self.is_own {
            let _ = unmount(BPFFS, UnmountFlags::empty());
        }
    }
}

fn assert_all_refuse(name: &str, why: &str) {
    let reno = Params::new(find("reno").unwrap());
    let errors: [Error; 4] = [
        load(&reno, name, false).unwrap_err(),
        unload(name).unwrap_err(),
        list().unwrap_err(),
        clean_up(|_| false).unwrap_err(),
    ];
    for error in errors {
        let message = error.to_string();
        assert!(message.contains(why) && message.contains(PLANTED), "`{why}` is not in: {message}");
    }
    assert!(!available().unwrap().iter().any(|n| n == name));
}

#[test]
fn what_others_planted_is_neither_followed_nor_removed() {
    if skip::cannot_load() {
        return;
    }
    if Path::new(PLANTED).exists() {
        return tandem_testing::skip("something is loaded on this machine, which `tandem kernel unload` takes away");
    }
    let _mount = SharedMount::new();
    let name = unique_name();
    let elsewhere = tempfile::tempdir().unwrap();
    let victim = elsewhere.path().join(&name).join("file");
    fs::create_dir(victim.parent().unwrap()).unwrap();
    fs::write(&victim, "kept").unwrap();
    symlink(elsewhere.path(), PLANTED).unwrap();
    lchown(PLANTED, Some(NOBODY), None).unwrap();
    assert_all_refuse(&name, "is a symbolic link");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");

    fs::remove_file(PLANTED).unwrap();
    fs::create_dir(PLANTED).unwrap();
    chown(PLANTED, Some(NOBODY), None).unwrap();
    assert_all_refuse(&name, &format!("belongs to user {NOBODY}"));
    assert!(Path::new(PLANTED).exists());
}
