// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem search` as a program: a fault that is known, the same on any number of threads, resumed, and bad usage.

mod common;

use common::Place;
use serde_json::Value;

/// Paths on which a run takes milliseconds, most of them with enough queue.
const SPACE: &str = r#"
title = "Queues"
[length]
round_trips = 300
packets_most = 10_000
warmup = 0.3
[parameters]
rate = { from = "5mbit", to = "20mbit", scale = "log" }
rtt = { from = "20ms", to = "80ms", scale = "log" }
queue = { from = "0.01bdp", to = "2bdp", scale = "log" }
[scenario.dumbbell]
rate = "{rate}"
rtt = "{rtt}"
queue = "{queue}"
[[scenario.flows]]
controller = "contender"
[features.loss.parameters]
loss = { from = 1e-5, to = 1e-3, scale = "log" }
[features.loss.scenario.dumbbell]
loss = "{loss}"
"#;

const SEARCH: &str = "search compound --over ./queues.toml --evaluations 64 --finds 1 --json";

fn place() -> Place {
    let place = Place::with_store();
    place.write("queues.toml", SPACE);
    place
}

fn found(place: &Place, arguments: &str) -> Value {
    serde_json::from_str(&place.succeed(arguments).out).unwrap()
}

/// Compound TCP halves its window on a loss (S0), CUBIC leaves 0.7 of it (RFC 9438): with a buffer of a few packets the link idles.
#[test]
fn a_shallow_buffer_is_found_on_any_number_of_threads_and_again_from_the_store() {
    let place = place();
    let one = found(&place, &format!("{SEARCH} --workers 1"));
    let find = &one["finds"][0];
    assert_eq!(find["features"].as_array().unwrap().len(), 0, "{find}");
    assert!(find["violation"].as_f64().unwrap() >= 0.1 && find["is_minimal"] == true, "{find}");
    let file = place.read("tandem-out/search/find-1.toml");
    let queue =
        file.lines().find_map(|line| line.strip_prefix("queue = \"")?.strip_suffix("bdp\"")?.parse::<f64>().ok());
    assert!(queue.unwrap() < 0.5, "{file}");
    assert!(file.contains("# Found by: ") && file.contains("controller = \"compound\""), "{file}");
    assert!(place.read("tandem-out/search/report.html").contains("find-1"));
    // The file shows what it says.
    let run = found(&place, "run tandem-out/search/find-1.toml --json --out again");
    let used = 100.0 * run["runs"][0]["links"][0]["utilisation"].as_f64().unwrap();
    let seeds: Vec<f64> = find["contender_by_seed"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert!((used - seeds.iter().sum::<f64>() / seeds.len() as f64).abs() < 1e-6, "{used}: {seeds:?}");
    let stored = place.stored_runs();
    let two = found(&place, &format!("{SEARCH} --workers 2 --replace --keep kept"));
    assert_eq!(two["finds"], one["finds"]);
    assert_eq!(place.stored_runs(), stored, "all runs were there");
    // As a criterion, which the contender fails and the baseline does not.
    let answer =
        |controller| found(&place, &format!("evaluate {controller} --suite kept/ --json"))["rows"][0]["answer"].clone();
    assert_eq!((answer("compound"), answer("cubic")), ("fails".into(), "passes".into()));
}

/// RFC 9743, 7.1, as a question: at least 95 % of what CUBIC uses. The criterion has AQMs, and here it is the small buffer that breaks it.
#[test]
fn a_criterion_is_searched_against_and_kept_with_its_own_limit() {
    let place = place();
    let question = "search compound --worst 7.1-aqm --over ./queues.toml --evaluations 32 --finds 1 --json --keep kept";
    let one = found(&place, question);
    assert_eq!((&one["baseline"], &one["worst"]), (&"cubic".into(), &"7.1-aqm".into()));
    let find = &one["finds"][0];
    let mean = |key: &str| {
        let seeds: Vec<f64> = find[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        seeds.iter().sum::<f64>() / seeds.len() as f64
    };
    let beyond = 1.0 - mean("contender_by_seed") / mean("baseline_by_seed") / 0.95;
    assert!((find["violation"].as_f64().unwrap() - beyond).abs() < 0.01, "{beyond}: {find}");
    let kept = place.read("kept/compound-7.1-aqm-find-1.toml");
    assert!(kept.contains("above = 0.95") && kept.contains("[kernel]"), "{kept}");
    let answer =
        |controller| found(&place, &format!("evaluate {controller} --suite kept/ --json"))["rows"][0]["answer"].clone();
    assert_eq!((answer("compound"), answer("cubic")), ("fails".into(), "passes".into()));
}

/// Windows over time are not kept of runs over real TCP, so there is nothing to ask of those.
#[test]
fn a_find_in_what_real_tcp_does_not_show_is_kept_for_the_simulator() {
    let place = place();
    let question = "search reno --baseline vegas --worst oscillation --over ./queues.toml --evaluations 32 --finds 1 --json --keep kept";
    assert_eq!(found(&place, question)["finds"].as_array().unwrap().len(), 1);
    assert!(!place.read("kept/reno-oscillation-find-1.toml").contains("[kernel]"));
    let answer =
        |controller| found(&place, &format!("evaluate {controller} --suite kept/ --json"))["rows"][0]["answer"].clone();
    assert_eq!((answer("reno"), answer("vegas")), ("fails".into(), "passes".into()));
}

/// A suite that goes into a repository with its headers holds no path of one machine.
#[test]
fn kept_criteria_find_their_headers_wherever_they_are_moved() {
    let place = place();
    place.succeed("new ideas/mine.h");
    let one = found(
        &place,
        "search ./ideas/mine.h --baseline ./ideas/mine.h@step=8 --over ./queues.toml --evaluations 32 --finds 1 --json \
         --keep suites/kept",
    );
    assert_eq!(one["finds"].as_array().unwrap().len(), 1, "{one}");
    std::fs::rename(place.path("suites"), place.path("ideas/suites")).unwrap();
    std::fs::rename(place.path("ideas"), place.path("moved")).unwrap();
    let kept = place.read("moved/suites/kept/mine-h-utilisation-find-1.toml");
    assert!(
        kept.contains("../../ideas/mine.h@step=8") && !kept.contains(&place.path("").display().to_string()),
        "{kept}"
    );
}

/// What a short search ran is the beginning of a long one.
#[test]
fn a_longer_search_goes_on_where_a_shorter_one_was() {
    let (once, twice) = (place(), place());
    let search =
        |evaluations| format!("search compound --over ./queues.toml --finds 1 --json --evaluations {evaluations}");
    let short = found(&twice, &search(32));
    let (long, again) = (found(&once, &search(64)), found(&twice, &format!("{} --replace", search(64))));
    assert_eq!(again["finds"], long["finds"]);
    assert!(short["simulated_packets"].as_u64() < long["simulated_packets"].as_u64());
    assert_eq!(again["simulated_packets"], long["simulated_packets"]);
    assert!(twice.stored_runs() >= once.stored_runs());
}

/// No generation is finished, and that is said.
#[test]
fn no_time_finds_nothing() {
    let nothing = place().succeed("search compound --over ./queues.toml --budget 1us");
    assert!(
        nothing.out.contains("0 paths in 0 generations") && nothing.out.contains("Nothing was found"),
        "{}",
        nothing.out
    );
}

#[test]
fn versions_of_one_controller_are_compared() {
    let arguments = "search compound --over ./queues.toml --evaluations 16 --finds 1 --differ compound@gamma=5";
    let compared = place().succeed(arguments);
    assert!(compared.out.contains("where `compound` and `compound@gamma=5` differ most"), "{}", compared.out);
}

/// On 20 Mb/s and less, with enough queue, both fill the link.
#[cfg(feature = "quic")]
#[test]
fn engines_are_compared() {
    let arguments = "search reno --over ./queues.toml --evaluations 16 --finds 1 --differ quic --json";
    let compared = found(&place(), arguments);
    assert_eq!(compared["engines"], serde_json::json!(["sim", "quic"]));
    assert!(compared["judged"].as_u64().unwrap() >= 8, "{compared}");
}

#[test]
fn bad_usage_is_told_with_the_mend() {
    let place = place();
    for (arguments, part) in [
        ("search compond", "did you mean `compound`?"),
        ("search cubic", "`cubic` is compared with itself"),
        ("search kernel:cubic", "searches are simulated"),
        ("search compound --worst speed", "utilisation, stolen, delay, loss, starvation, recovery"),
        ("search compound --worst 7.1", "there are 7.1-aqm, 7.1-marks: name one of them"),
        ("search compound --worst 7.11", "on its own paths alone: `completion` is of transfers"),
        ("search compound --worst 7.6-hidden-marks", "with the same controller on another path"),
        ("search compound --worst 5.1.2:3", "it has 2 limits"),
        (
            "search compound --worst stolen --over ./queues.toml",
            "no flows of other controllers: try --over competition",
        ),
        ("search compound --worst 7.9 --over ./queues.toml", "no path of it changes: try --over changing-path"),
        ("search compound --differ sim", "`compound` is compared with itself"),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        ("search compound --differ kernel", "--engine sim,kernel"),
        #[cfg(feature = "quic")]
        ("search compound --differ quic --keep worst", "criteria compare controllers, not engines"),
        ("search compound --over fixed", "there is no such space; there are"),
        ("search compound --over ./none.toml", "cannot be read"),
        ("search compound --least 0", "a number above 0"),
    ] {
        let failed = place.tandem(arguments);
        assert!(failed.status == Some(2) && failed.err.contains(part), "{arguments}: {}", failed.err);
    }
    assert!(!place.path("tandem-out").exists());
}
