// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that know nothing of Tandem use its controllers: one that asks for them, and one that takes the default.

mod net;
mod skip;

use std::fs;

use serde_json::Value;
use tandem_controllers::find;
use tandem_kernel::{loadable, read_flows};

use net::{FAR, Loaded, NEAR, Path, Registered, lacks, wait_until};

#[test]
fn iperf3_asks_for_a_controller() {
    const PORT: u16 = 5201;
    if skip::cannot_load() || lacks(&[("iperf3", "iperf3")]) {
        return;
    }
    let path = Path::new("tbf rate 500mbit burst 128kb limit 500kb");
    let _server = path.far.start("iperf3 --server");
    path.far.wait_for_listener(PORT);
    for controller in loadable() {
        let registered = Registered::new(controller);
        let command = format!("iperf3 --client {FAR} --congestion {} --bytes 30M --json", registered.name);
        let report: Value = serde_json::from_str(&path.near.run(&command)).unwrap();
        let end = &report["end"];
        assert_eq!(end["sender_tcp_congestion"], registered.name, "{report}");
        // All but what two sockets' buffers may hold when it ends.
        assert!(end["sum_received"]["bytes"].as_u64().unwrap() >= 20_000_000, "{report}");
    }
}

#[test]
fn curl_fetches_from_a_server_that_has_it_by_default() {
    const PORT: u16 = 80;
    if skip::cannot_load() || lacks(&[("curl", "curl"), ("busybox", "busybox")]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut content = vec![0; 30_000_000];
    blake3::Hasher::new().finalize_xof().fill(&mut content);
    fs::write(folder.path().join("served"), &content).unwrap();

    let path = Path::new("tbf rate 200mbit burst 64kb limit 250kb");
    let loaded = path.near.enter(|| Loaded::new(find("compound_tube").unwrap(), true));
    let _server = path.near.start(&format!("busybox httpd -f -p {PORT} -h {}", folder.path().display()));
    path.near.wait_for_listener(PORT);
    // Until somebody reads what it writes, the connection stands still, and has more to carry than buffers hold.
    let curl = path.far.start(&format!("curl --silent --show-error --fail http://{NEAR}/served"));
    wait_until("the server's connection is seen", || {
        let flows = read_flows(path.near.namespace(), &loaded.name).unwrap();
        flows.iter().any(|f| f.local().port() == PORT && f.remote().ip().to_string() == FAR && f.bytes_acked > 0)
    });
    let output = curl.output();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == content, "what curl fetched is not what was served");
}
