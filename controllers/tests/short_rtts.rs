// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prague where an ACK adds less than the window's unit: over many rounds nothing of the growth may be lost. The reference adds a / w for each
//! packet in real numbers (draft-briscoe-iccrg-prague-congestion-control-04, a = (RTT / 25 ms)^2 after the transition), and is never set to the
//! integer's window.

use std::sync::Arc;

use tandem_controllers::{Ack, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, find};

const MSS: u32 = 1448;
/// The virtual RTT rules from this round of congestion avoidance on.
const TRANSITION: u64 = 500;

/// The window after `rounds` rounds that begin with `window` packets: the integer's, and the reference's. No marks, no losses.
fn grown(rtt_us: u32, window: u32, rounds: u64) -> (f64, f64) {
    let params = Arc::new(Params::new(find("prague").unwrap()));
    let mut conn = Conn {
        snd_cwnd: window,
        snd_ssthresh: INFINITE_SSTHRESH,
        snd_cwnd_clamp: MAX_WINDOW,
        mss: MSS,
        is_cwnd_limited: 1,
        is_paced: 1,
        now_us: 1_000_000,
        ..Conn::default()
    };
    let mut prague = Instance::new(&params, &mut conn);
    conn.snd_ssthresh = 2;
    let mut reference = 0.0;
    for round in 0..TRANSITION + 2 + rounds {
        // Until the transition is over, the window stays where it is.
        if round < TRANSITION + 2 {
            conn.snd_cwnd = window;
            reference = f64::from(window);
        }
        let flight = conn.snd_cwnd;
        conn.snd_nxt = conn.snd_una.wrapping_add(flight * MSS);
        conn.now_us += u64::from(rtt_us);
        let increase = (f64::from(rtt_us) / 25_000.0).powi(2).min(1.0);
        for left in (0..flight).rev() {
            conn.snd_una = conn.snd_una.wrapping_add(MSS);
            let ack = Ack {
                pkts_acked: 1,
                acked_sacked: 1,
                rtt_us,
                delivered: 1,
                interval_us: rtt_us,
                in_flight: left,
                ..Ack::default()
            };
            prague.pkts_acked(&mut conn, &ack);
            reference += increase / reference;
        }
    }
    (f64::from(conn.snd_cwnd), reference)
}

/// By hand: 10,000 rounds of 1 ms are due (1 / 25)^2 * 10,000 = 16 packets. [RFC 9331 4.3]
/// [draft-briscoe-iccrg-prague-congestion-control 2.4.4]
#[test]
fn growth_at_short_rtts_is_that_of_real_numbers() {
    for (rtt_us, window, rounds, due) in [
        (100, 100, 62_500, 1.0),
        (200, 40, 50_000, 3.2),
        (1000, 120, 10_000, 16.0),
        (3000, 1000, 700, 10.1),
        (5000, 1000, 500, 20.0),
        (24_000, 50, 200, 184.3),
    ] {
        let (integer, real) = grown(rtt_us, window, rounds);
        let growth = real - f64::from(window);
        assert!((growth - due).abs() < 0.05 * due + 0.1, "{rtt_us} us: the reference grows by {growth}, due are {due}");
        // Whole packets are shown.
        let difference = real - integer;
        assert!((-0.1..1.1).contains(&difference), "{rtt_us} us, {window} packets: {integer}, in real numbers {real}");
    }
}

/// Growth that a large window has earned but not shown is none of the small window's after a timeout: slow start adds a packet for the one
/// that is acknowledged, and no more.
#[test]
fn a_timeout_forgets_what_a_large_window_has_earned() {
    let window = 1_000_000;
    let params = Arc::new(Params::new(find("prague").unwrap()));
    let mut conn = Conn {
        snd_cwnd: window,
        snd_ssthresh: INFINITE_SSTHRESH,
        snd_cwnd_clamp: MAX_WINDOW,
        mss: MSS,
        is_cwnd_limited: 1,
        is_paced: 1,
        now_us: 1_000_000,
        ..Conn::default()
    };
    let mut prague = Instance::new(&params, &mut conn);
    conn.snd_ssthresh = 2;
    let ack = Ack {
        pkts_acked: 1,
        acked_sacked: 1,
        rtt_us: 20_000,
        delivered: 1,
        interval_us: 20_000,
        in_flight: 1,
        ..Ack::default()
    };
    // Each ACK earns 1/1000000 packet; 1/65536 packet is shown after 15.3 of them.
    (0..15).for_each(|_| prague.pkts_acked(&mut conn, &ack));
    assert_eq!(conn.snd_cwnd, window);
    (conn.snd_cwnd, conn.snd_ssthresh) = (1, window / 2);
    prague.pkts_acked(&mut conn, &ack);
    assert_eq!(conn.snd_cwnd, 2);
}
