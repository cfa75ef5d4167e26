// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics by hand.

use tandem_results::stats::{ci95, jain, mean, stolen};

#[track_caller]
fn close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 5e-4, "{actual}, expected {expected}");
}

/// 1 to 5: mean 3, variance 10 / 4 = 2.5, standard error sqrt(0.5) = 0.70711, t(0.975, 4) = 2.7764 (any table): 1.9632.
#[test]
fn confidence_interval() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(mean(&values), 3.0);
    close(ci95(&values).unwrap(), 1.9632);
    // Two values: t(0.975, 1) = 12.706, standard error |a - b| / 2.
    close(ci95(&[10.0, 12.0]).unwrap(), 12.706);
    // Ten: t(0.975, 9) = 2.2622; variance of 1..10 is 82.5 / 9 = 9.1667, standard error 0.95743.
    close(ci95(&(1..=10).map(f64::from).collect::<Vec<_>>()).unwrap(), 2.1659);
    assert_eq!((ci95(&[1.0]), ci95(&[])), (None, None));
    assert_eq!(ci95(&[7.0; 6]), Some(0.0));
}

/// RFC 5166 section 2.3.1: (sum x)^2 / (n sum x^2). 3 and 1: 16 / (2 * 10) = 0.8.
#[test]
fn jain_index() {
    assert_eq!(jain(&[5.0; 7]), 1.0);
    assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
    assert_eq!(jain(&[3.0, 1.0]), 0.8);
    assert_eq!(jain(&[300.0, 100.0]), 0.8, "whatever the unit");
    assert_eq!((jain(&[]), jain(&[0.0, 0.0])), (0.0, 0.0));
}

/// P = 10, 12, 14 and Q = 8, 9, 13: means 12 and 10, so Q / P = 5/6 and a sixth is stolen. Residuals Q - 5/6 P are -1/3, -1,
/// 4/3: mean 0, variance (1/9 + 1 + 16/9) / 2 = 13/9, standard error sqrt(13/27) = 0.69389, t(0.975, 2) = 4.3027; over the
/// mean of P: 2.98558 / 12 = 0.24880.
#[test]
fn stolen_bandwidth() {
    let (value, half) = stolen(&[10.0, 12.0, 14.0], &[8.0, 9.0, 13.0]).unwrap();
    close(value, 1.0 / 6.0);
    close(half.unwrap(), 0.24880);
    // Seeds that move together say more than their spread: the same share of each is exact.
    let (value, half) = stolen(&[10.0, 20.0, 30.0], &[9.0, 18.0, 27.0]).unwrap();
    close(value, 0.1);
    close(half.unwrap(), 0.0);
    // Gaining bandwidth is negative theft.
    assert_eq!(stolen(&[10.0], &[15.0]), Some((-0.5, None)));
    assert_eq!((stolen(&[], &[]), stolen(&[0.0], &[1.0]), stolen(&[1.0, 2.0], &[1.0])), (None, None, None));
}
