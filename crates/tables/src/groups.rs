// SPDX-License-Identifier: MIT OR Apache-2.0
//! A row for each group of flows.

use std::collections::BTreeSet;

use arrow_array::{Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::SchemaRef;
use tandem_results::{Column, GROUP_MEASURES, GroupSummary, LINK_MEASURES, LinkSummary, Measure, Run, SeedResult};
use tandem_scenario::{Group, Scenario};

use crate::Columns;

/// Names of columns with parameters of controllers begin so.
pub const PARAMETER_PREFIX: &str = "param_";

/// One seed's result as a run of its own, with every figure as it is defined for runs.
pub fn run_of_seed(scenario: &Scenario, engine: &str, result: SeedResult) -> Run {
    Run::from_seeds(scenario, engine, 1, vec![result])
}

/// A row for each group of `run`, which is one seed of `scenario` ([`run_of_seed`]). Bandwidth stolen is there where
/// [`Run::set_stolen`] was called. Each parameter that a controller of the run has is a column of numbers, null for the others.
///
/// # Panics
/// If `run` is of another scenario, or of several seeds.
pub fn groups(scenario: &Scenario, run: &Run) -> RecordBatch {
    let [seed] = run.seeds[..] else { panic!("a row is about one seed, not {}", run.seeds.len()) };
    assert_eq!(scenario.groups.len(), run.groups.len(), "the run is of another scenario");
    batch(scenario, run, seed)
}

/// The columns that [`groups`] has for a scenario.
pub fn group_schema(scenario: &Scenario) -> SchemaRef {
    batch(scenario, &Run::from_seeds(scenario, "", 0, Vec::new()), 0).schema()
}

fn batch(scenario: &Scenario, run: &Run, seed: u64) -> RecordBatch {
    let table = Table { run, rows: scenario.groups.iter().zip(&run.groups).collect() };
    let mut columns = Columns::default();
    table.names(&mut columns, seed);
    table.figures(&mut columns);
    table.bottlenecks(&mut columns);
    table.parameters(&mut columns);
    columns.batch(table.rows.len()).expect("each column has a value for each group")
}

struct Table<'a> {
    run: &'a Run,
    rows: Vec<(&'a Group, &'a GroupSummary)>,
}

impl Table<'_> {
    fn names(&self, columns: &mut Columns, seed: u64) {
        let same = |text: &str| StringArray::from_iter_values(self.rows.iter().map(|_| text));
        let number = |value: f64| Float64Array::from(vec![value; self.rows.len()]);
        columns.push("run", same(&self.run.name));
        columns.push("engine", same(&self.run.engine));
        columns.push("seed", UInt64Array::from(vec![seed; self.rows.len()]));
        columns.push("group", StringArray::from_iter_values(self.rows.iter().map(|(_, summary)| &summary.name)));
        let controllers = self.rows.iter().map(|(_, summary)| &summary.controller);
        columns.push("controller", StringArray::from_iter_values(controllers));
        columns.push("flows", UInt32Array::from_iter_values(self.rows.iter().map(|(_, summary)| summary.flows)));
        columns.push("duration_s", number(self.run.duration_s));
        columns.push("warmup_s", number(self.run.warmup_s));
    }

    fn figures(&self, columns: &mut Columns) {
        let rows: Vec<Option<&GroupSummary>> = self.rows.iter().map(|(_, summary)| Some(*summary)).collect();
        measured(columns, GROUP_MEASURES, &rows);
        let of_run = |value: Option<f64>| self.rows.iter().map(|_| value).collect::<Float64Array>();
        columns.push_nullable("jain", of_run(self.run.jain));
        columns.push_nullable("convergence_s", of_run(self.run.convergence_s));
        let doubts = self.run.emulation.as_ref().map(|emulation| emulation.doubts.join("; "));
        let doubts = doubts.filter(|doubts| !doubts.is_empty());
        columns.push_nullable("doubts", self.rows.iter().map(|_| doubts.as_deref()).collect::<StringArray>());
    }

    /// Of the links on each group's way, the one that is used most.
    fn bottlenecks(&self, columns: &mut Columns) {
        let used_most = |group: &Group| {
            let links = group.forward.iter().filter_map(|&link| self.run.links.get(link));
            links.max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))
        };
        let links: Vec<Option<&LinkSummary>> = self.rows.iter().map(|(group, _)| used_most(group)).collect();
        let names = links.iter().map(|link| link.map(|link| link.name.as_str()));
        columns.push_nullable("link", names.collect::<StringArray>());
        measured(columns, LINK_MEASURES, &links);
    }

    fn parameters(&self, columns: &mut Columns) {
        let params: Vec<_> = self.rows.iter().map(|(group, _)| group.source.params()).collect();
        let names = params.iter().flatten().flat_map(|params| params.controller().params().map(|p| p.name));
        for name in names.collect::<BTreeSet<_>>() {
            let values = params.iter().map(|params| params.as_ref()?.get(name));
            columns.push_nullable(&format!("{PARAMETER_PREFIX}{name}"), values.collect::<Float64Array>());
        }
    }
}

/// The columns of all measures; null where there is nothing to measure, or it has no value.
fn measured<S>(columns: &mut Columns, measures: &[Measure<S>], rows: &[Option<&S>]) {
    for measure in measures {
        for (name, figure) in measure.column.iter().flat_map(Column::names) {
            let values = rows.iter().map(|row| Some((measure.value)((*row)?)?.figure(figure)));
            columns.push_nullable(&name, values.collect::<Float64Array>());
        }
    }
}
