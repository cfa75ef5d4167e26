// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs experiments and says what came of them.

use serde::Serialize;
use tandem_batch::{Batch, Engine, Model, Task, Traces};
use tandem_scenario::result::SeedResult;

use crate::{
    file::{CurveEngine, Experiment},
    judge::{Judged, Outcome, Points},
    measure::Value,
    plan::{self, Form, Plan, Point},
};

/// What came of an experiment.
#[derive(Debug, Serialize)]
pub struct Findings {
    pub id: String,
    pub title: String,
    pub claim: String,
    pub verdict: Outcome,
    /// How many claims hold; where the others do not, with the numbers.
    pub reason: String,
    /// What is known of the cause; only where the verdict is not `holds`.
    pub why: Option<String>,
    pub form: &'static str,
    pub engine: &'static str,
    /// The paper ran it on real machines.
    pub machines: bool,
    pub seeds: Vec<u64>,
    pub assumptions: Vec<String>,
    /// Of the x axis.
    pub x: Vec<String>,
    #[serde(flatten)]
    pub own: Reading,
    /// The same with other readings of what the paper leaves open.
    pub variants: Vec<Reading>,
}

/// The numbers of one way to read the experiment.
#[derive(Debug, Serialize)]
pub struct Reading {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub claims: Vec<Judged>,
    pub curves: Vec<Points>,
}

impl Reading {
    pub fn verdict(&self) -> Outcome {
        Outcome::of_all(self.claims.iter().map(|c| c.outcome))
    }
}

/// Runs a form of experiments in an engine. An experiment that an interrupt cut short is `None`.
pub fn run(
    experiments: &[Experiment],
    form: Form,
    engine: &dyn Engine,
    batch: &Batch,
) -> anyhow::Result<Vec<Option<Findings>>> {
    let plans = experiments.iter().map(|e| plan::plan(e, form)).collect::<Result<Vec<_>, _>>()?;
    let mut tasks: Vec<Task> = Vec::new();
    for (experiment, plan) in experiments.iter().zip(&plans) {
        let curves = experiment.file.curves.iter().map(toml::Spanned::get_ref);
        let traced: Vec<bool> =
            curves.map(|c| experiment.measure(c).is_some_and(|measure| measure.get_ref().needs_traces())).collect();
        for reading in &plan.readings {
            for (points, &traced) in reading.curves.iter().zip(&traced) {
                tasks.extend(points.iter().flat_map(|point| tasks_of(point, engine, traced)));
            }
        }
    }
    let outcome = batch.run(&tasks)?;
    // In the order in which the tasks were made.
    let mut results = tasks.iter().zip(outcome.seeds).map(|(task, seeds)| {
        let is_whole = seeds.len() == task.scenario.seeds.len();
        is_whole.then_some(seeds)
    });
    Ok(experiments
        .iter()
        .zip(&plans)
        .map(|(experiment, plan)| findings(experiment, plan, form, engine.name(), &mut results))
        .collect())
}

/// The runs of a point, its own first.
fn tasks_of<'a>(point: &'a Point, engine: &'a dyn Engine, traced: bool) -> impl Iterator<Item = Task<'a>> {
    let engine = match point.engine {
        CurveEngine::Sim => engine,
        CurveEngine::Model => &Model,
    };
    let traces = if traced { Traces::EverySeed(usize::MAX) } else { Traces::None };
    std::iter::once(&point.scenario).chain(&point.baseline).map(move |scenario| Task { scenario, engine, traces })
}

/// Takes an experiment's results off the front of all.
fn findings(
    experiment: &Experiment,
    plan: &Plan,
    form: Form,
    engine: &'static str,
    results: &mut impl Iterator<Item = Option<Vec<SeedResult>>>,
) -> Option<Findings> {
    let file = &experiment.file;
    let mut is_whole = true;
    let mut readings: Vec<Reading> = Vec::new();
    for reading in &plan.readings {
        let mut curves = Vec::new();
        for (curve, points) in file.curves.iter().map(toml::Spanned::get_ref).zip(&reading.curves) {
            let measure = experiment.measure(curve)?.get_ref();
            let mut values: Vec<Option<Value>> = Vec::new();
            for (x, point) in plan.xs.iter().zip(points) {
                let mut next = || results.next().flatten();
                let (own, baseline) = (next(), point.baseline.as_ref().map(|_| next()));
                is_whole &= own.is_some() && baseline.as_ref().is_none_or(Option::is_some);
                let value = own.and_then(|own| {
                    measure.value(x, &point.scenario, &own, baseline.flatten().as_deref().unwrap_or_default())
                });
                values.push(value);
            }
            let published = plan.xs.iter().map(|x| Some(curve.published.iter().find(|(at, _)| at == x)?.1));
            curves.push(Points { name: curve.name.clone(), points: values, published: published.collect() });
        }
        let claims = file.claims.iter().map(|c| c.get_ref().judge(&plan.xs, &curves)).collect();
        readings.push(Reading { name: reading.name.clone(), claims, curves });
    }
    let mut readings = readings.into_iter();
    let own = readings.next().filter(|_| is_whole)?;
    let verdict = own.verdict();
    Some(Findings {
        id: experiment.id.clone(),
        title: file.title.clone(),
        claim: file.claim.clone(),
        verdict,
        reason: reason(&own),
        why: file.why.clone().filter(|_| verdict != Outcome::Holds),
        form: form.name(),
        engine,
        machines: file.machines,
        seeds: plan.readings.first()?.curves.first()?.first()?.scenario.seeds.clone(),
        assumptions: file.assumptions.clone(),
        x: plan.xs.iter().map(ToString::to_string).collect(),
        own,
        variants: readings.collect(),
    })
}

/// How many claims hold; of the others, where they do not, and the numbers there. If all hold, the numbers of each.
fn reason(reading: &Reading) -> String {
    let part = |c: &Judged| format!("{}: {} ({})", c.text, c.outcome.words(), c.detail);
    let (hold, others): (Vec<&Judged>, Vec<&Judged>) =
        reading.claims.iter().filter(|c| c.outcome != Outcome::NotAsked).partition(|c| c.outcome == Outcome::Holds);
    let named = if others.is_empty() { &hold } else { &others };
    let parts = named.iter().map(|c| part(c)).collect::<Vec<_>>().join(". ");
    format!("{} of {} claims hold. {parts}", hold.len(), hold.len() + others.len())
}

impl Findings {
    /// How it was run, in words.
    pub(crate) fn setting(&self) -> String {
        let seeds = match self.seeds.len() {
            1 => "one seed".to_owned(),
            n => format!("{n} seeds"),
        };
        let machines = if self.machines { "; the paper ran it on real machines" } else { "" };
        format!("{} form, {seeds}, engine {}{machines}", self.form, self.engine)
    }

    /// Where single published points lie inside what single seeds gave: papers show single runs.
    pub fn inside_spread(&self) -> Option<(usize, usize)> {
        let points = self.own.curves.iter().flat_map(|c| c.points.iter().zip(&c.published));
        let printed: Vec<bool> =
            points.filter_map(|(value, published)| Some(value.as_ref()?.spans((*published)?))).collect();
        (!printed.is_empty()).then(|| (printed.iter().filter(|inside| **inside).count(), printed.len()))
    }
}
