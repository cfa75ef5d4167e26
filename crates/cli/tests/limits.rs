// SPDX-License-Identifier: MIT OR Apache-2.0
//! Standard output that takes nothing, and limits of the system: results are kept, and errors are told.
#![cfg(target_os = "linux")]

mod common;

use std::{fs::File, process::Command};

use common::{Finished, Place, QUICK, QUICK_FILE};
use rustix::fs::{CWD, FileType, mknodat};

const SWEEP: &str = "[scenario]\nduration = '2s'\nwarmup = '500ms'\n[scenario.dumbbell]\nrate = '5mbit'\nrtt = '20ms'\n\
    queue = '20p'\n[[scenario.flows]]\ncontroller = 'reno'\n[grid]\n'dumbbell.rate' = ['5mbit', '10mbit']\n";

fn place() -> Place {
    let place = Place::new();
    place.write("s.toml", &QUICK_FILE.join("\n"));
    place.write("sweep.toml", SWEEP);
    place.write("small.toml", include_str!("../../../experiments/tests/small.toml"));
    place
}

/// Standard output is on a full disk.
#[test]
fn what_cannot_be_printed_is_kept() {
    let place = place();
    let compare = format!("compare {QUICK} --seeds 1");
    for (arguments, files) in [
        (format!("{compare} reno --out a"), &["a/results.json", "a/report.html"][..]),
        (format!("{compare} reno --out b --json --trace"), &["b/results.json", "b/flows.parquet"]),
        (format!("{compare} --matrix reno cubic --out c"), &["c/results.json", "c/report.html"]),
        ("run s.toml --out d".into(), &["d/results.json", "d/report.html"]),
        ("sweep sweep.toml --out e".into(), &["e/sweep.json", "e/report.html"]),
        ("sweep sweep.toml --out f --json".into(), &["f/sweep.json", "f/report.html"]),
        ("model --rate 10mbit --rtt 20ms --out g".into(), &["g/model.html"]),
        (
            "advise --rate 1mbit --rtt 10ms --time 1s --seeds 2 --out h reno".into(),
            &["h/results.json", "h/report.html"],
        ),
        (
            "papers run small.toml --json --out i --doc i/doc.md".into(),
            &["i/results.json", "i/report.html", "i/doc.md"],
        ),
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let finished = Finished::from(place.command(&arguments).stdout(full).output().unwrap());
        assert_eq!(finished.status, Some(1), "tandem {arguments}: {}", finished.err);
        assert!(finished.err.contains("cannot write to standard output: No space left"), "{}", finished.err);
        for file in files {
            assert!(place.path(file).metadata().is_ok_and(|m| m.len() > 0), "tandem {arguments}: no {file}");
        }
    }
}

/// A folder that takes no files, and nobody to print to: both are told.
#[test]
fn what_is_neither_kept_nor_printed_is_told() {
    let place = place();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = limited(&place, "ulimit -f 0", "run s.toml --out a");
    let finished = Finished::from(command.stdout(full).output().unwrap());
    assert_eq!(finished.status, Some(1), "{}", finished.err);
    for part in ["cannot write `a/results.json`: File too large", "cannot write to standard output: No space left"] {
        assert!(finished.err.contains(part), "{part}: {}", finished.err);
    }
}

/// The program after commands of the shell.
fn limited(place: &Place, limit: &str, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("{limit}; exec \"$0\" {arguments}");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_tandem")]).current_dir(place.path(""));
    command.env("TANDEM_STORE", "off");
    command
}

#[test]
fn limits_of_the_system_are_told() {
    let place = place();
    for (limit, arguments, part) in [
        ("ulimit -f 0", "run s.toml --out a", "cannot write `a/results.json`: File too large"),
        ("ulimit -f 1", "run s.toml --out a", "File too large"),
        ("export RUST_MIN_STACK=99999999999999", "run s.toml --out a", "cannot start a thread: is a limit too low"),
    ] {
        let finished = Finished::from(limited(&place, limit, arguments).output().unwrap());
        assert_eq!(finished.status, Some(1), "{limit}; tandem {arguments}: {}", finished.err);
        assert!(finished.err.contains(part), "{limit}; tandem {arguments}: {}", finished.err);
        assert!(!finished.err.contains("panicked"), "{}", finished.err);
    }
}

/// Too little memory for it all ends the program, with a message or by the allocator's hand. None of its threads waits for another then.
#[test]
fn it_does_not_hang_without_memory() {
    let place = place();
    // Fine enough to refuse each of the first allocations once.
    for kilobytes in (3000..8000).step_by(64) {
        let mut command = Command::new("timeout");
        let script = format!("ulimit -d {kilobytes}; exec \"$0\" run s.toml --out a --replace");
        command.args(["300", "sh", "-c", &script, env!("CARGO_BIN_EXE_tandem")]).current_dir(place.path(""));
        command.env("TANDEM_STORE", "off");
        let finished = Finished::from(command.output().unwrap());
        // What `timeout` says if it had to end it.
        assert_ne!(finished.status, Some(124), "{kilobytes} kB");
        assert!(!finished.err.contains("panicked"), "{kilobytes} kB: {}", finished.err);
    }
}

/// Other things where results go: told at once, wherever they come from.
#[test]
fn what_is_no_file_in_the_folder_is_named() {
    let place = place();
    for folder in ["a", "b", "d"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let pipe = |name: &str| mknodat(CWD, place.path(name), FileType::Fifo, 0o600.into(), 0).unwrap();
    std::os::unix::fs::symlink("/dev/full", place.path("a/results.json")).unwrap();
    pipe("b/results.json");
    File::create(place.path("d/results.json")).unwrap().set_len(1 << 40).unwrap();
    for (arguments, parts) in [
        ("run s.toml --out a", ["cannot read `a/results.json`", "it is a device"]),
        ("run s.toml --out b", ["cannot read `b/results.json`", "it is a pipe"]),
        ("run s.toml --out d", ["cannot read `d/results.json`", "larger than 1 GB"]),
    ] {
        let finished = place.tandem(arguments);
        assert_eq!(finished.status, Some(1), "tandem {arguments}: {}", finished.err);
        for part in parts {
            assert!(finished.err.contains(part), "tandem {arguments}: {}", finished.err);
        }
    }
}
