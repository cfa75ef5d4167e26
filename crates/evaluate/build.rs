// SPDX-License-Identifier: MIT OR Apache-2.0
//! Puts the files of experiments/rfc9743 into the program, so that the installed binary needs no folder beside it.

use std::{env, fs, path::Path};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../experiments/rfc9743");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let entry = |path: &std::path::PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        format!("    ({stem:?}, include_str!({:?})),\n", path.display().to_string())
    };
    let list = format!("&[\n{}]\n", paths.iter().map(entry).collect::<String>());
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("files.rs");
    fs::write(out, list).expect("the output folder can be written");
}
