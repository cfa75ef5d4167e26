// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oscillations: S2's theorem and table, and that a fixed point is one.

use proptest::prelude::*;
use tandem_model::{
    Law,
    oscillation::{Cycle, CycleType, flow_chart},
    rule::{Exact, Linux13},
};
use tandem_testing::random::fixed;

/// f_{3:1} as S2 section II.B has it, written out: three increases, then a cut by the backlog of `w_3`, whose round's smallest RTT
/// is `w_2 / mu` (S2 (4), first line).
fn f31(w1: f64, bdp: f64, alpha: f64, k: f64) -> f64 {
    let grow = |w: f64| w + (alpha * w.powf(k)).max(1.0);
    let w2 = grow(w1);
    let w3 = grow(w2);
    let w4 = grow(w3);
    let rtt = bdp.max(w2);
    w4 - w3 * (1.0 - bdp / rtt) + 1.0
}

/// By halving: f(w) - w is above 0 at half the BDP and below 0 far above it.
fn solve(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        *(if f(middle) > middle { &mut low } else { &mut high }) = middle;
    }
    low
}

proptest! {
    #![proptest_config(fixed(256))]

    /// Theorem 1: there is a fixed point above half the BDP, and going round finds it.
    #[test]
    fn three_to_one_has_a_fixed_point(bdp in 40.0..5000.0f64, alpha in 0.1..0.9f64, k in 0.3..0.9f64) {
        prop_assume!(bdp / 2.0 > alpha.powf(-1.0 / k) && bdp / 2.0 > alpha.powf(1.0 / (1.0 - k)));
        let law = Law { alpha, k, ..Law::default() };
        let cycle = Cycle::forced(&Exact(law), bdp, CycleType::new(3, 1)).expect("theorem 1");
        let expected = solve(|w| f31(w, bdp, alpha, k), bdp / 2.0, 100.0 * bdp);
        prop_assert!((cycle.windows[0] / expected - 1.0).abs() < 1e-6, "{:?}, {expected}", cycle.windows);
        prop_assert!(cycle.windows[0] >= bdp / 2.0);
        prop_assert_eq!(cycle.windows.len(), 4);
    }

    /// The windows of a cycle that can take place grow m times, fall n times, and end where they began.
    #[test]
    fn a_cycle_closes(bdp in 100u32..4000, gamma in 5.0..60.0f64) {
        let bdp = f64::from(bdp);
        let law = Law { gamma_packets: gamma, ..Law::default() };
        let Some(cycle) = flow_chart(&Exact(law), bdp) else { return Ok(()) };
        let (m, n) = (cycle.kind.increases as usize, cycle.kind.decreases as usize);
        let ups = (0..cycle.windows.len()).filter(|&i| cycle.windows[(i + 1) % cycle.windows.len()] > cycle.windows[i]);
        // Some take two passes or more to return.
        prop_assert_eq!(ups.count() * (m + n), m * cycle.windows.len());
        let swing = cycle.oscillation(bdp);
        prop_assert!(swing.theta_min < swing.theta_mean && swing.theta_mean < swing.theta_max);
        prop_assert!(swing.backlog <= swing.theta_max - bdp);
    }
}

/// The BDPs at which a type is feasible with gamma 30 in release 1.3's integers, first and last.
fn interval(increases: u32, decreases: u32) -> (u32, u32) {
    let rule = Linux13 { gamma_packets: 30.0 };
    let kind = CycleType::new(increases, decreases);
    let feasible = |bdp: &u32| {
        Cycle::forced(&rule, f64::from(*bdp), kind).is_some_and(|cycle| cycle.is_feasible(rule.gamma_packets))
    };
    let all: Vec<u32> = (100..3000).filter(feasible).collect();
    assert_eq!(all.len() as u32, all[all.len() - 1] - all[0] + 1, "{kind} has gaps");
    (all[0], all[all.len() - 1])
}

/// S2 Table I, gamma 30, the printed bounds. One is a packet off: S2 has 3:2 from 1342 on.
#[test]
fn table_1() {
    assert_eq!(interval(2, 1), (545, 558));
    assert_eq!(interval(3, 1), (312, 545));
    assert_eq!(interval(5, 2), (546, 573));
    assert_eq!(interval(4, 2), (559, 1411));
    assert_eq!(interval(3, 2), (1343, 2999));
}

/// The fixed point of 3:1 at a BDP of 400 packets, by hand in release 1.3's integers.
///
/// Growth: isqrt(424) = 20 and isqrt(20 << 16) = 1144, so (424 << 8) / 1144 = 94 and 94 >> 3 = 11; likewise 435 grows by 97 >> 3 = 12.
/// isqrt(447) = 21 and isqrt(21 << 16) = 1173, so 447 grows by 97 >> 3 = 12. The cut finds `w_3` = 447 and tau = `w_2` = 435:
/// floor(2 * 447 * 400 / 435) = 822, so Delta_4 = 447 - 411 = 36, and 459 - 36 + 1 = 424. Delta_3 = 435 - 820 / 2 = 25 is no cut.
#[test]
fn three_to_one_by_hand() {
    let cycle = Cycle::forced(&Linux13 { gamma_packets: 30.0 }, 400.0, CycleType::new(3, 1)).unwrap();
    assert_eq!(cycle.windows, [424.0, 435.0, 447.0, 459.0]);
    // Delta_3 = 25, Delta_4 = 36, and Delta_5 = 24, which tau = 459 * 400 / 435 gives.
    let feasible: Vec<u32> = (20..45).filter(|&gamma| cycle.is_feasible(f64::from(gamma))).collect();
    assert_eq!(feasible, (26..=36).collect::<Vec<_>>());
}

/// S2 Figure 3, gamma 30. It prints borders at 313, 544, 574 and 1342; Table I has 312, 546 and 573 for the first three. Below 312
/// S2 calls the types m:1 and names 4:1, 5:1 and 6:1. At a BDP of 212 packets no type is feasible in these integers.
#[test]
fn figure_3() {
    let kind = |gamma_packets, bdp: u32| flow_chart(&Linux13 { gamma_packets }, f64::from(bdp)).map(|cycle| cycle.kind);
    let all_are = |bdps: std::ops::Range<u32>, increases, decreases| {
        bdps.clone().all(|bdp| kind(30.0, bdp) == Some(CycleType::new(increases, decreases)))
    };
    assert!(
        all_are(312..546, 3, 1) && all_are(546..574, 5, 2) && all_are(574..1343, 4, 2) && all_are(1343..3000, 3, 2)
    );
    let below: Vec<u32> = (120..312).filter(|&bdp| kind(30.0, bdp).is_none_or(|k| k.decreases != 1)).collect();
    assert_eq!(below, [212]);
    assert!((120..312).filter_map(|bdp| kind(30.0, bdp)).all(|kind| (4..=6).contains(&kind.increases)));
    // "While for gamma = 5 the only type of oscillations is always 3:2."
    assert!((100..3000).all(|bdp| kind(5.0, bdp) == Some(CycleType::new(3, 2))));
}

/// S2 Figure 4, gamma 30: the amplitude peaks where 5:2 takes place, between 546 and 574 packets, and falls at 1340. With gamma 5 it
/// grows with the BDP, and above 1342 packets gamma makes no difference, since both oscillate 3:2.
#[test]
fn figure_4() {
    let amplitude = |gamma_packets, bdp: u32| {
        let swing = flow_chart(&Linux13 { gamma_packets }, f64::from(bdp)).unwrap().oscillation(f64::from(bdp));
        swing.theta_max - swing.theta_min
    };
    assert!(amplitude(30.0, 546) > 1.5 * amplitude(30.0, 545) && amplitude(30.0, 573) > 1.2 * amplitude(30.0, 574));
    assert!(amplitude(30.0, 1342) > 1.3 * amplitude(30.0, 1343));
    assert!((1..30).all(|hundreds| amplitude(5.0, 100 * hundreds + 100) > amplitude(5.0, 100 * hundreds)));
    assert!((1343..3000).all(|bdp| amplitude(5.0, bdp) == amplitude(30.0, bdp)));
}
