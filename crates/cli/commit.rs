// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commit that the command line and the Python package are built from: a part of their build scripts.

use std::{fs, path::Path, process::Command};

/// What programs are made of, from the root of the repository. A commit that changes nothing here makes no other program, and
/// finished runs that are kept stay valid.
const SOURCES: &[&str] = &["Cargo.toml", "Cargo.lock", "controllers", "crates", "experiments/src", "kernel"];

/// The commit of the repository at `root`, or else of the published `package`, or else `unknown`. Cargo asks again when a source changes.
pub fn of(root: &Path, package: &Path) -> String {
    for source in SOURCES.iter().map(|source| root.join(source)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    of_repository(root).or_else(|| of_package(package)).unwrap_or_else(|| "unknown".into())
}

/// The last commit that changed the sources; `+` after it if they have changed since.
fn of_repository(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).arg("--").args(SOURCES).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["log", "-1", "--format=%h"]).filter(|commit| !commit.is_empty())?;
    let is_changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    Some(if is_changed { commit + "+" } else { commit })
}

/// What cargo notes in the packages that it makes.
fn of_package(package: &Path) -> Option<String> {
    let info = fs::read_to_string(package.join(".cargo_vcs_info.json")).ok()?;
    let commit = info.split("\"sha1\": \"").nth(1)?.split('"').next()?;
    Some(commit.chars().take(7).collect())
}
