// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles and runs a small C program against the controllers' headers, so that Rust can judge what C computes.

// Each test that includes this module uses its own part of it.
#![allow(dead_code)]

pub mod layout;

use std::{env, path::Path, process::Command};

/// Builds `tests/<source>` and returns what it writes to stdout.
pub fn run_c(source: &str) -> Vec<u8> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = |folder: &str| format!("-I{}", crate_dir.join("..").join(folder).display());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source).with_extension("out");
    let mut compile = if cfg!(feature = "sanitize") {
        let mut clang = Command::new(env::var("TANDEM_CLANG").unwrap_or_else(|_| "clang-16".into()));
        clang.args(["-fsanitize=undefined,unsigned-integer-overflow,implicit-conversion", "-fsanitize-trap=all"]);
        clang
    } else {
        Command::new(env::var("CC").unwrap_or_else(|_| "cc".into()))
    };
    compile
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
        .args(["controllers/include", "controllers/src", "controllers/tests", "kernel/bpf"].map(include))
        .arg(crate_dir.join("tests").join(source))
        .arg("-o")
        .arg(&program);
    let compiled = compile.status().unwrap_or_else(|e| panic!("{compile:?}: {e}"));
    assert!(compiled.success(), "{compile:?}: {compiled}");

    let run = Command::new(&program).output().unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    assert!(run.status.success(), "{}: {}", program.display(), run.status);
    run.stdout
}
