// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario as in results: all that decides them, defaults too.

use serde_json::{Value, json};
use tandem_scenario::{
    Scenario,
    file::{Overrides, load, parse},
};

const SMALL: &str = r#"
duration = "3s"
[dumbbell]
rate = "10mbit"
rtt = "20ms"
queue = "20p"
[[flows]]
controller = "compound"
"#;

fn scenario(text: &str) -> Scenario {
    parse(text, "test.toml", "test", &Overrides::default()).unwrap()
}

fn written(scenario: &Scenario) -> Value {
    serde_json::to_value(&**scenario).unwrap()
}

#[test]
fn defaults_are_filled_in_and_quantities_have_units() {
    let json = written(&scenario(SMALL));
    for (path, expected) in [
        ("/duration_s", json!(3.0)),
        ("/warmup_s", json!(0.0)),
        ("/seeds", json!([1])),
        ("/mtu", json!(1500)),
        // One packet's time at 10 Mb/s.
        ("/send_jitter_s", json!(0.0012)),
        ("/network/links/0/rate_bps", json!(10_000_000)),
        ("/network/links/0/delay_s", json!(0.01)),
        ("/network/links/0/limit", json!({ "packets": 20 })),
        ("/network/links/0/aqm", json!("droptail")),
        ("/network/links/0/loss", json!("none")),
        ("/groups/0/source/tcp/controller/name", json!("compound")),
        ("/groups/0/source/tcp/controller/parameters/gamma", json!(30.0)),
        ("/groups/0/source/tcp/initial_window", json!(10)),
        ("/groups/0/source/tcp/delayed_acks", json!(true)),
    ] {
        assert_eq!(json.pointer(path), Some(&expected), "{path} of {json:#}");
    }
}

/// Each changes one key of `SMALL`: from what to what.
const CHANGES: &[(&str, &str)] = &[
    ("duration = \"3s\"", "duration = \"3s\"\nwarmup = \"1s\""),
    ("duration = \"3s\"", "duration = \"3s\"\nmtu = 1400"),
    ("duration = \"3s\"", "duration = \"3s\"\nsend_jitter = \"0s\""),
    ("duration = \"3s\"", "duration = \"3s\"\nsample_interval = \"7ms\""),
    ("duration = \"3s\"", "duration = \"3s\"\nfirst_seed = 9"),
    ("10mbit", "10.000001mbit"),
    ("20ms", "20.000001ms"),
    ("20p", "30kB"),
    ("queue = \"20p\"", "queue = \"20p\"\nloss = 1e-9"),
    ("queue = \"20p\"", "queue = \"20p\"\nloss = { good_to_bad = 0.1, bad_to_good = 0.2 }"),
    ("queue = \"20p\"", "queue = \"20p\"\naqm = \"red\""),
    ("queue = \"20p\"", "queue = \"20p\"\naqm = { kind = \"codel\", ecn = true }"),
    ("queue = \"20p\"", "queue = \"20p\"\naqm = { kind = \"fq_codel\", flows = 7 }"),
    ("queue = \"20p\"", "queue = \"20p\"\naqm = \"pie\""),
    ("queue = \"20p\"", "queue = \"20p\"\naqm = \"dualpi2\""),
    ("queue = \"20p\"", "queue = \"20p\"\naqm = { kind = \"dualpi2\", range = \"0ms\" }"),
    ("[[flows]]", "[effects.bottleneck]\njitter = { time = \"1ms\" }\n[[flows]]"),
    ("[[flows]]", "[effects.bottleneck]\npolicer = { rate = \"5mbit\", burst = \"9kB\" }\n[[flows]]"),
    ("[[flows]]", "[effects.bottleneck]\nchanges = [{ at = \"1s\", rate = \"5mbit\" }]\n[[flows]]"),
    ("\"compound\"", "\"compound@gamma=31\""),
    ("\"compound\"", "\"kernel:cubic\""),
    ("\"compound\"", "\"noq:bbr3\""),
    ("\"compound\"", "\"compound\"\ncount = 2"),
    ("\"compound\"", "\"compound\"\nstart = \"1ms\""),
    ("\"compound\"", "\"compound\"\nstart_spread = \"1ns\""),
    ("\"compound\"", "\"compound\"\nstop = \"2s\""),
    ("\"compound\"", "\"compound\"\nrtt_spread = \"1ns\""),
    ("\"compound\"", "\"compound\"\ntransfer = \"9kB\""),
    ("\"compound\"", "\"compound\"\ntransfer = \"9kB\"\npause = \"1s\""),
    ("\"compound\"", "\"compound\"\npacing = true"),
    ("\"compound\"", "\"compound\"\nrecovery = \"rate-halving\""),
    ("\"compound\"", "\"compound\"\necn = \"rfc3168\""),
    ("\"compound\"", "\"compound\"\necn = \"accurate\""),
    ("\"compound\"", "\"compound\"\ntransport = \"quic\""),
    ("\"compound\"", "\"compound\"\ninitial_window = 3"),
    ("\"compound\"", "\"compound\"\nreceive_window = \"90kB\""),
    ("\"compound\"", "\"compound\"\nack_every = 3"),
    ("\"compound\"", "\"compound\"\nhandshake = true"),
    ("\"compound\"", "\"compound\"\noffered_rate = \"1mbit\""),
    ("\"compound\"", "\"compound\"\noffered_rate = \"1mbit\"\noffered_process = { kind = \"poisson\" }"),
    (
        "\"compound\"",
        "\"compound\"\noffered_rate = \"1mbit\"\noffered_process = { kind = \"poisson\", size = \"9kB\" }",
    ),
    (
        "\"compound\"",
        "\"compound\"\noffered_rate = \"1mbit\"\noffered_process = { kind = \"on-off\", on = \"1s\", off = \"1s\" }",
    ),
    (
        "\"compound\"",
        "\"compound\"\noffered_rate = \"1mbit\"\noffered_process = { kind = \"frames\", per_second = 30, sigma = 0.5 }",
    ),
    ("\"compound\"", "\"compound\"\nreceiver = \"early-acks\""),
    ("controller = \"compound\"", "udp = { rate = \"1mbit\" }"),
    ("controller = \"compound\"", "udp = { rate = \"1mbit\", min_rate = \"200kbit\" }"),
    ("controller = \"compound\"", "udp = { rate = \"1mbit\", on = \"1s\", off = \"2s\" }"),
];

/// What makes another result makes another text.
#[test]
fn no_key_is_left_out() {
    let mut texts = vec![written(&scenario(SMALL)).to_string()];
    for (from, to) in CHANGES {
        let text = written(&scenario(&SMALL.replacen(from, to, 1))).to_string();
        assert!(!texts.contains(&text), "{to} makes no difference");
        texts.push(text);
    }
}

#[test]
fn every_network_can_be_written() {
    for entry in std::fs::read_dir("../../scenarios").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let scenario = load(&path, &Overrides::default()).unwrap();
            let json = written(&scenario);
            assert_eq!(json["groups"].as_array().unwrap().len(), scenario.groups.len(), "{}", path.display());
            assert_eq!(json["network"]["links"].as_array().unwrap().len(), scenario.network.links.len());
        }
    }
}
