// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator beside ns-2, ns-3, real TCP and real QUIC, and the analytical model beside all there is: the pages that `make validate`
//! writes.

mod advice;
mod compare;
mod controllers;
mod dumbbell;
mod features;
mod l4s;
mod model;
mod papers_in_ns2;
mod queues;
mod quic;
mod real_tcp;
mod recoveries_in_ns2;
mod reference;
mod setups;
mod slow_start;
mod statistics;
mod wlan;

use std::path::Path;

use anyhow::Context;
use tandem_batch::{Batch, Task, Traces};
use tandem_papers::prose::with_short_lines;
use tandem_results::Run;
use tandem_scenario::Scenario;
use tandem_sim::Sim;

pub use advice::{Paths, advice_page};
pub use quic::{QuicValidation, quic_page};
pub use real_tcp::{RealTcpValidation, real_tcp_page};
pub use slow_start::slow_start_table;
pub use statistics::statistics_page;

/// What a validation runs with.
pub struct Validation<'a> {
    /// The folder of the reference data, experiments/reference.
    pub reference: &'a Path,
    /// Seeds of each point where something is random.
    pub seeds: u64,
    /// How runs are cancelled, and where they are stored.
    pub batch: Batch<'a>,
}

/// One experiment's part of docs/validation.md.
struct Part {
    name: &'static str,
    write: fn(&Validation) -> anyhow::Result<String>,
}

const PARTS: [Part; 11] = [
    Part { name: "fig3", write: papers_in_ns2::figure3 },
    Part { name: "fig4", write: papers_in_ns2::figure4 },
    Part { name: "fig5", write: papers_in_ns2::figure5 },
    Part { name: "fig6", write: papers_in_ns2::figure6 },
    Part { name: "fig8", write: papers_in_ns2::figure8 },
    Part { name: "recovery", write: recoveries_in_ns2::part },
    Part { name: "controllers", write: controllers::part },
    Part { name: "wlan", write: wlan::part },
    Part { name: "queues", write: queues::part },
    Part { name: "l4s", write: l4s::part },
    Part { name: "features", write: features::part },
];

const INTRODUCTION: &str = include_str!("introduction.md");
const REASONS: &str = include_str!("reasons.md");

impl Validation<'_> {
    /// docs/validation.md.
    pub fn page(&self) -> anyhow::Result<String> {
        let mut page = INTRODUCTION.replace("SEEDS", &self.seeds.to_string());
        for part in &PARTS {
            page += &(part.write)(self)?;
        }
        Ok(with_short_lines(&(page + REASONS)))
    }

    /// The part of one experiment.
    pub fn part(&self, name: &str) -> anyhow::Result<String> {
        let part = PARTS.iter().find(|part| part.name == name).with_context(|| {
            format!("there is no experiment `{name}`; there are {}", PARTS.map(|part| part.name).join(", "))
        })?;
        (part.write)(self)
    }

    /// docs/model.md.
    pub fn model_page(&self) -> anyhow::Result<String> {
        model::page(self).map(|page| with_short_lines(&page))
    }

    /// Simulates all seeds of scenarios.
    fn run(&self, scenarios: &[Scenario]) -> anyhow::Result<Vec<Run>> {
        let task = |scenario| Task { scenario, engine: &Sim, traces: Traces::None };
        let tasks: Vec<Task> = scenarios.iter().map(task).collect();
        let runs = self.batch.run(&tasks)?.into_runs(&tasks);
        runs.into_iter().collect::<Option<_>>().context("interrupted; the same command goes on")
    }
}
