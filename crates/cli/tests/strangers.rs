// SPDX-License-Identifier: MIT OR Apache-2.0
//! What other users of a machine can have many of, and what they plant where root writes.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, lchown, symlink},
    process::Command,
};

use common::{Finished, Place};
use tandem_controllers::{Params, find};
use tandem_kernel::{load, unload};
use tandem_testing::{Running, output, take_controllers};

/// With at most this many open files.
fn with_open_files(limit: u32, arguments: &str) -> Finished {
    let script = format!("ulimit -n {limit}; exec {} {arguments}", env!("CARGO_BIN_EXE_tandem"));
    output(Command::new("sh").args(["-c", &script]).env("TANDEM_STORE", "off")).into()
}

fn cannot_load() -> bool {
    let lack = tandem_kernel::features().into_iter().find(|f| f.required && !f.present);
    if let Some(lack) = &lack {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
    }
    take_controllers();
    lack.is_some()
}

/// Any user can make them.
#[test]
fn more_namespaces_than_open_files_hide_nothing_and_keep_nothing() {
    if cannot_load() {
        return;
    }
    let namespace = |_| Running::start_echo(Command::new("unshare").args(["--net", "cat"]));
    let _namespaces: Vec<Running> = (0..120).map(namespace).collect();
    let name = format!("s{}", std::process::id());
    load(&Params::new(find("reno").unwrap()), &name, false).unwrap();
    let listed = with_open_files(80, "kernel list --json");
    let watched = with_open_files(80, "kernel watch --json --count 1 --interval 100ms");
    let unloaded = with_open_files(80, &format!("kernel unload {name}"));
    // Only if that failed.
    let _ = unload(&name);
    assert!(listed.status == Some(0) && listed.out.contains(&name), "{}{}", listed.out, listed.err);
    assert_eq!(watched.status, Some(0), "{}", watched.err);
    assert_eq!(unloaded.status, Some(0), "{}", unloaded.err);
}

#[test]
fn too_few_open_files_are_named() {
    if cannot_load() {
        return;
    }
    let refused = with_open_files(16, &format!("kernel load reno --as f{}", std::process::id()));
    assert_eq!(refused.status, Some(1), "{}", refused.err);
    assert!(refused.err.contains("open files") && refused.err.contains("ulimit -n"), "{}", refused.err);
}

/// `tandem-out` in a folder like /tmp, made by another user before root's first run there.
#[test]
fn root_follows_no_folder_that_others_have_linked() {
    if !rustix::process::geteuid().is_root() {
        return tandem_testing::skip("it takes root to be deceived");
    }
    let place = Place::new();
    fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o1777)).unwrap();
    fs::create_dir(place.path("roots")).unwrap();
    symlink(place.path("roots"), place.path("tandem-out")).unwrap();
    let run = |place: &Place| place.tandem(&format!("compare {} reno", common::QUICK));
    lchown(place.path("tandem-out"), Some(65534), None).unwrap();
    let refused = run(&place);
    assert_eq!(refused.status, Some(1), "{}", refused.err);
    // Where the kernel itself refuses (fs.protected_symlinks) its words are others.
    assert!(refused.err.contains("cannot write to the output folder"), "{}", refused.err);
    assert_eq!(fs::read_dir(place.path("roots")).unwrap().count(), 0);
    // Root's own link is.
    lchown(place.path("tandem-out"), Some(0), None).unwrap();
    let followed = run(&place);
    assert_eq!(followed.status, Some(0), "{}", followed.err);
}
