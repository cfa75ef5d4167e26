// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sources: finite transfers, UDP, reverse traffic, starts and stops.

mod common;

use common::{run, within};

/// Payload of a full packet: 1448 of 1500 bytes.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// 100 segments at 1 Gbit/s, RTT 100 ms: slow start sends 10, 20, 40 and 30, so four round trips. A packet takes 12 us, an ACK
/// 0.416 us. Each round begins with the first ACK of the last one, 100.012416 ms after it; the last begins at three times
/// that, puts 30 packets on the wire in 360 us, and the last one's ACK comes 100.000416 ms later: 400.397664 ms in all.
///
/// The second transfer begins 600 ms later, 700.1 ms after the last segment was sent, which is two timeouts of about 300 ms:
/// the window of 110 has halved twice, to 27. It sends 27, 54 and 19: 2 * 100.012416 + 19 * 0.012 + 100.000416 = 300.253248 ms.
#[test]
fn completion_times() {
    let result = run(r#"
        duration = "1.5s"
        delayed_acks = false
        send_jitter = "0"
        [dumbbell]
        rate = "1gbit"
        rtt = "100ms"
        queue = "1000p"
        [[flows]]
        controller = "reno"
        transfer = "144800B"
        pause = "600ms"
        "#);
    assert_eq!(result.flows[0].completion_times_s, [0.400397664, 0.300253248]);
    assert_eq!((result.data_packets, result.flows[0].sent_packets, result.flows[0].retransmits), (200, 200, 0));
}

/// 5 Mb/s are a segment each 2.3168 ms, of which a round trip of 40 ms holds 18. Slow start leads by a factor of two at most, so the window is 36 or
/// less, and each segment finds an empty queue.
#[test]
fn an_application_may_offer_less_than_the_window() {
    let result = run(r#"
        duration = "10s"
        warmup = "2s"
        [dumbbell]
        rate = "20mbit"
        rtt = "40ms"
        queue = "1bdp"
        [[flows]]
        controller = "reno"
        offered_rate = "5mbit"
        "#);
    within(result.flows[0].goodput_mbps, 5.0, 0.01);
    assert_eq!((result.flows[0].retransmits, result.flows[0].completion_times_s.len()), (0, 0));
    assert!(result.links[0].queue_packets.mean < 0.3, "{}", result.links[0].queue_packets.mean);
}

/// Segments at random, 80 % of what the link carries, and a window that is never full, are an M/D/1 queue: 0.8^2 / (2 (1 - 0.8)) = 1.6 packets
/// wait on average (Pollaczek and Khinchine). A seed of 200 s is within 6 % of it, their mean closer. In 200 s there are 160 000 writes +- 400.
#[test]
fn random_writes_queue_as_m_d_1() {
    let scenario = common::scenario(
        r#"
        duration = "201s"
        warmup = "1s"
        send_jitter = "0s"
        [dumbbell]
        rate = "12mbit"
        rtt = "10ms"
        queue = "1000p"
        [[flows]]
        controller = "reno"
        initial_window = 1000
        offered_rate = "9267200bit"
        offered_process = { kind = "poisson" }
        "#,
    );
    let links: Vec<_> = [1, 2, 3].map(|seed| common::run_seed(&scenario, seed).links.swap_remove(0)).into();
    let waiting: Vec<f64> = links.iter().map(|link| link.queue_packets.mean).collect();
    within(waiting.iter().sum::<f64>() / 3.0, 1.6, 0.08);
    links.iter().for_each(|link| within(link.utilisation, 0.8, 4.0 * 400.0 / 200_000.0));
    assert!(waiting[0] != waiting[1] && waiting[1] != waiting[2], "{waiting:?}");
}

/// On and off for 200 ms, 20 Mb/s while on. Neither the window nor the link of 100 Mb/s limits it, so the goodput is what is offered: 10 Mb/s with
/// a deviation of 20 sqrt(0.2 / (2 * 200)) / sqrt(2) = 0.32 Mb/s over 200 s. What a second has varies far more than a Poisson process.
#[test]
fn an_application_that_is_on_and_off() {
    let result = run(r#"
        duration = "200s"
        [dumbbell]
        rate = "100mbit"
        rtt = "10ms"
        queue = "1000p"
        [[flows]]
        controller = "reno"
        initial_window = 1000
        offered_rate = "10mbit"
        offered_process = { kind = "on-off", on = "200ms", off = "200ms" }
        "#);
    within(result.flows[0].goodput_mbps, 10.0, 1.3);
    let seconds = &result.flows[0].received_mbit_by_second;
    let (least, most) = (seconds.iter().copied().fold(f32::MAX, f32::min), seconds.iter().copied().fold(0.0, f32::max));
    assert!(least < 5.0 && (15.0..20.1).contains(&most), "{least} to {most}");
}

/// Frames of n segments at once wait n (n - 1) / 2 times 0.12 ms in all, every 20 ms. 20 segments are 1.14 packets on average. Log-normal sizes
/// with sigma 0.5 have exp(0.25) times the square of the mean: 1.48; over 10 000 frames a deviation of that is 1.3 %.
#[test]
fn frames_of_video() {
    for (sigma, waiting, within_share) in [("0", 1.14, 0.001), ("0.5", 1.482, 0.06)] {
        let result = run(&format!(
            r#"
            duration = "201s"
            warmup = "1s"
            send_jitter = "0s"
            [dumbbell]
            rate = "100mbit"
            rtt = "10ms"
            queue = "1000p"
            [[flows]]
            controller = "reno"
            initial_window = 1000
            offered_rate = "11584kbit"
            offered_process = {{ kind = "frames", per_second = 50, sigma = {sigma} }}
            "#
        ));
        within(result.links[0].queue_packets.mean, waiting, waiting * within_share);
        within(result.flows[0].goodput_mbps, 11.584, 0.25);
    }
}

/// A byte more than 100 segments is 101.
#[test]
fn transfers_are_rounded_up_to_segments() {
    let result = run(r#"
        duration = "5s"
        [dumbbell]
        rate = "1gbit"
        rtt = "10ms"
        queue = "1000p"
        [[flows]]
        controller = "reno"
        transfer = "144801B"
        "#);
    assert_eq!((result.data_packets, result.flows[0].completion_times_s.len()), (101, 1));
}

/// 10 Mbit/s are a packet each 1.2 ms. With 100 ms on and 100 ms off 84 packets (at 0, 1.2, ... 99.6 ms) go in each 200 ms.
#[test]
fn udp_rates() {
    let result = run(r#"
        duration = "12s"
        warmup = "2s"
        [dumbbell]
        rate = "100mbit"
        rtt = "20ms"
        queue = "100p"
        [[flows]]
        udp = { rate = "10mbit" }
        [[flows]]
        udp = { rate = "10mbit", on = "100ms", off = "100ms" }
        "#);
    let goodput: Vec<f64> = result.flows.iter().map(|f| f.goodput_mbps).collect();
    within(goodput[0], 10.0 * PAYLOAD, 0.002);
    within(goodput[1], 84.0 * 5.0 * 1448.0 * 8.0 / 1e6, 0.002);
    assert_eq!(result.links[0].drops, 0);
    // Both ways counted in headers too; no ACKs.
    within(result.links[0].utilisation, 0.1 + 84.0 * 5.0 * 12_000.0 / 1e8, 1e-4);
    assert_eq!(result.links[1].offered_packets, 0);
}

/// UDP does not yield: TCP gets what it leaves.
#[test]
fn tcp_beside_udp() {
    let result = run(r#"
        duration = "60s"
        warmup = "20s"
        [dumbbell]
        rate = "20mbit"
        rtt = "20ms"
        queue = "2bdp"
        [[flows]]
        controller = "reno"
        [[flows]]
        udp = { rate = "8mbit" }
        "#);
    let (tcp, udp) = (result.flows[0].goodput_mbps / PAYLOAD, result.flows[1].goodput_mbps / PAYLOAD);
    within(udp, 8.0, 0.1);
    // The link is full, since Reno halves a window of 3 bandwidth-delay products.
    within(tcp + udp, 20.0, 0.05);
}

/// A flow of one segment at a time tells the RTT: 50 ms, 1500 bytes there in 1.2 ms and 52 back in 0.0416 ms. On the way back a
/// flow with 60 segments outstanding fills the link: 60 * 1.2 = 72 ms is its RTT, and so that of everything that waits in its
/// queue, the first flow's ACKs with it; those take another 0.0416 ms of the link each RTT.
#[test]
fn acks_queue_with_reverse_data() {
    let rtts = |reverse: &str| {
        run(&format!(
            r#"
            duration = "60s"
            warmup = "10s"
            delayed_acks = false
            send_jitter = "0"
            [dumbbell]
            rate = "10mbit"
            rtt = "50ms"
            queue = "100p"
            [[flows]]
            controller = "reno"
            receive_window = "1448B"
            {reverse}
            "#
        ))
        .rtt_ms
    };
    // The histogram has three digits.
    within(rtts("")[0].mean, 51.2416, 0.06);
    let queued = rtts("[[flows]]\ncontroller = \"reno\"\nreverse = true\nreceive_window = \"86880B\"");
    within(queued[0].mean, 72.0, 1.3);
    within(queued[1].mean, 72.04, 0.1);
}

#[test]
fn starts_and_stops() {
    let result = run(r#"
        duration = "20s"
        [dumbbell]
        rate = "10mbit"
        rtt = "20ms"
        queue = "20p"
        [[flows]]
        controller = "reno"
        start = "5s"
        stop = "10s"
        [[flows]]
        udp = { rate = "1mbit" }
        start = "12s"
        stop = "15s"
        [[flows]]
        controller = "reno"
        start = "16s"
        start_spread = "2s"
        "#);
    let seconds = |flow: usize| {
        let received = &result.flows[flow].received_mbit_by_second;
        assert_eq!(received.len(), 20);
        (0..20).filter(|&s| received[s] > 0.0).collect::<Vec<_>>()
    };
    // What is under way when a flow stops still arrives: a queue of 24 ms and half an RTT.
    assert_eq!(seconds(0), [5, 6, 7, 8, 9, 10]);
    assert!(result.flows[0].received_mbit_by_second[10] < 0.04 * 10.0);
    // The last packet goes at 14.988 s and arrives, 10 ms and 1.2 ms later, at 14.9992 s.
    assert_eq!(seconds(1), [12, 13, 14]);
    assert!((16..18).contains(&seconds(2)[0]));
    // 3 s at 1 Mbit/s: 12 ms a packet.
    assert_eq!(result.flows[1].sent_packets, 250);
}
