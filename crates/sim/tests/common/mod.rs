// SPDX-License-Identifier: MIT OR Apache-2.0
#![allow(dead_code)]

use tandem_engine::Options;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

pub fn scenario(text: &str) -> Scenario {
    parse(text, "test.toml", "test", &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

pub fn run(text: &str) -> SeedResult {
    run_seed(&scenario(text), 1)
}

pub fn run_seed(scenario: &Scenario, seed: u64) -> SeedResult {
    tandem_sim::run(scenario, seed, Options::default()).unwrap().expect("not cancelled")
}

/// All of a result but the time it took.
pub fn fingerprint(mut result: SeedResult) -> String {
    result.cpu_s = 0.0;
    result.trace = None;
    format!("{result:?}")
}

#[track_caller]
pub fn within(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual}, expected {expected} +- {tolerance}");
}
