// SPDX-License-Identifier: MIT OR Apache-2.0
//! A row for each group of flows.

use std::collections::BTreeSet;

use arrow_array::{Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::SchemaRef;
use tandem_results::{Distribution, GroupSummary, LinkSummary, Run, SeedResult};
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

/// The name of a column and its values.
type Figure<T> = (&'static str, fn(&T) -> f64);

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
        self.known(columns, "base_rtt_ms", |_, group| Some(group.base_rtt_ms));
        self.known(columns, "goodput_mbps", |_, group| Some(group.goodput_mbps));
        self.known(columns, "stolen", |_, group| group.stolen);
        let of_tcp: [Figure<GroupSummary>; 4] = [
            ("retransmit_rate", |group| group.retransmit_rate),
            ("retransmits", |group| group.retransmits),
            ("timeouts", |group| group.timeouts),
            ("window_reductions", |group| group.window_reductions),
        ];
        for (name, figure) in of_tcp {
            self.known(columns, name, |group, summary| group.source.is_tcp().then(|| figure(summary)));
        }
        self.distribution(columns, "rtt", "ms", |group| group.rtt_ms.filter(|rtt| rtt.mean > 0.0));
        self.distribution(columns, "srtt", "ms", |group| group.srtt_ms.filter(|srtt| srtt.mean > 0.0));
        let completed = |summary: &GroupSummary| Some(summary.completion_times_s.len() as f64).filter(|&n| n > 0.0);
        self.known(columns, "transfers", |_, summary| completed(summary));
        self.distribution(columns, "completion_time", "s", |group| group.completion_time_s);
        let unfinished = |summary: &GroupSummary| Some(summary.short_flows.as_ref()?.unfinished as f64);
        self.known(columns, "unfinished_transfers", |_, summary| unfinished(summary));
        self.distribution(columns, "slowdown", "ratio", |group| group.short_flows.as_ref()?.slowdown);
        self.distribution(columns, "delay", "ms", |group| Some(group.delivery?.delay_ms));
        self.distribution(columns, "jitter", "ms", |group| Some(group.delivery?.jitter_ms));
        self.known(columns, "loss_rate", |_, summary| Some(summary.delivery?.loss_rate));
        self.known(columns, "jain", |_, _| self.run.jain);
        self.known(columns, "convergence_s", |_, _| self.run.convergence_s);
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
        let figures: [Figure<LinkSummary>; 11] = [
            ("link_rate_mbps", |link| link.rate_mbps),
            ("link_utilisation", |link| link.utilisation),
            ("queue_mean_packets", |link| link.queue_packets.mean),
            ("queue_p95_packets", |link| link.queue_packets.p95),
            ("queue_max_packets", |link| link.queue_packets.max),
            ("queueing_delay_mean_ms", |link| link.queueing_delay_ms.mean),
            ("queueing_delay_p95_ms", |link| link.queueing_delay_ms.p95),
            ("link_drops", |link| link.drops),
            ("link_marks", |link| link.marks),
            ("link_random_losses", |link| link.random_losses),
            ("link_loss_rate", |link| link.loss_rate),
        ];
        for (name, figure) in figures {
            columns.push_nullable(name, links.iter().map(|link| link.map(figure)).collect::<Float64Array>());
        }
    }

    fn parameters(&self, columns: &mut Columns) {
        let params: Vec<_> = self.rows.iter().map(|(group, _)| group.source.params()).collect();
        let names = params.iter().flatten().flat_map(|params| params.controller().params().map(|p| p.name));
        for name in names.collect::<BTreeSet<_>>() {
            let values = params.iter().map(|params| params.as_ref()?.get(name));
            columns.push_nullable(&format!("{PARAMETER_PREFIX}{name}"), values.collect::<Float64Array>());
        }
    }

    fn known(&self, columns: &mut Columns, name: &str, of: impl Fn(&Group, &GroupSummary) -> Option<f64>) {
        let values = self.rows.iter().map(|(group, summary)| of(group, summary));
        columns.push_nullable(name, values.collect::<Float64Array>());
    }

    fn distribution(
        &self,
        columns: &mut Columns,
        name: &str,
        unit: &str,
        of: impl Fn(&GroupSummary) -> Option<Distribution>,
    ) {
        let figures: [Figure<Distribution>; 5] =
            [("mean", |d| d.mean), ("p50", |d| d.p50), ("p95", |d| d.p95), ("p99", |d| d.p99), ("max", |d| d.max)];
        for (figure, value) in figures {
            self.known(columns, &format!("{name}_{figure}_{unit}"), |_, summary| of(summary).as_ref().map(value));
        }
    }
}
