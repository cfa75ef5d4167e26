// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other people's programs in `tandem shell`.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    process::{Command, Stdio},
};

use common::{Finished, Place, trusted};
use serde_json::Value;
use tandem_controllers::{Params, find};
use tandem_testbed::Namespace;
use tandem_testing::{Running, output, wait_until};

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
    // Local address and port in hexadecimal, the remote ones, the state: 0A is LISTEN.
    let place = format!(":{port:04X} 00000000:0000 0A");
    wait_until(&format!("something listens on port {port}"), || {
        fs::read_to_string("/proc/thread-self/net/tcp").unwrap().contains(&place)
    });
}

fn shell(place: &Place, path: &str, script: &str) -> Finished {
    output(place.command(&format!("shell {path} --json -- sh -c")).arg(script)).into()
}

/// iperf3 through the path, in the calling thread's namespace: what the path says that it has carried, and what the server received.
fn iperf3(place: &Place, controller: &str) -> (Value, Value) {
    let mut server = Command::new("iperf3");
    server.args(["--server", "--one-off", "--json", "-4"]);
    let server = Running::start_piped(&mut server);
    wait_for_listener(5201);
    let client = format!("iperf3 --client $TANDEM_HOST --congestion {controller} --time 10 >client.txt");
    let finished = shell(place, "--rate 100mbit --rtt 40ms --queue 1bdp", &client);
    // Before the server is waited for: it ends after one client that reached it.
    assert_eq!(finished.status, Some(0), "{}\n{}", finished.err, place.read("client.txt"));
    let received: Value = serde_json::from_slice(&server.output().stdout).unwrap();
    (serde_json::from_str(&finished.out).unwrap(), received["end"]["sum_received"].clone())
}

/// iperf3's receiver counts what the path says that it has delivered.
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
    let run = || {
        let (carried, received) = outside.enter(|| Ok(iperf3(&place, &name))).unwrap();
        let link = &carried["links"][0];
        assert_eq!(link["name"], "bottleneck");
        let delivered_mb = link["delivered"]["payload_bytes"].as_f64().unwrap() / 1e6;
        let received_mb = received["bytes"].as_f64().unwrap() / 1e6;
        assert!(received_mb <= delivered_mb, "{received_mb} MB by iperf3, {delivered_mb} by the path");
        let received_mbps = received["bits_per_second"].as_f64().unwrap() / 1e6;
        let emulation = carried["emulation"].clone();
        ((delivered_mb, received_mb, received_mbps), emulation)
    };
    let Some((delivered_mb, received_mb, received_mbps)) = trusted(run) else { return };
    // iperf3 stops with two BDP of 0.5 MB on the way; what was sent twice is delivered twice.
    assert!(received_mb >= 0.98 * delivered_mb - 1.0, "{received_mb} MB by iperf3, {delivered_mb} by the path");
    // 1448 of 1500 bytes are payload: 96.5 Mb/s at most.
    assert!((50.0..97.0).contains(&received_mbps), "{received_mbps}");
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

/// What wakes up late while no packet is under way keeps none waiting.
#[test]
fn a_command_that_sends_nothing_is_not_doubted() {
    let Some(outside) = outside() else { return };
    let place = Place::new();
    let finished = outside.enter(|| Ok(shell(&place, "--rate 100mbit --rtt 40ms", "sleep 0"))).unwrap();
    assert_eq!(finished.status, Some(0), "{}", finished.err);
    let carried: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(carried["emulation"]["doubts"], serde_json::json!([]));
    let refused = place.tandem("shell --rate 100mbit --rtt 0ms -- true");
    assert!(refused.status == Some(2) && refused.err.contains("--rtt"), "{}", refused.err);
}
