// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole runs over links that change, police, mark and reorder. What may pass is known beforehand: bits of the link, of the bucket, of the
//! trace. Payload is 1448 of 1500 bytes.

use tandem_engine::Options;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, load, parse},
};

fn scenario(duration_s: u32, network: &str, flows: &str) -> Scenario {
    let text = format!("duration = \"{duration_s}s\"\n[dumbbell]\n{network}\n{flows}");
    parse(&text, "s.toml", "s", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scenario: &Scenario) -> SeedResult {
    tandem_sim::run(scenario, 1, Options::default()).unwrap().unwrap()
}

const PAYLOAD: f32 = 1448.0 / 1500.0;
const PATH: &str = "rate = \"12mbit\"\nrtt = \"40ms\"\nqueue = \"2bdp\"";
const RENO: &str = "[[flows]]\ncontroller = \"reno\"\n";

/// Mean payload of the seconds `from..to`, Mb/s.
fn mbps(result: &SeedResult, flow: usize, from: usize, to: usize) -> f32 {
    result.flows[flow].received_mbit_by_second[from..to].iter().sum::<f32>() / (to - from) as f32
}

/// Reno with two BDP of buffer keeps the link busy at each rate: 12, 3 and 12 Mb/s; nothing in the outage from 61 to 63 s, once the packet
/// in transmission and those behind it on the wire are there.
#[test]
fn goodput_follows_the_rate() {
    let changes = "[effects.bottleneck]\nchanges = [{ at = \"20s\", rate = \"3mbit\" }, { at = \"40s\", rate = \"12mbit\" }, \
                   { at = \"61s\", rate = 0 }, { at = \"63s\", rate = \"12mbit\" }]";
    let result = run(&scenario(80, PATH, &format!("{RENO}{changes}")));
    for (from, to, rate) in [(10, 20, 12.0), (25, 40, 3.0), (50, 60, 12.0), (70, 80, 12.0)] {
        let share = mbps(&result, 0, from, to) / (rate * PAYLOAD);
        assert!((0.9..1.001).contains(&share), "{from} to {to} s: {share}");
    }
    assert_eq!(result.flows[0].received_mbit_by_second[62], 0.0);
}

/// A round trip that falls from 40 to 12 ms and back keeps the order: no loss, so no retransmission, as long as the window fits.
#[test]
fn a_delay_that_changes_loses_nothing() {
    let flows = "[[flows]]\ncontroller = \"reno\"\nreceive_window = \"40kB\"\n[effects.bottleneck]\n\
                 changes = [{ at = \"5s\", every = \"10s\", delay = \"1ms\" }, { at = \"10s\", every = \"10s\", delay = \"20ms\" }]";
    let result = run(&scenario(60, PATH, flows));
    let flow = &result.flows[0];
    assert_eq!((flow.retransmits, flow.timeouts, flow.window_reductions), (0, 0, 0));
    // 27 packets in a round of 40 ms and in one of 21.
    let (slow, fast) = (mbps(&result, 0, 12, 15), mbps(&result, 0, 6, 10));
    assert!((slow - 27.0 * 1448.0 * 8.0 / 40e3).abs() < 0.6 && fast > 1.3 * slow, "{slow}, {fast}");
}

/// 20 opportunities in each 100 ms, in two bunches: 2.4 Mb/s.
#[test]
fn a_trace_is_used_to_the_full() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..19).map(|i| if i < 10 { "10\n" } else { "55\n" }).collect();
    std::fs::write(folder.path().join("t.trace"), lines + "100\n").unwrap();
    let file = folder.path().join("s.toml");
    let text = format!(
        "duration = \"60s\"\nwarmup = \"10s\"\n[dumbbell]\n{PATH}\n{RENO}[effects.bottleneck]\nrate_trace = \"t.trace\"\n"
    );
    std::fs::write(&file, text).unwrap();
    let result = run(&load(&file, &Overrides::default()).unwrap());
    assert!((result.flows[0].goodput_mbps - 2.4 * 1448.0 / 1500.0).abs() < 0.06, "{}", result.flows[0].goodput_mbps);
    assert!((0.97..1.001).contains(&result.links[0].utilisation), "{}", result.links[0].utilisation);
}

/// Reordering costs next to nothing, however much there is: RACK learns to wait, and the first mistakes are undone. Each of these controllers
/// keeps a link with a BDP of buffer at over 96 %, in order or not.
#[test]
fn reordering_costs_little() {
    for controller in ["reno", "cubic", "compound_tube"] {
        for share in ["0.1%", "1%", "5%"] {
            let flows = format!(
                "[[flows]]\ncontroller = \"{controller}\"\n[effects.bottleneck]\nreorder = {{ share = \"{share}\", distance = \"5p\" }}"
            );
            let result = run(&scenario(40, PATH, &flows));
            let used = mbps(&result, 0, 10, 40) / (12.0 * PAYLOAD);
            assert!(used > 0.96 && result.flows[0].timeouts == 0, "{controller}, {share}: {used}");
        }
    }
}

/// UDP at 10 Mb/s through a bucket of 5 Mb/s, 417 packets a second: 25 000 in 60 s, and ten of the burst. Those of the last 21 ms have not
/// arrived.
#[test]
fn a_policer_lets_its_rate_pass() {
    let flows = "[[flows]]\nudp = { rate = \"10mbit\" }\n[effects.bottleneck]\npolicer = { rate = \"5mbit\", burst = \"15kB\" }";
    let result = run(&scenario(60, PATH, flows));
    let passed = result.links[0].offered_packets - result.links[0].drops;
    assert!(
        passed.abs_diff(25_010) <= 1 && result.data_packets.abs_diff(25_001) <= 1,
        "{passed}, {}",
        result.data_packets
    );
}

/// CoDel that marks: nothing is dropped and nothing sent again. A window that is halved when the path is full, without a
/// buffer, uses 3/4 of it on average.
#[test]
fn marks_take_the_place_of_drops() {
    let network = |ecn: bool| {
        format!("rate = \"12mbit\"\nrtt = \"40ms\"\nqueue = \"1000p\"\naqm = {{ kind = \"fq_codel\", ecn = {ecn} }}")
    };
    let flows = |ecn: &str| format!("[[flows]]\ncontroller = \"reno\"\ncount = 2\necn = \"{ecn}\"\n");
    for ecn in ["rfc3168", "rfc8511"] {
        let result = run(&scenario(60, &network(true), &flows(ecn)));
        let (link, flow) = (&result.links[0], &result.flows[0]);
        assert!(link.marks > 20 && link.drops == 0, "{ecn}: {} marks, {} drops", link.marks, link.drops);
        assert_eq!((flow.retransmits, flow.timeouts), (0, 0));
        assert!(flow.window_reductions > 5 && link.utilisation > 0.75, "{ecn}: {}", link.utilisation);
    }
    // Flows without ECN are dropped by the same queue, and flows with ECN by one that does not mark.
    for (marks, ecn) in [(true, "off"), (false, "rfc3168")] {
        let result = run(&scenario(60, &network(marks), &flows(ecn)));
        assert!(result.links[0].marks == 0 && result.links[0].drops > 20);
    }
}

/// Whatever happens on the way, every transfer ends, and no byte counts twice: at most the link's rate.
#[test]
fn all_effects_together_break_no_connection() {
    let effects = r#"
        [effects.bottleneck]
        changes = [{ at = "3s", every = "5s", rate = "2mbit", delay = "60ms", loss = "2%" },
                   { at = "5s", every = "5s", rate = "12mbit", delay = "5ms", loss = 0, queue = "20p" },
                   { at = "11s", every = "12s", rate = 0 }, { at = "12s", every = "12s", rate = "12mbit" }]
        jitter = { time = "8ms", distribution = "normal", correlation = "25%", keep_order = false }
        reorder = { share = "2%", distance = "5p" }
        duplicate = "2%"
        aggregate = { hold = "3ms", most = 8 }
        policer = { rate = "11mbit", burst = "60kB" }
        shaper = { rate = "10mbit", burst = "30kB" }
        [effects.reverse]
        jitter = { time = "5ms", keep_order = false }
        duplicate = "2%"
        aggregate = { hold = "10ms", most = 32 }
    "#;
    for aqm in ["droptail", "red", "codel", "fq_codel", "pie", "dualpi2"] {
        let network =
            format!("{PATH}\naqm = {{ kind = \"{aqm}\"{} }}", if aqm == "droptail" { "" } else { ", ecn = true" });
        let flow = |name: &str, ecn: &str| {
            format!("[[flows]]\ncontroller = \"{name}\"\ntransfer = \"200kB\"\npause = \"100ms\"\necn = \"{ecn}\"\n")
        };
        let flows =
            ["reno", "cubic", "compound_tube", "bbr"].map(|name| flow(name, "rfc3168") + &flow(name, "off")).concat();
        let result = run(&scenario(60, &network, &format!("{flows}{effects}")));
        for (index, flow) in result.flows.iter().enumerate() {
            assert!(flow.completion_times_s.len() > 5, "{aqm}, flow {index}: {:?}", flow.completion_times_s);
        }
        let sum: f64 = result.flows.iter().map(|flow| flow.goodput_mbps).sum();
        assert!(sum < 12.0 * 1448.0 / 1500.0, "{sum}");
    }
}

/// One packet in 500 is lost, no other: as many retransmissions as that, within the one or two under way at the end.
#[test]
fn each_so_many_is_lost() {
    let network = "rate = \"100mbit\"\nrtt = \"20ms\"\nqueue = \"10000p\"";
    let flows = format!("{RENO}[effects.bottleneck]\ndrop = {{ every = 500 }}");
    let result = run(&scenario(30, network, &flows));
    let flow = &result.flows[0];
    assert_eq!(result.links[0].drops, 0);
    assert!(flow.sent_packets / 500 - flow.retransmits <= 2, "{} of {}", flow.retransmits, flow.sent_packets);
}

/// Of each four ACKs one comes: it acknowledges what they would have, and the link stays as busy.
#[test]
fn thin_acks_carry_as_much() {
    let flows = format!("{RENO}[effects.reverse]\ndrop = {{ keep_every = 4 }}");
    let thin = mbps(&run(&scenario(30, PATH, &flows)), 0, 10, 30);
    assert!(thin > 0.97 * 12.0 * PAYLOAD, "{thin}");
}

/// CoDel marks, and nobody hears of it: the queue grows to its limit, two BDP, as without management. Cleared fields make it drop, and it stays
/// short.
#[test]
fn a_queue_that_is_not_heard_and_one_that_is() {
    let network = "rate = \"12mbit\"\nrtt = \"40ms\"\nqueue = \"2bdp\"\naqm = { kind = \"codel\", ecn = true }";
    let flows = "[[flows]]\ncontroller = \"reno\"\necn = \"rfc3168\"\n";
    let delay_ms = |effects: &str| {
        let result = run(&scenario(30, network, &format!("{flows}{effects}")));
        (result.links[0].queueing_delay_ms.p95, result.flows[0].retransmits)
    };
    let (heard, _) = delay_ms("");
    let (unheard, overflows) = delay_ms("[effects.bottleneck]\nunmark = \"100%\"");
    // Two BDP are 80 ms.
    assert!(heard < 25.0 && unheard > 60.0 && overflows > 0, "{heard}, {unheard}, {overflows}");
    let lie = run(&scenario(30, network, &format!("{flows}receiver = \"hides-marks\"\n")));
    let hidden = lie.links[0].queueing_delay_ms.p95;
    assert!(hidden > 60.0, "{hidden}");
}

/// Losses that are hidden do not slow Reno down: beside an honest one it has nearly all.
#[test]
fn a_receiver_that_hides_losses_wins() {
    let flows = "[[flows]]\ncontroller = \"reno\"\nreceiver = \"early-acks\"\nreceive_window = \"1MB\"\n\
                 [[flows]]\ncontroller = \"reno\"\n";
    let result = run(&scenario(30, PATH, flows));
    let (liar, honest) = (mbps(&result, 0, 10, 30), mbps(&result, 1, 10, 30));
    assert!(liar > 5.0 * honest, "{liar}, {honest}");
    assert_eq!(result.flows[0].window_reductions, 0);
}
