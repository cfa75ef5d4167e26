// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles and runs a small C program against the controllers' headers, so that Rust can judge what C computes.

use std::{env, path::Path, process::Command};

use crate::output;

/// Where a test's C programs are and how they are compiled; `run_c!` fills it in.
pub struct Program<'a> {
    /// Folder of the calling crate.
    pub crate_dir: &'a str,
    /// Folder for what is compiled.
    pub build_dir: &'a str,
    /// With clang and its integer sanitizers, which trap.
    pub sanitize: bool,
}

/// Builds `tests/<source>` of the calling crate and returns what it writes to stdout.
#[macro_export]
macro_rules! run_c {
    ($source:literal, sanitize: $sanitize:expr) => {
        $crate::c::Program {
            crate_dir: env!("CARGO_MANIFEST_DIR"),
            build_dir: env!("CARGO_TARGET_TMPDIR"),
            sanitize: $sanitize,
        }
        .run($source)
    };
}

impl Program<'_> {
    /// Builds `tests/<source>` and returns what it writes to stdout. Panics if it does not compile or fails.
    pub fn run(&self, source: &str) -> Vec<u8> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let include = |folder: &str| format!("-I{}", repository.join(folder).display());
        let program = Path::new(self.build_dir).join(source).with_extension("out");
        let mut compile = self.compiler();
        compile
            .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
            .args(["controllers/include", "controllers/src", "kernel/bpf", "crates/testing/c"].map(include))
            .arg(Path::new(self.crate_dir).join("tests").join(source))
            .arg("-o")
            .arg(&program);
        let compiled = output(&mut compile);
        assert!(compiled.status.success(), "{compile:?}:\n{}", String::from_utf8_lossy(&compiled.stderr));

        let run = output(&mut Command::new(&program));
        assert!(run.status.success(), "{}: {}", program.display(), run.status);
        run.stdout
    }

    fn compiler(&self) -> Command {
        if !self.sanitize {
            return Command::new(env::var("CC").unwrap_or_else(|_| "cc".into()));
        }
        let mut clang = Command::new(env::var("TANDEM_CLANG").unwrap_or_else(|_| "clang-16".into()));
        clang.args(["-fsanitize=undefined,unsigned-integer-overflow,implicit-conversion", "-fsanitize-trap=all"]);
        clang
    }
}
