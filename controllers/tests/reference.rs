// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integer controllers against floating-point ones written from the papers, on the same random connections.

mod contract;
#[path = "reference/mod.rs"]
mod reference;
mod trace;

use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner},
};
use tandem_controllers::{CONTROLLERS, Controller, Params};

use reference::{Pair, Path, Step};

const CASES_PER_CONTROLLER: u32 = 200;

fn path() -> impl Strategy<Value = Path> {
    (5_000..300_000u32, 20..1500u32, 0.05..2.0f64, prop_oneof![Just(0), 0..5_000u32]).prop_map(
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

/// The same letter has other ranges in other controllers.
fn in_range(controller: &Controller, name: &str, values: &[f64]) -> bool {
    controller.params().any(|p| p.name == name && values.iter().all(|v| (p.min..=p.max).contains(v)))
}

/// Half the cases with the defaults, half with other parameters that someone might choose.
fn parameters(controller: &'static Controller) -> impl Strategy<Value = Params> {
    let choices = [
        ("alpha", &[1.0 / 32.0, 0.125, 0.25][..]),
        ("beta", &[0.25, 0.5, 0.7]),
        ("k", &[0.5, 0.75, 0.875]),
        ("zeta", &[0.25, 1.0, 2.0]),
        ("low_window", &[10.0, 41.0, 100.0]),
        ("spread_gain", &[0.0, 1.0]),
        ("forget_base_rtt", &[0.0, 1.0]),
        ("rtt_gain", &[0.0, 0.125]),
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
        ("rate_per_packet", &[1.0, 10.0]),
        ("decay", &[4.0, 10.0]),
        ("memory", &[0.5, 0.85]),
        ("on_top", &[0.0, 1.0]),
        ("average_weight", &[1.0 / 64.0, 0.25]),
        ("multiply", &[0.0, 1.0]),
        ("idle_delay", &[0.0, 750.0, 5_000.0]),
        ("always_b", &[0.0, 1.0]),
        ("max_growth", &[20.0, 160.0]),
        // Letters that mean something else there.
        ("vegas.alpha", &[1.0, 2.0]),
        ("vegas.beta", &[2.0, 4.0, 30.0]),
        ("vegas.gamma", &[1.0, 10.0]),
        ("africa.alpha", &[1.0, 20.0]),
        ("fast.alpha", &[10.0, 100.0]),
        ("fast.gamma", &[0.25, 0.5, 1.0]),
    ];
    (any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), choices.len())).prop_map(
        move |(defaults, indices)| {
            let mut params = Params::new(controller);
            for ((name, values), index) in choices.iter().zip(indices) {
                let name = name.strip_prefix(controller.name).and_then(|n| n.strip_prefix('.')).unwrap_or(name);
                if !defaults && params.get(name).is_some() && in_range(controller, name, values) {
                    params.set(name, *index.get(values)).unwrap();
                }
            }
            params
        },
    )
}

/// All but those with a model of the path, which `model.rs` has.
fn of_windows() -> impl Iterator<Item = &'static Controller> {
    CONTROLLERS.iter().filter(|c| !c.owns_window())
}

/// The same cases each time; PROPTEST_RNG_SEED=n gives others.
fn seed() -> RngSeed {
    std::env::var_os("PROPTEST_RNG_SEED").map_or(RngSeed::Fixed(1), |_| Config::default().rng_seed)
}

#[test]
fn integers_stay_close_to_the_papers_real_numbers() {
    let mut runner = TestRunner::new(Config {
        cases: CASES_PER_CONTROLLER * of_windows().count() as u32,
        test_name: Some("integers_stay_close_to_the_papers_real_numbers"),
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        rng_seed: seed(),
        ..Config::default()
    });
    let params = prop::sample::select(of_windows().collect::<Vec<_>>()).prop_flat_map(parameters);
    let cases = (params, path(), 2..20u32, prop::collection::vec(step(), 1..40));
    let outcome = runner.run(&cases, |(params, path, window, steps)| {
        let mut pair = Pair::new(&params, path, window);
        steps.into_iter().try_for_each(|step| pair.play(step))
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
}
