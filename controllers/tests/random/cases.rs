// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random connections for the oracles that are compared by their windows.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tandem_controllers::{Controller, MAX_RTT_US, Params};

use crate::windows::{Path, Step};

/// Values that someone might choose, for any controller that has the parameter and takes them all.
const CHOICES: [(&str, &[f64]); 41] = [
    ("alpha", &[1.0 / 32.0, 0.125, 0.25]),
    ("beta", &[0.25, 0.5, 0.7]),
    ("k", &[0.5, 0.75, 0.875]),
    ("zeta", &[0.25, 1.0, 2.0]),
    ("low_window", &[10.0, 41.0, 100.0]),
    ("spread_gain", &[0.0, 1.0]),
    ("forget_base_rtt", &[0.0, 1.0]),
    ("rtt_gain", &[0.0, 0.125]),
    ("rtt_per_round", &[0.0, 1.0]),
    ("gamma", &[3.0, 30.0, 80.0]),
    ("gamma_low", &[1.0, 5.0]),
    ("gamma_high", &[15.0, 60.0]),
    ("lambda", &[0.25, 1.0]),
    ("share", &[0.5, 0.75]),
    ("reading", &[1.0, 2.0, 3.0]),
    ("decline", &[0.5, 1.5]),
    ("rate_interval", &[10_000.0, 50_000.0, 200_000.0]),
    ("rate_gain", &[0.125, 0.5]),
    ("alpha_delay", &[1_000.0, 4_000.0]),
    ("upper", &[2.0, 3.0]),
    ("increase_delay", &[500.0, 1_000.0, 4_000.0]),
    ("bandwidth", &[0.0, 1.0]),
    ("gap_filter", &[100_000.0, 500_000.0]),
    ("rate_per_packet", &[1.0, 10.0]),
    ("decay", &[4.0, 10.0]),
    ("memory", &[0.5, 0.85]),
    ("on_top", &[0.0, 1.0]),
    ("average_weight", &[1.0 / 64.0, 0.25]),
    ("multiply", &[0.0, 1.0]),
    ("idle_delay", &[0.0, 750.0, 5_000.0]),
    ("always_b", &[0.0, 1.0]),
    ("max_growth", &[20.0, 160.0]),
    ("g", &[0.125, 1.0]),
    ("initial_alpha", &[0.0, 0.25]),
    // Letters that mean something else there.
    ("vegas.alpha", &[1.0, 2.0]),
    ("vegas.beta", &[2.0, 4.0, 30.0]),
    ("vegas.gamma", &[1.0, 10.0]),
    ("africa.alpha", &[1.0, 20.0]),
    ("fast.alpha", &[10.0, 100.0]),
    ("fast.gamma", &[0.25, 0.5, 1.0]),
    ("alpha_rises", &[0.0, 1.0]),
];

/// Choices that a case makes; the others repeat them, so that new parameters leave old cases as they are.
const PICKS: usize = 38;

/// A connection, for any controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Which of its choices each parameter takes, in turn; none: the defaults.
    picks: Vec<usize>,
    pub path: Path,
    /// Packets.
    pub window: u32,
    pub steps: Vec<Step>,
}

impl Case {
    /// The parameters that the case chooses.
    pub fn parameters(&self, controller: &'static Controller) -> Params {
        let mut params = Params::new(controller);
        if params.get("hystart").is_some() {
            // It is common to all controllers and has an oracle of its own: tests/slow_start.
            params.set("hystart", 0.0).unwrap();
        }
        for ((name, values), pick) in CHOICES.iter().zip(self.picks.iter().cycle()) {
            // The same letter means something else in another controller.
            let name = name.strip_prefix(controller.name).and_then(|n| n.strip_prefix('.')).unwrap_or(name);
            if in_range(controller, name, values) {
                params.set(name, values[pick % values.len()]).unwrap();
            }
        }
        params
    }
}

fn in_range(controller: &Controller, name: &str, values: &[f64]) -> bool {
    controller.params().any(|p| p.name == name && values.iter().all(|v| (p.min..=p.max).contains(v)))
}

fn path() -> impl Strategy<Value = Path> {
    let base_rtt_us = prop_oneof![9 => 5_000..300_000u32, 1 => 300_000..=MAX_RTT_US];
    (base_rtt_us, 20..1500u32, 0.05..2.0f64, prop_oneof![Just(0), 0..5_000u32]).prop_map(
        |(base_rtt_us, bdp, buffer, jitter_us)| Path {
            base_rtt_us,
            bdp,
            buffer: (f64::from(bdp) * buffer) as u32,
            jitter_us,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let others = prop_oneof![Just(0), 0..200u32];
    prop_oneof![
        8 => (1..30u32, 1..=2u32, others).prop_map(|(count, by, others)| Step::Rounds { count, by, others }),
        2 => Just(Step::Loss),
        1 => Just(Step::Ecn),
        1 => Just(Step::Timeout),
        1 => Just(Step::SpuriousLoss),
        1 => Just(Step::SpuriousTimeout),
        1 => (2..100u32).prop_map(|window| Step::Idle { window }),
        1 => (1..500u32, 1..5u32).prop_map(|(flight, rounds)| Step::Application { flight, rounds }),
    ]
}

/// Half the cases with the defaults.
pub fn case() -> impl Strategy<Value = Case> {
    let picks = prop_oneof![Just(Vec::new()), prop::collection::vec(0..12usize, PICKS)];
    (picks, path(), 2..20u32, prop::collection::vec(step(), 1..40)).prop_map(|(picks, path, window, steps)| Case {
        picks,
        path,
        window,
        steps,
    })
}
