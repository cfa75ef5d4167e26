// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem advise`, on paths on which runs take milliseconds.

mod common;

use std::path::Path;

use common::Place;
use serde_json::Value;

/// Nothing is unknown, and the machine does not matter.
const KNOWN: &str = "--rate 10mbit --rtt 20ms --queue 20p --loss 0 --jitter 0ms --neighbours reno:1 --default reno --duration 5s --warmup 1s --time 1h";

fn measurement(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../advise/tests/fixtures").join(name).display().to_string()
}

fn names(path: &Value) -> Vec<&str> {
    path["controllers"].as_array().unwrap().iter().map(|c| c["controller"].as_str().unwrap()).collect()
}

#[test]
fn one_recommendation_with_what_it_rests_on() {
    let place = Place::new();
    let known = KNOWN.replace("--duration 5s", "--duration 40s");
    let command = format!("advise {known} --seeds 8 --out o reno scalable vegas");
    let finished = place.succeed(&command);
    for part in
        ["On 10mbit, 20ms RTT: ", "Goodput:", "Neighbours:", "Delay:", "How sure:", "--explain", "advised", "default"]
    {
        assert!(finished.out.contains(part), "no `{part}` in\n{}", finished.out);
    }
    assert!(finished.out.lines().count() <= 25, "{}", finished.out);
    assert!(finished.out.lines().all(|line| line.chars().count() <= 80), "{}", finished.out);
    assert!(finished.err.contains("Report: o/report.html"), "{}", finished.err);
    let results = place.json("o/results.json");
    let path = &results["paths"][0];
    assert_eq!(results["paths"].as_array().unwrap().len(), 1);
    // Highest goodput first: Scalable TCP crowds Reno out, Vegas gives way to it.
    assert_eq!(names(path), ["scalable", "reno", "vegas"]);
    let of = |name: &str| path["controllers"].as_array().unwrap().iter().find(|c| c["controller"] == name).unwrap();
    // The default is the reference: it takes nothing from the neighbour and adds no delay.
    assert_eq!((&of("reno")["stolen"]["mean"], &of("reno")["added_delay_ms"]["mean"]), (&0.0.into(), &0.0.into()));
    assert!(of("scalable")["stolen"]["mean"].as_f64().unwrap() > 0.1);
    assert_eq!(of("scalable")["is_within_limits"], false);
    assert_eq!(
        (&results["advice"], &path["why"], &results["switch_on"]),
        (&"reno".into(), &"default-is-as-good".into(), &Value::Null)
    );
    let page = place.read("o/report.html");
    assert!(page.contains("Goodput and what neighbours lose") && page.contains("Goodput and delay"));
    // The same command gives the same bytes; what is explained is nothing else.
    let (first, second) = (place.read("o/results.json"), Place::new());
    let explained = second.succeed(&command.replace("advise ", "advise --explain ")).out;
    let sentence = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        sentence.contains("Rule: the highest goodput of those that take at most 10.0 % from neighbours and add"),
        "{explained}"
    );
    assert!(explained.lines().all(|line| line.chars().count() <= 80), "{explained}");
    let without = |file: &str| second.read(file).replace("advise --explain ", "advise ");
    assert!(first == without("o/results.json") && page == without("o/report.html"));
}

#[test]
fn a_greedy_controller_is_advised_where_the_user_allows_it() {
    let place = Place::new();
    let known = KNOWN.replace("--duration 5s", "--duration 40s");
    let finished = place.succeed(&format!("advise {known} --seeds 5 --max-stolen 99% --json reno scalable"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!((&results["advice"], &results["paths"][0]["why"]), (&"scalable".into(), &"better".into()));
    assert!(results["paths"][0]["gain"]["mean"].as_f64().unwrap() > 0.1);
    assert!(results["switch_on"].as_str().unwrap().contains("scalable"));
}

#[test]
fn what_is_unknown_is_varied_and_without_time_named() {
    let place = Place::new();
    let quick = "--rate 5mbit --rtt 20ms --default reno --duration 2s --warmup 500ms --seeds 2 --json reno vegas";
    let differs = |options: &str| {
        let results: Value = serde_json::from_str(&place.succeed(&format!("advise {quick} {options}")).out).unwrap();
        let paths = results["paths"].as_array().unwrap().iter().map(|p| p["differs"].as_str().unwrap().to_owned());
        (paths.collect::<Vec<_>>(), results["not_looked_at"].as_array().unwrap().len())
    };
    let (paths, left) = differs("--time 1h --out a");
    assert_eq!((paths.len(), left), (8, 0));
    assert_eq!(paths[..3], ["", "a queue of 0.1bdp (1 packets)", "a queue of 4bdp (33 packets)"]);
    let nothing = place.tandem(&format!("advise {quick} --time 0s --out b"));
    assert_eq!((nothing.status, &*nothing.out), (Some(1), ""));
    assert!(
        nothing.err.contains("not even two runs of `reno` were finished in 0ns: give more --time"),
        "{}",
        nothing.err
    );
}

/// Copa takes jitter for a queue.
#[test]
fn what_jitter_would_slow_down_is_advised_only_where_there_is_none() {
    let place = Place::new();
    let lossy = "--rate 100mbit --rtt 10ms --queue 1bdp --loss 1% --neighbours cubic:1 --default cubic";
    let quick = "--duration 10s --warmup 4s --seeds 3 --time 1h cubic copa bbr3";
    let steady = place.succeed(&format!("advise {lossy} --jitter 0ms --out a {quick}")).out;
    assert!(steady.contains("run `copa`"), "{steady}");
    let unknown = place.succeed(&format!("advise {lossy} --explain --out b {quick}")).out;
    let sentence = unknown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unknown.contains("slow on other paths"), "{unknown}");
    assert!(sentence.contains("run `bbr3`") && sentence.contains("a jitter of 0ms"), "{unknown}");
    assert!(sentence.contains("vary what is unknown; with jitter of 1ms `copa` has"), "{unknown}");
}

#[test]
fn a_transfer_counts_by_its_time() {
    let place = Place::new();
    let known = "--rate 10mbit --rtt 20ms --queue 20p --loss 0 --neighbours none --default reno --time 1h --seeds 2";
    let finished = place.succeed(&format!("advise {known} --transfer 1MB --json reno vegas"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    for time in results["paths"][0]["completion_s"].as_array().unwrap() {
        // 8 Mb of 1448 bytes each 1500 at 10 Mb/s take 0.83 s, after some rounds of slow start.
        let seconds = time[1].as_f64().unwrap();
        assert!((0.83..1.5).contains(&seconds), "{time}");
    }
    assert_eq!(results["paths"][0]["is_extrapolated"], false);
    let long = place.succeed(&format!("advise {known} --transfer 1GB --duration 5s --json --out long reno"));
    let results: Value = serde_json::from_str(&long.out).unwrap();
    // 8000 Mb at 9.65 Mb/s of payload.
    let seconds = results["paths"][0]["completion_s"][0][1].as_f64().unwrap();
    assert!((825.0..900.0).contains(&seconds), "{seconds}");
    assert_eq!(results["paths"][0]["is_extrapolated"], true);
}

/// A queue drops unless it is told to mark; what counts marks is a candidate only then.
#[test]
fn a_path_with_marks_a_policer_and_another_goal() {
    let place = Place::new();
    let known = KNOWN.replace("--neighbours reno:1", "--neighbours none");
    let finished = place.succeed(&format!("advise {known} --seeds 2 --out a --aqm codel reno"));
    assert!(finished.out.contains("20ms RTT, codel that drops:"), "{}", finished.out);
    let finished = place.succeed(&format!("advise {known} --seeds 2 --out b --aqm codel --ecn reno dctcp"));
    assert!(finished.out.contains("20ms RTT, codel that marks:"), "{}", finished.out);
    let refused = place.tandem(&format!("advise {known} --ecn reno"));
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("--ecn needs a queue that marks: add --aqm"), "{}", refused.err);
    let policed = place.succeed(&format!("advise {known} --seeds 2 --out c --policer 2mbit:30kB --json reno"));
    let results: Value = serde_json::from_str(&policed.out).unwrap();
    assert!(results["path"].as_str().unwrap().ends_with("20ms RTT, a policer of 2mbit"), "{}", results["path"]);
    let goodput_mbps = results["paths"][0]["controllers"][0]["goodput_mbps"]["mean"].as_f64().unwrap();
    assert!((0.5..2.1).contains(&goodput_mbps), "{goodput_mbps}");
    // Alone, Vegas carries as much as Reno and keeps the queue short.
    let idle = known.replace("--duration 5s", "--duration 20s");
    let finished = place.succeed(&format!("advise {idle} --seeds 5 --out d --goal delay --json reno vegas"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!((&results["advice"], &results["limits"]["goal"]), (&"vegas".into(), &"delay".into()));
}

#[test]
fn a_path_from_measurements() {
    let place = Place::new();
    let [iperf3, ping] = ["iperf3.json", "ping-idle.txt"].map(measurement);
    let quick = "--loss 0 --neighbours none --default reno --duration 2s --warmup 500ms --seeds 2 --time 1h";
    let finished = place.succeed(&format!("advise --explain --from {iperf3} --from {ping} --rate 5mbit {quick} reno"));
    // 47.5 Mb/s were measured: the path is not what the option says.
    assert!(finished.out.starts_with("Path and measurement contradict each other"), "{}", finished.out);
    assert!(finished.out.contains("\nOn 5mbit, 30.173ms RTT: "), "{}", finished.out);
    assert!(
        finished.out.contains("rtt 30.173ms (ping-idle.txt: smallest of min/avg/max), at most:"),
        "{}",
        finished.out
    );
    assert!(finished.out.contains("queue 32.4ms (iperf3.json: end.streams[].sender.max_rtt, less"), "{}", finished.out);
    // What an option gives is not inferred.
    assert!(!finished.out.contains("rate 49.2mbit"), "{}", finished.out);
}

/// The first line is what an expert would say first.
#[test]
fn what_is_no_controllers_fault_comes_first() {
    let place = Place::new();
    let quick = "--neighbours none --default reno --duration 2s --warmup 500ms --seeds 2 --time 1h reno";
    let begins = |file: &str, more: &str, expected: &str| {
        let file = measurement(file);
        let out = place.succeed(&format!("advise --replace --out o --from {file} {more} {quick}")).out;
        let flowing = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.starts_with(expected), "not `{expected}`:\n{out}");
        flowing
    };
    let policed = begins(
        "iperf3-policed.json",
        "",
        "The measured flow was limited by a policer: its rate fell from 308mbit to 5",
    );
    assert!(
        policed.contains("First stay below the policer: it drops what exceeds 6") && policed.contains("cake bandwidth"),
        "{policed}"
    );
    // Who gives the policer knows better.
    let policed = begins("iperf3-policed.json", "--policer 50mbit:1MB", "The measured flow was limited by a policer");
    assert!(policed.contains("a policer of 50mbit"), "{policed}");
    begins(
        "iperf3-processor.json",
        "--rtt 1ms",
        "The measured flow was limited by the processor: iperf3 used 99 % of a core here. No controller",
    );
    begins(
        "iperf3-port.json",
        "",
        "The measured flow was limited by a full port: it is what an Ethernet of 1gbit carries. No controller",
    );
    // The queue discipline is what `tc` says of the machine that sends.
    place.write(
        "tc.txt",
        "qdisc pfifo_fast 0: dev eth0 root refcnt 2\n Sent 7 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)\n",
    );
    begins("iperf3-bursts.json", "--from tc.txt --flows 20", "First pace: 1300 of");
    place.write(
        "fq.txt",
        "qdisc fq 0: dev eth0 root refcnt 2\n Sent 7 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)\n",
    );
    begins("iperf3-bursts.json", "--from fq.txt --flows 20", "On ");
    let shallow = "advise --replace --out o --from tc.txt --rate 20mbit --rtt 40ms --queue 6p --loss 0";
    let out = place.succeed(&format!("{shallow} {quick}")).out;
    assert!(out.starts_with("First pace: bursts alone overflow the path's queue of 6p"), "{out}");
}

#[test]
fn bad_input() {
    let place = Place::new();
    place.write("notes.txt", "hello\n");
    let refused = |arguments: &str, parts: &[&str]| {
        let finished = place.tandem(&format!("advise {arguments}"));
        assert_eq!(finished.status, Some(2), "{arguments}: {}", finished.err);
        for part in parts {
            assert!(
                finished.err.contains(part),
                "`{part}` is not in what `advise {arguments}` says:\n{}",
                finished.err
            );
        }
        assert_eq!((&*finished.out, place.files("")), ("", vec!["notes.txt".to_owned()]));
    };
    refused("--rtt 20ms", &["--rate"]);
    refused("--rate 10mbit --rtt 20ms --neighbours rneo:1", &["unknown controller `rneo`", "did you mean `reno`?"]);
    refused("--rate 10mbit --rtt 20ms --default kernel:cubic", &["`kernel:cubic` cannot be simulated", "`cubic`"]);
    refused("--rate 10mbit --rtt 20ms --neighbours kernel:cubic", &["`kernel:cubic` is the kernel's own"]);
    refused("--rate 10mbit --rtt 20ms reno reno", &["`reno` is named twice"]);
    refused("--rate 10mbit --rtt 20ms --queue 10B", &["does not hold one packet"]);
    refused("--rate 10mbit --rtt 20ms --duration 1s --warmup 2s", &["duration 1s must be longer"]);
    refused("--from notes.txt", &["`notes.txt`: it is none of these: `iperf3 --json`"]);
    refused("--from none.txt", &["cannot read `none.txt`"]);
    refused(
        &format!("--from {}", measurement("ping-idle.txt")),
        &["no rate: give --rate", "iperf3 --json", "what was read: rtt "],
    );
}
