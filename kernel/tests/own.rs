// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers of users' own in the kernel: the same arithmetic as native, real TCP, and refusals that name the line.
#![cfg(feature = "own")]

mod lockstep;
mod net;
mod skip;

use std::{env, fs, os::unix::fs::symlink, process::Command};

use tandem_controllers::{
    Controller, Params,
    own::{open, templates},
};
use tandem_kernel::{Error, attach};
use tandem_testing::{
    invariant::{self, Connection, Facts},
    output, random_test,
};
use tempfile::TempDir;

use lockstep::LockStep;
use net::{Registered, Space, connected, transfer, unique_name};

/// The header that `tandem new` writes.
fn template(name: &str) -> String {
    let [(_, header), ..] = templates(name);
    header
}

/// The controller that `tandem new` writes, with some of its text replaced, and the line of that.
fn controller(folder: &TempDir, name: &str, from: &str, to: &str) -> (&'static Controller, usize) {
    let (path, text) = (folder.path().join(format!("{name}.h")), template(name));
    let line = 1 + text.lines().position(|line| line.contains(from)).unwrap_or_else(|| panic!("no `{from}`"));
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    (open(&path).unwrap_or_else(|e| panic!("{e}")), line)
}

const SAME: &str = "s->prior_cwnd = c->snd_cwnd;";

#[test]
fn it_has_the_same_bits_as_native_and_carries_real_tcp() {
    if skip::cannot_load() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (own, _) = controller(&folder, "own_in_kernel", SAME, SAME);
    random_test!(it_has_the_same_bits_as_native_and_carries_real_tcp, 10).run(invariant::case(500), |case| {
        Connection::<LockStep>::new(case.parameters(own), &Facts::NONE, case.conn)
            .and_then(|mut connection| case.events.iter().try_for_each(|event| connection.play(event)))
    });
    let (space, registered) = (Space::new(), Registered::new(own));
    let streams = connected(&registered.name, &space, &space, "127.0.0.1");
    transfer(&streams, 1_000_000, |_| ());
}

/// An index that only data know is an address that the verifier does not know.
#[test]
fn what_the_verifier_rejects_is_named_with_its_line() {
    if skip::cannot_load() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own_index.h");
    let text = template("own_index").replace("u32 prior_cwnd;", "u32 prior_cwnd, seen[8];");
    let text = text.replace("\tif (!c->is_cwnd_limited)", "\ts->seen[acked % 8] = acked;\n\tif (!c->is_cwnd_limited)");
    let line = 1 + text.lines().position(|line| line.contains("acked % 8")).unwrap();
    fs::write(&path, text).unwrap();
    let error = attach(&Params::new(open(&path).unwrap()), &unique_name()).expect_err("the index is not constant");
    let message = error.to_string();
    assert!(matches!(error, Error::OwnVerifier { .. }), "{message}");
    assert!(message.contains(&format!("own_index.h` at own_index.h:{line}")), "{message}");
}

#[test]
fn what_clang_cannot_make_ebpf_of_is_named_with_its_line() {
    if skip::cannot_load() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let wide = "max_u32((u32)((__extension__(unsigned __int128)c->now_us * c->now_us * p->kept) >> 70), 2)";
    let (own, line) = controller(&folder, "own_wide", "max_u32(mul_div(c->snd_cwnd, p->kept, 1024), 2)", wide);
    let error = attach(&Params::new(own), &unique_name()).expect_err("eBPF has no such product");
    let message = error.to_string();
    assert!(
        message.contains("does not compile for eBPF") && message.contains(&format!("own_wide.h:{line}:")),
        "{message}"
    );
}

/// Another compiler is another process's: environments are not for one test alone.
#[test]
fn a_clang_that_is_missing_is_named_and_the_mend() {
    const CHILD: &str = "TANDEM_TEST_OWN_CHILD";
    let folder = tempfile::tempdir().unwrap();
    if env::var_os(CHILD).is_some() {
        let (own, _) = controller(&folder, "own_no_clang", SAME, SAME);
        let message = attach(&Params::new(own), &unique_name()).expect_err("there is no clang").to_string();
        assert!(message.contains("needs clang for the kernel, and there is none: install it"), "{message}");
        return;
    }
    if skip::cannot_load() {
        return;
    }
    // Where cc is, and clang is not.
    for program in ["cc", "as", "ld"] {
        let path = env::var_os("PATH").unwrap();
        let found = env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.exists());
        symlink(found.unwrap(), folder.path().join(program)).unwrap();
    }
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "a_clang_that_is_missing_is_named_and_the_mend"]).env("PATH", folder.path());
    child.env_remove("TANDEM_CLANG").env_remove("CC").env(CHILD, "1");
    let finished = output(&mut child);
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stdout));
}
