// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator beside ns-2, ns-3, real TCP and real QUIC, and the analytical model beside all there is: the pages that `make validate`
//! writes.

mod advice;
mod bbr;
mod compare;
mod controllers;
mod criteria;
mod dumbbell;
mod evidence;
mod experts;
mod features;
mod forest;
mod l4s;
mod model;
mod pair;
mod papers_in_ns2;
mod queues;
mod quic;
mod real_tcp;
mod recoveries_in_ns2;
mod reference;
mod setups;
mod slow_start;
mod statistics;
mod table;
mod wlan;

use std::path::Path;

use anyhow::Context;
use tandem_batch::{Batch, Task, Traces};
use tandem_results::Run;
use tandem_scenario::Scenario;
use tandem_sim::Sim;

pub use advice::{Paths, advice_page};
pub use bbr::bbr_page;
pub use criteria::criteria_page;
pub use evidence::{Evidence, Places, put};
pub use experts::experts_page;
pub use quic::quic;
pub use real_tcp::{RealTcpValidation, real_tcp};
pub use slow_start::slow_start_table;
pub use statistics::{Statistics, statistics};

/// What a validation runs with.
pub struct Validation<'a> {
    /// The folder of the reference data, experiments/reference.
    pub reference: &'a Path,
    /// Seeds of each point where something is random.
    pub seeds: u64,
    /// How runs are cancelled, and where they are stored.
    pub batch: Batch<'a>,
}

/// The pages of evidence in docs/, whose data lie in experiments/validation under the same name.
#[cfg(test)]
const PAGES: [&str; 4] = ["validation", "model", "sim-vs-kernel", "sim-vs-quic"];

/// One table of docs/validation.md.
struct Part {
    name: &'static str,
    make: fn(&Validation) -> anyhow::Result<table::Table>,
}

const PARTS: [Part; 12] = [
    Part { name: "fig3", make: papers_in_ns2::figure3 },
    Part { name: "fig4", make: papers_in_ns2::figure4 },
    Part { name: "fig5", make: papers_in_ns2::figure5 },
    Part { name: "fig6", make: papers_in_ns2::figure6 },
    Part { name: "fig8", make: papers_in_ns2::figure8 },
    Part { name: "recovery", make: recoveries_in_ns2::part },
    Part { name: "controllers", make: controllers::part },
    Part { name: "wlan", make: wlan::part },
    Part { name: "queues", make: queues::part },
    Part { name: "l4s", make: l4s::claims },
    Part { name: "prague", make: l4s::linux },
    Part { name: "features", make: features::part },
];

impl Validation<'_> {
    /// What docs/validation.md rests on; of some parts alone, if any is named.
    ///
    /// # Errors
    /// If a name is unknown, the references cannot be read, or a run fails.
    pub fn simulators(&self, only: &[String]) -> anyhow::Result<Evidence> {
        let names = PARTS.map(|part| part.name);
        if let Some(name) = only.iter().find(|name| !names.contains(&name.as_str())) {
            anyhow::bail!("there is no experiment `{name}`; there are {}", names.join(", "));
        }
        let wanted = |part: &&Part| only.is_empty() || only.iter().any(|name| name == part.name);
        let tables = PARTS.iter().filter(wanted).map(|part| (part.make)(self)).collect::<anyhow::Result<_>>()?;
        Ok(Evidence { name: "validation", runs: format!("At most {} seeds per point.", self.seeds), tables })
    }

    /// The table of docs/controllers/prague.md: Prague at unequal RTTs beside Linux's.
    ///
    /// # Errors
    /// If Linux's rows cannot be read, or a run fails.
    pub fn unequal_rtts(&self) -> anyhow::Result<String> {
        Ok(l4s::unequal_rtts(self)?.text())
    }

    /// What docs/model.md rests on.
    ///
    /// # Errors
    /// If the references cannot be read, or a run fails.
    pub fn model(&self) -> anyhow::Result<Evidence> {
        model::evidence(self)
    }

    /// Simulates all seeds of scenarios.
    fn run(&self, scenarios: &[Scenario]) -> anyhow::Result<Vec<Run>> {
        let task = |scenario| Task { scenario, engine: &Sim, traces: Traces::None };
        let tasks: Vec<Task> = scenarios.iter().map(task).collect();
        let runs = self.batch.run(&tasks)?.into_runs(&tasks);
        runs.into_iter().collect::<Option<_>>().context("interrupted; the same command continues")
    }
}
