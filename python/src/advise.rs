// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which controller to run on a path.

use std::{path::PathBuf, time::Instant};

use pyo3::{prelude::*, types::PyDict};
use tandem_advise::{
    Advice, AdviseError, Given, Limits, Machine, Origin, Present, Question, Tools, candidates, measured,
};
use tandem_scenario::{
    ControllerSpec, EffectsSpec,
    units::{Bytes, Span},
};
use tandem_sim::Sim;

use crate::{
    error::{failed, usage, with_causes},
    run::{beside, loads, parsed, watched},
    scenario::read,
};

/// What the program `tandem` can do on this system, whose commands the advice names.
const TOOLS: Tools = Tools { loads: cfg!(target_os = "linux"), sends: true };

/// What is asked, as in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    rate: Option<String>,
    rtt: Option<String>,
    measurements: Vec<PathBuf>,
    queue: Option<String>,
    aqm: String,
    loss: Option<String>,
    ecn: bool,
    reverse_rate: Option<String>,
    mtu: Option<u32>,
    neighbours: Option<String>,
    controllers: Vec<String>,
    flows: Option<u32>,
    transfer: Option<String>,
    default: Option<String>,
    max_stolen: Option<f64>,
    max_added_delay: Option<String>,
    min_gain: Option<f64>,
    goal: String,
    time: String,
    seeds: u64,
    first_seed: u64,
    duration: Option<String>,
    warmup: Option<String>,
}

/// The advice as `tandem advise --json` has it.
#[pyfunction]
pub fn advise<'py>(
    py: Python<'py>,
    asked: Asked,
    effects: Option<&Bound<'py, PyDict>>,
    call: String,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let machine = Machine::this(TOOLS);
    let default = parsed::<ControllerSpec>(asked.default.as_deref())?;
    let present = Present::new(default.as_ref(), &machine).map_err(of_advise)?;
    let given: Vec<ControllerSpec> =
        asked.controllers.iter().map(|text| text.parse().map_err(usage)).collect::<PyResult<_>>()?;
    let mut measured = measured::read(&asked.measurements).map_err(usage)?;
    let effects = effects.map(|table| read::<EffectsSpec>(table, "effects")).transpose()?.unwrap_or_default();
    let known = Given { effects, ..asked.given()? }.with(&mut measured).map_err(of_advise)?;
    let candidates = candidates(&given, known.flows(), &machine, &present, asked.ecn).map_err(of_advise)?;
    let time: Span = asked.time.parse().map_err(usage)?;
    let limits = asked.limits(known.rtt)?;
    let (transfer, duration) = (parsed::<Bytes>(asked.transfer.as_deref())?, parsed(asked.duration.as_deref())?);
    let warmup = parsed(asked.warmup.as_deref())?;
    let cases = known.cases();
    let question = Question {
        limits,
        transfer,
        first_seed: asked.first_seed,
        most_seeds: asked.seeds,
        duration,
        warmup,
        time,
        ..Question::usual(&known, &measured, &candidates, &present.name, &Sim)
    };
    question.check(&cases[0]).map_err(of_advise)?;
    let start = Instant::now();
    let answers = watched(py, progress, |cancelled, watch| {
        let question = Question { cancelled: Some(cancelled), ..question };
        let share = || (start.elapsed().as_secs_f64() / time.as_secs_f64()).min(1.0);
        Ok(beside(watch, share, || question.answers(&cases))?)
    })?;
    let advice = Advice::of(&question, answers, &present, &machine)
        .ok_or_else(|| failed("interrupted before anything was finished"))?;
    let origin = Origin { version: env!("CARGO_PKG_VERSION"), commit: env!("TANDEM_COMMIT"), command: call };
    loads(py, &serde_json::to_string(&advice.results(&origin)).map_err(failed)?)
}

fn of_advise(error: AdviseError) -> PyErr {
    match error {
        AdviseError::Missing { what, read, .. } => {
            usage(format!("no {what}: give `{what}`, or measurements that have it{read}"))
        }
        error if error.is_usage() => usage(error),
        error => with_causes(error),
    }
}

impl Asked {
    fn given(&self) -> PyResult<Given> {
        Ok(Given {
            rate: parsed(self.rate.as_deref())?,
            rtt: parsed(self.rtt.as_deref())?,
            aqm: Some(self.aqm.parse().map_err(usage)?),
            ecn: self.ecn,
            reverse_rate: parsed(self.reverse_rate.as_deref())?,
            mtu: self.mtu,
            queue: parsed(self.queue.as_deref())?,
            loss: parsed(self.loss.as_deref())?,
            neighbours: parsed(self.neighbours.as_deref())?,
            flows: self.flows,
            ..Given::default()
        })
    }

    fn limits(&self, rtt: Span) -> PyResult<Limits> {
        let usual = Limits::usual(rtt);
        let added = parsed::<Span>(self.max_added_delay.as_deref())?;
        Ok(Limits {
            stolen: self.max_stolen.unwrap_or(usual.stolen),
            added_delay_ms: added.map_or(usual.added_delay_ms, |added| added.as_secs_f64() * 1e3),
            gain: self.min_gain.unwrap_or(usual.gain),
            goal: self.goal.parse().map_err(usage)?,
        })
    }
}
