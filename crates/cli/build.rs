// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tells the program which commit it is built from, and how.

use std::{env, fs, path::Path, process::Command};

/// What the program is made of, from the root of the repository. A commit that changes nothing here makes no other program, and
/// finished runs that are kept stay valid.
const SOURCES: &[&str] = &["Cargo.toml", "Cargo.lock", "controllers", "crates", "experiments/src", "kernel"];

fn main() {
    let package = env::var("CARGO_MANIFEST_DIR").unwrap();
    let root = Path::new(&package).join("../..");
    for source in SOURCES.iter().map(|source| root.join(source)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let commit = of_repository(&root).or_else(|| of_package(Path::new(&package))).unwrap_or_else(|| "unknown".into());
    let [profile, target] = ["PROFILE", "TARGET"].map(|name| env::var(name).unwrap());
    let linux = if env::var_os("CARGO_FEATURE_LINUX").is_some() && target.contains("linux") {
        ""
    } else {
        ", without Linux's parts"
    };
    println!("cargo::rustc-env=TANDEM_COMMIT={commit}");
    println!("cargo::rustc-env=TANDEM_BUILD={profile} for {target}{linux}");
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
