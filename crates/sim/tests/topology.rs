// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths: RTTs, several bottlenecks, free graphs.

mod common;

use common::{run, within};

/// One segment at a time: each RTT is the propagation delay, 1500 bytes there (12 us at 1 Gbit/s) and 52 back (0.4 us).
#[test]
fn round_trip_times_are_those_configured() {
    let result = run(r#"
        duration = "30s"
        send_jitter = "0"
        delayed_acks = false
        [dumbbell]
        rate = "1gbit"
        rtt = "50ms"
        queue = "100p"
        [[flows]]
        controller = "reno"
        receive_window = "1448B"
        [[flows]]
        controller = "reno"
        receive_window = "1448B"
        rtt = "20ms"
        [[flows]]
        controller = "reno"
        receive_window = "1448B"
        rtt = "83ms"
        access = "7ms"
        [[flows]]
        controller = "reno"
        receive_window = "1448B"
        reverse = true
        "#);
    for (rtt, expected) in result.rtt_ms.iter().zip([50.0, 20.0, 90.0, 50.0]) {
        within(rtt.mean, expected + 0.0124, 0.1);
        within(rtt.max, expected + 0.0124, 0.1);
    }
    let base: Vec<f64> = result.flows.iter().map(|f| f.base_rtt_ms).collect();
    assert_eq!(base, [50.0, 20.0, 90.0, 50.0]);
    // One segment each 50.0124 ms for 30 s.
    assert!((599..=600).contains(&result.flows[0].sent_packets));
}

/// The default jitter delays each ACK by up to a packet time, here 1.2 ms, 0.6 ms on average.
#[test]
fn jitter_is_up_to_a_packet_time() {
    let result = run(r#"
        duration = "100s"
        delayed_acks = false
        [dumbbell]
        rate = "10mbit"
        rtt = "50ms"
        queue = "100p"
        [[flows]]
        controller = "reno"
        receive_window = "1448B"
        "#);
    // 1900 samples of standard deviation 0.35 ms: 0.008 ms; the histogram rounds by 0.03 ms.
    within(result.rtt_ms[0].mean, 51.2416 + 0.6, 0.06);
    assert!(result.rtt_ms[0].max <= 51.2416 + 1.2 + 0.06);
}

/// Three hops. A UDP flow over all of them, one over the middle: every link sees its own flows' packets, and the RTT of a TCP
/// flow over all hops is the sum.
#[test]
fn parking_lot() {
    let result = run(r#"
        duration = "20s"
        send_jitter = "0"
        delayed_acks = false
        [parking_lot]
        hops = 3
        rate = "10mbit"
        hop_delay = "10ms"
        queue = "50p"
        [[flows]]
        udp = { rate = "2mbit" }
        from = "r1"
        to = "r4"
        stop = "19s"
        [[flows]]
        udp = { rate = "3mbit" }
        from = "r2"
        to = "r3"
        stop = "19s"
        [[flows]]
        controller = "reno"
        receive_window = "1448B"
        from = "r4"
        to = "r1"
        "#);
    let (long, short) = (result.flows[0].sent_packets, result.flows[1].sent_packets);
    assert_eq!((long, short), (3167, 4750), "19 s of a packet each 6 and 4 ms");
    let pings = result.flows[2].sent_packets;
    // Links alternate: r1-r2, r2-r1, r2-r3, ... The ACKs of the flow from r4 to r1 go with the UDP data.
    let offered: Vec<u64> = result.links.iter().map(|l| l.offered_packets).collect();
    assert_eq!((offered[1], offered[3], offered[5]), (pings, pings, pings));
    for (link, data) in [(0, long), (2, long + short), (4, long)] {
        assert!(offered[link] - data == pings || offered[link] - data == pings - 1, "{offered:?}");
    }
    // 60 ms, three times 1.2416 ms; the ACK may wait for a UDP packet or two at each hop.
    assert!(result.rtt_ms[2].p50 >= 63.7 && result.rtt_ms[2].max < 63.73 + 6.0 * 1.2, "{:?}", result.rtt_ms[2]);
}

/// Each TCP flow that crosses every hop shares each with another: it loses at several, has the longer RTT, and gets less.
#[test]
fn long_flows_get_less_in_a_parking_lot() {
    let result = run(r#"
        duration = "120s"
        warmup = "20s"
        [parking_lot]
        hops = 3
        rate = "10mbit"
        hop_delay = "5ms"
        queue = "30p"
        [[flows]]
        controller = "reno"
        from = "r1"
        to = "r4"
        [[flows]]
        controller = "reno"
        from = "r1"
        to = "r2"
        [[flows]]
        controller = "reno"
        from = "r2"
        to = "r3"
        [[flows]]
        controller = "reno"
        from = "r3"
        to = "r4"
        "#);
    for (flow, link) in [(1, 0), (2, 2), (3, 4)] {
        assert!(result.flows[0].goodput_mbps < 0.7 * result.flows[flow].goodput_mbps);
        assert!(result.links[link].utilisation > 0.95 && result.links[link].drops > 0);
        within(
            result.flows[0].goodput_mbps + result.flows[flow].goodput_mbps,
            10.0 * result.links[link].utilisation * 1448.0 / 1500.0,
            0.2,
        );
    }
    // Its queues add up.
    assert!(
        result.rtt_ms[0].mean
            > 30.0 + 0.9 * (result.rtt_ms[1].mean + result.rtt_ms[2].mean + result.rtt_ms[3].mean - 30.0)
    );
}

/// Two paths side by side: each flow has its own, with its own rate and delay.
#[test]
fn parallel_paths() {
    let result = run(r#"
        duration = "40s"
        warmup = "10s"
        [[links]]
        name = "upper-in"
        from = "a"
        to = "b"
        rate = "10mbit"
        delay = "5ms"
        queue = "100p"
        both_ways = true
        [[links]]
        name = "upper-out"
        from = "b"
        to = "d"
        rate = "1gbit"
        delay = "5ms"
        queue = "100p"
        both_ways = true
        [[links]]
        name = "lower-in"
        from = "a"
        to = "c"
        rate = "1gbit"
        delay = "15ms"
        queue = "100p"
        both_ways = true
        [[links]]
        name = "lower-out"
        from = "c"
        to = "d"
        rate = "20mbit"
        delay = "15ms"
        queue = "200p"
        both_ways = true
        [[flows]]
        controller = "reno"
        from = "a"
        to = "d"
        [[flows]]
        controller = "reno"
        from = "a"
        to = "d"
        route = ["lower-in", "lower-out"]
        ack_route = ["lower-out-back", "lower-in-back"]
        "#);
    // Buffers beyond the bandwidth-delay product: both are full.
    within(result.flows[0].goodput_mbps, 10.0 * 1448.0 / 1500.0, 0.05);
    within(result.flows[1].goodput_mbps, 20.0 * 1448.0 / 1500.0, 0.1);
    let base: Vec<f64> = result.flows.iter().map(|f| f.base_rtt_ms).collect();
    assert_eq!(base, [20.0, 60.0]);
    // The bottleneck's packets are those that go on.
    let (lower_in, lower_out) = (&result.links[4], &result.links[6]);
    assert!(
        lower_in.drops == 0
            && lower_out.drops > 0
            && lower_in.offered_packets.abs_diff(lower_out.offered_packets) < 100
    );
}

/// Reno's throughput falls with the RTT (RFC 5166 section 2.3.2): with ten times the RTT a flow gets much less, but something.
#[test]
fn rtt_unfairness() {
    let result = run(r#"
        duration = "300s"
        warmup = "50s"
        [dumbbell]
        rate = "20mbit"
        rtt = "20ms"
        queue = "40p"
        [[flows]]
        controller = "reno"
        [[flows]]
        controller = "reno"
        rtt = "200ms"
        "#);
    let (short, long) = (result.flows[0].goodput_mbps, result.flows[1].goodput_mbps);
    assert!(short > 3.0 * long && long > 0.1, "{short}, {long}");
}
