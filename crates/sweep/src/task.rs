// SPDX-License-Identifier: MIT OR Apache-2.0
//! One seed of one scenario: what is run, and the key that it is kept under.

use std::{
    collections::BTreeSet,
    fmt, iter,
    path::Path,
    str::FromStr,
    sync::{Arc, atomic::AtomicBool},
};

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tandem_batch::{RunKey, Store, TaskKey};
use tandem_engine::{Engine, EngineError, Options};
use tandem_results::SeedResult;
use tandem_scenario::{FileError, Scenario};
use tandem_tables::{Columns, common_schema, flows, group_schema, groups, links, run_of_seed};
use toml::Value;

use crate::{
    error::{KeyError, TaskError},
    file::Sweep,
    key_table::{KeyBytes, KeyTable},
    point::{Point, read},
    store::Program,
};

/// Stands for a run, as [`RunKey`] does, and for the text that it came from and the columns that are made of it: 32 hexadecimal digits. The same
/// key has the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub(crate) KeyBytes);

/// Stands for a scenario without its seeds and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ScenarioHash(KeyBytes);

fn hash(parts: &[&[u8]]) -> KeyBytes {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().as_bytes()[..16].try_into().expect("a hash has 32 bytes")
}

impl ScenarioHash {
    /// The scenario as engines see it is part of it, because a text may name other files.
    pub(crate) fn new(text: &str, scenario: &Scenario) -> Self {
        Self(hash(&[text.as_bytes(), scenario.identity().as_bytes()]))
    }

    /// Enough digits to tell scenarios apart.
    pub(crate) fn short(self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl Key {
    pub(crate) fn new(run: RunKey, scenario: ScenarioHash) -> Self {
        // The columns, too: rows of other columns are others.
        let columns = env!("TANDEM_ARITHMETIC");
        Self(hash(&[columns.as_bytes(), run.as_bytes(), &scenario.0]))
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Display for ScenarioHash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl FromStr for Key {
    type Err = KeyError;
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let number = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32);
        number.map(|n| Self(n.to_be_bytes())).ok_or_else(|| KeyError::NoKey(text.to_owned()))
    }
}

/// One seed of one scenario of a sweep.
#[derive(Debug, Clone)]
pub struct Task {
    /// The scenario as TOML.
    pub text: Arc<str>,
    /// Where rate traces with a relative path are looked for.
    pub folder: Arc<Path>,
    /// The seed.
    pub seed: u64,
    /// What the result is kept under.
    pub key: Key,
    /// The values of the swept keys, in the order of [`Sweep::columns`]; `None` where one does not apply.
    pub values: Arc<[Option<Value>]>,
}

/// What a task gave.
#[derive(Debug, Clone)]
pub struct Tables {
    /// A row for each group, with the columns `scenario_hash`, `key`, `version` and `commit` at the end.
    pub groups: RecordBatch,
    /// Samples of flows and of links, if they were asked for.
    pub samples: Option<(RecordBatch, RecordBatch)>,
}

/// What runs tasks, and makes rows of what they gave.
#[derive(Clone, Copy)]
pub(crate) struct Runner<'a> {
    pub engine: &'a dyn Engine,
    pub program: &'a Program<'a>,
    /// Every flow is sampled.
    pub traces: bool,
    pub cancelled: Option<&'a AtomicBool>,
    /// Has what was run before, in any sweep or other command, and keeps what is run now.
    pub finished: Option<&'a Store>,
}

/// Where a task's result is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Run,
    Store,
}

impl Runner<'_> {
    /// `None` if it was cancelled.
    pub fn run(&self, text: &str, folder: &Path, seed: u64) -> Result<Option<(Tables, Source)>, TaskError> {
        let (scenario, hash) = read(text, folder).map_err(TaskError::Scenario)?;
        let scenario = self.engine.as_run(&scenario);
        let task = TaskKey::new(self.engine, &scenario);
        let Some((result, source)) = self.result(&task, &scenario, seed)? else { return Ok(None) };
        let run = run_of_seed(&scenario, self.engine.name(), result);
        let key = Key::new(task.of_seed(seed), hash);
        let groups = with_origin(&groups(&scenario, &run), hash, key, self.program)?;
        let samples = self.traces.then(|| (flows(&scenario, &run), links(&run)));
        Ok(Some((Tables { groups, samples }, source)))
    }

    fn result(
        &self,
        task: &TaskKey,
        scenario: &Scenario,
        seed: u64,
    ) -> Result<Option<(SeedResult, Source)>, EngineError> {
        let traced_flows_per_group = if self.traces { usize::MAX } else { 0 };
        // In real time each run is a measurement.
        let finished = self.finished.filter(|_| !self.engine.needs_machine());
        if let Some(result) = finished.and_then(|store| store.get(task, seed, traced_flows_per_group)) {
            return Ok(Some((result, Source::Store)));
        }
        let options = Options { traced_flows_per_group, cancelled: self.cancelled, ..Options::default() };
        let Some(result) = self.engine.run(scenario, seed, options)? else { return Ok(None) };
        if let Some(store) = finished {
            store.put(task, seed, traced_flows_per_group, &result);
        }
        Ok(Some((result, Source::Run)))
    }
}

impl Task {
    /// Runs a scenario's text with a seed: a pure function of both and of the engine, except for engines in real time. With `traces` every flow
    /// is sampled. `None` if it was cancelled.
    ///
    /// # Errors
    /// If the text is no scenario, or the engine fails.
    pub fn run_text(
        text: &str,
        folder: &Path,
        seed: u64,
        engine: &dyn Engine,
        program: &Program,
        traces: bool,
        cancelled: Option<&AtomicBool>,
    ) -> Result<Option<Tables>, TaskError> {
        let runner = Runner { engine, program, traces, cancelled, finished: None };
        Ok(runner.run(text, folder, seed)?.map(|(tables, _)| tables))
    }
}

/// The columns that say where rows come from.
const ORIGIN: [&str; 4] = ["scenario_hash", "key", "version", "commit"];

fn with_origin(
    groups: &RecordBatch,
    hash: ScenarioHash,
    key: Key,
    program: &Program,
) -> Result<RecordBatch, TaskError> {
    let mut columns = Columns::default();
    for (field, array) in groups.schema().fields().iter().zip(groups.columns()) {
        columns.add(field.name(), array.clone(), field.is_nullable());
    }
    let texts = [hash.to_string(), key.to_string(), program.version.to_owned(), program.commit.to_owned()];
    for (name, text) in ORIGIN.iter().zip(texts) {
        columns.push(name, StringArray::from(vec![text; groups.num_rows()]));
    }
    Ok(columns.batch(groups.num_rows())?)
}

/// What is known of a sweep before anything runs.
pub struct Survey {
    /// Number of tasks; equal ones count once.
    pub tasks: usize,
    /// The columns of its data set.
    pub schema: SchemaRef,
    /// What the engine doubts, each once.
    pub warnings: BTreeSet<String>,
}

/// Why a sweep cannot run.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// Something is wrong in the file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The engine does not run one of the scenarios.
    #[error("{values}: {cause}")]
    Engine {
        /// The values of the swept keys there.
        values: String,
        /// Why not.
        cause: EngineError,
    },
}

impl Sweep {
    /// Every task, in order: the seeds of a point after each other. Of equal points there is the first alone.
    ///
    /// # Errors
    /// If there is no room for temporary files; as an item, if a scenario is not good.
    pub fn tasks<'a>(
        self: &Arc<Self>,
        engine: &'a dyn Engine,
    ) -> Result<impl Iterator<Item = Result<Task, FileError>> + Send + use<'a>, FileError> {
        let (sweep, mut seen) = (Arc::clone(self), KeyTable::new()?);
        let new_point = move |i| -> Result<Option<Point>, FileError> {
            let point = sweep.point(i)?;
            Ok(seen.insert(point.hash.0, 0)?.then_some(point))
        };
        let points = (0..self.points()).map(new_point).filter_map(Result::transpose);
        let sweep = Arc::clone(self);
        Ok(points.flat_map(move |point| -> Box<dyn Iterator<Item = Result<Task, FileError>> + Send> {
            match point {
                Ok(point) => Box::new(sweep.tasks_of(point, engine).map(Ok)),
                Err(e) => Box::new(iter::once(Err(e))),
            }
        }))
    }

    fn tasks_of(&self, point: Point, engine: &dyn Engine) -> impl Iterator<Item = Task> + Send + use<> {
        let keys = point.keys(engine);
        let folder: Arc<Path> = self.base.folder.as_path().into();
        let (text, values): (Arc<str>, Arc<[_]>) = (point.text.into(), point.values.into());
        self.seeds().map(move |seed| Task {
            text: text.clone(),
            folder: folder.clone(),
            seed,
            key: keys(seed),
            values: values.clone(),
        })
    }

    /// Reads and checks every scenario, and asks the engine whether it can run it. To be called before anything runs.
    ///
    /// # Errors
    /// At the first scenario that is not good, and if a key that varies has an effect nowhere.
    pub fn survey(&self, engine: &dyn Engine, force: bool) -> Result<Survey, SurveyError> {
        let (mut seen, mut warnings, mut has_effect) =
            (KeyTable::new()?, BTreeSet::new(), vec![false; self.keys.len()]);
        let (mut controllers, mut schemas) = (BTreeSet::new(), Vec::new());
        for i in 0..self.points() {
            let point = self.point(i)?;
            has_effect.iter_mut().zip(&point.values).for_each(|(any, value)| *any |= value.is_some());
            let doubts = engine.check(&point.scenario, force).map_err(|cause| self.refused(&point, cause))?;
            warnings.extend(doubts.into_iter().map(|doubt| doubt.to_string()));
            seen.insert(point.hash.0, 0)?;
            let of_point = point.scenario.groups.iter().map(|group| group.source.controller());
            if controllers.insert(of_point.collect::<Vec<_>>()) {
                schemas.push(group_schema(&point.scenario));
            }
        }
        if let Some((swept, _)) = self.keys.iter().zip(&has_effect).find(|(_, any)| !**any) {
            let message = format!("`{}` does nothing: no flow has that controller at any point", swept.key);
            return Err(FileError::new(&self.path, &self.text, swept.place.clone(), message).into());
        }
        Ok(Survey { tasks: seen.len() * self.seed_count, schema: self.schema(&schemas), warnings })
    }

    fn refused(&self, point: &Point, cause: EngineError) -> SurveyError {
        let value = |(swept, value): (&crate::file::Swept, &Option<Value>)| {
            Some(format!("`{}` = {}", swept.key, value.as_ref()?))
        };
        let values = self.keys.iter().zip(&point.values).filter_map(value).collect::<Vec<_>>().join(", ");
        SurveyError::Engine { values, cause }
    }

    /// The swept keys, the columns of groups, and where the rows come from. A key that groups have as a column already is there once.
    fn schema(&self, groups: &[SchemaRef]) -> SchemaRef {
        let groups = common_schema(groups).expect("the columns of groups have one type each");
        let swept = self.columns().map(|column| column.field()).filter(|field| groups.index_of(field.name()).is_err());
        let origin = ORIGIN.iter().map(|name| Field::new(*name, DataType::Utf8, false));
        let of_groups = groups.fields().iter().map(|field| field.as_ref().clone());
        Arc::new(Schema::new(swept.chain(of_groups).chain(origin).collect::<Vec<_>>()))
    }
}
