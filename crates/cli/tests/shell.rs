// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other people's programs in `tandem shell`.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Finished, Place};
use serde_json::Value;
use tandem_controllers::{Params, find};
use tandem_testbed::Namespace;

/// A network namespace in place of this machine; `None`, and said so, where there can be none. `scripts/test.sh` counts the line.
fn outside() -> Option<Namespace> {
    if !fs::exists("/dev/net/tun").unwrap_or(false) {
        tandem_testing::skip("there is no /dev/net/tun");
        return None;
    }
    Namespace::new().inspect_err(|e| tandem_testing::skip(&e.to_string())).ok()
}

/// Waits until something listens on a TCP port of the calling thread's namespace.
fn wait_for_listener(port: u16) {
    let deadline = Instant::now() + Duration::from_secs(20);
    // Local address and port in hexadecimal, the remote ones, the state: 0A is LISTEN.
    let place = format!(":{port:04X} 00000000:0000 0A");
    while !fs::read_to_string("/proc/thread-self/net/tcp").unwrap().contains(&place) {
        assert!(Instant::now() < deadline, "nothing listens on port {port}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends with the test, however that ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shell(place: &Place, path: &str, script: &str) -> Finished {
    let mut command = place.command(&format!("shell {path} --json -- sh -c"));
    command.arg(script).output().unwrap().into()
}

fn mean(values: &[Value], of: impl Fn(&Value) -> f64) -> f64 {
    values.iter().map(of).sum::<f64>() / values.len() as f64
}

/// What iperf3's receiver counts in its intervals is what the path says that it has delivered: from the third second, when slow start's
/// overshoot has been repaired, to the ninth, which is over before iperf3 is.
#[test]
fn iperf3_tells_the_same_goodput_as_the_path() {
    if Command::new("iperf3").arg("--version").stdout(Stdio::null()).status().is_err() {
        return tandem_testing::skip("there is no iperf3: apt-get install iperf3");
    }
    let Some(outside) = outside() else { return };
    let name = format!("tube_{:x}", std::process::id());
    let params = Params::new(find("compound_tube").unwrap());
    let _registered = match tandem_kernel::attach(&params, &name) {
        Ok(attached) => attached,
        Err(e) => return tandem_testing::skip(&e.to_string()),
    };
    let place = Place::new();
    let finished = outside.enter(|| {
        let mut server = Command::new("iperf3");
        server
            .args(["--server", "--one-off", "--json", "-4"])
            .stdout(fs::File::create(place.path("server.json")).unwrap());
        let mut server = Server(server.spawn().unwrap());
        wait_for_listener(5201);
        let client = format!("iperf3 --client $TANDEM_HOST --congestion {name} --time 10 >client.txt");
        let finished = shell(&place, "--rate 100mbit --rtt 40ms --queue 1bdp", &client);
        server.0.wait().unwrap();
        Ok(finished)
    });
    let finished = finished.unwrap();
    assert_eq!(finished.status, Some(0), "{}\n{}", finished.err, place.read("client.txt"));
    let carried: Value = serde_json::from_str(&finished.out).unwrap();
    let link = &carried["links"][0];
    assert_eq!(link["name"], "bottleneck");
    let delivered = link["delivered"]["payload_mbit_by_second"].as_array().unwrap();
    let received = place.json("server.json");
    let intervals = received["intervals"].as_array().unwrap();
    assert!(intervals.len() >= 10 && delivered.len() >= 10, "{} and {} seconds", intervals.len(), delivered.len());
    let emulated_mbps = mean(&delivered[3..9], |second| second.as_f64().unwrap());
    let iperf3_mbps = mean(&intervals[3..9], |i| i["sum"]["bits_per_second"].as_f64().unwrap() / 1e6);
    let ratio = iperf3_mbps / emulated_mbps;
    assert!((0.98..=1.02).contains(&ratio), "{iperf3_mbps} Mb/s by iperf3, {emulated_mbps} by the path");
    // 1448 of 1500 bytes are payload: 96.5 Mb/s, all of which compound_tube uses.
    if carried["emulation"]["doubts"].as_array().unwrap().is_empty() {
        assert!((94.5..96.6).contains(&iperf3_mbps), "{iperf3_mbps}");
    }
}

/// The exit status is the command's, the address of this machine is in its environment, and a path without rate for it delivers what it
/// is given.
#[test]
fn a_command_runs_behind_the_path() {
    let Some(outside) = outside() else { return };
    let place = Place::new();
    let finished =
        outside.enter(|| Ok(shell(&place, "--rate 10mbit --rtt 10ms", "echo $TANDEM_HOST >address; exit 7")));
    let finished = finished.unwrap();
    assert_eq!(finished.status, Some(7), "{}", finished.err);
    assert_eq!(place.read("address").trim(), "100.64.0.1");
    let carried: Value = serde_json::from_str(&finished.out).unwrap();
    for link in carried["links"].as_array().unwrap() {
        assert_eq!((&link["queue_drops"], &link["delivered"]["payload_bytes"]), (&0.into(), &0.into()), "{link}");
    }
}
