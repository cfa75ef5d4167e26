// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integer arithmetic of `controllers/include/fixed.h` against floating point and 128-bit integers.

use std::sync::LazyLock;

use tandem_controllers::MAX_WINDOW;
use tandem_testing::run_c;

/// The numbers that `fixed.c` streams; one run serves every test here.
static STREAM: LazyLock<Vec<u64>> = LazyLock::new(|| {
    run_c!("fixed.c", sanitize: cfg!(feature = "sanitize"))
        .chunks_exact(8)
        .map(|b| u64::from_ne_bytes(b.try_into().unwrap()))
        .collect()
});

const EDGES: [u32; 8] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff];

/// Windows at which every exponent is tried; `fixed.c` walks the same.
fn sparse_windows() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(1), |w| Some(w + 1 + if *w >= 4096 { w / 256 } else { 0 }))
        .take_while(|w| *w <= MAX_WINDOW)
}

/// Four roots and products each round down by at most 2^-16 of a result that is at least 1, and the roots of the
/// roots halve the error they inherit: 1e-4 is more than they can add up to.
fn check_power(windows: impl Iterator<Item = u32>, eighths: u32, results: &[u64]) {
    let mut previous = 0;
    let mut count = 0;
    for (w, &result) in windows.zip(results) {
        let exact = f64::from(w).powf(f64::from(eighths) / 8.0);
        let error = result as f64 / 65536.0 / exact - 1.0;
        assert!(error.abs() < 1e-4, "{w}^({eighths}/8) = {exact}, got {}, off by {error}", result as f64 / 65536.0);
        assert!(result >= previous, "{w}^({eighths}/8) is less than at the window before");
        previous = result;
        count += 1;
    }
    assert_eq!(count, results.len());
}

/// Where the sparse results start in the stream, and how many each exponent has.
fn sparse_results() -> (usize, usize) {
    (MAX_WINDOW as usize, sparse_windows().count())
}

#[test]
fn power_three_quarters_at_every_window() {
    check_power(1..=MAX_WINDOW, 6, &STREAM[..MAX_WINDOW as usize]);
}

#[test]
fn power_of_every_eighth() {
    let (start, len) = sparse_results();
    for eighths in 1..=7 {
        let from = start + (eighths as usize - 1) * len;
        check_power(sparse_windows(), eighths, &STREAM[from..from + len]);
    }
}

/// The square roots' part of the stream: pairs (x, isqrt(x)).
fn square_roots() -> &'static [u64] {
    let (start, len) = sparse_results();
    &STREAM[start + 7 * len..STREAM.len() - EDGES.len() * EDGES.len() * (EDGES.len() + 1)]
}

#[test]
fn square_root_is_the_largest_whose_square_fits() {
    let pairs = square_roots();
    assert_eq!(pairs[..2], [0, 0]);
    assert!(pairs.len() > 5000, "{} numbers", pairs.len());
    assert!(pairs.chunks_exact(2).any(|p| p[0] == (1 << 63) - 1));
    for pair in pairs.chunks_exact(2) {
        let (x, root) = (u128::from(pair[0]), u128::from(pair[1]));
        assert!(root * root <= x && x < (root + 1) * (root + 1), "isqrt({x}) = {root}");
    }
}

#[test]
fn edges_of_sequence_numbers_and_products() {
    let mut results = STREAM[STREAM.len() - EDGES.len() * EDGES.len() * (EDGES.len() + 1)..].iter().copied();
    let mut next = || results.next().unwrap();
    for a in EDGES {
        for b in EDGES {
            // RFC 9293 section 3.4: later means less than half the number space ahead, i.e. a positive signed distance.
            assert_eq!(next() == 1, a.wrapping_sub(b) as i32 > 0, "seq_after({a:#x}, {b:#x})");
            assert_eq!(next(), u64::from(a.saturating_sub(b)), "sub_floor0({a:#x}, {b:#x})");
            for c in &EDGES[1..] {
                let exact = u128::from(a) * u128::from(b) / u128::from(*c);
                assert_eq!(u128::from(next()), exact.min(0xffff_ffff), "mul_div({a:#x}, {b:#x}, {c:#x})");
            }
        }
    }
}
