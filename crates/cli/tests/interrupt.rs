// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ctrl-C: exit status 130, and what was done by then is kept.
#![cfg(target_os = "linux")]

mod common;

use std::fs;

use common::{Finished, Place};
use serde_json::Value;
use tandem_testing::{Running, wait_until};

/// Waits until the program has used this much CPU time, which nothing but simulation takes.
fn wait_for_simulation(child: &mut Running, cpu_ms: u64) {
    // The fields after the name, which ends with the last `)`: utime is the 14th of all, in hundredths of a second.
    let stat = format!("/proc/{}/stat", child.id());
    let used_ms = || {
        let stat = fs::read_to_string(&stat).unwrap();
        let user = stat.rsplit(')').next().unwrap().split_whitespace().nth(11).unwrap();
        user.parse::<u64>().unwrap() * 10
    };
    let mut is_enough = false;
    wait_until("it simulates", || {
        is_enough = used_ms() >= cpu_ms;
        is_enough || child.has_ended()
    });
    assert!(is_enough, "it ended before it had simulated for {cpu_ms} ms");
}

fn interrupt_after(mut child: Running, cpu_ms: u64) -> Finished {
    wait_for_simulation(&mut child, cpu_ms);
    child.signal("INT");
    child.output().into()
}

#[test]
fn the_seeds_that_are_done_are_kept() {
    let place = Place::new();
    // A seed takes milliseconds, all of them minutes.
    let path = "--rate 10mbit --rtt 20ms --queue 20p --duration 3s --warmup 1s --seeds 100000";
    let finished = interrupt_after(place.start(&format!("compare {path} --out o --json reno:1 compound:1")), 500);
    assert_eq!(finished.status, Some(130), "{}", finished.err);
    assert!(finished.err.contains("interrupted"), "{}", finished.err);
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    let runs = results["runs"].as_array().unwrap();
    // Seed by seed, so that each has some.
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["partial"], true);
        let seeds = run["seeds"].as_array().unwrap().len();
        assert!((1..100_000).contains(&seeds), "{seeds}");
        assert_eq!(run["groups"][0]["goodput_by_seed_mbps"].as_array().unwrap().len(), seeds);
    }
    assert_eq!(place.json("o/results.json"), results);
    assert!(place.read("o/report.html").contains("partial"));
}

#[test]
fn nothing_done_is_nothing_kept() {
    let place = Place::new();
    let path = "--rate 10gbit --rtt 20ms --duration 10h";
    let finished = interrupt_after(place.start(&format!("compare {path} --out o reno:1 compound:1")), 200);
    assert_eq!(finished.status, Some(130), "{}", finished.err);
    assert!(finished.err.contains("interrupted"), "{}", finished.err);
    assert!(!finished.err.contains("panicked"), "{}", finished.err);
    assert!(finished.err.contains("nothing was finished; nothing of: reno, compound"), "{}", finished.err);
    assert!(place.files("o").is_empty());
}

#[test]
fn earlier_results_outlive_an_interrupt() {
    let place = Place::new();
    let command = "compare --rate 10gbit --rtt 20ms --duration 10h --out o reno:1 compound:1";
    fs::create_dir(place.path("o")).unwrap();
    place.write("o/results.json", &format!("{{\"command\": \"tandem {command}\", \"runs\": \"precious\"}}"));
    let finished = interrupt_after(place.start(command), 200);
    assert_eq!(finished.status, Some(130), "{}", finished.err);
    assert!(finished.err.contains("`o` keeps the earlier results; nothing of: reno, compound"), "{}", finished.err);
    assert_eq!(place.json("o/results.json")["runs"], "precious");
}

#[test]
fn two_commands_do_not_share_a_folder() {
    let place = Place::new();
    let command = "compare --rate 10gbit --rtt 20ms --duration 10h --out o reno:1 compound:1";
    let mut first = place.start(command);
    wait_for_simulation(&mut first, 200);
    let refused = place.tandem(command);
    let finished = interrupt_after(first, 200);
    assert_eq!((refused.status, finished.status), (Some(1), Some(130)), "{}", refused.err);
    assert!(refused.err.contains("another command is writing to `o`"), "{}", refused.err);
}
