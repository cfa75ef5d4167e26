// SPDX-License-Identifier: MIT OR Apache-2.0
//! From an experiment to the scenarios that it takes.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tandem_engine::{Engine, EngineError};
use tandem_scenario::{
    FileError, Scenario,
    controller::in_folder,
    file::{Overrides, parse_value},
    names_file,
};
use tandem_statistics::Looks;
use toml::{
    Spanned,
    de::{DeValue, ValueDeserializer},
};

use crate::{
    MeasureError, RunError,
    file::{Curve, CurveEngine, Experiment, Part, Reduction},
    measure::Kind,
    patch::{Changes, X, changed},
};

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// As the file says.
    Full,
    /// A look, in seconds to a minute.
    Quick,
    /// For the tests: enough to see that something changed, far too little to judge.
    Smoke,
    /// The form that also runs over real TCP.
    Kernel,
}

impl Form {
    /// The form as findings and stores spell it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Full => "full",
            Form::Quick => "quick",
            Form::Smoke => "smoke",
            Form::Kernel => "kernel",
        }
    }
}

const QUICK_SEEDS: u32 = 3;
const SMOKE_SEEDS: u32 = 1;

/// Over real TCP.
const KERNEL_SEEDS: u32 = 3;
/// In the simulation of what is run over real TCP, which costs little.
pub(crate) const SIMULATED_SEEDS: u32 = 10;

/// One point of one curve.
#[derive(Debug)]
pub(crate) struct Point {
    pub own: Planned,
    /// For bandwidth stolen.
    pub baseline: Option<Planned>,
    pub engine: CurveEngine,
}

impl Point {
    /// Its own first.
    pub fn runs(&self) -> impl Iterator<Item = &Planned> {
        std::iter::once(&self.own).chain(&self.baseline)
    }
}

/// A scenario to be run.
#[derive(Debug)]
pub(crate) struct Planned {
    pub scenario: Scenario,
    /// The file's table `[scenario]` with the changes made; headers have absolute paths.
    pub table: toml::Table,
}

/// All points of an experiment.
#[derive(Debug)]
pub(crate) struct Plan {
    pub xs: Vec<X>,
    /// The experiment itself first, then its variants, which have names.
    pub readings: Vec<Reading>,
}

impl Plan {
    /// The seeds of its first run; `None` if it runs nothing.
    pub fn seeds(&self) -> Option<&[u64]> {
        let point = self.readings.first()?.curves.iter().flatten().flatten().next()?;
        Some(&point.own.scenario.seeds)
    }
}

#[derive(Debug)]
pub(crate) struct Reading {
    /// `None` for the experiment itself.
    pub name: Option<String>,
    /// When its seeds are looked at; the default is once, when all that it has are run.
    pub looks: Looks,
    /// By curve, then by x; `None` where the form or the reading leaves it out.
    pub curves: Vec<Vec<Option<Point>>>,
}

impl Reading {
    /// How many seeds its runs have; 0 if it runs nothing.
    pub fn seeds(&self) -> usize {
        self.curves.iter().flatten().flatten().next().map_or(0, |point| point.own.scenario.seeds.len())
    }

    /// It begins with the seeds of the first of these looks.
    pub fn look_at(&mut self, looks: Looks) {
        for point in self.curves.iter_mut().flatten().flatten() {
            for run in std::iter::once(&mut point.own).chain(&mut point.baseline) {
                let first = run.scenario.seeds[0];
                run.scenario = run.scenario.clone().with_seeds(first..first + looks.first() as u64);
            }
        }
        self.looks = looks;
    }
}

/// The points of a form of an experiment.
pub(crate) fn plan(experiment: &Experiment, form: Form) -> Result<Plan, FileError> {
    let file = &experiment.file;
    let nothing = Reduction::default();
    let (reduction, seeds) = match form {
        Form::Full => (&nothing, None),
        Form::Quick => (&file.quick, Some(count(&file.quick.seeds, QUICK_SEEDS))),
        Form::Smoke => (&file.smoke, Some(count(&file.smoke.seeds, SMOKE_SEEDS))),
        Form::Kernel => {
            let kernel = file.kernel.as_ref().map_or(&nothing, toml::Spanned::get_ref);
            (kernel, Some(count(&kernel.seeds, KERNEL_SEEDS)))
        }
    };
    let values = reduction.values.as_ref().unwrap_or(&file.sweep.values);
    let document = experiment.document()?;
    let scenario = document.get_ref().get("scenario").expect("checked when read");
    let planner = Planner { experiment, scenario, reduction };
    let own = planner.reading(values.get_ref(), &Alternative { seeds, ..Alternative::default() })?;
    let mut readings = vec![own];
    for variant in file.variants.iter().filter(|_| form == Form::Full) {
        let alternative = Alternative {
            name: Some(&variant.name),
            set: Some(&variant.set),
            part: variant.part(),
            seeds: variant.seeds.as_ref().map(|n| *n.get_ref()),
        };
        readings.push(planner.reading(values.get_ref(), &alternative)?);
    }
    Ok(Plan { xs: values.get_ref().clone(), readings })
}

/// Why an engine cannot run a form of the experiment, if so: what its scenarios ask for.
///
/// # Errors
/// If a scenario of the form is wrong, or this process may run nothing in the engine.
pub fn refusal(
    experiment: &Experiment,
    form: Form,
    engine: &dyn Engine,
    force: bool,
) -> Result<Option<String>, RunError> {
    let plan = plan(experiment, form)?;
    for run in plan.readings[0].curves.iter().flatten().flatten().flat_map(Point::runs) {
        match engine.check(&run.scenario, force) {
            Ok(_) => {}
            Err(EngineError::Refused(why)) => return Ok(Some(why)),
            Err(failed) => return Err(RunError::Batch(failed.into())),
        }
    }
    Ok(None)
}

/// The scenario of one point, as a file that `tandem run` takes: `at` is the point's place as [`Decider`](crate::Decider) says it.
pub(crate) fn scenario_file(experiment: &Experiment, form: Form, curve: &str, at: &str) -> Option<String> {
    let plan = plan(experiment, form).ok()?;
    let index = experiment.file.curves.iter().position(|of| of.get_ref().name == curve)?;
    let x = plan.xs.iter().position(|x| at == format!("at {x}"))?;
    let point = plan.readings.first()?.curves.get(index)?.get(x)?.as_ref()?;
    let mut scenario = point.own.table.clone();
    let seeds = i64::try_from(point.own.scenario.seeds.len()).ok()?;
    scenario.insert("seeds".into(), seeds.into());
    toml::to_string(&scenario).ok()
}

fn count(given: &Option<toml::Spanned<u32>>, default: u32) -> u32 {
    given.as_ref().map_or(default, |n| *n.get_ref())
}

struct Planner<'a> {
    experiment: &'a Experiment,
    scenario: &'a Spanned<DeValue<'a>>,
    reduction: &'a Reduction,
}

/// How one way to read the experiment differs.
#[derive(Default)]
struct Alternative<'a> {
    name: Option<&'a String>,
    set: Option<&'a Changes>,
    part: Part<'a>,
    seeds: Option<u32>,
}

impl Planner<'_> {
    fn reading(&self, values: &[X], alternative: &Alternative) -> Result<Reading, FileError> {
        let of_form = self.reduction.part();
        let curve = |curve: &Curve| {
            let has_curve = of_form.has_curve(&curve.name) && alternative.part.has_curve(&curve.name);
            let point = |x: &X| {
                let is_left_out = !has_curve || !alternative.part.has_value(x);
                if is_left_out { Ok(None) } else { self.point(curve, x, alternative).map(Some) }
            };
            values.iter().map(point).collect::<Result<Vec<_>, FileError>>()
        };
        let curves = self.experiment.file.curves.iter().map(|c| curve(c.get_ref())).collect::<Result<_, _>>()?;
        Ok(Reading { name: alternative.name.cloned(), looks: Looks::default(), curves })
    }

    fn point(&self, curve: &Curve, x: &X, alternative: &Alternative) -> Result<Point, FileError> {
        let experiment = self.experiment;
        let measure = experiment.measure(curve).expect("checked when read");
        let mut changes = vec![&self.reduction.set];
        changes.extend(alternative.set);
        changes.extend([&experiment.file.sweep.set, &curve.set]);
        let own = self.planned(&changes, x, alternative.seeds)?;
        let wrong = |e: MeasureError| experiment.error(measure.span(), e.to_string());
        measure.get_ref().check(&own.scenario).map_err(wrong)?;
        let baseline = match (&experiment.file.baseline, measure.get_ref().kind) {
            (Some(baseline), Kind::Stolen) => {
                changes.push(baseline);
                Some(self.planned(&changes, x, alternative.seeds)?)
            }
            (None, Kind::Stolen) => {
                let message = "bandwidth stolen needs a [baseline]: changes that make all flows of one kind";
                return Err(experiment.error(measure.span(), message.into()));
            }
            _ => None,
        };
        Ok(Point { own, baseline, engine: curve.engine })
    }

    fn planned(&self, changes: &[&Changes], x: &X, seeds: Option<u32>) -> Result<Planned, FileError> {
        let experiment = self.experiment;
        let overrides = Overrides { seeds, settings: experiment.settings.clone(), ..Overrides::default() };
        let folder = Path::new(experiment.path()).parent().unwrap_or(Path::new(""));
        let read = |table: &Spanned<DeValue>| {
            let scenario = in_folder(folder, || parse_value(table.clone(), &experiment.id, &overrides))
                .map_err(|(span, message)| (span.unwrap_or_default(), message))?;
            let value = toml::Value::deserialize(ValueDeserializer::from(table.clone()));
            let mut value = value.map_err(|e| (e.span().unwrap_or_default(), e.message().to_owned()))?;
            spell_from_anywhere(&mut value, folder);
            let table = value.try_into().map_err(|e: toml::de::Error| (0..0, e.message().to_owned()))?;
            Ok(Planned { scenario, table })
        };
        changed(self.scenario, changes, x, read).map_err(|(span, message)| experiment.error(span, message))
    }
}

/// The files that the scenario names relative to the folder of its file, as a file elsewhere names them.
fn spell_from_anywhere(scenario: &mut toml::Value, folder: &Path) {
    match scenario {
        toml::Value::Array(all) => all.iter_mut().for_each(|value| spell_from_anywhere(value, folder)),
        toml::Value::Table(table) => {
            for (key, value) in table {
                match value
                    .as_str()
                    .filter(|text| names_file(key, text))
                    .map(|text| std::path::absolute(folder.join(text)))
                {
                    Some(Ok(path)) => *value = path.display().to_string().into(),
                    _ => spell_from_anywhere(value, folder),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SUITES, all, sources::Source};

    /// The suites' criteria, of some controller.
    fn criteria() -> Vec<Experiment> {
        let posed = |text: &str| {
            let text = text.replace("\"contender\"", "\"cubic\"").replace("\"as the contender\"", "\"rfc3168\"");
            text.replace("[\"neighbours\"]", "[\"reno\"]")
        };
        let paper_of = |id: &str| {
            let (suite, _) = id.split_once('/').unwrap();
            SUITES.iter().find(|(id, _)| *id == format!("{suite}/paper")).map(|(_, text)| posed(text))
        };
        let mut all = Vec::new();
        for (id, text) in SUITES.iter().filter(|(id, _)| !id.ends_with("/paper") && !id.ends_with("/unposed")) {
            let (text, paper) = (posed(text), paper_of(id));
            let paper = paper.as_ref().map(|text| Source { path: "paper.toml", text });
            all.extend(Experiment::read(id, Source { path: "criterion.toml", text: &text }, paper).unwrap());
        }
        all
    }

    /// So that another process can run it.
    #[test]
    fn what_is_planned_is_read_again_from_its_text() {
        let (papers, criteria) = (all().unwrap(), criteria());
        assert!(papers.len() > 20 && criteria.len() > 40);
        for experiment in papers.iter().chain(&criteria) {
            let plan = plan(experiment, Form::Quick).unwrap();
            for point in plan.readings.iter().flat_map(|reading| reading.curves.iter().flatten().flatten()) {
                for run in point.runs() {
                    let again = run.scenario.written().and_then(|written| written.read().ok());
                    let again = again.unwrap_or_else(|| panic!("{}", experiment.id));
                    assert_eq!(again.meaning(), run.scenario.meaning(), "{}", experiment.id);
                }
            }
        }
    }
}
