// SPDX-License-Identifier: MIT OR Apache-2.0
//! compound_steady as a fluid, against numbers worked out by hand.

use tandem_controllers::{Params, find};
use tandem_model::steady::{Flow, Law};

/// 100 Mb/s of packets of 1500 bytes.
const PACKETS_PER_S: f64 = 25_000.0 / 3.0;

fn law() -> Law {
    Law::of(&Params::new(find("compound_steady").unwrap())).unwrap()
}

fn flow(base_rtt_s: f64, overflow_s: f64) -> Flow {
    Flow { base_rtt_s, overflow_s: Some(overflow_s) }
}

fn assert_close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-3, "{value}, by hand {expected}");
}

/// N x = C and x = B^2 / (d^2 T): d = B sqrt(N / (C T)) = 10 ms sqrt(8 / 83.3).
#[test]
fn eight_flows_keep_26_packets() {
    let rest = law().rest(PACKETS_PER_S, &[flow(0.140, 0.560); 8]);
    assert_close(rest.queueing_delay_s, 0.003_098);
    assert_close(rest.queue_packets, 25.82);
    for share in &rest.shares {
        assert_close(share.packets_per_s, 1041.7);
        assert_close(share.backlog_packets, 3.227);
        assert_close(share.window_packets, 149.06);
    }
}

/// The RTT is not in it, and D is by its square.
#[test]
fn shares_go_with_the_square_of_d_and_not_with_the_rtt() {
    let rest = law().rest(PACKETS_PER_S, &[flow(0.021, 0.5), flow(0.126, 0.5), flow(0.126, 0.005)]);
    let [near, far, shallow] = [0, 1, 2].map(|i| rest.shares[i].packets_per_s);
    assert_close(near, far);
    assert_close(far, 4.0 * shallow);
}

/// A tenth of a millisecond of buffer: B sqrt(x / T) = 0.09 packets, but nobody aims at less than one.
#[test]
fn a_packet_is_the_least() {
    let rest = law().rest(PACKETS_PER_S, &[flow(0.1, 1e-4); 2]);
    assert_close(rest.queue_packets, 2.0);
}

/// With no delay to speak of: l^2 - l + 1/2 = 0 where windows shrink, l^3 - l^2 + l/4 + 1/4 = 0 where they grow, whose real root is
/// -0.3478, so that the others are sqrt(0.25 / 0.3478). By Jury's criterion that one is stable while g^2 / 4 + g < 1.
#[test]
fn a_disturbance_dies() {
    let modes = law().modes(1e-9, 0.1);
    assert_close(modes.shrink, 0.5f64.sqrt());
    assert_close(modes.growth, 0.8478);
    assert_close(modes.difference, 1.0);
    assert_close(law().largest_gain(1e-9, 0.1), 2.0 * (2f64.sqrt() - 1.0));
    // d / r = 1 / 25, of which a round takes a quarter: an e-fold in 100 rounds.
    assert_close(law().modes(0.004, 0.1).difference, 0.99);
}

/// The nonlinear course agrees with the linear one near rest: 20 % too much is 2 % after ln 10 e-folds, which are 4 r / d rounds each.
#[test]
fn the_way_to_rest_takes_as_long_as_the_modes_say() {
    let flows = [flow(0.1, 0.5); 2];
    let rest = law().rest(PACKETS_PER_S, &flows);
    let (d, w) = (rest.queueing_delay_s, rest.shares[0].window_packets);
    let r = 0.1 + d;
    let seconds = law().time_to_rest(PACKETS_PER_S, &flows, &[1.2 * w, 0.8 * w], 0.02, 400.0).unwrap();
    let by_hand = 10f64.ln() * 4.0 * r / d * r;
    assert!((seconds / by_hand - 1.0).abs() < 0.1, "{seconds} s, by hand {by_hand} s");
}
