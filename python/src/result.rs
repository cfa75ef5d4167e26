// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of runs: summaries, tidy tables, the report and its charts.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray};
use pyo3::prelude::*;
use tandem_compare::Plan;
use tandem_engine::Engine;
use tandem_model::loss_cycle::cautions;
use tandem_report::{Report, Section};
use tandem_results::{Run, SeedResult};
use tandem_scenario::Scenario;
use tandem_statistics::Looks;
use tandem_tables::{Columns, run_of_seed};

use crate::{
    error::{failed, usage},
    run::loads,
    table::Table,
};

#[pyclass(module = "tandem_cc", frozen)]
pub struct Outcome {
    title: String,
    call: String,
    plan: Plan,
    /// Why there are as many seeds as there are, if that was left to the results.
    why: Option<String>,
    /// All seeds of each scenario together.
    runs: Vec<Run>,
    /// Each seed of each scenario, as a run of its own.
    by_seed: Vec<Vec<Run>>,
}

impl Outcome {
    /// From the seeds of each of the plan's scenarios, none of which is missing. `why` there are as many as there are, if `looks` at the
    /// results have decided that.
    pub fn new(
        title: String,
        call: String,
        plan: Plan,
        engine: &dyn Engine,
        seeds: Vec<Vec<SeedResult>>,
        looks: &Looks,
        why: Option<String>,
    ) -> Self {
        let mut runs: Vec<Option<Run>> = Vec::new();
        let mut by_seed: Vec<Vec<Option<Run>>> = Vec::new();
        for (scenario, seeds) in plan.scenarios.iter().zip(seeds) {
            by_seed.push(seeds.iter().map(|s| Some(run_of_seed(scenario, engine.name(), s.clone()))).collect());
            let mut run = Run::from_seeds(scenario, engine.name(), scenario.seeds.len(), seeds).looked_at(looks);
            run.cautions.extend(cautions(scenario));
            runs.push(Some(run));
        }
        plan.set_stolen(&mut runs);
        // The same for the runs of each seed.
        for i in 0..by_seed.iter().map(Vec::len).max().unwrap_or(0) {
            let take = |seeds: &mut Vec<Option<Run>>| seeds.get_mut(i)?.take();
            let mut of_seed: Vec<Option<Run>> = by_seed.iter_mut().map(take).collect();
            plan.set_stolen(&mut of_seed);
            for (seeds, run) in by_seed.iter_mut().zip(of_seed) {
                if let Some(place) = seeds.get_mut(i) {
                    *place = run;
                }
            }
        }
        let by_seed = by_seed.into_iter().map(|seeds| seeds.into_iter().flatten().collect()).collect();
        Self { title, call, plan, why, runs: runs.into_iter().flatten().collect(), by_seed }
    }

    fn each_seed(&self) -> impl Iterator<Item = (&Scenario, &Run)> {
        let of_scenario = |(scenario, seeds)| std::iter::repeat(scenario).zip(seeds);
        self.plan.scenarios.iter().zip(&self.by_seed).flat_map(of_scenario)
    }

    /// The runs of this seed that were traced; an error if there are none.
    fn traced(&self, seed: u64) -> PyResult<Vec<(&Scenario, &Run)>> {
        let of_seed = self.each_seed().filter(|(_, run)| run.seeds == [seed]);
        let traced: Vec<_> = of_seed.filter(|(_, run)| run.trace.is_some()).collect();
        if !traced.is_empty() {
            return Ok(traced);
        }
        let has_trace: Vec<String> = self
            .by_seed
            .iter()
            .flatten()
            .filter(|run| run.trace.is_some())
            .map(|run| run.seeds[0].to_string())
            .collect();
        Err(usage(match self.each_seed().any(|(_, run)| run.seeds == [seed]) {
            false => format!("there is no seed {seed}: the seeds are {}", seeds_in_words(&self.runs)),
            true if has_trace.is_empty() => {
                "nothing was traced: run it again with traces=`first` or traces=`every`".into()
            }
            true => format!("seed {seed} was not traced: run it again with traces=`every`"),
        }))
    }

    fn report(&self) -> Report<'_> {
        let all = self.plan.scenarios.iter().zip(&self.runs).enumerate();
        let own = all.filter(|(i, _)| Some(*i) != self.plan.baseline);
        Report {
            title: self.title.clone(),
            command: self.call.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sections: own.map(|(_, (scenario, run))| Section { scenario, run }).collect(),
            baselines: self.plan.baseline.iter().map(|&i| &self.runs[i]).collect(),
            why_these_seeds: self.why.clone(),
        }
    }
}

fn seeds_in_words(runs: &[Run]) -> String {
    match runs.first().map(|run| &run.seeds[..]) {
        Some([first, .., last]) => format!("{first} to {last}"),
        Some([only]) => only.to_string(),
        _ => "none".to_owned(),
    }
}

#[pymethods]
impl Outcome {
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    #[getter]
    fn why_so_long(&self) -> Option<&str> {
        self.plan.why_so_long.as_deref()
    }

    #[getter]
    fn baseline(&self) -> Option<&str> {
        self.plan.baseline.map(|i| self.runs[i].name.as_str())
    }

    #[getter]
    fn scenarios(&self) -> Vec<crate::scenario::Scenario> {
        self.plan.scenarios.iter().cloned().map(crate::scenario::Scenario).collect()
    }

    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &serde_json::to_string(&self.runs).map_err(failed)?)
    }

    fn groups(&self) -> PyResult<Table> {
        Table::united(&self.each_seed().map(|(scenario, run)| tandem_tables::groups(scenario, run)).collect::<Vec<_>>())
    }

    fn flows(&self, seed: u64) -> PyResult<Table> {
        Table::united(&self.traced(seed)?.into_iter().map(flows_with_queue).collect::<Vec<_>>())
    }

    fn links(&self, seed: u64) -> PyResult<Table> {
        Table::united(&self.traced(seed)?.into_iter().map(|(_, run)| tandem_tables::links(run)).collect::<Vec<_>>())
    }

    fn text(&self) -> String {
        tandem_report::table(&self.report())
    }

    fn summary_html(&self) -> String {
        tandem_report::summary_html(&self.report())
    }

    fn html(&self, py: Python) -> String {
        py.detach(|| tandem_report::html(&self.report()))
    }

    fn charts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &tandem_report::charts_json(&self.report()))
    }
}

/// The samples of flows, with the queue of the link on each one's way that is used most.
fn flows_with_queue((scenario, run): (&Scenario, &Run)) -> RecordBatch {
    let flows = tandem_tables::flows(scenario, run);
    let (mut links, mut queues): (Vec<&str>, Vec<f32>) = Default::default();
    if let Some(trace) = &run.trace {
        for flow in &trace.flows {
            let on_its_way = scenario.groups[flow.group].forward.iter().copied();
            let used_most =
                on_its_way.max_by(|&a, &b| run.links[a].utilisation.total_cmp(&run.links[b].utilisation)).unwrap_or(0);
            links.extend(std::iter::repeat_n(run.links[used_most].name.as_str(), flow.samples.len()));
            queues.extend(&trace.links[used_most].queue_packets[..flow.samples.len()]);
        }
    }
    let rows = flows.num_rows();
    let mut columns = Columns::default();
    let schema = flows.schema();
    for (field, column) in schema.fields().iter().zip(flows.columns()) {
        columns.add(field.name(), ArrayRef::clone(column), field.is_nullable());
    }
    columns.add("link", Arc::new(StringArray::from_iter_values(links)), false);
    columns.add("queue_packets", Arc::new(Float32Array::from(queues)), false);
    columns.batch(rows).expect("each flow has a link, and each sample a time")
}
