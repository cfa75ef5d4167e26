// SPDX-License-Identifier: MIT OR Apache-2.0
//! A paced sender at an overflowing queue.

mod common;

use common::scenario;
use tandem_engine::Options;

const WARMUP_S: f64 = 10.0;

/// One overflow, one reduction. Linux over an emulated path of this kind: 26 overflows, none with a second reduction within the round trip. Segments
/// spaced one by one lose another packet just after the reduction, for which the window is reduced again.
#[test]
fn paced_cubic_reduces_once_at_an_overflow() {
    let scenario = scenario(
        r#"
        duration = "90s"
        warmup = "10s"
        send_jitter = "0s"
        [dumbbell]
        rate = "20mbit"
        rtt = "40ms"
        queue = "66p"
        [[flows]]
        controller = "cubic"
        pacing = true
        "#,
    );
    let options = Options { traced_flows_per_group: 1, ..Options::default() };
    let result = tandem_sim::run(&scenario, 1, options).unwrap().expect("not cancelled");
    let flow = &result.flows[0];
    let trace = result.trace.as_ref().unwrap();
    let samples = trace.time_s.iter().zip(&trace.flows[0].samples);
    let windows: Vec<u32> = samples.filter(|(at, _)| **at > WARMUP_S).map(|(_, sample)| sample.cwnd_packets).collect();
    let (least, most) = (*windows.iter().min().unwrap(), *windows.iter().max().unwrap());
    // The path holds 66 packets, the queue 66 and the link one. A reduction leaves 0.7, a second one within the round trip 0.49.
    assert!((128..=140).contains(&most), "{most}");
    assert!(f64::from(least) > 0.65 * f64::from(most), "{least} of {most}");
    assert!(flow.window_reductions > 15, "{}", flow.window_reductions);
    assert_eq!(flow.retransmits, flow.window_reductions, "each for one lost packet");
}
