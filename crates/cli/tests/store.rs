// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem store`, and what commands share through it.

mod common;

use std::{fs, path::PathBuf};

use common::{Place, QUICK, QUICK_FILE};
use serde_json::Value;

/// The files of the store with their bytes.
fn stored(place: &Place) -> Vec<(PathBuf, Vec<u8>)> {
    fn list(folder: PathBuf, found: &mut Vec<(PathBuf, Vec<u8>)>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => list(path, found),
                false => found.push((path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    let mut found = Vec::new();
    list(place.path("store"), &mut found);
    found.retain(|(path, _)| path.file_name().unwrap() != ".written");
    found.sort();
    found
}

/// CPU times come from the store with the rest, so that a run which is made again shows.
#[test]
fn a_comparison_made_twice_runs_nothing_the_second_time() {
    let place = Place::with_store();
    let compare = format!("compare {QUICK} --seeds 2 --against reno:1 compound:1 --json --out out");
    let files = || ["out/results.json", "out/report.html"].map(|name| place.read(name));
    let first = (place.succeed(&compare).out, files(), stored(&place));
    let again = place.succeed(&compare);
    assert!((again.out, files(), stored(&place)) == first);
    assert!(again.err.contains("4 of 4 runs in `sim` were in the store of finished runs"), "{}", again.err);
    assert_eq!(place.stored_runs(), 4);
    // One seed more, of each of the two scenarios.
    place.succeed(&compare.replace("--seeds 2", "--seeds 3").replace("--out out", "--out more"));
    assert_eq!(place.stored_runs(), 6);
}

/// A scenario from a file, a sweep of it and an experiment, in any order.
#[test]
fn commands_share_their_runs() {
    let place = Place::with_store();
    place.write("s.toml", &QUICK_FILE.join("\n"));
    let sweep =
        QUICK_FILE.join("\n").replace("[dumbbell]", "[scenario.dumbbell]").replace("[[flows]]", "[[scenario.flows]]");
    place.write(
        "sweep.toml",
        &format!("[scenario]\nseeds = 2\n{sweep}\n[grid]\n'flows[0].controller' = ['reno', 'cubic']\n"),
    );
    place.succeed("run s.toml --seeds 2");
    assert_eq!(place.stored_runs(), 2);
    let swept = place.succeed("sweep sweep.toml --out set --no-report");
    assert!(swept.out.contains("4 runs in `sim`: 2 are new, 2 other commands had made, 0 were there"), "{}", swept.out);
    assert_eq!(place.stored_runs(), 4);
    let again = place.succeed("sweep sweep.toml --out elsewhere --no-report --json");
    let summary: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(
        summary["engines"][0],
        serde_json::json!({"engine": "sim", "runs": 4, "ran": 0, "stored": 4, "found": 0})
    );
    // The same rows, wherever they come from.
    let parts = |folder: &str| {
        place
            .files(&format!("{folder}/groups"))
            .into_iter()
            .map(|name| fs::read(place.path(&format!("{folder}/groups/{name}"))).unwrap())
            .collect::<Vec<_>>()
    };
    assert!(parts("set") == parts("elsewhere"));
    // Off: all of it is run, and nothing is kept.
    let mut off = place.command("sweep sweep.toml --out third --no-report");
    let off = common::Finished::from(off.env("TANDEM_STORE", "off").output().unwrap());
    assert!(off.out.contains("4 runs in `sim`: 4 are new, 0 were there"), "{}", off.out);
    assert_eq!(place.stored_runs(), 4);
}

#[test]
fn an_advice_asked_again_runs_nothing() {
    let place = Place::with_store();
    let advise = "advise --rate 2mbit --rtt 20ms --queue 10p --loss 0.001 --neighbours none --duration 3s --seeds 3 --json reno cubic";
    let first = (place.succeed(advise).out, stored(&place));
    assert!(!first.1.is_empty());
    assert!((place.succeed(advise).out, stored(&place)) == first);
}

/// As Linux's `sed` does it.
#[cfg(target_os = "linux")]
#[test]
fn damage_is_told_and_mended_as_it_says() {
    let place = Place::with_store();
    let run = "run s.toml --seeds 2 --out out --json";
    place.write("s.toml", &QUICK_FILE.join("\n"));
    place.succeed(run);
    let [(path, bytes)] = &stored(&place)[..] else { panic!("one scenario") };
    let mut damaged = bytes.clone();
    damaged[40] ^= 1;
    fs::write(path, &damaged).unwrap();
    let told = place.succeed(run);
    let warning = "line 1 of the finished runs in `store/sim/";
    assert!(told.err.contains(warning) && told.err.contains("1 of 2 runs"), "{}", told.err);
    let (_, mend) = told.err.split_once("takes the damage out: ").unwrap();
    let mend = mend.lines().next().unwrap();
    let mended = std::process::Command::new("sh").args(["-c", mend]).current_dir(place.path("")).status().unwrap();
    assert!(mended.success(), "{mend}");
    let whole = place.succeed(run);
    assert!(!whole.err.contains("damaged") && whole.err.contains("2 of 2 runs"), "{}", whole.err);
    assert_eq!(whole.out, told.out);
}

#[test]
fn the_store_is_shown_pruned_and_cleared() {
    let place = Place::with_store();
    let empty = place.succeed("store").out;
    assert!(empty.starts_with("store\n0 finished runs, 0B."), "{empty}");
    place.succeed(&format!("compare {QUICK} --seeds 2 reno cubic"));
    let shown = place.succeed("store").out;
    assert!(
        shown.contains("\n4 finished runs, ") && shown.contains("Above 2GB, and after 90 days without use"),
        "{shown}"
    );
    assert!(shown.lines().any(|line| line.split_whitespace().take(3).eq(["sim", "2", "4"])), "{shown}");
    let json: Value = serde_json::from_str(&place.succeed("store --json").out).unwrap();
    assert_eq!((&json["bytes"], &json["engines"][0]["runs"]), (&json["engines"][0]["bytes"], &4.into()));
    let less = json["bytes"].as_u64().unwrap() - 1;
    assert!(place.succeed("store prune").out.starts_with("The runs of 0 scenarios are taken out"));
    let pruned = place.succeed(&format!("store prune --size {less}B --age 30d --json")).out;
    assert_eq!(serde_json::from_str::<Value>(&pruned).unwrap()["scenarios"], 1);
    place.succeed("store clear");
    assert_eq!(place.stored_runs(), 0);
    for (arguments, part) in [
        ("store prune --age 30", "write `12h` or `30d`"),
        ("store prune --size 5", "size"),
        ("store --json clear", "cannot be used with"),
    ] {
        let refused = place.tandem(arguments);
        assert!(refused.status == Some(2) && refused.err.contains(part), "{arguments}: {}", refused.err);
    }
    let mut off = place.command("store");
    let off = common::Finished::from(off.env("TANDEM_STORE", "off").output().unwrap());
    assert!(off.status == Some(2) && off.err.contains("set TANDEM_STORE to its folder"), "{}", off.err);
}

/// A store that cannot be used costs no result.
#[test]
fn without_a_place_to_keep_runs_they_are_made_all_the_same() {
    let place = Place::with_store();
    place.write("s.toml", &QUICK_FILE.join("\n"));
    place.write("store", "no folder");
    let finished = place.succeed("run s.toml");
    assert!(finished.err.contains("`store` cannot hold finished runs"), "{}", finished.err);
    assert!(finished.err.contains("it is no folder. Nothing is kept"), "{}", finished.err);
    fs::remove_file(place.path("store")).unwrap();
    fs::create_dir(place.path("store")).unwrap();
    place.write("store/sim", "no folder");
    let finished = place.succeed("run s.toml");
    assert!(finished.err.contains("cannot keep finished runs in `store`"), "{}", finished.err);
}
