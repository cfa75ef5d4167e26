// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names the arithmetic of each engine by a hash of the sources that decide results. Two builds of the same sources have the same, whatever
//! program they are part of.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

/// Decides every engine's results: the controllers, what a scenario means, the figures and the columns made of a result.
const COMMON: &[&str] = &[
    "controllers/include",
    "controllers/src",
    "crates/scenario/src",
    "crates/network/src",
    "crates/engine/src",
    "crates/tables/src",
];

/// Name, own sources, and the package that is its root in Cargo.lock.
const ENGINES: &[(&str, &[&str], &str)] = &[
    ("sim", &["crates/tcp/src", "crates/sim/src"], "tandem-sim"),
    ("kernel", &["crates/testbed/src", "kernel/src", "kernel/bpf"], "tandem-testbed"),
    ("quic", &["crates/tcp/src", "crates/sim/src", "crates/quic/src", "crates/quic-engine/src"], "tandem-quic-engine"),
    ("model", &["crates/model/src"], "tandem-model"),
];

fn main() {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let root = package.join("../..");
    let lock = fs::read_to_string(root.join("Cargo.lock")).ok().and_then(|text| text.parse::<toml::Table>().ok());
    let is_repository = lock.is_some() && COMMON.iter().all(|source| root.join(source).is_dir());
    if is_repository {
        println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
    }
    for (name, own, crate_name) in ENGINES {
        let hash = match &lock {
            Some(lock) if is_repository => of_sources(&root, own, lock, crate_name),
            // A published package: its version says which sources it and those beside it have.
            _ => env::var("CARGO_PKG_VERSION").unwrap(),
        };
        println!("cargo::rustc-env=TANDEM_ARITHMETIC_{}={hash}", name.to_uppercase());
    }
}

fn of_sources(root: &Path, own: &[&str], lock: &toml::Table, crate_name: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for source in COMMON.iter().chain(own) {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
        let mut files = BTreeSet::new();
        list(&root.join(source), &mut files);
        for file in files {
            let name = file.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            let content = fs::read(&file).unwrap();
            hasher.update(format!("{name} {}\n", content.len()).as_bytes()).update(&content);
        }
    }
    for package in dependencies(lock, crate_name) {
        hasher.update(package.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// All files below; tests beside the code decide nothing.
fn list(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !path.is_dir() {
            files.insert(path);
        } else if path.file_name().is_none_or(|name| name != "tests") {
            list(&path, files);
        }
    }
}

/// The versions of all packages below one in Cargo.lock.
fn dependencies(lock: &toml::Table, root: &str) -> BTreeSet<String> {
    let packages: Vec<&toml::Table> =
        lock["package"].as_array().into_iter().flatten().filter_map(toml::Value::as_table).collect();
    let text = |package: &toml::Table, key: &str| package.get(key).and_then(|v| v.as_str()).unwrap_or("").to_owned();
    let (mut found, mut waiting) = (BTreeSet::new(), vec![root.to_owned()]);
    while let Some(wanted) = waiting.pop() {
        // `NAME`, or `NAME VERSION` where there are several.
        let (name, version) = wanted.split_once(' ').unwrap_or((&wanted, ""));
        for package in packages.iter().filter(|p| text(p, "name") == name) {
            let of_package = text(package, "version");
            let is_meant = version.is_empty() || version.split(' ').next() == Some(&of_package);
            if is_meant && found.insert(format!("{name} {of_package} {}\n", text(package, "checksum"))) {
                let below = package.get("dependencies").and_then(|d| d.as_array()).into_iter().flatten();
                waiting.extend(below.filter_map(|d| d.as_str().map(str::to_owned)));
            }
        }
    }
    found
}
