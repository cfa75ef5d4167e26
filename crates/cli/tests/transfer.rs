// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem receive` and `tandem send` as programs: where the ticket goes, a kill in the middle, a full disk, bad usage.
#![cfg(feature = "quic")]

mod common;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, UdpSocket},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use common::{Finished, Place};

/// Only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (to, lines) = channel();
    thread::spawn(move || BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
    lines
}

/// A program that does not outlive its test.
struct Running(Child);

impl Running {
    fn kill(&mut self) {
        let _ = self.0.kill();
        self.0.wait().unwrap();
    }

    fn status(&mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A receiver, what it says, and its ticket.
struct Receiving {
    program: Running,
    said: Receiver<String>,
    ticket: String,
}

impl Receiving {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (printed, said) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        let program = Running(child);
        let ticket = printed.recv_timeout(PATIENCE).expect("a ticket");
        Self { program, said, ticket }
    }

    fn new(place: &Place) -> Self {
        Self::start(place.command("receive there --listen 127.0.0.1:0"))
    }

    /// Waits until it says this.
    fn says(&self, part: &str) {
        let mut heard = String::new();
        while !heard.contains(part) {
            heard += &self.said.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no `{part}` in: {heard}"));
        }
    }

    /// Waits for its end: whether it was good, and what it said.
    fn end(mut self) -> (bool, String) {
        let status = self.program.status();
        (status == Some(0), self.said.iter().collect::<Vec<_>>().join("\n"))
    }
}

/// Runs a program that ends by itself.
fn finish(mut command: Command) -> Finished {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (printed, said) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
    let status = Running(child).status();
    let text = |lines: Receiver<String>| lines.iter().collect::<Vec<_>>().join("\n");
    Finished { status, out: text(printed), err: text(said) }
}

/// `tandem send` with the ticket in the environment.
fn send(place: &Place, arguments: &str, ticket: &str) -> Finished {
    let mut command = place.command(&format!("send {arguments}"));
    command.env("TANDEM_TICKET", ticket);
    finish(command)
}

/// A way to the receiver that ends after this many bytes. Gives the ticket for it.
fn broken_way(ticket: &str, bytes: usize) -> String {
    let (address, secrets) = ticket.split_once('/').unwrap();
    let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
    let (inside, outside) = (bind(), bind());
    outside.connect(address.parse::<SocketAddr>().unwrap()).unwrap();
    let new_ticket = format!("{}/{secrets}", inside.local_addr().unwrap());
    let (back, from) = (inside.try_clone().unwrap(), outside.try_clone().unwrap());
    let (sender_is, sender) = channel();
    // Both threads end with the test program.
    thread::spawn(move || {
        let (mut datagram, mut left) = ([0; 65536], bytes);
        while let Ok((length, from)) = inside.recv_from(&mut datagram) {
            let _ = sender_is.send(from);
            left = left.saturating_sub(length);
            if left > 0 {
                let _ = outside.send(&datagram[..length]);
            }
        }
    });
    thread::spawn(move || {
        let (mut datagram, to) = ([0; 65536], sender.recv());
        while let (Ok(to), Ok(length)) = (to, from.recv(&mut datagram)) {
            let _ = back.send_to(&datagram[..length], to);
        }
    });
    new_ticket
}

/// A file whose bytes are not all alike.
fn large(place: &Place, bytes: usize) {
    let contents: Vec<u8> = (0..bytes as u32 / 4).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    fs::write(place.path("large"), contents).unwrap();
}

/// Waits until this many bytes of the file have been written.
fn wait_for_part(place: &Place, bytes: u64) {
    let start = Instant::now();
    let arrived = || {
        let entries = fs::read_dir(place.path("there")).ok()?;
        entries.filter_map(|e| e.ok()?.metadata().ok()).map(|m| m.len()).max()
    };
    while arrived().unwrap_or(0) < bytes {
        assert!(start.elapsed() < PATIENCE, "nothing arrives");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_file_arrives() {
    let place = Place::new();
    place.write("a.txt", "contents");
    let receiving = Receiving::new(&place);
    // As an argument the ticket counts more than in the environment.
    let sent = send(&place, &format!("a.txt {} --controller reno", receiving.ticket), "another");
    assert_eq!(sent.status, Some(0), "{}", sent.err);
    assert!(sent.err.contains("sent 1 file(s)"), "{}", sent.err);
    let (is_good, said) = receiving.end();
    assert!(is_good && said.contains("received 1 file(s)"), "{said}");
    assert_eq!(place.read("there/a.txt"), "contents");
}

/// No other user reads the ticket: not in a file, and not in the list of processes.
#[test]
fn a_ticket_can_be_kept_secret() {
    let place = Place::new();
    place.write("a.txt", "contents");
    place.write("ticket", "of long ago");
    let receive =
        place.command("receive there --listen 127.0.0.1:0 --ticket-file ticket").stderr(Stdio::null()).spawn();
    let mut receiver = Running(receive.unwrap());
    let start = Instant::now();
    while place.read("ticket") == "of long ago" {
        assert!(start.elapsed() < PATIENCE, "no ticket");
        thread::sleep(Duration::from_millis(5));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(place.path("ticket")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let sent = finish(place.command("send a.txt --ticket-file ticket"));
    assert_eq!(sent.status, Some(0), "{}", sent.err);
    assert_eq!(receiver.status(), Some(0));
    assert_eq!(place.files(""), ["a.txt", "there", "ticket"]);
}

#[test]
fn a_ticket_comes_from_standard_input_and_the_environment() {
    let place = Place::new();
    for (name, piped) in [("a.txt", true), ("b.txt", false)] {
        place.write(name, "contents");
        let receiving = Receiving::new(&place);
        let sent = if piped {
            let mut command = place.command(&format!("send {name} -"));
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            // What follows the line is not waited for.
            let mut stdin = child.stdin.take().unwrap();
            writeln!(stdin, "{}", receiving.ticket).unwrap();
            let status = Running(child).status();
            drop(stdin);
            status
        } else {
            send(&place, name, &receiving.ticket).status
        };
        assert_eq!(sent, Some(0), "{name}");
        assert!(receiving.end().0);
        assert_eq!(place.read(&format!("there/{name}")), "contents");
    }
}

/// The sender is killed; then the receiver is, in the second try. The third sends the rest alone.
#[test]
fn whichever_side_is_killed_it_goes_on() {
    const BYTES: usize = 16_000_000;
    // As much of it as a try can bring.
    const WAY: usize = 6_000_000;
    let place = Place::new();
    large(&place, BYTES);
    let mut receiving = Receiving::new(&place);
    let start = |ticket: &str| {
        let mut command = place.command("send large");
        Running(command.env("TANDEM_TICKET", broken_way(ticket, WAY)).stderr(Stdio::null()).spawn().unwrap())
    };
    let mut sender = start(&receiving.ticket);
    wait_for_part(&place, 1_000_000);
    sender.kill();
    assert!(!place.path("there/large").exists());
    let part = || fs::read_dir(place.path("there")).unwrap().next().unwrap().unwrap().metadata().unwrap().len();
    let before = part();
    let mut sender = start(&receiving.ticket);
    wait_for_part(&place, before + 1_000_000);
    receiving.program.kill();
    // Its receiver is gone; it would notice by itself after a while.
    sender.kill();
    assert!(!place.path("there/large").exists());
    let there = part();
    assert!(there > before);
    let receiving = Receiving::new(&place);
    let sent = send(&place, "large", &receiving.ticket);
    assert_eq!(sent.status, Some(0), "{}", sent.err);
    let rest = format!("{} bytes in", BYTES as u64 - there + 32);
    assert!(sent.err.contains(&rest), "{rest}: {}", sent.err);
    assert!(receiving.end().0);
    assert!(fs::read(place.path("there/large")).unwrap() == fs::read(place.path("large")).unwrap());
    assert_eq!(place.files("there"), ["large"]);
}

/// A limit on the size of files stands for a full disk: a write fails in the middle. Both sides say why, and the receiver goes on.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_to_both() {
    let place = Place::new();
    large(&place, 4_000_000);
    place.write("a.txt", "contents");
    let program = env!("CARGO_BIN_EXE_tandem");
    let mut limited = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f 2000; exec {program} receive there --listen 127.0.0.1:0");
    limited.args(["-c", &script]).current_dir(place.path(""));
    let receiving = Receiving::start(limited);
    let sent = send(&place, "large", &receiving.ticket);
    assert_eq!(sent.status, Some(1), "{}", sent.err);
    assert_eq!(sent.err.matches("File too large").count(), 1, "{}", sent.err);
    receiving.says("there/large: File too large");
    assert!(!place.path("there/large").exists());
    assert_eq!(send(&place, "a.txt", &receiving.ticket).status, Some(0));
    assert!(receiving.end().0);
    assert_eq!(place.read("there/a.txt"), "contents");
}

#[test]
fn bad_usage_is_told() {
    let place = Place::new();
    place.write("a.txt", "contents");
    for (arguments, status, part) in [
        ("send", 2, "then the ticket"),
        ("send a.txt", 2, "copy the whole line that `tandem receive` printed"),
        ("send a.txt b", 2, "`b`: this is not a ticket"),
        ("send a.txt -", 2, "standard input: this is not a ticket"),
        ("send a.txt --ticket-file nowhere", 2, "nowhere: cannot be read: No such file"),
        ("send a.txt --ticket-file /dev/zero", 2, "/dev/zero: this is not a ticket"),
        ("send a.txt --ticket-file a.txt", 2, "a.txt: this is not a ticket"),
        ("send a.txt x --controller bbr", 2, "which quinn does not take"),
        ("receive there --controller bbr", 2, "which quinn does not take"),
        ("receive there --controller kernel:cubic", 2, "is the kernel's own"),
        ("receive there --listen nowhere", 2, "--listen"),
        ("receive there --ticket-file no/where", 1, "no/where: cannot be written"),
        ("receive a.txt", 1, "a.txt"),
    ] {
        let finished = finish(place.command(arguments));
        assert_eq!(finished.status, Some(status), "tandem {arguments}: {}", finished.err);
        assert!(finished.err.contains(part), "tandem {arguments}: {}", finished.err);
    }
    let ticket = format!("127.0.0.1:9/{}/{}", "0".repeat(64), "0".repeat(32));
    for (arguments, part) in [("--bench a.txt", "give the ticket alone"), ("", "name the files to send")] {
        let finished = send(&place, arguments, &ticket);
        assert_eq!(finished.status, Some(2), "tandem send {arguments}: {}", finished.err);
        assert!(finished.err.contains(part), "tandem send {arguments}: {}", finished.err);
    }
    let finished = send(&place, "a.txt", "nonsense");
    assert!(finished.err.contains("TANDEM_TICKET: this is not a ticket"), "{}", finished.err);
    assert!(!finished.err.contains("nonsense"), "what may be a part of a secret is not repeated: {}", finished.err);
}
