// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integer growth of the two Linux modules, by hand, and against real numbers.

use proptest::prelude::*;
use tandem_model::rule::{Linux13, Linux2006};
use tandem_testing::random::fixed;

/// 41: root 6, 256 * sqrt(6) = 627, 256 * 41 / 627 = 16, / 8 = 2. 99: root 9, 768, 33, 4. 100: root 10, 809, 31, 3: less than at 99.
#[test]
fn release_1_3_by_hand() {
    let worked =
        [(39, 1), (40, 2), (41, 2), (99, 4), (100, 3), (200, 6), (300, 9), (1000, 22), (4000, 63), (8000, 106)];
    for (window, growth) in worked {
        assert_eq!(Linux13::growth(window), growth, "{window}");
    }
}

/// Not monotone: it falls where the inner root steps up.
#[test]
fn release_1_3_falls_at_some_squares() {
    let falls: Vec<u64> = (41..1100).filter(|&w| Linux13::growth(w + 1) < Linux13::growth(w)).collect();
    assert!(falls.starts_with(&[48, 63, 80, 99]) || falls.contains(&99), "{falls:?}");
    assert!([99, 168, 288, 483, 528, 1088].iter().all(|w| falls.contains(w)), "{falls:?}");
}

#[test]
fn the_first_module_by_hand() {
    for (window, growth) in [(0, 0), (1, 0), (40, 1), (41, 2), (4000, 62), (8000, 105)] {
        assert_eq!(Linux2006::growth(window), growth, "{window}");
    }
}

proptest! {
    #![proptest_config(fixed(256))]

    /// The inner floor costs release 1.3 up to 6 % before the last shift; the first module's root is right within one.
    #[test]
    fn both_are_near_the_power(window in 41u64..1_000_000) {
        let exact = (window as f64).powf(0.75) / 8.0;
        let (new, old) = (Linux13::growth(window) as f64, Linux2006::growth(window) as f64);
        prop_assert!(new >= exact * 0.957 - 1.0 && new <= exact * 1.058, "{window}: {new}, {exact}");
        prop_assert!((old - exact).abs() <= 1.25, "{window}: {old}, {exact}");
    }
}
