// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oscillations: S2's theorem and table, and that a fixed point is one.

use proptest::prelude::*;
use tandem_model::{
    Law,
    oscillation::{Cycle, CycleType, flow_chart},
    rule::{Exact, GainOf, Linux13},
};
use tandem_testing::random::fixed;

/// f_{3:1} as S2 section II.B has it, written out: three increases, then a cut by the backlog of the window before the last,
/// whose round's smallest RTT is that of the first packet sent after the second increase.
fn f31(w1: f64, bdp: f64, alpha: f64, k: f64) -> f64 {
    let grow = |w: f64| w + (alpha * w.powf(k)).max(1.0);
    let w2 = grow(w1);
    let w3 = grow(w2);
    let w4 = grow(w3);
    let rtt = bdp.max(w3.min(w2 + 1.0));
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

/// The BDPs at which a type is feasible, first and last.
fn interval(kind: CycleType, gain_of: GainOf) -> (u32, u32) {
    let rule = Linux13 { gamma_packets: 30.0, gain_of };
    let feasible = |bdp: &u32| {
        Cycle::forced(&rule, f64::from(*bdp), kind).is_some_and(|cycle| cycle.is_feasible(rule.gamma_packets))
    };
    let all: Vec<u32> = (100..3000).filter(feasible).collect();
    assert_eq!(all.len() as u32, all[all.len() - 1] - all[0] + 1, "{kind} has gaps");
    (all[0], all[all.len() - 1])
}

/// S2 Table I, gamma 30. Growth of today's window, as S2's formulas have it, gives all but the border between 3:1 and 5:2
/// (which lies where release 1.3's root steps, 528 and 529); growth of what was sent, as the module has it, gives that one.
#[test]
fn table_1() {
    let near = |kind: (u32, u32), gain_of, printed: (u32, u32), tolerance: (u32, u32)| {
        let (from, to) = interval(CycleType::new(kind.0, kind.1), gain_of);
        assert!(from.abs_diff(printed.0) <= tolerance.0, "{kind:?} from {from}, printed {}", printed.0);
        assert!(to.abs_diff(printed.1) <= tolerance.1, "{kind:?} to {to}, printed {}", printed.1);
    };
    near((2, 1), GainOf::Window, (545, 558), (1, 1));
    near((3, 1), GainOf::Window, (312, 545), (1, 15));
    near((5, 2), GainOf::Window, (546, 573), (15, 1));
    near((4, 2), GainOf::Window, (559, 1411), (1, 1));
    near((3, 2), GainOf::Window, (1342, 2999), (2, 0));
    near((3, 1), GainOf::Sent, (312, 545), (1, 0));
    near((5, 2), GainOf::Sent, (546, 573), (1, 15));
}

/// S2 Figure 3: m:1, 3:1 from 313, 5:2 from 544 (the fragile border), 4:2 from 574, 3:2 from 1342; with gamma 5 always 3:2.
#[test]
fn figure_3() {
    let rule = |gamma_packets| Linux13 { gamma_packets, gain_of: GainOf::Window };
    let name = |gamma, bdp: u32| {
        flow_chart(&rule(gamma), f64::from(bdp)).map_or(String::new(), |cycle| cycle.kind.to_string())
    };
    for (bdp, kind) in [
        (140, "6:1"),
        (180, "5:1"),
        (250, "4:1"),
        (310, "4:1"),
        (315, "3:1"),
        (530, "3:1"),
        (546, "5:2"),
        (572, "5:2"),
        (577, "4:2"),
        (1340, "4:2"),
        (1346, "3:2"),
        (2900, "3:2"),
    ] {
        assert!(name(30.0, bdp) == kind || (bdp == 310 && name(30.0, bdp) != "3:1"), "{bdp}: {}", name(30.0, bdp));
    }
    // S2: "always"; one BDP in a thousand is undecided in these integers.
    let others: Vec<u32> = (300..3000).filter(|&bdp| name(5.0, bdp) != "3:2").collect();
    assert!(others.is_empty(), "{others:?}");
}
