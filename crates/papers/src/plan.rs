// SPDX-License-Identifier: MIT OR Apache-2.0
//! From an experiment to the scenarios that it takes.

use tandem_scenario::{
    FileError, Scenario,
    file::{Overrides, parse_inner},
};
use toml::de::DeTable;

use crate::{
    file::{CurveEngine, Experiment, Reduction},
    measure::Kind,
    patch::{Changes, X, changed},
};

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As the file says.
    Full,
    /// A look, in seconds to a minute.
    Quick,
    /// For the tests: enough to see that something changed, far too little to judge.
    Smoke,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Form::Full => "full",
            Form::Quick => "quick",
            Form::Smoke => "smoke",
        }
    }
}

const QUICK_SEEDS: u32 = 3;
const SMOKE_SEEDS: u32 = 1;

/// One point of one curve.
#[derive(Debug)]
pub(crate) struct Point {
    pub scenario: Scenario,
    /// For bandwidth stolen.
    pub baseline: Option<Scenario>,
    pub engine: CurveEngine,
}

/// All points of an experiment.
#[derive(Debug)]
pub(crate) struct Plan {
    pub xs: Vec<X>,
    /// The experiment itself first, then its variants, which have names.
    pub readings: Vec<Reading>,
}

#[derive(Debug)]
pub(crate) struct Reading {
    pub name: Option<String>,
    /// By curve, then by x.
    pub curves: Vec<Vec<Point>>,
}

/// The points of a form of an experiment.
pub(crate) fn plan(experiment: &Experiment, form: Form) -> Result<Plan, FileError> {
    let file = &experiment.file;
    let nothing = Reduction::default();
    let (reduction, seeds) = match form {
        Form::Full => (&nothing, None),
        Form::Quick => (&file.quick, Some(file.quick.seeds.unwrap_or(QUICK_SEEDS))),
        Form::Smoke => (&file.smoke, Some(file.smoke.seeds.unwrap_or(SMOKE_SEEDS))),
    };
    let values = reduction.values.as_ref().unwrap_or(&file.sweep.values);
    let document = DeTable::parse(&experiment.text)
        .map_err(|e| experiment.error(e.span().unwrap_or_default(), e.message().to_owned()))?;
    let no_changes = Changes::new();
    let variants = file.variants.iter().filter(|_| form == Form::Full);
    let readings = std::iter::once((None, &no_changes)).chain(variants.map(|v| (Some(v.name.clone()), &v.set)));
    let scenario = |changes: &[&Changes], x: &X| {
        let text = changed(&experiment.text, document.get_ref(), changes, x)
            .map_err(|(span, message)| experiment.error(span, message))?;
        let overrides = Overrides { seeds, ..Overrides::default() };
        parse_inner(&text, &experiment.path, &experiment.id, &overrides)
    };
    let reading = |(name, variant): (Option<String>, &Changes)| {
        let curve = |curve: &crate::file::Curve| {
            let measure = experiment.measure(curve).expect("checked when read");
            let point = |x: &X| {
                let changes = [&reduction.set, variant, &file.sweep.set, &curve.set];
                let own = scenario(&changes, x)?;
                measure.get_ref().check(&own).map_err(|message| experiment.error(measure.span(), message))?;
                let baseline = match (&file.baseline, measure.get_ref().kind) {
                    (Some(baseline), Kind::Stolen) => {
                        Some(scenario(&[changes[0], changes[1], changes[2], changes[3], baseline], x)?)
                    }
                    (None, Kind::Stolen) => {
                        let message = "bandwidth stolen needs a [baseline]: changes that make all flows of one kind";
                        return Err(experiment.error(measure.span(), message.into()));
                    }
                    _ => None,
                };
                Ok(Point { scenario: own, baseline, engine: curve.engine })
            };
            values.get_ref().iter().map(point).collect::<Result<Vec<_>, FileError>>()
        };
        let curves = file.curves.iter().map(|c| curve(c.get_ref())).collect::<Result<_, _>>()?;
        Ok(Reading { name, curves })
    };
    Ok(Plan { xs: values.get_ref().clone(), readings: readings.map(reading).collect::<Result<_, FileError>>()? })
}
