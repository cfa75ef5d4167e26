// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model as an engine: what it answers, and what it refuses.

use std::sync::atomic::AtomicBool;

use tandem_engine::{Engine, Options};
use tandem_model::{
    Arithmetic, Law, Path,
    engine::{Isolated, Model},
    followed,
};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
    units::{Rate, Span},
};

fn scenario(link: &str, flows: &str) -> Scenario {
    let text = format!(
        "duration = \"200s\"\nwarmup = \"20s\"\n[dumbbell]\nrate = \"200mbit\"\nrtt = \"50ms\"\n{link}\n[[flows]]\n{flows}\n"
    );
    parse(&text, "test.toml", "test", &Overrides::default()).unwrap()
}

const LINK: &str = "queue = \"100p\"";
const TRACED: Options = Options { traced_flows_per_group: 1, cancelled: None, progress_ns: None };
const FLOW: &str = "controller = \"compound@rtt_gain=0\"";

/// The same numbers as asking for the path, once a whole number of epochs is long enough not to matter.
#[test]
fn agrees_with_the_prediction() {
    let scenario = scenario(LINK, FLOW);
    let result = Isolated::new(&scenario).unwrap().run(1, TRACED).unwrap();
    let path = Path {
        rate: Rate { bps: 200_000_000 },
        rtt: Span::from_ms(50),
        buffer_packets: 100.0,
        packet_bytes: 1500,
        access_rate: None,
    };
    let prediction = followed(&path, &Law::default(), Arithmetic::Tandem).unwrap();
    let link = &result.links[0];
    assert!((link.utilisation / prediction.utilisation - 1.0).abs() < 0.005, "{}", link.utilisation);
    assert!((link.queue_packets.mean - prediction.backlog_packets).abs() < 3.0, "{:?}", link.queue_packets);
    assert!(link.queue_packets.p50 <= link.queue_packets.p95 && link.queue_packets.max <= 101.0);
    let flow = &result.flows[0];
    assert!((flow.goodput_mbps / (prediction.goodput_mbps) - 1.0).abs() < 0.005);
    // 180 s of some 25 s each.
    assert!((6..=8).contains(&flow.window_reductions), "{}", flow.window_reductions);
    assert!(flow.retransmits >= flow.window_reductions);
    // An empty path takes 50 ms and a packet's transmission.
    assert!((result.rtt_ms[0].mean - 50.06 - link.queueing_delay_ms.mean).abs() < 0.01, "{:?}", result.rtt_ms);
    let received: f32 = flow.received_mbit_by_second.iter().sum();
    assert!((f64::from(received) / 200.0 / flow.goodput_mbps - 1.0).abs() < 0.01);
    let trace = result.trace.unwrap();
    assert_eq!(trace.time_s.len(), trace.flows[0].samples.len());
    assert!(trace.flows[0].samples.iter().all(|s| s.cwnd_packets >= 466 && s.cwnd_packets <= 936));
}

#[track_caller]
fn refused(link: &str, flows: &str, part: &str) {
    let scenario = scenario(link, flows);
    let error = Isolated::new(&scenario).unwrap_err().to_string();
    assert!(error.contains(part) && error.contains("--engine sim"), "{error}");
}

#[test]
fn refuses_what_it_cannot_answer() {
    refused(LINK, "controller = \"reno\"", "`compound`, whose gamma is fixed, but the flow has `reno`");
    refused(LINK, "controller = \"compound_tube\"", "has `compound_tube`");
    refused(LINK, "controller = \"compound\"\ncount = 2", "a single flow, not 2");
    refused(LINK, "controller = \"compound\"\n[[flows]]\ncontroller = \"reno\"", "not 2 groups of flows");
    refused(LINK, "udp = { rate = \"1mbit\" }", "not UDP");
    refused(LINK, "controller = \"compound\"\ntransfer = \"1MB\"", "not one that ends");
    refused(LINK, "controller = \"compound\"\nstop = \"50s\"", "not one that ends");
    refused(LINK, "controller = \"compound\"\npacing = true", "does not cover pacing");
    refused(
        LINK,
        "controller = \"compound@rtt_gain=0\"\nreceive_window = \"150kB\"",
        "the receive window ends the growth",
    );
    refused(LINK, "controller = \"compound\"", "set `compound.rtt_gain` to 0");
    refused("queue = \"100p\"\nloss = 1e-6", FLOW, "link `bottleneck` has random ones");
    refused("queue = \"100p\"\naqm = \"codel\"", FLOW, "drop-tail queues, but link `bottleneck`");
    refused("queue = \"100p\"\nreverse_rate = \"1mbit\"", FLOW, "ACKs need a lossless return path");
}

/// Each round is kept: a run of a year with an RTT of a microsecond would take all memory.
#[test]
fn refuses_more_rounds_than_it_can_keep() {
    let of_length = |duration: &str, rtt: &str| {
        let text = format!(
            "duration = \"{duration}\"\n[dumbbell]\nrate = \"200mbit\"\nrtt = \"{rtt}\"\n{LINK}\n[[flows]]\n{FLOW}\n"
        );
        parse(&text, "test.toml", "test", &Overrides::default()).unwrap()
    };
    let error = Isolated::new(&of_length("1000000s", "1us")).unwrap_err().to_string();
    assert!(error.contains("1048576 at most") && error.contains("shorten it"), "{error}");
    // A run shorter than a cycle, which ends with the run.
    let result = Isolated::new(&of_length("4s", "1s")).unwrap().run(1, TRACED).unwrap();
    assert!(result.flows[0].goodput_mbps > 100.0, "{:?}", result.flows);
}

#[test]
fn ends_when_it_is_cancelled() {
    let cancelled = AtomicBool::new(true);
    let options = Options { cancelled: Some(&cancelled), ..Options::default() };
    assert!(Model.run(&scenario(LINK, FLOW), 1, options).unwrap().is_none());
}

/// No window fills such a path.
#[test]
fn refuses_what_no_window_fills() {
    let text =
        format!("duration = \"99s\"\n[dumbbell]\nrate = \"100tbit\"\nrtt = \"10s\"\n{LINK}\n[[flows]]\n{FLOW}\n");
    let scenario = parse(&text, "test.toml", "test", &Overrides::default()).unwrap();
    let error = Isolated::new(&scenario).unwrap_err().to_string();
    assert!(error.contains("16777216"), "{error}");
}

/// The model's recovery is today's. Runs of the simulator with another may be judged by the same path, so only the engine refuses it.
#[test]
fn has_no_rate_halving() {
    let scenario = scenario(LINK, &format!("{FLOW}\nrecovery = \"rate-halving\""));
    assert!(Isolated::new(&scenario).is_ok());
    let error = Model.check(&scenario, false).unwrap_err().to_string();
    assert!(error.contains("ends at ssthresh") && error.contains("--engine sim"), "{error}");
}
