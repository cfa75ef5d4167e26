// SPDX-License-Identifier: MIT OR Apache-2.0
//! What runs one seed of a scenario.

use std::borrow::Cow;

use anyhow::anyhow;
use tandem_model::engine::Isolated;
use tandem_scenario::{Scenario, result::SeedResult};
use tandem_sim::Options;

pub trait Engine: Sync {
    /// As results call it.
    fn name(&self) -> &'static str;

    /// One seed; `None` if it was cancelled.
    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> anyhow::Result<Option<SeedResult>>;

    /// Whether others that run at the same time would disturb it.
    fn needs_machine(&self) -> bool {
        false
    }

    /// What a run costs, relative to the simulator.
    fn weight(&self) -> f64 {
        1.0
    }

    /// The scenario as this engine runs it, for summing up.
    fn as_run<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        Cow::Borrowed(scenario)
    }
}

/// The packet-level simulator.
pub struct Sim;

impl Engine for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> anyhow::Result<Option<SeedResult>> {
        if let Some(controller) = scenario.needs_kernel() {
            return Err(anyhow!("`{controller}` is the kernel's own, which the simulator does not have"));
        }
        Ok(tandem_sim::run(scenario, seed, options))
    }
}

/// Runs nothing: what the simulator did before is in the [`Store`](crate::Store), and the rest counts as cancelled.
pub struct Kept;

impl Engine for Kept {
    fn name(&self) -> &'static str {
        Sim.name()
    }

    fn run(&self, _: &Scenario, _: u64, _: Options) -> anyhow::Result<Option<SeedResult>> {
        Ok(None)
    }
}

/// The analytical model of one Compound TCP connection.
pub struct Model;

impl Engine for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> anyhow::Result<Option<SeedResult>> {
        Ok(Some(Isolated::new(scenario)?.run(seed, options.traced_flows_per_group > 0)))
    }

    fn weight(&self) -> f64 {
        1e-3
    }
}
