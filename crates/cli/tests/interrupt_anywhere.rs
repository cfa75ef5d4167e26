// SPDX-License-Identifier: MIT OR Apache-2.0
//! One signal ends every command, wherever it is. Commands here would go on for hours, so that one which misses it is a failure and no delay.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    io::Read,
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::Place;
use rustix::process::{Pid, Signal, kill_process};

/// Far more than the second that it takes, for machines that have other things to do.
const LIMIT: Duration = Duration::from_secs(60);

fn start(place: &Place, arguments: &str, stdout: Stdio) -> Child {
    place.command(arguments).stdout(stdout).stderr(Stdio::null()).spawn().unwrap()
}

/// CPU time so far, hundredths of a second.
fn cpu_ticks(child: &Child) -> u64 {
    // The fields after the name, which ends with the last `)`: utime and stime are the 14th and 15th of all.
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().unwrap())
        .sum()
}

/// How it ends, within [`LIMIT`] of the signal.
#[track_caller]
fn end(mut child: Child, signal: Signal) -> ExitStatus {
    kill_process(Pid::from_child(&child), signal).unwrap();
    let sent = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if sent.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it goes on {LIMIT:?} after the signal");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Once it has used this much CPU time, in hundredths of a second.
#[track_caller]
fn interrupt(place: &Place, arguments: &str, ticks: u64, signal: Signal) {
    let mut child = start(place, arguments, Stdio::null());
    while cpu_ticks(&child) < ticks {
        assert_eq!(child.try_wait().unwrap(), None, "`{arguments}` has ended by itself");
        thread::sleep(Duration::from_millis(10));
    }
    let status = end(child, signal);
    // A command that keeps nothing catches no signal.
    let by_signal = status.signal() == Some(signal.as_raw());
    assert!(status.code() == Some(130) || by_signal, "`{arguments}`: {status}");
}

#[test]
fn every_command_ends_by_one_signal() {
    let place = Place::new();
    place.write(
        "long.toml",
        "duration = \"10h\"\nsend_jitter = \"0s\"\n[dumbbell]\nrate = \"100tbit\"\nrtt = \"1ms\"\nqueue = \"9p\"\n[[flows]]\nudp = { rate = \"100tbit\" }\n",
    );
    place.write(
        "grid.toml",
        "[scenario]\nduration = \"2s\"\nseeds = 99999\n[scenario.dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\nqueue = \"20p\"\n[[scenario.flows]]\ncontroller = \"reno\"\n[grid]\n\"dumbbell.rtt\" = [\"10ms\", \"20ms\"]\n",
    );
    // Not SIGINT: it is ignored in tests that are started in the background, and until there is something to keep no command changes that.
    for command in [
        "run long.toml",
        "compare --rate 10gbit --rtt 20ms --duration 10h reno:1 compound:1",
        "compare --rate 10gbit --rtt 20ms --duration 10h --matrix",
        "advise --rate 10gbit --rtt 20ms --duration 10h --time 10h",
        "sweep grid.toml",
        "papers run",
    ] {
        // Soon, while it reads and plans, and later.
        interrupt(&place, command, 5, Signal::TERM);
        interrupt(&place, command, 100, Signal::TERM);
    }
}

/// Nobody reads what it prints, and a pipe holds 64 kB.
#[test]
fn a_command_that_cannot_print_ends_by_one_signal() {
    let place = Place::new();
    let quick =
        "compare --rate 1mbit --rtt 20ms --queue 20p --duration 2s --warmup 1s --seeds 2000 --json reno:1 compound:1";
    let mut child = start(&place, quick, Stdio::piped());
    let mut pipe = child.stdout.take().unwrap();
    // The first byte is there as soon as it prints; the rest does not fit.
    pipe.read_exact(&mut [0]).unwrap();
    assert_eq!(end(child, Signal::INT).code(), Some(130));
}
