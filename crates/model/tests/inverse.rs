// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inverse questions: an answer is what asking forwards gives, and one packet less is not.

use tandem_model::{
    Arithmetic, Law, Path, followed,
    inverse::{enough_buffer, fall, largest_gamma},
};
use tandem_scenario::units::{Rate, Span};

const SHARE: f64 = 0.98;

fn path(mbps: u64, buffer_packets: f64) -> Path {
    Path {
        rate: Rate { bps: mbps * 1_000_000 },
        rtt: Span::from_ms(50),
        buffer_packets,
        packet_bytes: 1500,
        access_rate: None,
    }
}

fn is_full(path: &Path, law: &Law) -> bool {
    let p = followed(path, law, Arithmetic::Linux13).unwrap();
    p.settled_share == 1.0 && p.utilisation >= SHARE
}

#[test]
fn enough_buffer_is_enough_and_no_less_is() {
    let law = Law::default();
    let path = path(200, 0.0);
    let enough = enough_buffer(&path, &law, Arithmetic::Linux13, SHARE).unwrap();
    // The oscillation alone needs theta_max - BDP, which is 78.
    assert!(enough.queue_packets >= 78.0 && enough.queue_packets < 120.0, "{enough:?}");
    let at = |buffer_packets| is_full(&Path { buffer_packets, ..path }, &law);
    assert!(!at(enough.queue_packets - 1.0) && at(enough.queue_packets) && at(enough.queue_packets + 50.0));
    assert!(at(enough.smallest_queue_packets) && !at(enough.smallest_queue_packets - 1.0));
}

/// The pipe holds 833,333 packets: too many to ask each, and still the answer is exact to the packet.
#[test]
fn a_long_fat_path_has_an_exact_answer() {
    let law = Law::default();
    let path = Path { rtt: Span::from_ms(100), ..path(100_000, 0.0) };
    let enough = enough_buffer(&path, &law, Arithmetic::Linux13, SHARE).unwrap();
    let at = |buffer_packets| is_full(&Path { buffer_packets, ..path }, &law);
    assert!(!at(enough.queue_packets - 1.0) && at(enough.queue_packets) && at(enough.queue_packets + 50.0));
    assert!(at(enough.smallest_queue_packets) && !at(enough.smallest_queue_packets - 1.0));
}

/// S2 Figure 8: it falls at 273 Mb/s, is back for a while at 320, and falls for good at 400.
#[test]
fn utilisation_falls_where_figure_8_says() {
    let path = path(1, 100.0);
    let range = (Rate { bps: 100_000_000 }, Rate { bps: 1_000_000_000 });
    let found = fall(&path, range, &Law::default(), Arithmetic::Linux13, 0.9).unwrap();
    assert!((found.rate_mbps - 273.0).abs() < 15.0 && (found.stays_mbps - 400.0).abs() < 30.0, "{found:?}");
    assert!(fall(&path, range, &Law::default(), Arithmetic::Linux13, 0.5).is_err());
}

#[test]
fn the_largest_gamma_is_the_largest() {
    let path = path(100, 100.0);
    let law = |gamma_packets| Law { gamma_packets, ..Law::default() };
    let found = largest_gamma(&path, &law(30.0), Arithmetic::Linux13, SHARE).unwrap();
    assert!(found.gamma_packets >= 30.0 && found.gamma_packets < 100.0, "{found:?}");
    assert!(is_full(&path, &law(found.gamma_packets)) && !is_full(&path, &law(found.gamma_packets + 1.0)));
    assert!(is_full(&path, &law(found.largest_gamma_packets)));
}
