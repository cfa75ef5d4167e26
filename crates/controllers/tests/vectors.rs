// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays every golden trace in `vectors/`, whose numbers were worked out by hand.

mod trace;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use tandem_controllers::CONTROLLERS;
use trace::{Command, Expected, Host, parse};

fn trace_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "trace"))
        .collect();
    files.sort();
    files
}

/// The line's number and command, comments left out.
fn commands(path: &Path) -> Vec<(usize, Command)> {
    let text = fs::read_to_string(path).unwrap();
    let parsed = text.lines().enumerate().filter_map(|(i, line)| match parse(line) {
        Ok(command) => command.map(|c| (i + 1, c)),
        Err(e) => panic!("{}:{}: {e}", path.display(), i + 1),
    });
    parsed.collect()
}

#[test]
fn every_trace_comes_out_as_worked_out() {
    let mut failures = Vec::new();
    for path in trace_files() {
        let commands = commands(&path);
        assert!(matches!(commands.last(), Some((_, Command::Expect(_)))), "{}: ends unchecked", path.display());
        let mut host = Host::default();
        for (line, command) in commands {
            if let Err(e) = host.play(&command) {
                failures.push(format!("{}:{line}: {e}", path.file_name().unwrap().display()));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn every_controller_has_a_trace() {
    let traced: BTreeSet<String> = trace_files()
        .iter()
        .flat_map(|path| commands(path))
        .filter_map(|(_, command)| match command {
            Command::Controller(name) => Some(name),
            _ => None,
        })
        .collect();
    assert_eq!(traced, CONTROLLERS.iter().map(|c| c.name.to_owned()).collect());
}

#[test]
fn unmet_expectations_and_bad_lines_are_errors() {
    let mut host = Host::default();
    for line in ["controller compound", "conn cwnd=10 ssthresh=20 flight=10", "expect cwnd=10 gamma=30 # as set"] {
        host.play(&parse(line).unwrap().unwrap()).unwrap();
    }
    let mut expect = |key: &str, value| host.play(&Command::Expect(vec![(key.to_owned(), value)]));
    assert_eq!(expect("cwnd", Expected::Whole(11)), Err("cwnd is 10".into()));
    assert_eq!(expect("gamma", Expected::Fraction(30.02)), Err("gamma is 30".into()));
    assert_eq!(expect("speed", Expected::Whole(1)), Err("`speed` cannot be expected".into()));
    assert_eq!(
        host.play(&parse("ack 11 rtt=1").unwrap().unwrap()),
        Err("11 packets acknowledged, 10 in flight".into())
    );
    for bad in ["acks 1 rtt=1", "ack rtt=1", "ack 1", "ack 1 rtt=x", "ack 1 rtt=1 rate=2", "expect", "loss 1"] {
        assert!(parse(bad).is_err(), "{bad}");
    }
    assert_eq!(parse("  # only a comment"), Ok(None));
}
