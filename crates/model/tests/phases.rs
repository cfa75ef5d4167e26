// SPDX-License-Identifier: MIT OR Apache-2.0
//! The phases' integrals against small steps, and how they join.

use proptest::prelude::*;
use tandem_model::{
    Law,
    totals::{Totals, phase1, phase2, phase4},
};
use tandem_testing::random::fixed;

/// Small steps of time: `growth` packets a round, a round of `rtt(w)`, a rate of a window a round.
fn in_steps(bdp: f64, from: f64, to: f64, growth: impl Fn(f64) -> f64) -> Totals {
    let (mut sum, mut w) = (Totals::default(), from);
    let dt = bdp / 2000.0;
    while w < to {
        let rtt = w.max(bdp);
        sum += Totals { rounds: dt / rtt, time: dt, data: dt * w / rtt, queue_area: dt * (w - bdp).max(0.0) };
        w += growth(w) * dt / rtt;
    }
    sum
}

#[track_caller]
fn near(formula: Totals, steps: Totals) {
    for (f, s, scale) in [
        (formula.rounds, steps.rounds, steps.rounds),
        (formula.time, steps.time, steps.time),
        (formula.data, steps.data, steps.data),
        (formula.queue_area, steps.queue_area, steps.queue_area.max(steps.time * 0.1)),
    ] {
        assert!((f - s).abs() <= 0.01 * scale + 1.0, "{formula:?}\n{steps:?}");
    }
}

#[test]
fn formulas_agree_with_small_steps() {
    for (alpha, k, bdp) in [(0.125, 0.75, 400.0), (0.125, 0.75, 3000.0), (0.5, 0.5, 1000.0), (0.05, 0.9, 800.0)] {
        let law = Law { alpha, k, ..Law::default() };
        let power = |w: f64| alpha * w.powf(k);
        near(phase1(&law, bdp, bdp / 2.0, bdp), in_steps(bdp, bdp / 2.0, bdp, power));
        near(phase2(&law, bdp, bdp, 1.3 * bdp), in_steps(bdp, bdp, 1.3 * bdp, power));
        near(phase4(bdp, 1.05 * bdp, 1.5 * bdp), in_steps(bdp, 1.05 * bdp, 1.5 * bdp, |_| 1.0));
    }
}

proptest! {
    #![proptest_config(fixed(256))]

    /// Two stretches are one, and a link that is never idle delivers a packet each packet time.
    #[test]
    fn stretches_join(bdp in 10.0..1e4f64, a in 0.5..1.0f64, b in 1.0..1.5f64, c in 1.5..2.0f64) {
        let law = Law::default();
        let (a, b, c) = (a * bdp, b * bdp, c * bdp);
        for (whole, mut first, second) in [
            (phase2(&law, bdp, bdp, c), phase2(&law, bdp, bdp, b), phase2(&law, bdp, b, c)),
            (phase4(bdp, bdp, c), phase4(bdp, bdp, b), phase4(bdp, b, c)),
        ] {
            first += second;
            prop_assert!((whole.time / first.time - 1.0).abs() < 1e-9);
            prop_assert!((whole.queue_area / first.queue_area - 1.0).abs() < 1e-6);
            prop_assert_eq!(whole.time, whole.data);
        }
        let growing = phase1(&law, bdp, a, bdp);
        prop_assert!(growing.data <= growing.time && growing.queue_area == 0.0);
    }
}
