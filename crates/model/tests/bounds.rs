// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whatever the path, the model ends: with an answer that makes sense, or with a word on what is too much for it.

use proptest::prelude::*;
use tandem_controllers::{CONTROLLERS, MAX_WINDOW};
use tandem_model::{Answer, Arithmetic, Law, ModelError, Path, followed, loss_cycle, windows_over_time};
use tandem_scenario::{
    file::{Overrides, parse},
    units::{Rate, Span},
};
use tandem_testing::random::fixed;

fn path(bps: u64, rtt_ns: u64, buffer_packets: f64) -> Path {
    Path { rate: Rate { bps }, rtt: Span { ns: rtt_ns }, buffer_packets, packet_bytes: 1500, access_rate: None }
}

const ALL: [Arithmetic; 4] = [Arithmetic::Tandem, Arithmetic::Linux13, Arithmetic::Linux2006, Arithmetic::Exact];

/// A controller that takes each RTT for 2^24 us sees no queue, and its window stops below the buffer's end.
#[test]
fn an_rtt_that_the_controller_cannot_tell_is_refused() {
    let at =
        |rtt_s: u64| followed(&path(1_000_000, rtt_s * 1_000_000_000, 1400.0), &Law::default(), Arithmetic::Tandem);
    let error = at(17).unwrap_err().to_string();
    assert!(error.contains("at most 16.777216 s (2^24 us)") && error.contains("a shorter RTT"), "{error}");
    assert!(at(60).is_err());
    let near = at(16).unwrap();
    assert!(near.utilisation > 0.9 && near.utilisation <= 1.0, "{near:?}");
    // Real numbers have no bound.
    followed(&path(1_000_000, 17_000_000_000, 1400.0), &Law::default(), Arithmetic::Exact).unwrap();
}

/// Its largest window holds a backlog of less than gamma there, so it never comes to swing.
#[test]
fn a_path_of_almost_the_largest_window_ends() {
    let bdp = MAX_WINDOW - 8;
    let path = path(u64::from(bdp) * 12_000, 1_000_000_000, 2.0);
    let answer = Answer::new(&path, &Law::default(), Arithmetic::Tandem).unwrap();
    // Two packets of buffer take in no burst.
    assert!(answer.followed.utilisation > 0.0 && answer.followed.utilisation < 0.1, "{answer:?}");
}

/// 100 million packets a round, by a packet each.
#[test]
fn growth_that_takes_millions_of_rounds_is_told() {
    let law = Law { low_window_packets: 1e12, ..Law::default() };
    let path = path(1_200_000_000_000, 1_000_000_000, 9.0);
    assert_eq!(followed(&path, &law, Arithmetic::Exact).unwrap_err(), ModelError::Endless);
    assert_eq!(windows_over_time(&path, &law, Arithmetic::Exact).unwrap_err(), ModelError::Endless);
    assert!(ModelError::Endless.to_string().contains("choose a lower rate, RTT, queue or low_window"));
}

/// What a caution asks for costs no run its end, whatever the controller, and is a time.
#[test]
fn cautions_end_at_the_longest_rtt() {
    for controller in &CONTROLLERS {
        let text = format!(
            "duration = \"100s\"\nsend_jitter = \"0s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"16.775974s\"\nqueue = \"1bdp\"\n[[flows]]\ncontroller = \"{}\"\n",
            controller.name
        );
        let scenario = parse(&text, "x", "x", &Overrides::default()).unwrap();
        let cycles = loss_cycle::loss_cycles(&scenario);
        assert!(cycles.iter().all(|cycle| cycle.seconds > 16.0 && cycle.seconds.is_finite()), "{cycles:?}");
        assert!(loss_cycle::cautions(&scenario).len() <= 1);
    }
}

proptest! {
    #![proptest_config(fixed(200))]

    /// Any path that a scenario may have, and any law that the arithmetic takes.
    #[test]
    fn every_path_ends(
        rate in 0.0..=1.0f64, rtt in 0.0..=1.0f64, buffer in 0.0..=1.0f64, gamma in 2.0..=60.0f64, low in 0.0..=1.0f64, which in 0usize..4
    ) {
        // Small values as likely as large ones: 1 kb/s to 100 Tb/s, 1 us to 2^24 us, 1 to 10^8 packets.
        let path = path((1e3 * 1e11f64.powf(rate)) as u64, (1e3 * 16_777_216f64.powf(rtt)) as u64, 1e8f64.powf(buffer).floor());
        let low_window_packets = (f64::from(MAX_WINDOW).powf(low)).floor();
        let law = Law { gamma_packets: (gamma * 16.0).round() / 16.0, low_window_packets, ..Law::default() };
        if let Ok(p) = followed(&path, &law, ALL[which]) {
            prop_assert!(p.utilisation > 0.0 && p.utilisation <= 1.0 + 1e-9, "{p:?}");
            prop_assert!(p.backlog_packets >= 0.0 && p.backlog_packets <= path.buffer_packets + 1.0, "{p:?}");
            prop_assert!(p.epoch_s.is_finite() && p.epoch_s > 0.0, "{p:?}");
        }
    }
}
