// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs that are made in another process, with the same results.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_results::SeedResult;
use tandem_scenario::{FileError, Scenario, Written};

use crate::{
    key::TaskKey,
    store::{packed, unpacked},
};

/// Hands a job to another process and waits for what [`run_job`] returns there. `None`: the run was cancelled, which the options tell.
pub type Carry<'a> = dyn Fn(&[u8], Options) -> Result<Option<Vec<u8>>, EngineError> + Sync + 'a;

/// Stands for an engine whose runs are made elsewhere. To a [`Store`](crate::Store) they are runs of that engine.
pub struct Elsewhere<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// The way there.
    pub carry: &'a Carry<'a>,
}

/// Why a job was not done, or its answer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The scenario was put together by a program.
    #[error("`{0}` has no text that another process could read: run it on this machine")]
    NotWritten(String),
    /// The bytes are no job.
    #[error("the job cannot be read: do both sides have the same version?")]
    Job(#[source] serde_json::Error),
    /// There is no such engine there.
    #[error("there is no engine `{0}`: do both sides have the same version?")]
    Engine(String),
    /// The scenario cannot be read there.
    #[error("the scenario cannot be read there; a header or rate trace that it names must be at the same path: {0}")]
    Scenario(#[from] FileError),
    /// What would run there is not what was asked for.
    #[error(
        "the run would give something else there: both sides need the same version, and the same headers and rate traces at the same paths"
    )]
    Differs,
    /// The run failed.
    #[error(transparent)]
    Run(#[from] EngineError),
    /// The answer is not one.
    #[error("the answer is damaged")]
    Answer,
}

/// A run as another process needs it.
#[derive(Serialize, Deserialize)]
struct Job<'a> {
    engine: Cow<'a, str>,
    scenario: Cow<'a, Written>,
    seed: u64,
    traced_flows_per_group: usize,
    /// The [`TaskKey`].
    key: String,
}

/// Makes the run of a job, and returns its result as bytes. `find` names engines.
///
/// # Errors
/// [`JobError`]; above all if the result would not be the one that was asked for.
pub fn run_job<'e>(job: &[u8], find: impl Fn(&str) -> Option<&'e dyn Engine>) -> Result<Vec<u8>, JobError> {
    let job: Job = serde_json::from_slice(job).map_err(JobError::Job)?;
    let engine = find(&job.engine).ok_or_else(|| JobError::Engine(job.engine.clone().into_owned()))?;
    let scenario = job.scenario.read()?;
    // As it is written, or without what makes no difference to the engine.
    let both = [engine.as_run(&scenario), Cow::Borrowed(&scenario)];
    let is_asked = |scenario: &&Cow<Scenario>| TaskKey::new(engine, scenario).to_string() == job.key;
    let scenario = both.iter().find(is_asked).ok_or(JobError::Differs)?;
    let options = Options { traced_flows_per_group: job.traced_flows_per_group, ..Options::default() };
    let result = engine.run(scenario, job.seed, options)?.ok_or(JobError::Answer)?;
    Ok(packed(&result).map_err(EngineError::failed)?.into_bytes())
}

impl Elsewhere<'_> {
    fn job(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Vec<u8>, JobError> {
        let written = scenario.written().ok_or_else(|| JobError::NotWritten(scenario.name.clone()))?;
        let job = Job {
            engine: self.name().into(),
            scenario: Cow::Borrowed(written),
            seed,
            traced_flows_per_group: options.traced_flows_per_group,
            key: TaskKey::new(self.engine, scenario).to_string(),
        };
        serde_json::to_vec(&job).map_err(JobError::Job)
    }
}

impl Engine for Elsewhere<'_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn description(&self) -> &'static str {
        self.engine.description()
    }

    fn arithmetic(&self) -> &'static str {
        self.engine.arithmetic()
    }

    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
        self.engine.check(scenario, force)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let job = self.job(scenario, seed, options).map_err(EngineError::failed)?;
        let Some(answer) = (self.carry)(&job, options)? else { return Ok(None) };
        let result = std::str::from_utf8(&answer).ok().and_then(unpacked).filter(|result| result.seed == seed);
        result.ok_or_else(|| EngineError::failed(JobError::Answer)).map(Some)
    }

    fn needs_machine(&self) -> bool {
        self.engine.needs_machine()
    }

    fn weight(&self) -> f64 {
        self.engine.weight()
    }

    fn as_run<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        self.engine.as_run(scenario)
    }
}

#[cfg(test)]
mod tests {
    use tandem_sim::Sim;

    use super::*;
    use crate::{Batch, Store, Task, Traces, store::Limits, tests::scenario};

    fn here(job: &[u8], _: Options) -> Result<Option<Vec<u8>>, EngineError> {
        let find = |name: &str| (name == "sim").then_some(&Sim as &dyn Engine);
        run_job(job, find).map(Some).map_err(EngineError::failed)
    }

    /// Bit for bit, samples included; and the store takes it for a run of the engine.
    #[test]
    fn what_comes_from_elsewhere_is_as_if_run_here() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::USUAL, |warning| panic!("{warning}")).unwrap();
        let (there, scenario) = (Elsewhere { engine: &Sim, carry: &here }, scenario("10ms"));
        let run = |engine: &dyn Engine, store| {
            let task = Task { scenario: &scenario, engine, traces: Traces::FirstSeed(1) };
            let mut outcome = Batch { store, ..Batch::default() }.run(&[task]).unwrap();
            // The one figure that is of this machine.
            outcome.seeds[0].iter_mut().for_each(|seed| seed.cpu_s = 0.0);
            (format!("{:?}", outcome.seeds), outcome.stored)
        };
        let own = run(&Sim, None).0;
        assert_eq!(run(&there, Some(&store)), (own.clone(), 0));
        assert_eq!(run(&Sim, Some(&store)), (own, 3));
    }

    #[test]
    fn what_would_differ_there_is_refused() {
        let scenario = scenario("10ms");
        let with = |change: &(dyn Fn(&mut Job) + Sync)| {
            let carry = |job: &[u8], options: Options| {
                let mut job: Job = serde_json::from_slice(job).unwrap();
                change(&mut job);
                here(&serde_json::to_vec(&job).unwrap(), options)
            };
            let there = Elsewhere { engine: &Sim, carry: &carry };
            there.run(&scenario, 1, Options::default()).map(|_| String::new()).unwrap_or_else(|e| e.to_string())
        };
        assert_eq!(with(&|_| ()), "");
        let other_text = |job: &mut Job| job.scenario.to_mut().text = job.scenario.text.replace("10ms", "11ms");
        assert!(with(&other_text).contains("something else there"), "{}", with(&other_text));
        let other_seed = |job: &mut Job| job.seed = 2;
        assert!(with(&other_seed).contains("damaged"));
        let other_engine = |job: &mut Job| job.engine = "sin".into();
        assert!(with(&other_engine).contains("no engine `sin`"));
        let no_header = |job: &mut Job| job.scenario.to_mut().text = job.scenario.text.replace("reno", "./none.h");
        assert!(with(&no_header).contains("at the same path"), "{}", with(&no_header));
    }
}
