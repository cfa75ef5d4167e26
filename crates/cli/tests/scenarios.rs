// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files in scenarios/ and bench/ are good scenarios.

mod common;

use std::{fs, path::Path};

use common::Place;
use tandem_scenario::file::{Overrides, load};

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    files_named(folder, "toml")
}

fn files_named(folder: &str, extension: &str) -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
}

#[test]
fn all_load() {
    let paths: Vec<_> = ["scenarios", "bench"].iter().flat_map(|folder| files(folder)).collect();
    assert!(paths.len() >= 10, "{paths:?}");
    for path in paths {
        load(&path, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Each example, cut to a few seconds, so that every flow in it has been started.
#[test]
fn the_examples_run() {
    let place = Place::new();
    for trace in files_named("scenarios", "trace") {
        place.write(&trace.file_name().unwrap().to_string_lossy(), &fs::read_to_string(&trace).unwrap());
    }
    for path in files("scenarios") {
        let text = fs::read_to_string(&path).unwrap();
        let short = |line: &str| match line.split(" = ").next() {
            Some("duration") => r#"duration = "5s""#.to_owned(),
            Some("warmup") => r#"warmup = "1s""#.to_owned(),
            Some("start") => r#"start = "2s""#.to_owned(),
            _ => line.to_owned(),
        };
        place.write("short.toml", &text.lines().map(short).collect::<Vec<_>>().join("\n"));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        place.succeed(&format!("run short.toml --seeds 1 --out {name}"));
        for group in place.json(&format!("{name}/results.json")).pointer("/runs/0/groups").unwrap().as_array().unwrap()
        {
            assert!(group["goodput_mbps"].as_f64().unwrap() > 0.1, "{name}: {group}");
        }
    }
}
