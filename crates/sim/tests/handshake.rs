// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that begin with a handshake: what it adds to transfers, and what becomes of SYNs that are lost.

mod common;

use common::{run, within};
use tandem_results::SeedResult;

/// 100 ms, and 1 Gb/s, at which a SYN and its answer of 52 bytes take 0.416 us each; `flow` sends.
fn with(flow: &str, drops: &str) -> SeedResult {
    run(&format!(
        "duration = \"20s\"\ndelayed_acks = false\nsend_jitter = \"0\"\n[dumbbell]\nrate = \"1gbit\"\nrtt = \"100ms\"\nqueue = \"1000p\"\n\
         [effects.bottleneck]\n{drops}\n[[flows]]\ncontroller = \"reno\"\n{flow}"
    ))
}

const ROUND_TRIP_S: f64 = 0.100000832;

/// Without the handshake it is 400.397664 ms (worked out in `traffic.rs`). The second transfer has the connection already.
#[test]
fn a_transfer_begins_a_round_trip_later() {
    let times =
        |more: &str| with(&format!("transfer = \"144800B\"\npause = \"600ms\"\n{more}"), "").flows.swap_remove(0);
    let (without, with) = (times(""), times("handshake = true"));
    within(without.completion_times_s[0], 0.400397664, 1e-9);
    within(with.completion_times_s[0], 0.400397664 + ROUND_TRIP_S, 1e-9);
    within(with.completion_times_s[1], without.completion_times_s[1], 1e-9);
    assert_eq!((with.retransmits, with.timeouts), (0, 0));
}

/// A SYN goes again after 1 s and after 2 s more. [RFC 6298 2.1] [RFC 6298 5.5]
#[test]
fn lost_syns_go_again() {
    for (drops, late_s) in [("drop = { packets = [1] }", 1.0), ("drop = { packets = [1, 2] }", 3.0)] {
        let one = with("transfer = \"1448B\"\nhandshake = true", drops);
        // A packet takes 12 us, its ACK 0.416 us.
        within(one.flows[0].completion_times_s[0], late_s + ROUND_TRIP_S + 0.100012416, 1e-9);
    }
    // With one lost SYN ten segments are one round; with two the window grows 1, 2, 4, 8.
    let ten = |drops: &str| with("transfer = \"14480B\"\nhandshake = true", drops).flows[0].completion_times_s[0];
    within(ten("drop = { packets = [1] }"), 1.2, 1e-3);
    within(ten("drop = { packets = [1, 2] }"), 3.5, 1e-3);
}

/// The RTT of the handshake is a sample: a lost only segment goes again after two round trips and 200 ms, not after 1 s. [RFC 6298 2.2]
#[test]
fn the_handshake_tells_the_rtt() {
    let lost = |more: &str, packet: u64| {
        let drops = format!("drop = {{ packets = [{packet}] }}");
        with(&format!("transfer = \"1448B\"\n{more}"), &drops).flows[0].completion_times_s[0]
    };
    within(lost("", 1), 1.1, 1e-3);
    // The path, the timer of a probe (RFC 8985 7.2) that the timeout of 300 ms bounds, and the path.
    within(lost("handshake = true", 2), 0.1 + 0.3 + 0.1, 1e-3);
}

/// Each short flow has a connection of its own, and a handshake.
#[test]
fn each_short_flow_has_one() {
    let flow = |more: &str| {
        with(&format!("short = {{ think = \"1s\", size = \"144800B\" }}\n{more}"), "").flows.swap_remove(0)
    };
    let (without, with) = (flow(""), flow("handshake = true"));
    let times = |flow: &tandem_results::FlowResult| -> Vec<f64> {
        flow.short_flows.iter().filter_map(|transfer| transfer.completion_time_s).collect()
    };
    assert!(times(&with).len() > 8 && times(&without).len() > 8);
    times(&without).iter().for_each(|&s| within(s, 0.400397664, 1e-8));
    times(&with).iter().for_each(|&s| within(s, 0.400397664 + ROUND_TRIP_S, 1e-8));
}

/// What is offered during the handshake is sent after it.
#[test]
fn an_application_waits_for_it() {
    let result = with("handshake = true\noffered_rate = \"5mbit\"\noffered_changes = [{ at = \"10s\", rate = 0 }]", "");
    // 5 Mb/s for 10 s in 20 s.
    within(result.flows[0].goodput_mbps, 2.5, 0.01);
}
