// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retransmission timeouts: RFC 6298, RFC 5681 section 3.1, Karn's rule.

use super::wire::{MS, Sent, Wire, reno};
use crate::{Config, NEVER, Recovery};

/// The whole first window is lost: no RTT is known, so the timeout is 1 s [RFC 6298 2.1] [RFC 6298 5.1]. Then 0 goes again [RFC 6298 5.4].
/// Slow start from 1 to ssthresh = 5 [RFC 5681 3.1]: 1, 2, 4 segments, then the window is 5 and all ten are repaired; one more each round.
/// The first RTT sample is that of segment 10, the first that was sent only once.
#[test]
fn whole_window() {
    let mut wire = Wire::new(&reno());
    wire.loses = Box::new(|seq, nth| seq < 10 && nth == 1);
    wire.give(1000);
    wire.run_until_ms(1400);
    wire.assert_sent(
        "0: 0-9x
         1000: 0*
         1100: 1-2*
         1200: 3-6*
         1300: 7-9* 10-11
         1400: 12-17",
    );
    let counters = wire.sender.counters;
    assert_eq!((counters.window_reductions, counters.timeouts, counters.retransmits), (1, 1, 10));
    assert_eq!(wire.sender.conn.snd_ssthresh, 5);
    assert_eq!(wire.rtts[0], (1400 * MS, 100 * MS));
    assert_eq!(wire.rtts.len(), 2, "of segments 10 and 11");
}

/// Nothing gets through: the timeout runs anew [RFC 6298 5.6] and doubles each time [RFC 6298 5.5] up to Linux's 120 s [RFC 6298 2.5]. It is
/// one loss: one reduction.
#[test]
fn repeated_timeouts_back_off() {
    let mut wire = Wire::new(&reno());
    wire.loses = Box::new(|_, nth| nth <= 9);
    wire.give(1);
    wire.run_to_end();
    let at_s: Vec<u64> = wire.sent.iter().map(|s| s.at / (1000 * MS)).collect();
    assert_eq!(at_s, [0, 1, 3, 7, 15, 31, 63, 127, 247, 367]);
    assert_eq!((wire.sender.counters.timeouts, wire.sender.counters.window_reductions), (9, 1));
    assert_eq!(wire.sender.conn.snd_ssthresh, 5);
}

/// RTT 1 ms: the timeout is 1 + 200 ms, for the variance term has Linux's floor. The probe goes after that time at the latest,
/// and is lost; the timeout counts from the probe. [RFC 6298 2.4] [RFC 8985 8]
#[test]
fn floor_of_200_ms() {
    let mut wire = Wire::new(&reno()).losing(&[(9, 1), (9, 2)]);
    (wire.forward_ns, wire.back_ns) = (MS / 2, MS / 2);
    wire.give(10);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-8 9x
         202: 9*x
         403: 9*",
    );
    assert_eq!((wire.sender.counters.timeouts, wire.sender.counters.window_reductions), (1, 1));
    assert_eq!(wire.rtts.len(), 9);
}

/// Progress ends the backing off: the second loss, of the retransmission's successor, waits for one plain timeout again.
#[test]
fn backoff_ends_with_progress() {
    let mut wire = Wire::new(&reno());
    // Segment 0 gets through at the third attempt, 1 + 2 s later; then 1 and 2 are lost again: no SACK, no probe.
    wire.loses = Box::new(|seq, nth| nth == 1 || nth == 2 && seq <= 2);
    wire.give(3);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-2x
         1000: 0*x
         3000: 0*
         3100: 1-2*x
         4100: 1*
         4200: 2*",
    );
    assert_eq!(wire.sender.counters.timeouts, 3);
    // 0 reduces once for its two timeouts, the new timeout after progress once more [RFC 5681 3.1].
    assert_eq!(wire.sender.counters.window_reductions, 2);
}

/// What was SACKed before a timeout is not sent again [RFC 6675 5.1] [RFC 2018 5]; our receivers never renege. The fast retransmission starts the
/// timer anew [RFC 6675 6].
#[test]
fn sacked_data_is_kept() {
    let mut wire = Wire::new(&reno());
    wire.loses = Box::new(|seq, nth| seq == 0 && nth <= 3);
    wire.give(5);
    wire.run_to_end();
    // Fast retransmit at 100 ms. The RTO is 100 + 4 * 50 * (3/4)^3 < 300 ms after it, so 300 ms, and doubles.
    wire.assert_sent(
        "0: 0x 1-4
         100: 0*x
         400: 0*x
         1000: 0*",
    );
    assert_eq!((wire.sender.counters.timeouts, wire.sender.counters.retransmits), (2, 3));
}

/// Ten segments, each 60 ms after the one before, with an RTT of 100 ms, and no ACK comes back. At the timeout the first is lost, and all
/// that is older than 100 ms; what was sent in the last 100 ms is under way, and the window is open to that and the first. [RFC 8985 6.3]
#[test]
fn spares_what_was_sent_in_the_last_rtt() {
    let mut wire = Wire::new(&reno());
    wire.give(1);
    wire.run_until_ms(150);
    wire.loses_ack = Box::new(|_| true);
    let mut at_ms = 200;
    while wire.sender.counters.timeouts == 0 {
        wire.run_until_ms(at_ms);
        if wire.sender.counters.timeouts == 0 {
            wire.give(1);
        }
        at_ms += 60;
    }
    let timed_out = wire.sent.iter().rfind(|sent| sent.nth > 1).unwrap().at;
    let is_young = |sent: &&Sent| sent.nth == 1 && sent.at < timed_out && sent.at + 100 * MS > timed_out;
    let young = wire.sent.iter().filter(is_young).count() as u64;
    assert!(young > 0);
    assert_eq!(wire.sender.board.in_flight(), young + 1);
    assert_eq!(u64::from(wire.sender.conn.snd_cwnd), young + 1);
}

/// Without probes: the ACKs of 0 to 8 at 100 ms start the timer anew, with the timeout that they tell, 100 + 200 ms; it began at 1 s. [RFC 6298 5.3]
#[test]
fn an_ack_starts_the_timer_anew() {
    let mut wire = Wire::new(&Config { recovery: Recovery::RateHalving, ..reno() }).losing(&[(9, 1)]);
    wire.give(10);
    wire.run_to_end();
    wire.assert_sent(
        "0: 0-8 9x
         400: 9*",
    );
}

/// [RFC 6298 5.2]
#[test]
fn nothing_outstanding_waits_for_nothing() {
    let mut wire = Wire::new(&reno());
    wire.give(10);
    assert_eq!(wire.sender.wake_at(), 1000 * MS);
    wire.run_to_end();
    assert_eq!((wire.now, wire.sender.wake_at()), (100 * MS, NEVER));
}

/// The recovery of Linux 2.6 loses all of it, and begins with one segment.
#[test]
fn spares_nothing_before_rack() {
    let mut wire = Wire::new(&Config { recovery: Recovery::RateHalving, ..reno() });
    wire.give(1);
    wire.run_until_ms(150);
    wire.loses_ack = Box::new(|_| true);
    for _ in 0..4 {
        wire.give(1);
        wire.run_until_ms(wire.now / MS + 60);
    }
    while wire.sender.counters.timeouts == 0 {
        wire.run_until_ms(wire.now / MS + 10);
    }
    assert_eq!((wire.sender.board.in_flight(), wire.sender.conn.snd_cwnd), (1, 1));
}
