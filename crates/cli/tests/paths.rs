// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths of today on the command line: rate traces, jitter, late packets, policers, queue management and ECN.

mod common;

use common::{Place, QUICK};
use serde_json::Value;

const KINDS: [&str; 3] = ["cellular", "satellite", "wifi"];

/// The only run of a comparison with these arguments.
fn run_with(place: &Place, arguments: &str) -> Value {
    let finished = place.succeed(&format!("compare {QUICK} {arguments} --json"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    results["runs"][0].clone()
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} in {value}"))
}

fn goodput_mbps(run: &Value) -> f64 {
    number(run, "/groups/0/goodput_mbps")
}

#[track_caller]
fn refused(place: &Place, arguments: &str, parts: &[&str]) {
    let before = place.files("");
    let finished = place.tandem(arguments);
    assert_eq!((finished.status, &*finished.out), (Some(2), ""), "tandem {arguments}\n{}", finished.err);
    for part in parts {
        assert!(finished.err.contains(part), "`{part}` is not in what `tandem {arguments}` says:\n{}", finished.err);
    }
    assert!(!finished.err.contains("loss rate"), "nothing is lost here: tandem {arguments}\n{}", finished.err);
    assert_eq!(place.files(""), before, "tandem {arguments}");
}

/// A packet of 1500 bytes every 2 ms is 6 Mb/s, 5.79 Mb/s of payload, whatever --rate says.
#[test]
fn a_rate_trace_limits_the_flow() {
    let place = Place::new();
    place.write("half.trace", "2\n4\n6\n8\n10\n");
    let run = run_with(&place, "--rate-trace half.trace reno");
    assert!((5.0..5.8).contains(&goodput_mbps(&run)), "{}", goodput_mbps(&run));
    let effects = &run["scenario"]["network"]["links"][0]["effects"];
    assert_eq!(effects["rate_trace"], "2 4 6 8 10", "{effects}");
}

/// Up to 5 ms are added to each packet's delay or taken away, so RTTs spread although the queue stays empty.
#[test]
fn jitter_spreads_the_delay() {
    let place = Place::new();
    let spread_ms = |arguments: &str| {
        let run = run_with(&place, &format!("{arguments} vegas"));
        number(&run, "/groups/0/rtt_ms/p95") - number(&run, "/groups/0/rtt_ms/p50")
    };
    let (with, without) = (spread_ms("--jitter 5ms"), spread_ms(""));
    assert!(with > without + 1.0, "{with} ms, without jitter {without} ms");
}

/// Late packets are taken for lost by a sender that waits for too few others, or are found to be late; either way less gets through, or no more.
#[test]
fn reordering_is_part_of_the_scenario_and_loses_nothing() {
    let place = Place::new();
    for (distance, by_s) in [("5ms", 0.005), ("3p", 0.0042)] {
        let run = run_with(&place, &format!("--reorder 2%:{distance} reno"));
        let reorder = &run["scenario"]["network"]["links"][0]["effects"]["reorder"];
        assert_eq!((number(reorder, "/share"), number(reorder, "/by_s")), (0.02, by_s), "{reorder}");
        assert!((1.0..9.66).contains(&goodput_mbps(&run)), "{distance}: {}", goodput_mbps(&run));
        assert_eq!(number(&run, "/links/0/random_losses"), 0.0, "{distance}: what is late is not lost");
    }
}

#[test]
fn a_policer_drops_what_exceeds_its_rate() {
    let place = Place::new();
    let run = run_with(&place, "--policer 4mbit:20kB reno");
    assert!((1.0..4.0).contains(&goodput_mbps(&run)), "{}", goodput_mbps(&run));
    assert!(number(&run, "/links/0/drops") > 0.0);
}

/// The queue marks instead of dropping, and the marks are seen: in the results, in the table and on the page.
#[test]
fn queue_management_marks_with_ecn() {
    let place = Place::new();
    for aqm in ["fq_codel", "pie", "dualpi2"] {
        let path = "--rate 10mbit --rtt 20ms --queue 200p --duration 6s --warmup 1s";
        let finished = place.succeed(&format!("compare {path} --aqm {aqm} --ecn reno:2 --out {aqm}"));
        let results = place.json(&format!("{aqm}/results.json"));
        assert!(number(&results, "/runs/0/links/0/marks") > 0.0, "{aqm}: {results}");
        assert!(finished.out.contains("Marks"), "{aqm}: {}", finished.out);
        assert!(place.read(&format!("{aqm}/report.html")).contains(">Marks</th>"), "{aqm}");
    }
    let finished = place.succeed(&format!("compare {QUICK} --aqm pie reno"));
    assert!(!finished.out.contains("Marks"), "nothing was marked: {}", finished.out);
    refused(&place, &format!("compare {QUICK} --ecn reno"), &["--ecn needs a queue that marks", "--aqm"]);
}

/// A scenario file may have ECN and a queue that does not mark, but the result says what that means.
#[test]
fn ecn_in_vain_is_said() {
    let place = Place::new();
    place.write("vain.toml", &(common::QUICK_FILE.join("\n") + "\necn = \"rfc3168\"\n"));
    let finished = place.succeed("run vain.toml");
    let all = finished.out + &finished.err;
    assert!(all.contains("ECN needs a queue that marks"), "{all}");
}

/// All effects at once, twice: the same command makes the same result.
#[test]
fn effects_go_together() {
    let place = Place::new();
    place.write("half.trace", "2\n4\n6\n8\n10\n");
    let effects = "--rate-trace half.trace --jitter 1ms --reorder 1%:3p --policer 8mbit:30kB --aqm fq_codel --ecn";
    let [first, again] = [(); 2].map(|()| run_with(&place, &format!("{effects} cubic")));
    assert!(goodput_mbps(&first) > 0.5, "{}", goodput_mbps(&first));
    assert_eq!(first["groups"], again["groups"]);
}

/// Its packets have a queue of their own, and UDP has no RTT but a delay.
#[test]
fn a_call_behind_fq_codel_waits_for_nobody() {
    let place = Place::new();
    let path = "duration = \"4s\"\nwarmup = \"1s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\nqueue = \"200p\"\naqm = \"fq_codel\"\n";
    let flows = "[[flows]]\ncontroller = \"cubic\"\n[[flows]]\nname = \"call\"\nudp = { rate = \"100kbit\", packet = \"200B\" }\n";
    place.write("call.toml", &format!("{path}{flows}"));
    let finished = place.succeed("run call.toml --json");
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    let call = &results["runs"][0]["groups"][1];
    assert!(call["rtt_ms"].is_null() && call["srtt_ms"].is_null(), "{call}");
    assert_eq!(number(call, "/base_delay_ms"), 10.0);
    let wait_ms = number(call, "/delivery/delay_ms/p95") - 10.0;
    let queue_ms = number(&results, "/runs/0/links/0/queueing_delay_ms/p95");
    assert!((0.1..3.0).contains(&wait_ms) && queue_ms > wait_ms, "{wait_ms} ms, the whole queue {queue_ms} ms");
}

#[test]
fn the_same_seed_makes_the_same_trace() {
    let place = Place::new();
    for kind in KINDS {
        let made = |seed: u32, file: &str| {
            let words = format!("trace {kind} --rate 12mbit --duration 2s --seed {seed} --out {file}");
            let lines = place.succeed(&words).out;
            assert!(lines.contains("[effects.bottleneck]") && lines.contains(file), "{lines}");
            place.read(file)
        };
        let (first, again, other) = (made(1, "a.trace"), made(1, "b.trace"), made(2, "c.trace"));
        assert_eq!(first, again, "{kind}");
        assert_ne!(first, other, "{kind}");
        assert_eq!(first.lines().last(), Some("2000"), "{kind}: as long as asked for");
    }
}

/// What `trace` writes, `compare` reads. The two seconds that are measured are the whole trace once, and no flow gets more than that carries;
/// a queue of 20 packets may have waited before.
#[test]
fn a_made_trace_runs() {
    let place = Place::new();
    for kind in KINDS {
        place.succeed(&format!("trace {kind} --rate 8mbit --duration 2s --out {kind}.trace"));
        let run = run_with(&place, &format!("--rate-trace {kind}.trace reno"));
        let packets = place.read(&format!("{kind}.trace")).lines().count() + 20;
        let most_mbps = packets as f64 * 1448.0 * 8.0 / 2e6;
        assert!((0.3..most_mbps).contains(&goodput_mbps(&run)), "{kind}: {} of {most_mbps}", goodput_mbps(&run));
    }
}

#[test]
fn bad_traces() {
    let place = Place::new();
    let files: [(&str, &[u8], &str); 4] = [
        ("empty.trace", b"", "empty.trace: the trace is empty"),
        ("order.trace", b"1\n3\n2\n", "order.trace:3: 2 comes after 3"),
        ("words.trace", b"1\nfast\n", "words.trace:2: `fast` is not a time"),
        ("bytes.trace", b"1\n2\n\xff\xfe\n", "bytes.trace:3: this is not text"),
    ];
    for (name, bytes, _) in files {
        std::fs::write(place.path(name), bytes).unwrap();
    }
    for (name, _, message) in files {
        refused(&place, &format!("compare {QUICK} --rate-trace {name} reno"), &["--rate-trace", message]);
    }
    refused(
        &place,
        &format!("compare {QUICK} --rate-trace none.trace reno"),
        &["--rate-trace", "none.trace", "cannot be read"],
    );
    refused(
        &place,
        &format!("compare {QUICK} --rate-trace empty.trace --matrix reno cubic"),
        &["--rate-trace", "empty"],
    );
}

#[test]
fn bad_effects_name_their_flag() {
    let place = Place::new();
    let compare =
        |arguments: &str, parts: &[&str]| refused(&place, &format!("compare {QUICK} {arguments} reno"), parts);
    compare("--jitter 0ms", &["--jitter", "above 0"]);
    compare("--jitter 5", &["--jitter", "time `5` has no unit"]);
    compare("--reorder 1%:3kB", &["--reorder", "neither a time nor packets", "`5ms` or `3p`"]);
    compare("--reorder 1%", &["--reorder", "`1%` has one part", "1%:5ms"]);
    compare("--reorder 150%:5ms", &["--reorder", "share `150%` is not from 0 up to below 1"]);
    compare("--reorder x:5ms", &["--reorder", "`x` is not a share"]);
    compare("--policer 1mbit:1kB", &["--policer", "a burst of 1kB does not hold one packet of 1500 bytes"]);
    compare("--policer 1mbit", &["--policer", "`1mbit` has one part", "10mbit:100kB"]);
}

/// Of a scenario file too, where the key says what the share is of.
#[test]
fn shares_are_no_loss_rates() {
    let place = Place::new();
    for effect in [
        "duplicate = \"150%\"",
        "reorder = { share = \"150%\", distance = \"5ms\" }",
        "jitter = { time = \"1ms\", correlation = \"150%\" }",
    ] {
        place.write("x.toml", &(common::QUICK_FILE.join("\n") + "\n[effects.bottleneck]\n" + effect + "\n"));
        refused(&place, "run x.toml", &["x.toml:10:", "share `150%` is not from 0 up to below 1"]);
    }
}

#[test]
fn bad_requests_for_a_trace() {
    let place = Place::new();
    let trace = |arguments: &str, parts: &[&str]| refused(&place, &format!("trace {arguments} --out x.trace"), parts);
    trace("cable", &["cable", "cellular", "satellite", "wifi"]);
    trace("wifi --duration 0ms", &["--duration 0ns"]);
    trace("wifi --duration 2h", &["--duration 7200s"]);
    trace("wifi --rate 100gbit", &["--rate 100gbit"]);
    refused(&place, "trace wifi", &["--out", "not provided"]);
}
