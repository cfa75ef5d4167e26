// SPDX-License-Identifier: MIT OR Apache-2.0
//! Puts the files of papers/, results/, cases/ and search/ into the program, so that the installed binary needs no folder beside it.

use std::{env, fs, path::Path};

fn main() {
    list("papers", &[], "toml", "files.rs");
    list("results", &[], "json", "records.rs");
    list("cases", &[], "toml", "cases.rs");
    list(".", &["prudentia", "rfc8867", "rfc9743", "tcpeval"], "toml", "suites.rs");
    list(".", &["search"], "toml", "spaces.rs");
}

/// Writes the list of the files in a folder's folders, these or else all, as pairs of an id such as `s0/fig3` and a text.
fn list(folder: &str, only: &[&str], extension: &str, name: &str) {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(folder);
    if only.is_empty() {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let mut files: Vec<String> = Vec::new();
    let is_asked = |name: &&String| only.is_empty() || only.contains(&name.as_str());
    for paper in names(&folder).iter().filter(is_asked).filter(|name| folder.join(name).is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.join(paper).display());
        for figure in names(&folder.join(paper)) {
            if let Some(stem) = figure.strip_suffix(&format!(".{extension}")) {
                files.push(format!("{paper}/{stem}"));
            }
        }
    }
    let entry = |id: &String| {
        let path = folder.join(format!("{id}.{extension}"));
        format!("    ({id:?}, include_str!({:?})),\n", path.display().to_string())
    };
    let list = format!("&[\n{}]\n", files.iter().map(entry).collect::<String>());
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join(name);
    fs::write(out, list).expect("the output folder can be written");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|e| e.expect("the folder can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
