// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery-rate samples and pacing by the controller's rate, worked out by hand.

use std::sync::Arc;

use tandem_controllers::{Ack, Params, State, find, host::RttEstimator};

use super::wire::{MS, Wire, reno};
use crate::{Config, delivery_rate::DeliveryRate, scoreboard::Scoreboard};

/// A scoreboard and the account of what it delivers, with ACKs at given times.
struct Samples {
    board: Scoreboard,
    rtt: RttEstimator,
    rate: DeliveryRate,
}

impl Samples {
    fn new() -> Self {
        Self { board: Scoreboard::new(), rtt: RttEstimator::default(), rate: DeliveryRate::new() }
    }

    fn send(&mut self, at_ms: u64, count: u64) {
        for _ in 0..count {
            let seq = self.board.send_new(at_ms * MS);
            self.rate.sent(at_ms * MS, seq, self.board.una, self.board.outstanding() == 1);
        }
    }

    /// Packets in how many ms, and whether the application limited them.
    fn ack(&mut self, at_ms: u64, next_expected: u64) -> (u32, u32, bool) {
        let now = at_ms * MS;
        let delivered = self.board.on_ack(now, next_expected, None);
        self.rtt.sample(now - delivered.oldest_sent.unwrap(), now - delivered.newest_sent.unwrap());
        let Ack { delivered, prior_delivered, interval_us, is_app_limited, .. } =
            self.rate.sample(now, delivered.segments, delivered.last_sent.unwrap(), self.rtt.min_ns);
        (delivered - prior_delivered, interval_us / 1000, is_app_limited == 1)
    }
}

/// Ten packets at once, acknowledged 5 ms apart from 100 ms on, each of which lets one go. [draft-cheng-iccrg-delivery-rate-estimation 3.2]
/// [draft-cheng-iccrg-delivery-rate-estimation 3.3]
#[test]
fn a_sample_is_what_was_delivered_since_the_packet_was_sent() {
    let mut path = Samples::new();
    path.send(0, 10);
    for n in 0..10 {
        // n + 1 packets since time 0, and the connection had just begun.
        assert_eq!(path.ack(100 + 5 * n, n + 1), (n as u32 + 1, 100 + 5 * n as u32, true));
        path.send(100 + 5 * n, 1);
    }
    // Packet 10 was sent at 100 ms with 1 delivered; its ACK makes that 11. They were delivered within 100 ms, but sent within 100 ms
    // and 5 for each further packet, for the burst went at time 0.
    for n in 0..10 {
        assert_eq!(path.ack(200 + 5 * n, 11 + n), (10, 100 + 5 * n as u32, false));
        path.send(200 + 5 * n, 1);
    }
    // From the third round on both take 100 ms.
    for n in 0..10 {
        assert_eq!(path.ack(300 + 5 * n, 21 + n), (10, 100, false));
    }
}

/// ACKs that come together tell no higher rate than the packets were sent at: 10 packets were sent 10 ms apart from 0 on, and come
/// back in one ACK at 200 ms. The last was sent 90 ms after the first, and all came 200 ms after the first's start.
/// [draft-cheng-iccrg-delivery-rate-estimation 3.3]
#[test]
fn the_longer_of_sending_and_acknowledging_counts() {
    let mut path = Samples::new();
    for n in 0..10 {
        path.send(10 * n, 1);
    }
    assert_eq!(path.ack(200, 10), (10, 200, true));
    // Ten more in the same way, acknowledged one by one as fast as 1 ms apart: sent in 10 ms each, hence 1 in 10 ms at most.
    for n in 0..10 {
        path.send(200 + 10 * n, 1);
    }
    assert_eq!(path.ack(400, 11), (1, 200, false));
    // Since packet 10, the one before, was sent at 200 ms, 10 ms passed; since its account's last delivery, at 200 ms, 201.
    assert_eq!(path.ack(401, 12), (2, 201, false));
}

/// An interval below the smallest RTT (here 10 ms) is the ACK of an earlier copy, which tells no RTT: no sample.
/// [draft-cheng-iccrg-delivery-rate-estimation 3.3]
#[test]
fn an_interval_below_the_smallest_rtt_is_no_sample() {
    let mut path = Samples::new();
    path.send(0, 1);
    assert_eq!(path.ack(10, 1), (1, 10, true));
    path.send(20, 1);
    let delivered = path.board.on_ack(29 * MS, 2, None);
    let sample = path.rate.sample(29 * MS, delivered.segments, delivered.last_sent.unwrap(), path.rtt.min_ns);
    assert_eq!(sample.interval_us, 0);
}

/// The smallest RTT is that of the newest packet, as in Linux: 10 ms here, though the first waited for 14. So 11 ms are to be believed.
#[test]
fn a_delayed_ack_does_not_make_the_smallest_rtt_longer() {
    let mut path = Samples::new();
    path.send(0, 1);
    path.send(4, 1);
    assert_eq!(path.ack(14, 2), (2, 14, true));
    path.send(14, 1);
    assert_eq!(path.ack(25, 3), (1, 11, false));
}

/// What is sent after a pause is marked until more than what was in flight then is delivered.
/// [draft-cheng-iccrg-delivery-rate-estimation 3.4]
#[test]
fn an_idle_application_marks_what_it_sends_next() {
    let mut path = Samples::new();
    path.send(0, 4);
    assert_eq!(path.ack(100, 4), (4, 100, true));
    path.send(100, 4);
    // 2 of these 4 are in flight when the application has nothing more.
    assert_eq!(path.ack(200, 6), (2, 100, false));
    path.rate.note_app_limited(2);
    path.send(250, 2);
    assert_eq!(path.ack(300, 8), (4, 200, false));
    // Sent in between; delivered 8 is what it lasts to, 9 is beyond.
    assert_eq!(path.ack(350, 9), (3, 150, true));
    path.send(350, 1);
    assert!(path.ack(400, 10).2);
    assert!(!path.ack(450, 11).2);
}

fn bbr() -> Config {
    Config { controller: Arc::new(Params::new(find("bbr").unwrap())), ..reno() }
}

/// Before there is an RTT BBR paces at 739/256 of the window in 1 ms, less 1 %: 10 * 739/256 * 0.99 = 28.58 packets a ms, one each
/// 0.035 ms. After the first ACK, at 100 ms, at that share of 10 packets in 100 ms: 0.2858 a ms, one each 3.5 ms, two rounds of
/// which are sent for one that comes back. [draft-cardwell-iccrg-bbr-congestion-control 4.2.1]
#[test]
fn bbr_paces_from_the_first_packet_on() {
    let mut wire = Wire::new(&bbr());
    wire.give(100);
    wire.run_until_ms(350);
    let at_us: Vec<u64> = wire.sent.iter().map(|s| s.at / 1000).collect();
    assert_eq!(at_us[..10], [0, 34, 69, 104, 139, 174, 209, 244, 279, 314]);
    assert_eq!(at_us[10], 100_000);
    // The packets that follow are 3.499 ms apart, or 0.05 % more, because a rate is kept in whole 1/2^24 packets a us.
    let gaps: Vec<u64> = at_us[10..30].windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.iter().all(|gap| (3_499..=3_501).contains(gap)), "{gaps:?}");
}

/// One packet of many is lost. BBR's window goes by what is in flight in the first round of the recovery and is then what it was.
#[test]
fn bbr_has_its_window_back_after_a_recovery() {
    let mut wire = Wire::new(&bbr()).losing(&[(200, 1)]);
    wire.packet_ns = MS;
    wire.give(2000);
    wire.run_to_end();
    assert_eq!(wire.sender.counters.retransmits, 1);
    assert_eq!(wire.sender.counters.timeouts, 0);
    let lost_at = wire.sent.iter().find(|s| s.nth == 2).unwrap().at / MS;
    let (before, after) = (wire.window_at_ms(lost_at - 1), wire.window_at_ms(lost_at + 150));
    assert!(after >= before, "{before} and {after}");
    // One packet a ms is the path; 2000 packets, a slow start and a recovery take little longer.
    assert!(wire.now < 2500 * MS, "{}", wire.now);
}

/// A loss under repair keeps no application from being the limit: what was lost has been sent again, and the window has room for more. While
/// something lost is still to be sent again, the path has work.
#[test]
fn an_application_may_be_the_limit_during_a_recovery() {
    let mut wire = Wire::new(&bbr()).losing(&[(300, 1)]);
    wire.packet_ns = MS;
    wire.give(400);
    let is_again = |wire: &Wire| wire.sent.iter().any(|sent| sent.nth == 2);
    while !is_again(&wire) {
        wire.run_until_ms(wire.now / MS + 1);
    }
    // All has been sent, but what is lost has not arrived yet.
    wire.run_until_ms(wire.now / MS + 90);
    assert_eq!(wire.sender.state, State::Recovery);
    assert_eq!(wire.sender.board.nxt, wire.sender.data_end());
    wire.give(1);
    assert!(wire.sender.rate.as_ref().unwrap().is_app_limited(wire.now));
}
