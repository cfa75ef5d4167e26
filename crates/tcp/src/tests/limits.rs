// SPDX-License-Identifier: MIT OR Apache-2.0
//! What other than loss limits a sender: the receiver, the application, idleness, pacing.

use super::wire::{MS, Wire, reno};
use crate::{Config, pacing::Pacing};

/// The receiver takes 5: five a round. The window, 10, is not what limits, so it must not grow, however long this lasts. [RFC 7661 4.4]
#[test]
fn receive_window_holds_and_the_window_does_not_grow() {
    let mut wire = Wire::new(&Config { receive_window: Some(5), ..reno() });
    wire.give(10_000);
    wire.run_until_ms(10_000);
    let rounds: Vec<usize> = wire.sent.chunk_by(|a, b| a.at == b.at).map(<[_]>::len).collect();
    assert_eq!((rounds.len(), rounds.iter().all(|&n| n == 5)), (101, true));
    assert_eq!(wire.window_at_ms(10_000), 10);
}

/// In slow start Linux counts the window as used when more than half of it is: with 6 outstanding it grows to 12, no further. [RFC 7661 4.4]
#[test]
fn slow_start_may_lead_by_a_factor_of_two() {
    let mut wire = Wire::new(&Config { receive_window: Some(6), ..reno() });
    wire.give(10_000);
    wire.run_until_ms(10_000);
    assert_eq!(wire.window_at_ms(10_000), 12);
}

/// Above ssthresh the window must be full to grow. 10 outstanding fill it once, so it gets one more; then the receiver limits.
#[test]
fn congestion_avoidance_needs_a_full_window() {
    let mut wire = Wire::new(&Config { receive_window: Some(10), ..reno() });
    wire.sender.conn.snd_ssthresh = 10;
    wire.give(10_000);
    wire.run_until_ms(10_000);
    assert_eq!(wire.window_at_ms(10_000), 11);
}

/// A packet more would be beyond 1 GiB [RFC 7323 2.3]: neither the window nor what the receiver takes is larger.
#[test]
fn no_window_is_larger_than_tcp_can_express() {
    let wire = Wire::new(&reno());
    assert_eq!(u64::from(wire.sender.conn.snd_cwnd_clamp), (1 << 30) / 1448);
    let mut wire = Wire::new(&Config { mss: 1 << 27, initial_window: 100, ..reno() });
    wire.give(1000);
    assert_eq!(wire.sent.len(), 8);
}

/// Two segments every 100 ms are far below the window of 10: it stays.
#[test]
fn application_limited_window_does_not_grow() {
    let mut wire = Wire::new(&reno());
    for round in 0..100 {
        wire.run_until_ms(100 * round);
        wire.give(2);
    }
    assert_eq!((wire.sender.conn.snd_cwnd, wire.sender.counters.sent), (10, 200));
}

/// 30 segments in slow start leave a window of 40 at 200 ms; the window last limited at 100 ms. From then on two segments come every 100 ms: each
/// time that an RTO of 300 ms has passed without the window limiting, it gives up half of what is more than the initial window: 25, 17, 13, 11, 10.
/// [RFC 7661 4.4.3]
#[test]
fn a_window_that_the_application_leaves_unused_shrinks() {
    let mut wire = Wire::new(&reno());
    wire.give(30);
    let mut windows = Vec::new();
    for round in 2..30 {
        wire.run_until_ms(100 * round);
        wire.give(2);
        windows.push(wire.sender.conn.snd_cwnd);
    }
    windows.dedup();
    assert_eq!(windows, [40, 25, 17, 13, 11, 10]);
    assert!(wire.sender.conn.snd_ssthresh > 1 << 30, "slow start goes on where it was");
}

/// 30 segments in slow start leave a window of 40; the last was sent at 100 ms, the RTO is 300 ms. Sends again at `at_ms`.
fn window_after_idling_until(at_ms: u64, initial_window: u32) -> u32 {
    let mut wire = Wire::new(&Config { initial_window, ..reno() });
    wire.give(u64::from(3 * initial_window));
    wire.run_until_ms(at_ms);
    assert_eq!(wire.sender.conn.snd_cwnd, 4 * initial_window);
    wire.give(1000);
    let burst = wire.sent.iter().filter(|s| s.at == at_ms * MS).count();
    assert_eq!(burst, wire.sender.conn.snd_cwnd as usize);
    burst as u32
}

/// [RFC 5681 4.1] in the form of RFC 2861: the window halves for each RTO spent idle, and never below the restart
/// window, min(IW, cwnd).
#[test]
fn idle_restart() {
    assert_eq!(window_after_idling_until(390, 10), 40, "idle 290 ms, less than an RTO");
    assert_eq!(window_after_idling_until(450, 10), 20, "idle 350 ms: one RTO");
    assert_eq!(window_after_idling_until(5000, 10), 10, "idle long: the initial window");
    assert_eq!(window_after_idling_until(5000, 4), 4, "idle long: the initial window, whatever it is");
}

/// The same if all was sent at time 0.
#[test]
fn idle_restart_after_a_single_burst_at_the_start() {
    let mut wire = Wire::new(&reno());
    wire.give(10);
    wire.run_until_ms(5000);
    assert_eq!(wire.sender.conn.snd_cwnd, 20);
    wire.give(1000);
    assert_eq!(wire.sent.len(), 10 + 10);
}

/// Congestion avoidance at srtt = 100 ms: 1.2 windows a round, two segments at a time. The first ACK lets one go, and the gap after it is for
/// a window of 10, 100 / 12 ms; then all ten ACKs are in and the window is 11: 100 / 13.2 ms for each of two. The first window is a burst,
/// because no RTT is known yet.
#[test]
fn pacing_spaces_segments() {
    let mut wire = Wire::new(&Config { pacing: true, ..reno() });
    wire.sender.conn.snd_ssthresh = 10;
    wire.give(1000);
    wire.run_until_ms(199);
    let times: Vec<u64> = wire.sent.iter().map(|s| s.at).collect();
    assert_eq!((times.len(), times[9], times[10]), (21, 0, 100 * MS));
    let gaps: Vec<u64> = times[10..].windows(2).map(|t| t[1] - t[0]).collect();
    let pairs = [0, 2 * 7_575_757].repeat(4);
    assert_eq!(gaps, [&[8_333_333][..], &pairs, &[0]].concat());
}

/// At 10 Gb/s and 10 ms a segment of 1448 bytes takes 1.16 us: as many as a 1024th of a second has would be 842, but 65536 bytes are a packet
/// of Linux's at most, 45 segments. At 100 Mb/s and 116 us a segment, 8 go together.
#[test]
fn a_burst_is_a_millisecond_and_64_kilobytes_at_most() {
    let mut wire = Wire::new(&reno());
    let conn = &mut wire.sender.conn;
    for (window, srtt_ns, together) in [(8620, 12 * MS, 45), (100, 1_392 * MS / 100, 8)] {
        (conn.snd_cwnd, conn.snd_ssthresh) = (window, window);
        let mut pacing = Pacing::new(true);
        let mut sent = 0;
        while !pacing.holds(0) {
            pacing.sent(0, srtt_ns, conn);
            sent += 1;
        }
        assert_eq!(sent, together);
    }
}

/// Slow start: 2 windows a round, so that the window can double. Two segments go together: the last two follow those before them by
/// twice 2.5 ms, because the window is 20 by then.
#[test]
fn pacing_in_slow_start() {
    let mut wire = Wire::new(&Config { pacing: true, ..reno() });
    wire.give(1000);
    wire.run_until_ms(199);
    let times: Vec<u64> = wire.sent.iter().map(|s| s.at).collect();
    assert_eq!(times.len(), 30, "the window doubles none the less");
    assert_eq!([times[28] - times[27], times[29] - times[28]], [5_000_000, 0]);
    assert!(times[29] < 160 * MS, "half a round is enough for it");
}
