// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem sweep` as a program: killed in the middle, two at once, a full disk, bad usage.

mod common;

use std::{collections::BTreeMap, fs};

use common::Place;
use tandem_testing::{output, wait_until};

/// 3 rates, 2 controllers, 8 seeds: 48 runs of some tens of milliseconds.
const SWEEP: &str = r#"
[scenario]
duration = "20s"
warmup = "2s"
seeds = 8
[scenario.dumbbell]
rate = "5mbit"
rtt = "20ms"
queue = "20p"
[[scenario.flows]]
controller = "reno"
count = 4
[grid]
"dumbbell.rate" = ["30mbit", "40mbit", "50mbit"]
"flows[0].controller" = ["reno", "compound"]
"#;
const RUNS: u64 = 48;

fn place() -> Place {
    let place = Place::new();
    place.write("paths.toml", SWEEP);
    place
}

/// The files of a data set with their bytes.
fn data_set(place: &Place, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let names = place.files(&format!("{folder}/groups"));
    let parts = names.into_iter().filter(|name| name.ends_with(".parquet"));
    parts.map(|name| (name.clone(), fs::read(place.path(&format!("{folder}/groups/{name}"))).unwrap())).collect()
}

fn whole(place: &Place) -> BTreeMap<String, Vec<u8>> {
    place.succeed("sweep paths.toml --out whole --no-report");
    data_set(place, "whole")
}

/// How many runs there were, and how many were there already.
fn counts(json: &str) -> (u64, u64) {
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let engine = &json["engines"][0];
    assert_eq!(engine["runs"], RUNS);
    (engine["ran"].as_u64().unwrap(), engine["found"].as_u64().unwrap())
}

#[test]
fn a_sweep_leaves_a_data_set_a_report_and_what_it_did() {
    let place = place();
    let finished = place.succeed("sweep paths.toml --seeds 1");
    assert!(finished.out.contains("6 points; 6 runs in `sim`: 6 are new, 0 were there"), "{}", finished.out);
    assert!(finished.out.contains("Swept: dumbbell.rate_bps, flows[0].controller"), "{}", finished.out);
    assert!(finished.err.contains("Report: tandem-out/paths/report.html"), "{}", finished.err);
    let json = place.json("tandem-out/paths/sweep.json");
    assert!(json["commit"].is_string() && json["columns"].as_array().unwrap().len() > 50);
    let report = place.read("tandem-out/paths/report.html");
    assert!(report.contains("flows[0].controller") && report.len() < 1_500_000);
    // Other charts of the same runs.
    let again = "sweep paths.toml --seeds 1 --json --chart controller --chart seed,flows[0].controller --measure rtt_p95_ms,jain";
    let again = place.succeed(again);
    let json: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&json["engines"][0]["ran"], &json["engines"][0]["found"]), (&0.into(), &6.into()));
    assert!(place.read("tandem-out/paths/report.html").contains("rtt_p95"));
}

#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let place = place();
    // Rows are written after a second, of which one worker makes no more than a part.
    place.write("paths.toml", &SWEEP.replace("duration = \"20s\"", "duration = \"80s\""));
    let mut killed = place.start("sweep paths.toml --out killed --no-report --workers 1");
    let is_part = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().path().extension().is_some();
    let groups = place.path("killed/groups");
    wait_until("something is on disk", || groups.read_dir().is_ok_and(|mut entries| entries.any(is_part)));
    killed.kill();
    let there = place.succeed("sweep paths.toml --out killed --no-report --json");
    let (ran, found) = counts(&there.out);
    assert!(found > 0 && ran + found == RUNS, "{ran} and {found}");
    assert!(data_set(&place, "killed") == whole(&place));
}

#[test]
fn two_at_once_count_nothing_twice() {
    let place = place();
    let both = [(); 2].map(|()| place.start("sweep paths.toml --out both --no-report --json"));
    let finished = both.map(|child| common::Finished::from(child.output()));
    for finished in &finished {
        // The slower one may have begun after the other's end.
        let is_refused = finished.status == Some(1) && finished.err.contains("another sweep is writing to `both`");
        assert!(is_refused || finished.status == Some(0), "{}", finished.err);
    }
    let ran: u64 = finished.iter().filter(|f| f.status == Some(0)).map(|f| counts(&f.out).0).sum();
    assert_eq!(ran, RUNS);
    assert!(data_set(&place, "both") == whole(&place));
}

/// A limit on the size of files stands for a full disk: a write fails in the middle.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_what_was_not_yet_written() {
    let place = place();
    place.succeed("sweep paths.toml --out full --no-report --seeds 1");
    let before = data_set(&place, "full");
    let mut limited = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_tandem");
    // In blocks of 512 bytes.
    let script = format!("trap '' XFSZ; ulimit -f 16; exec {program} sweep paths.toml --out full --no-report");
    limited.args(["-c", &script]).current_dir(place.path("")).env("TANDEM_STORE", "off");
    let failed = common::Finished::from(output(&mut limited));
    assert_eq!(failed.status, Some(1), "{}", failed.err);
    for part in ["full/groups/", "is the disk full? What was written before is kept", "File too large"] {
        assert!(failed.err.contains(part), "{part}: {}", failed.err);
    }
    assert!(data_set(&place, "full") == before);
    let mended = place.succeed("sweep paths.toml --out full --no-report --json");
    assert_eq!(counts(&mended.out), (RUNS - 6, 6));
}

#[test]
fn bad_usage_is_told_and_nothing_is_run_or_written() {
    let place = place();
    place.write("unknown.toml", &SWEEP.replace("\"dumbbell.rate\"", "\"dumbbell.rat\""));
    place.write("mixed.toml", &SWEEP.replace("\"compound\"]", "\"kernel:cubic\"]"));
    let before = place.files("");
    for (arguments, part) in [
        ("sweep none.toml", "none.toml: cannot be read"),
        ("sweep unknown.toml", "unknown.toml:14:18: `dumbbell.rat` = \"30mbit\": unknown field `rat`"),
        ("sweep mixed.toml", "`kernel:cubic` is the kernel's own"),
        ("sweep paths.toml --seeds 0", "--seeds"),
        ("sweep paths.toml --engine sin", "did you mean `sim`?"),
        (
            "sweep paths.toml --measure goodput",
            "--measure: the data set has no column `goodput`; it has dumbbell.rate_bps,",
        ),
        ("sweep paths.toml --chart seed,rate", "--chart: the data set has no column `rate`"),
        ("sweep paths.toml --chart a,b,c", "is not one column or two"),
    ] {
        let finished = place.tandem(arguments);
        assert_eq!(finished.status, Some(2), "tandem {arguments}: {}", finished.err);
        assert!(finished.err.contains(part), "tandem {arguments}: {}", finished.err);
        assert_eq!(place.files(""), before, "tandem {arguments}");
    }
}
