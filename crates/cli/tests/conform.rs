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
        assert!(finished.out.contains(&format!("none deviates from {controller}")), "{}", finished.out);
        let kept = "\nkept: clock, sequence, acked, growth";
        assert!(finished.out.contains(kept), "{controller}: {}", finished.out);
    }
    assert!(include_str!("../../../controllers/examples/host.c").lines().count() <= 100);
}

/// A controller that is not the log's, and one window changed by hand: the line and both values.
#[test]
fn departures_are_shown() {
    let place = Place::new();
    let log = log("reno");
    place.write("host.jsonl", &log);
    let other = place.tandem("conform host.jsonl --controller compound");
    assert_eq!(other.status, Some(1), "{}", other.err);
    assert!(other.err.contains("events deviate from `compound`"), "{}", other.err);
    let mut lines: Vec<&str> = log.lines().collect();
    // The tenth ACK of slow start from 10 packets.
    assert!(lines[10].contains("\"cwnd\":20,"), "{}", lines[10]);
    let changed = lines[10].replace("\"cwnd\":20,", "\"cwnd\":21,");
    lines[10] = &changed;
    place.write("changed.jsonl", &lines[..11].join("\n"));
    let finished = place.tandem("conform changed.jsonl --controller reno");
    assert!(finished.out.starts_with("changed.jsonl:11: cwnd is 20, the log has 21\nkept: "), "{}", finished.out);
    assert!(finished.err.contains("1 of 11 events deviate"), "{}", finished.err);
}

/// msquic#2231: one flight's losses reduce the window twice, to 0.49 of what it was. The values are CUBIC's.
const TWICE: &str = r#"{"event": "init", "cwnd": 100, "ssthresh": 50, "mss": 1200, "now_us": 0, "una": 0, "nxt": 120000}
{"event": "ssthresh", "ssthresh": 70}
{"event": "window", "cwnd": 70}
{"event": "state", "state": "recovery"}
{"event": "ssthresh", "ssthresh": 49}
{"event": "window", "cwnd": 2}
{"event": "state", "state": "loss"}
"#;

/// The controller's values are right, and the host is not: the line, the rule, what was seen, and the fix.
#[test]
fn breaches_of_the_contract_are_shown() {
    let place = Place::new();
    place.write("twice.jsonl", TWICE);
    let finished = place.tandem("conform twice.jsonl --controller cubic");
    assert_eq!(finished.status, Some(1), "{}", finished.out);
    let line = "twice.jsonl:5: one-reduction: `ssthresh` again for the reduction of line 2; keep the threshold until ";
    assert!(finished.out.starts_with(line), "{}", finished.out);
    assert!(finished.out.contains("\nnot checked: growth, which needs `ack` lines"), "{}", finished.out);
    assert!(finished.err.contains("the host breaks the contract: one-reduction (1)"), "{}", finished.err);
    assert!(!finished.err.contains("deviate"), "{}", finished.err);
}

#[test]
fn the_verdict_is_there_as_json() {
    let place = Place::new();
    place.write("twice.jsonl", TWICE);
    let finished = place.tandem("conform twice.jsonl --controller cubic --json");
    assert_eq!(finished.status, Some(1), "{}", finished.err);
    let verdict: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!((&verdict["conforms"], &verdict["events"]), (&false.into(), &7.into()));
    let problem = &verdict["problems"][0];
    assert_eq!((&problem["line"], &problem["rule"]), (&5.into(), &"one-reduction".into()));
    assert!(problem["mend"].as_str().unwrap().starts_with("keep the threshold"), "{problem}");
    let rules = verdict["rules"].as_array().unwrap();
    let of = |name: &str| rules.iter().find(|rule| rule["rule"] == name).unwrap();
    assert_eq!((&of("one-reduction")["checked"], &of("one-reduction")["broken"]), (&2.into(), &1.into()));
    assert_eq!((&of("growth")["checked"], &of("values")["checked"]), (&0.into(), &2.into()));
}

/// Ten problems are shown, and all are counted.
#[test]
fn many_breaches_are_counted() {
    let place = Place::new();
    let undo = "{\"event\":\"undo\",\"cwnd\":10}\n".repeat(30);
    place.write("x.jsonl", &format!("{{\"event\":\"init\",\"cwnd\":10,\"mss\":1200}}\n{undo}"));
    let finished = place.tandem("conform x.jsonl --controller reno");
    assert_eq!(finished.out.matches(": undo: ").count(), 10, "{}", finished.out);
    assert!(finished.err.contains("undo (30)"), "{}", finished.err);
}

#[test]
fn bad_golden_traces_are_bad_usage() {
    let place = Place::new();
    place.write("x.trace", "controller reno\nconn cwnd=4\nexpect cwnd=4\n");
    assert_eq!(place.tandem("conform x.trace").status, Some(0));
    for (run, part) in [
        ("conform x.trace --controller reno", "a golden trace names its controllers"),
        ("conform none.trace", "none.trace: cannot be read"),
        ("conform x.jsonl", "--controller is missing"),
    ] {
        let finished = place.tandem(run);
        assert_eq!(finished.status, Some(2), "{run}: {}", finished.err);
        assert!(finished.err.contains(part), "{run}: {}", finished.err);
    }
    place.write("x.trace", "controller ./gone.h\nexpect cwnd=4\n");
    let gone = place.tandem("conform x.trace").err;
    assert!(gone.contains("x.trace:1: `./gone.h` is not there"), "{gone}");
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
        // No value to compare: it checks nothing.
        (
            "{\"event\":\"init\",\"cwnd\":10,\"mss\":1200}\n{\"event\":\"ack\",\"packets\":1,\"rtt_us\":50000}",
            "x.jsonl: there is nothing to compare: it lacks `cwnd`, `ssthresh` or `pacing_bytes_per_s` after a call; let the host log",
        ),
    ] {
        place.write("x.jsonl", log);
        let finished = place.tandem("conform x.jsonl --controller reno");
        assert_eq!(finished.status, Some(2), "{log}: {}", finished.err);
        assert!(finished.err.contains(part), "{log}: {}", finished.err);
    }
    assert_eq!(place.tandem("conform none.jsonl --controller reno").status, Some(2));
    assert_eq!(place.tandem("conform x.jsonl --controller kernel:cubic").status, Some(2));
}
