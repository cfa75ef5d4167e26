// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logarithm, power and cube root of `controllers/include/fixed.h` against floating point.

use std::sync::LazyLock;

use tandem_testing::run_c;

/// Function, argument and result, as `functions.c` streams them.
static STREAM: LazyLock<Vec<[u64; 3]>> = LazyLock::new(|| {
    let number = |b: &[u8]| u64::from_ne_bytes(b.try_into().unwrap());
    run_c!("functions.c", sanitize: cfg!(feature = "sanitize"))
        .chunks_exact(24)
        .map(|t| [0, 8, 16].map(|i| number(&t[i..i + 8])))
        .collect()
});

/// Calls `check` with each argument and result of a function.
fn results(function: u64, check: impl Fn(u64, u64)) {
    let of_function = || STREAM.iter().filter(|t| t[0] == function);
    assert!(of_function().count() > 10_000, "{} results", of_function().count());
    of_function().for_each(|t| check(t[1], t[2]));
}

#[test]
fn logarithm_is_less_than_two_steps_below_the_exact_one() {
    results(0, |x, log| {
        let error = log as f64 / 65536.0 - (x as f64).log2();
        assert!((-2.0 / 65536.0..=1e-9).contains(&error), "log2({x}) is off by {error}");
    });
    assert!(STREAM.iter().filter(|t| t[0] == 0 && t[1].is_power_of_two()).all(|t| t[2] % 65536 == 0));
}

#[test]
fn power_of_two_is_off_by_less_than_three_millionths() {
    results(1, |y, power| {
        let exact = (y as f64 / 65536.0).exp2() * 65536.0;
        let error = power as f64 - exact;
        assert!(error.abs() <= exact * 3e-6 + 1.0, "2^({y}/65536) = {exact} is off by {error}");
    });
}

#[test]
fn cube_root_is_the_largest_whose_cube_fits() {
    results(2, |x, root| {
        let (x, root) = (u128::from(x), u128::from(root));
        assert!(root.pow(3) <= x && x < (root + 1).pow(3), "icbrt({x}) = {root}");
    });
    assert!(STREAM.iter().any(|t| t[0] == 2 && t[1] == (1 << 63) - 1));
}
