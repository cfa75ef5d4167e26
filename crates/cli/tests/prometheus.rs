// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem kernel watch --prometheus` as a scraper sees it. What it counts is tested in kernel/; scripts/test-prometheus.py has a real
//! Prometheus scrape it.
#![cfg(target_os = "linux")]

mod common;

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use common::Place;
use rustix::net::sockopt::set_tcp_congestion;
use tandem_controllers::{Params, find};
use tandem_kernel::{
    Attached, attach,
    sockops::{Cgroup, Trial, TrialSetup},
};
use tandem_testing::{PATIENCE, Running, take_controllers, wait_until};

fn lacks_rights() -> bool {
    let lack = tandem_kernel::features().into_iter().find(|f| (f.required || f.name == "trial") && !f.present);
    if let Some(lack) = &lack {
        tandem_testing::skip(&format!("{}: {}", lack.name, lack.note));
    }
    take_controllers();
    lack.is_some()
}

/// The command, and where it listens: a port that nobody else had.
struct Exporter {
    process: Running,
    address: SocketAddr,
    _place: Place,
}

impl Exporter {
    fn start(more: &str) -> Self {
        let place = Place::new();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = place.start(&format!("kernel watch --prometheus {free} --interval 1ms {more}"));
        wait_until("it listens", || TcpStream::connect(free).is_ok());
        Self { process, address: free, _place: place }
    }

    /// What it answers, head and body.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn metrics(&self) -> String {
        let answer = self.ask("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        body.to_owned()
    }

    /// The value of a series; `None` if there is no such series.
    fn value(&self, series: &str) -> Option<f64> {
        let metrics = self.metrics();
        let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }
}

fn registered(controller: &str, suffix: &str) -> (Attached, String) {
    let name = format!("t{:x}_{suffix}", std::process::id());
    (attach(&Params::new(find(controller).unwrap()), &name).unwrap(), name)
}

/// A connection with the controller that sends this much and goes on.
fn connection(controller: &str, bytes: usize) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    set_tcp_congestion(&near, controller).unwrap();
    let mut far = listener.accept().unwrap().0;
    (&near).write_all(&vec![1; bytes]).unwrap();
    far.read_exact(&mut vec![0; bytes]).unwrap();
    (near, far)
}

#[test]
fn a_scraper_gets_what_connections_did() {
    if lacks_rights() {
        return;
    }
    const BYTES: usize = 20_000;
    let (_controller, name) = registered("reno", "export");
    let mut exporter = Exporter::start("");
    let streams = connection(&name, BYTES);
    let of = |metric: &str| format!("tandem_{metric}{{controller=\"{name}\"}}");
    // The SYN counts as a byte; the last ACK may take a moment.
    wait_until("all is counted", || exporter.value(&of("acked_bytes_total")) == Some(BYTES as f64 + 1.0));
    assert_eq!(exporter.value(&of("connections")), Some(1.0));
    let looks_with_data = exporter.value(&of("rtt_seconds_count")).unwrap();
    let all = format!("tandem_rtt_seconds_bucket{{controller=\"{name}\",le=\"+Inf\"}}");
    assert_eq!(exporter.value(&all), Some(looks_with_data));
    assert!(looks_with_data >= 1.0 && exporter.value("tandem_looks_total").unwrap() >= looks_with_data);
    drop(streams);
    wait_until("it is over", || exporter.value(&of("connections")) == Some(0.0));
    assert_eq!(exporter.value(&of("acked_bytes_total")), Some(BYTES as f64 + 1.0), "a counter does not fall");
    exporter.process.signal("TERM");
    assert!(exporter.process.wait().success(), "being asked to end is how it ends");
}

#[test]
fn a_trial_s_arms_are_counted() {
    if lacks_rights() {
        return;
    }
    let arms = [registered("reno", "one"), registered("reno", "two")];
    let group = Cgroup::root().unwrap().path.join(format!("tandem-cli-export-{}", std::process::id()));
    std::fs::create_dir(&group).unwrap();
    let setup = TrialSetup {
        arms: [0, 1].map(|arm| arms[arm].1.clone()),
        share: 0.5,
        by_peer: false,
        seed: 1,
        port: None,
        to: Vec::new(),
        cgroup: Some(group.clone()),
    };
    let trial = Trial::start(&setup).unwrap();
    let exporter = Exporter::start("");
    let metrics = exporter.metrics();
    for (arm, (_, name)) in ["1", "2"].iter().zip(&arms) {
        let labels = format!("arm=\"{arm}\",controller=\"{name}\"}} 0");
        for series in ["started_connections_total", "rtt_seconds_count", "goodput_bytes_per_second_count"] {
            let begins = format!("tandem_trial_{series}{{trial=");
            assert!(metrics.lines().any(|l| l.starts_with(&begins) && l.ends_with(&labels)), "{series}: {metrics}");
        }
    }
    drop(trial);
    std::fs::remove_dir(&group).unwrap();
    wait_until("it has ended", || !exporter.metrics().contains(&arms[0].1));
}

#[test]
fn strangers_do_no_harm() {
    if lacks_rights() {
        return;
    }
    let exporter = Exporter::start("");
    // More than are served at a time, and none says anything.
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(exporter.address).unwrap()).collect();
    drop(silent);
    let waiting: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(exporter.address).unwrap()).collect();
    wait_until("those before are gone", || {
        let mut stream = TcpStream::connect(exporter.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer.starts_with(b"HTTP/1.1 200")
    });
    drop(waiting);
    let long = format!("GET /metrics HTTP/1.1\r\nX: {}", "a".repeat(9000));
    let mut stream = TcpStream::connect(exporter.address).unwrap();
    let _ = stream.write_all(long.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
    assert!(exporter.ask("\0\0\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert!(exporter.ask("DELETE /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    assert!(exporter.metrics().ends_with('\n'));
    let place = Place::new();
    let taken = place.tandem(&format!("kernel watch --prometheus {}", exporter.address));
    assert_eq!(taken.status, Some(1));
    assert!(taken.err.contains(&format!("cannot listen on {}", exporter.address)), "{}", taken.err);
    for wrong in ["localhost", "127.0.0.1", "127.0.0.1:99999", ""] {
        assert_eq!(place.tandem(&format!("kernel watch --prometheus {wrong}")).status, Some(2), "{wrong}");
    }
    assert_eq!(place.tandem("kernel watch --probes").status, Some(2));
}
