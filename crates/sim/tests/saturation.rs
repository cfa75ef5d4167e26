// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a full link carries, and where all the packets go.

mod common;

use common::{run, run_seed, scenario, within};

/// The receiver's window, 690 packets, is more than the 17 on the way and less than these and the queue: the queue never
/// empties and never overflows. So the link is never idle, and of each 1500 bytes 1448 are payload.
#[test]
fn a_saturated_link_without_loss() {
    let result = run(r#"
        duration = "25s"
        warmup = "5s"
        [dumbbell]
        rate = "10mbit"
        rtt = "20ms"
        queue = "1000p"
        [[flows]]
        controller = "reno"
        receive_window = "1MB"
        "#);
    let link = &result.links[0];
    assert_eq!((link.drops, link.random_losses, result.flows[0].retransmits), (0, 0, 0));
    within(link.utilisation, 1.0, 1e-6);
    // A packet more or less at either end: 11584 bit in 20 s.
    within(result.flows[0].goodput_mbps, 10.0 * 1448.0 / 1500.0, 0.0012);
    // 690 outstanding: 16.7 on the way, 1 in transmission, an ACK for two delayed; the rest waits. Each waiting packet is 1.2 ms.
    within(link.queue_packets.mean, 690.0 - 16.7 - 1.0 - 1.0, 1.5);
    within(link.queueing_delay_ms.mean, (link.queue_packets.mean + 0.5) * 1.2, 1.0);
    within(result.rtt_ms[0].mean, 690.0 * 1.2, 2.0);
}

/// The receiver's window over the RTT, where that is less than the link: 100 segments each 100.012416 ms.
#[test]
fn receive_window_sets_the_rate() {
    let result = run(r#"
        duration = "22s"
        warmup = "2s"
        send_jitter = "0"
        delayed_acks = false
        [dumbbell]
        rate = "1gbit"
        rtt = "100ms"
        queue = "1000p"
        [[flows]]
        controller = "compound"
        receive_window = "144800B"
        "#);
    within(result.flows[0].goodput_mbps, 100.0 * 1448.0 * 8.0 / 0.100012416 / 1e6, 0.06);
    within(result.rtt_ms[0].mean, 100.012, 0.06);
    assert_eq!(result.links[0].drops, 0);
}

/// Transfers that all complete: nothing is under way at the end, so every packet sent was delivered, dropped or lost; on the
/// way back likewise. Several copies may be delivered, but each segment once to the application.
#[test]
fn packets_are_conserved() {
    for aqm in ["droptail", "red", "codel"] {
        let text = format!(
            r#"
            duration = "100s"
            [dumbbell]
            rate = "20mbit"
            rtt = "30ms"
            queue = "30p"
            aqm = "{aqm}"
            loss = 1e-3
            reverse_loss = 1e-3
            [[flows]]
            controller = "reno"
            count = 5
            transfer = "10MB"
            [[flows]]
            controller = "compound"
            reverse = true
            transfer = "10MB"
            [[flows]]
            udp = {{ rate = "1mbit" }}
            stop = "99s"
            "#
        );
        for seed in 1..=3 {
            let result = run_seed(&scenario(&text), seed);
            let [forward, back] = &result.links[..] else { panic!() };
            let segments = 10_000_000u64.div_ceil(1448);
            for flow in &result.flows[..6] {
                assert_eq!(flow.completion_times_s.len(), 1, "{aqm}, seed {seed}");
                assert_eq!(flow.sent_packets - flow.retransmits, segments);
                let received: f32 = flow.received_mbit_by_second.iter().sum();
                within(f64::from(received), segments as f64 * 1448.0 * 8.0 / 1e6, 0.01);
            }
            let sent: u64 = result.flows.iter().map(|f| f.sent_packets).sum();
            let lost_anywhere = forward.drops + forward.random_losses + back.drops + back.random_losses;
            let acks = forward.offered_packets + back.offered_packets - sent;
            // ACKs are no more than data packets, and at least one for two of what arrived.
            assert!(acks <= result.data_packets && 2 * acks >= segments * 6);
            let lost_data = sent - result.data_packets;
            assert!(lost_data <= lost_anywhere && lost_data > 0);
            // Seen by the forward link, where only the ACKs of one flow share: all data but that flow's.
            let forward_data: u64 =
                result.flows.iter().enumerate().filter(|(f, _)| *f != 5).map(|(_, f)| f.sent_packets).sum();
            assert!(forward.offered_packets >= forward_data);
            assert!(forward.offered_packets <= forward_data + result.flows[5].sent_packets);
        }
    }
}

/// Data only one way and nothing lost on the way back: exact.
#[test]
fn every_packet_is_delivered_or_dropped() {
    for (aqm, loss) in [("droptail", "0"), ("droptail", "1e-2"), ("red", "1e-3"), ("codel", "1e-3")] {
        let result = run(&format!(
            r#"
            duration = "100s"
            [dumbbell]
            rate = "20mbit"
            rtt = "30ms"
            queue = "30p"
            aqm = "{aqm}"
            loss = "{loss}"
            reverse_rate = "1gbit"
            reverse_queue = "1000p"
            [[flows]]
            controller = "reno"
            count = 5
            transfer = "10MB"
            "#
        ));
        let link = &result.links[0];
        let sent: u64 = result.flows.iter().map(|f| f.sent_packets).sum();
        assert_eq!(sent, link.offered_packets);
        assert_eq!(sent, result.data_packets + link.drops + link.random_losses, "{aqm}, {loss}");
        assert!(link.drops + link.random_losses > 0);
        assert!(result.flows.iter().all(|f| f.completion_times_s.len() == 1));
    }
}
