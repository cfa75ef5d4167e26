// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem conform`, with the host in C of docs/embedding.md, compiled and run.

mod common;

use std::{path::Path, process::Command};

use common::Place;
use tandem_testing::output;

/// What the host in C logs with this controller.
fn log(controller: &str) -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Tests run side by side: each has a program of its own.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("host");
    let mut compile = Command::new("cc");
    compile
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"])
        .arg(format!("-I{}", repository.join("controllers/include").display()))
        .arg(format!("-DCONTROLLER={controller}"))
        .arg(repository.join("controllers/examples/host.c"))
        .arg("-o")
        .arg(&program);
    let compiled = output(&mut compile);
    assert!(compiled.status.success(), "{controller}: {}", String::from_utf8_lossy(&compiled.stderr));
    let run = output(&mut Command::new(&program));
    assert!(run.status.success(), "{controller}");
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn the_host_in_c_conforms() {
    let place = Place::new();
    for controller in ["reno", "compound", "compound_tube", "cubic", "vegas"] {
        place.write("host.jsonl", &log(controller));
        let finished = place.tandem(&format!("conform host.jsonl --controller {controller}"));
        assert_eq!(finished.status, Some(0), "{controller}: {}{}", finished.out, finished.err);
        assert!(finished.out.contains(&format!("none departs from {controller}")), "{}", finished.out);
    }
    assert!(include_str!("../../../controllers/examples/host.c").lines().count() <= 100);
}

/// Another controller than the log's, and one window changed by hand: the line and both values.
#[test]
fn departures_are_shown() {
    let place = Place::new();
    let log = log("reno");
    place.write("host.jsonl", &log);
    let other = place.tandem("conform host.jsonl --controller compound");
    assert_eq!(other.status, Some(1), "{}", other.err);
    assert!(other.err.contains("events depart from `compound`"), "{}", other.err);
    let mut lines: Vec<&str> = log.lines().collect();
    // The tenth ACK of slow start from 10 packets.
    assert!(lines[10].contains("\"cwnd\":20,"), "{}", lines[10]);
    let changed = lines[10].replace("\"cwnd\":20,", "\"cwnd\":21,");
    lines[10] = &changed;
    place.write("changed.jsonl", &lines[..11].join("\n"));
    let finished = place.tandem("conform changed.jsonl --controller reno");
    assert_eq!(finished.out, "changed.jsonl:11: cwnd is 20, the log has 21\n");
    assert!(finished.err.contains("1 of 11 events depart"), "{}", finished.err);
}

#[test]
fn bad_logs_are_bad_usage() {
    let place = Place::new();
    for (log, part) in [
        ("", "the log is empty"),
        ("{\"event\":\"ack\",\"packets\":1}", "x.jsonl:1: the first event must be `init`"),
        ("{\"event\":\"init\",\"cwnd\":0,\"mss\":1200}", "x.jsonl:1: `init` needs a cwnd of 1"),
        ("{\"event\":\"init\",\"cwnd\":10,\"mss\":1200}\n{\"event\":\"sack\"}", "x.jsonl:2: unknown variant `sack`"),
        ("{\"event\":\"init\",\"cwnd\":10,\"mss\":1200}\nnonsense", "x.jsonl:2: "),
    ] {
        place.write("x.jsonl", log);
        let finished = place.tandem("conform x.jsonl --controller reno");
        assert_eq!(finished.status, Some(2), "{log}: {}", finished.err);
        assert!(finished.err.contains(part), "{log}: {}", finished.err);
    }
    assert_eq!(place.tandem("conform none.jsonl --controller reno").status, Some(2));
    assert_eq!(place.tandem("conform x.jsonl --controller kernel:cubic").status, Some(2));
}
