// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem receive` and `tandem send` as programs: killed in the middle, a full disk, bad usage.
#![cfg(feature = "quic")]

mod common;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::Place;

/// A receiver and its ticket.
struct Receiving {
    child: Child,
    ticket: String,
}

impl Receiving {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut ticket = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut ticket).unwrap();
        Self { child, ticket: ticket.trim().to_owned() }
    }

    fn new(place: &Place) -> Self {
        Self::start(place.command("receive there --listen 127.0.0.1:0"))
    }

    /// Waits for its end: whether it was good, and what it said.
    fn end(mut self) -> (bool, String) {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().success(), text)
    }
}

/// A file whose bytes are not all alike.
fn large(place: &Place, bytes: usize) {
    let contents: Vec<u8> = (0..bytes as u32 / 4).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    fs::write(place.path("large"), contents).unwrap();
}

/// Waits until so many bytes of the file have arrived.
fn wait_for_part(place: &Place, bytes: u64) {
    let start = Instant::now();
    let arrived = || {
        let entries = fs::read_dir(place.path("there")).ok()?;
        entries.filter_map(|e| e.ok()?.metadata().ok()).map(|m| m.len()).max()
    };
    while arrived().unwrap_or(0) < bytes {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing arrives");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_file_arrives() {
    let place = Place::new();
    place.write("a.txt", "contents");
    let receiving = Receiving::new(&place);
    let sent = place.tandem(&format!("send a.txt {} --controller reno", receiving.ticket));
    assert_eq!(sent.status, Some(0), "{}", sent.err);
    assert!(sent.err.contains("sent 1 file(s)"), "{}", sent.err);
    let (is_good, said) = receiving.end();
    assert!(is_good && said.contains("received 1 file(s)"), "{said}");
    assert_eq!(place.read("there/a.txt"), "contents");
}

/// The sender is killed; then the receiver is, in the second try. The third sends the rest alone.
#[test]
fn whichever_side_is_killed_it_goes_on() {
    const BYTES: usize = 80_000_000;
    let place = Place::new();
    large(&place, BYTES);
    let mut receiving = Receiving::new(&place);
    let send = |ticket: &str| place.command(&format!("send large {ticket}")).stderr(Stdio::null()).spawn().unwrap();
    let mut sender = send(&receiving.ticket);
    wait_for_part(&place, 1_000_000);
    sender.kill().unwrap();
    sender.wait().unwrap();
    assert!(!place.path("there/large").exists());
    let part = || fs::read_dir(place.path("there")).unwrap().next().unwrap().unwrap().metadata().unwrap().len();
    let before = part();
    let mut sender = send(&receiving.ticket);
    wait_for_part(&place, before + 1_000_000);
    receiving.child.kill().unwrap();
    receiving.child.wait().unwrap();
    // Its receiver is gone; it would notice by itself after a while.
    sender.kill().unwrap();
    sender.wait().unwrap();
    assert!(!place.path("there/large").exists());
    let there = part();
    assert!(there > before);
    let receiving = Receiving::new(&place);
    let sent = place.tandem(&format!("send large {}", receiving.ticket));
    assert_eq!(sent.status, Some(0), "{}", sent.err);
    let rest = format!("{} bytes in", BYTES as u64 - there + 32);
    assert!(sent.err.contains(&rest), "{rest}: {}", sent.err);
    assert!(receiving.end().0);
    assert!(fs::read(place.path("there/large")).unwrap() == fs::read(place.path("large")).unwrap());
    assert_eq!(place.files("there"), ["large"]);
}

/// A limit on the size of files stands for a full disk: a write fails in the middle. Both sides say why.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_to_both() {
    let place = Place::new();
    large(&place, 4_000_000);
    let program = env!("CARGO_BIN_EXE_tandem");
    let mut limited = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f 2000; exec {program} receive there --listen 127.0.0.1:0");
    limited.args(["-c", &script]).current_dir(place.path(""));
    let receiving = Receiving::start(limited);
    let sent = place.tandem(&format!("send large {}", receiving.ticket));
    assert_eq!(sent.status, Some(1), "{}", sent.err);
    assert!(sent.err.contains("File too large"), "{}", sent.err);
    let (is_good, said) = receiving.end();
    assert!(!is_good && said.contains("there/large: File too large"), "{said}");
    assert!(!place.path("there/large").exists());
}

#[test]
fn bad_usage_is_told() {
    let place = Place::new();
    place.write("a.txt", "contents");
    for (arguments, status, part) in [
        ("send", 2, "FILE... TICKET"),
        ("send a.txt", 2, "after them the ticket"),
        ("send a.txt b", 2, "copy the whole line that `tandem receive` printed"),
        ("send --bench a.txt 1.2.3.4:5/0/0", 2, "give the ticket alone"),
        ("send a.txt x --controller bbr", 2, "copy the whole line"),
        ("receive there --controller bbr", 2, "which quinn does not take"),
        ("receive there --controller kernel:cubic", 2, "is the kernel's own"),
        ("receive there --listen nowhere", 2, "--listen"),
        ("receive a.txt", 1, "a.txt"),
    ] {
        let finished = place.tandem(arguments);
        assert_eq!(finished.status, Some(status), "tandem {arguments}: {}", finished.err);
        assert!(finished.err.contains(part), "tandem {arguments}: {}", finished.err);
    }
}
