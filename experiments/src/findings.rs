// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs experiments and says what came of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_batch::{Batch, Task, Traces};
use tandem_engine::Engine;
use tandem_model::{Model, loss_cycle};
use tandem_results::{SeedResult, cautions};

use crate::{
    error::RunError,
    file::{CurveEngine, Experiment},
    judge::{Claim, Points},
    judged::Judged,
    kernel::{KernelComparison, KernelForm, RealTcpRuns},
    measure::Baseline,
    patch::X,
    plan::{self, Form, Plan, Planned, Point},
    record::Record,
    sample::Sample,
    until::{self, Undecided},
    verdict::Verdict,
};

/// The results of an experiment.
#[derive(Debug, Serialize)]
pub struct Findings {
    /// Paper and figure, such as `s0/fig3`.
    pub id: String,
    /// The experiment's title.
    pub title: String,
    /// The paper's statement.
    pub claim: String,
    /// The verdict on all headline claims together.
    pub verdict: Verdict,
    /// How many claims hold; where the others do not, with the numbers.
    pub reason: String,
    /// The known cause, in short; only if a claim does not hold.
    pub why: Option<String>,
    /// How the cause was found, with its numbers; only where a claim does not hold.
    pub more: Option<String>,
    /// A finding besides the verdict.
    pub note: Option<String>,
    /// The form that ran.
    pub form: Form,
    /// Name of the engine that ran it.
    pub engine: String,
    /// The paper ran it on real machines.
    pub machines: bool,
    /// The seeds of the run that has most.
    pub seeds: Vec<u64>,
    /// The smallest number of seeds of a run.
    pub fewest_seeds: usize,
    /// Choices where the paper does not give a value.
    pub assumptions: Vec<String>,
    /// Of the published values, how many lie among the values of single seeds, and how many there are: papers show single runs.
    pub inside_spread: Option<(usize, usize)>,
    /// Labels of the points on the x axis.
    pub x: Vec<String>,
    /// The experiment's file, with all that decides the runs except parameters from the command line.
    pub file: toml::Table,
    /// The experiment as its file sets it up.
    #[serde(flatten)]
    pub own: Reading,
    /// The same with other readings of what the paper leaves open.
    pub variants: Vec<Reading>,
    /// Over real TCP, where it was run so.
    pub kernel: Option<KernelComparison>,
    /// Why figures may not mean what they seem to; of an experiment of one's own only, for the papers' lengths are the papers'.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
}

/// The numbers of one way to read the experiment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reading {
    /// Name of the variant; `None` for the experiment itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The claims: headlines first, otherwise in the order of the file.
    pub claims: Vec<Judged>,
    /// The curves, in the order of the file.
    pub curves: Vec<Points>,
}

impl Reading {
    /// The verdict on all its headline claims together.
    pub fn verdict(&self) -> Verdict {
        Verdict::of_headlines(self.claims.iter().filter(|c| c.headline).map(|c| c.verdict))
    }
}

/// How many seeds an experiment gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seeds {
    /// A third of what its file says, then more for what is undecided: headlines up to four times as many as the file says, variants
    /// as many. Quick forms have their own.
    Auto,
    /// As its file says.
    OfFile,
}

/// Runs a form of experiments in an engine. An experiment that an interrupt cut short is `None`. What `kept` has of runs over real
/// TCP stands beside; of [`Form::Kernel`] it is what is judged.
///
/// # Errors
/// If a scenario of a file is wrong, a run fails, or what is kept cannot be read or written.
pub fn run<'a>(
    experiments: impl IntoIterator<Item = &'a Experiment>,
    form: Form,
    seeds: Seeds,
    engine: &dyn Engine,
    batch: &Batch,
    kept: Option<&RealTcpRuns>,
) -> Result<Vec<Option<Findings>>, RunError> {
    let experiments: Vec<&Experiment> = experiments.into_iter().collect();
    let mut plans = experiments.iter().copied().map(|e| plan::plan(e, form)).collect::<Result<Vec<_>, _>>()?;
    let of_file: Vec<Vec<usize>> =
        plans.iter().map(|plan| plan.readings.iter().map(plan::Reading::seeds).collect()).collect();
    if seeds == Seeds::Auto && form == Form::Full {
        let readings = plans.iter_mut().flat_map(|plan| &mut plan.readings).zip(of_file.iter().flatten());
        // With one seed there is no interval, and nothing to decide.
        for (reading, &seeds) in readings.filter(|(_, seeds)| **seeds > 1) {
            reading.look_at(until::looks(seeds, reading.name.is_some()));
        }
    }
    let kernel_form = |e: &Experiment| kept.map_or(Ok(None), |kept| KernelForm::new(e, kept));
    let kernel_forms = experiments.iter().copied().map(kernel_form).collect::<Result<Vec<_>, _>>()?;
    let mut tasks: Vec<Task> = Vec::new();
    let mut firsts = Vec::new();
    for ((experiment, plan), kernel_form) in experiments.iter().copied().zip(&plans).zip(&kernel_forms) {
        firsts.push(tasks.len());
        if form != Form::Kernel {
            plan.readings.iter().for_each(|reading| tasks.extend(tasks_of(experiment, reading, engine)));
        }
        tasks.extend(kernel_form.iter().flat_map(|k| tasks_of(experiment, k.simulated(), engine)));
    }
    let planned: Vec<usize> = tasks.iter().map(|task| task.scenario.seeds.len()).collect();
    let mut outcome = batch.run(&tasks).map_err(|e| RunError::Batch(e.into()))?;
    let cautions = |first: usize, next: usize| cautions_of(&tasks[first..next], &outcome.seeds[first..next]);
    let nexts = firsts.iter().skip(1).copied().chain([tasks.len()]);
    let cautions: Vec<Vec<String>> = firsts.iter().zip(nexts).map(|(&first, next)| cautions(first, next)).collect();
    let mut undecided = Vec::new();
    for (((experiment, plan), &first), of_file) in experiments.iter().copied().zip(&plans).zip(&firsts).zip(&of_file) {
        let mut next = first;
        for (reading, &of_file) in plan.readings.iter().zip(of_file) {
            let runs = next..next + tasks_of(experiment, reading, engine).count();
            next = runs.end;
            let mut of_run = outcome.seeds[runs.clone()].iter().zip(&planned[runs.clone()]);
            if !reading.looks.is_once() && of_run.all(|(seeds, &planned)| seeds.len() == planned) {
                undecided.push(Undecided { experiment, xs: &plan.xs, reading, of_file, runs });
            }
        }
    }
    until::decide(&undecided, &tasks, &mut outcome.seeds, batch)?;
    let mut results =
        planned.into_iter().zip(outcome.seeds).map(|(planned, seeds)| (seeds.len() >= planned).then_some(seeds));
    let mut found = Vec::new();
    for (((experiment, plan), kernel_form), cautions) in
        experiments.iter().copied().zip(plans).zip(kernel_forms).zip(cautions)
    {
        let readings = match form {
            Form::Kernel => Some(Vec::new()),
            _ => readings(experiment, &plan, &mut results),
        };
        let comparison = kernel_form.map(|k| k.compare(experiment, &mut results));
        let is_cut_short = readings.is_none() || comparison.as_ref().is_some_and(Option::is_none);
        let whole = readings.filter(|_| !is_cut_short);
        let judged =
            whole.and_then(|readings| findings(experiment, plan, form, engine.name(), readings, comparison.flatten()));
        let is_own = !crate::ids().any(|id| id == experiment.id);
        found
            .push(judged.map(|findings| Findings { cautions: if is_own { cautions } else { Vec::new() }, ..findings }));
    }
    Ok(found)
}

/// The cautions of runs, each once, with the number of runs that it concerns.
fn cautions_of(tasks: &[Task], seeds: &[Vec<SeedResult>]) -> Vec<String> {
    let mut runs_with: BTreeMap<String, usize> = BTreeMap::new();
    for (task, seeds) in tasks.iter().zip(seeds).filter(|(_, seeds)| !seeds.is_empty()) {
        let of_run = cautions(task.scenario, seeds).into_iter().chain(loss_cycle::cautions(task.scenario));
        of_run.for_each(|caution| *runs_with.entry(caution).or_default() += 1);
    }
    let say = |(caution, runs)| format!("{caution} ({runs} of {} runs)", tasks.len());
    runs_with.into_iter().map(say).collect()
}

/// The runs of a reading, in the order in which [`values`] asks for them.
fn tasks_of<'a>(
    experiment: &'a Experiment,
    reading: &'a plan::Reading,
    engine: &'a dyn Engine,
) -> impl Iterator<Item = Task<'a>> {
    let curves = experiment.file.curves.iter().map(toml::Spanned::get_ref).zip(&reading.curves);
    curves.flat_map(move |(curve, points)| {
        let traces = Traces::EverySeed(experiment.traced_flows_per_group(curve));
        points.iter().flatten().flat_map(move |point| {
            let engine = match point.engine {
                CurveEngine::Sim => engine,
                CurveEngine::Model => &Model,
            };
            point.runs().map(move |run| Task { scenario: &run.scenario, engine, traces })
        })
    })
}

/// Takes an experiment's results off the front of all. `None` if some are missing.
fn readings(
    experiment: &Experiment,
    plan: &Plan,
    results: &mut impl Iterator<Item = Option<Vec<SeedResult>>>,
) -> Option<Vec<Reading>> {
    let mut is_whole = true;
    let mut next = |_: &Planned| {
        let result = results.next().flatten();
        is_whole &= result.is_some();
        result
    };
    let readings = plan.readings.iter().map(|reading| Reading::new(experiment, &plan.xs, reading, &mut next)).collect();
    is_whole.then_some(readings)
}

/// `None` if there is nothing to judge.
fn findings(
    experiment: &Experiment,
    plan: Plan,
    form: Form,
    engine: &'static str,
    readings: Vec<Reading>,
    comparison: Option<KernelComparison>,
) -> Option<Findings> {
    let mut readings = readings.into_iter();
    let (own, engine, seeds) = match form {
        Form::Kernel => {
            let comparison = comparison.as_ref()?;
            (comparison.measured.clone(), "kernel", comparison.seeds.clone())
        }
        _ => (readings.next()?, engine, plan.seeds()?.to_vec()),
    };
    let record = Record {
        id: experiment.id.clone(),
        form,
        engine: engine.to_owned(),
        fewest_seeds: seeds.len(),
        seeds: most_seeds(&own, &seeds),
        inside_spread: inside_spread(&own),
        x: plan.xs.iter().map(ToString::to_string).collect(),
        own,
        variants: readings.collect(),
        kernel: comparison,
    };
    Some(Findings::new(experiment, record))
}

impl Reading {
    /// From what `results` has of each run; `None` where it has nothing.
    pub(crate) fn new(
        experiment: &Experiment,
        xs: &[X],
        reading: &plan::Reading,
        results: &mut dyn FnMut(&Planned) -> Option<Vec<SeedResult>>,
    ) -> Self {
        let file = &experiment.file;
        let curves = points(experiment, xs, reading, results);
        let judged = |claim: &Claim| Judged::new(claim, &claim.judge(xs, &curves, &reading.looks));
        let mut claims: Vec<Judged> = file.claims.iter().map(|claim| judged(claim.get_ref())).collect();
        claims.sort_by_key(|claim| !claim.headline);
        Self { name: reading.name.clone(), claims, curves }
    }
}

/// The seeds of the point that has most; the first are those that every point has.
fn most_seeds(reading: &Reading, first: &[u64]) -> Vec<u64> {
    let samples = reading.curves.iter().flat_map(|curve| &curve.points).flatten();
    let most = samples.map(|sample| sample.by_seed.len()).max().unwrap_or(0).max(first.len()) as u64;
    first.first().map_or_else(Vec::new, |&seed| (seed..seed + most).collect())
}

/// The curves of a reading, from what `results` has of each run.
pub(crate) fn points(
    experiment: &Experiment,
    xs: &[X],
    reading: &plan::Reading,
    results: &mut dyn FnMut(&Planned) -> Option<Vec<SeedResult>>,
) -> Vec<Points> {
    let mut curves = Vec::new();
    for (curve, points) in experiment.file.curves.iter().map(toml::Spanned::get_ref).zip(&reading.curves) {
        let measure = experiment.measure(curve).expect("checked when read").get_ref();
        let mut value = |x: &X, point: &Point| -> Option<Sample> {
            // Both are taken before either is looked at: what comes next is another point's.
            let (own, reference) =
                (results(&point.own), point.baseline.as_ref().map(|planned| (planned, results(planned))));
            let own = own?;
            let Some((planned, seeds)) = reference else { return measure.value(x, &point.own.scenario, &own, None) };
            let baseline = Baseline { scenario: &planned.scenario, seeds: &seeds? };
            measure.value(x, &point.own.scenario, &own, Some(baseline))
        };
        let value = |(x, point): (&X, &Option<Point>)| Some(value(x, point.as_ref()?)?.looked_at(&reading.looks));
        let values = xs.iter().zip(points).map(value).collect();
        let published = xs.iter().map(|x| Some(curve.published.iter().find(|(at, _)| at == x)?.1));
        curves.push(Points { name: curve.name.clone(), points: values, published: published.collect() });
    }
    curves
}

impl Findings {
    /// How many headlines and side claims hold: `1 of 2 headlines, 3 of 3 side claims`.
    pub(crate) fn tallies(&self) -> String {
        self.own.tallies()
    }

    /// `30 to 120 seeds`.
    pub(crate) fn seeds_text(&self) -> String {
        match self.seeds.len() {
            most if most > self.fewest_seeds => format!("{} to {}", self.fewest_seeds, seeds(most)),
            most => seeds(most),
        }
    }

    /// How it was run, in words.
    pub(crate) fn setting(&self) -> String {
        let seeds = self.seeds_text();
        let machines = if self.machines { "; the paper ran it on real machines" } else { "" };
        format!("{} form, {seeds}, engine {}{machines}", self.form.name(), self.engine)
    }

    /// Was it judged over real TCP alone?
    pub(crate) fn is_kernel_only(&self) -> bool {
        self.form == Form::Kernel
    }
}

/// Where single published points lie inside what single seeds gave.
fn inside_spread(own: &Reading) -> Option<(usize, usize)> {
    let points = own.curves.iter().flat_map(|c| c.points.iter().zip(&c.published));
    let printed: Vec<bool> =
        points.filter_map(|(value, published)| Some(value.as_ref()?.spans((*published)?))).collect();
    (!printed.is_empty()).then(|| (printed.iter().filter(|inside| **inside).count(), printed.len()))
}

pub(crate) fn seeds(count: usize) -> String {
    match count {
        1 => "one seed".to_owned(),
        n => format!("{n} seeds"),
    }
}
