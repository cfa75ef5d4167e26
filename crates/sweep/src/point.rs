// SPDX-License-Identifier: MIT OR Apache-2.0
//! The points of a sweep: each a scenario with some of its keys changed.

use tandem_batch::TaskKey;
use tandem_controllers::Setting;
use tandem_engine::Engine;
use tandem_scenario::{
    FileError, Scenario, ScenarioSpec, SpecError,
    controller::{in_folder, named},
    file::span_of,
};
use toml::{Table, Value};

use crate::{
    file::Sweep,
    key_path::KeyPath,
    place::key_at,
    task::{Key, ScenarioHash},
};

/// The most runs of a sweep whose user says nothing of it: hours of work.
pub const MAX_RUNS: u64 = 1_000_000;

/// A scenario of a sweep.
pub(crate) struct Point {
    /// What the task of each of its seeds runs, as TOML with keys in order.
    pub text: String,
    pub scenario: Scenario,
    pub hash: ScenarioHash,
    /// By swept key; `None` where it does not apply.
    pub values: Vec<Option<Value>>,
}

impl Point {
    /// The keys of its tasks, by seed.
    pub fn keys(&self, engine: &dyn Engine) -> impl Fn(u64) -> Key + Send + use<> {
        let (task, hash) = (TaskKey::new(engine, &engine.as_run(&self.scenario)), self.hash);
        move |seed| Key::new(task.of_seed(seed), hash)
    }
}

/// Reads and checks a scenario's text, which needs no name: it is called by its hash. Parameters of controllers that no flow has are left
/// out.
pub(crate) fn read(text: &str, folder: &std::path::Path) -> Result<(Scenario, ScenarioHash), SpecError> {
    let spec: ScenarioSpec = in_folder(folder, || toml::from_str(text)).map_err(|e| {
        let key = e.span().map_or_else(String::new, |span| key_at(text, span.start).join("."));
        SpecError { key, message: e.message().to_owned() }
    })?;
    complete(spec, text, folder)
}

fn complete(
    mut spec: ScenarioSpec,
    text: &str,
    folder: &std::path::Path,
) -> Result<(Scenario, ScenarioHash), SpecError> {
    spec.folder = folder.to_owned();
    let scenario = spec.check()?;
    let hash = ScenarioHash::new(text, &scenario);
    Ok((scenario.named(&hash.short()), hash))
}

impl Sweep {
    /// Number of points, repeated ones counted.
    pub fn points(&self) -> usize {
        let listed = self.list.len().max(1);
        let drawn = self.random.as_ref().map_or(1, |random| random.points);
        self.grid.iter().fold(listed.saturating_mul(drawn), |n, (_, values)| n.saturating_mul(values.len()))
    }

    /// Refuses more runs than these, repeated points counted. To be called before [`survey`](Self::survey), which looks at each point.
    ///
    /// # Errors
    /// If there are more.
    pub fn check_length(&self, max_runs: u64) -> Result<(), FileError> {
        let (points, seeds) = (self.points() as u64, self.seed_count as u64);
        let runs = points.saturating_mul(seeds);
        if runs <= max_runs {
            return Ok(());
        }
        let mend = "take values out, or set another limit: --max-runs, in Python max_runs";
        let message = format!("{points} points with {seeds} seeds are {runs} runs, more than {max_runs}; {mend}");
        Err(FileError::new(&self.path, &self.text, None, message))
    }

    /// The changes of a point. The last key of the grid varies fastest, `[[list]]` most slowly.
    fn changes(&self, point: usize) -> Vec<(usize, Value)> {
        let mut rest = point;
        let mut take = |count: usize| {
            let place = rest % count;
            rest /= count;
            place
        };
        let mut changes: Vec<(usize, Value)> =
            self.grid.iter().rev().map(|(key, values)| (*key, values[take(values.len())].clone())).collect();
        if let Some(random) = &self.random {
            let place = take(random.points);
            let draw = |(key, source): &(usize, crate::draw::Source)| {
                (*key, source.draw(random.seed, place, &self.keys[*key].key.to_string()))
            };
            changes.extend(random.sources.iter().map(draw));
        }
        changes.extend(self.list.get(rest).into_iter().flatten().cloned());
        changes.reverse();
        changes
    }

    /// A point, which counts from 0 to [`points`](Self::points).
    ///
    /// # Errors
    /// If the scenario is not good: with the place of the key that is to blame.
    pub(crate) fn point(&self, point: usize) -> Result<Point, FileError> {
        let changes = self.changes(point);
        let mut table = self.base.scenario.clone();
        let mut values = vec![None; self.keys.len()];
        for (key, value) in &changes {
            let swept = &self.keys[*key];
            let set = swept.key.set(&mut table, value.clone());
            set.map_err(|message| FileError::new(&self.path, &self.text, swept.place.clone(), message))?;
            values[*key] = Some(value.clone());
        }
        let blame = |error| self.blame(error, &changes);
        let spec: ScenarioSpec = in_folder(&self.base.folder, || table.clone().try_into())
            .map_err(|_: toml::de::Error| blame(self.unreadable(&table)))?;
        let idle = in_folder(&self.base.folder, || idle_settings(&spec, &table));
        for key in &idle {
            key.remove(&mut table);
            let swept = self.keys.iter().position(|swept| swept.key == *key);
            swept.into_iter().for_each(|i| values[i] = None);
        }
        let text = table.to_string();
        let (scenario, hash) = read(&text, &self.base.folder).map_err(blame)?;
        Ok(Point { text, scenario, hash, values })
    }

    /// Why a table is no scenario: its text has places, so that the key is known.
    fn unreadable(&self, table: &Table) -> SpecError {
        let error = read(&table.to_string(), &self.base.folder).err();
        error.unwrap_or_else(|| SpecError { key: String::new(), message: "this is not a scenario".into() })
    }

    /// Puts an error of a scenario where the file has the cause.
    fn blame(&self, error: SpecError, changes: &[(usize, Value)]) -> FileError {
        let parts: Vec<String> = error.key.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let shown = |(key, value): &(usize, Value)| format!("`{}` = {value}", self.keys[*key].key);
        let guilty = changes.iter().filter(|(key, _)| self.keys[*key].key.meets(&parts));
        if let Some(change) = guilty.max_by_key(|(key, _)| self.keys[*key].key.parts().len()) {
            let message = format!("{}: {}", shown(change), error.message);
            return FileError::new(&self.path, &self.text, self.keys[change.0].place.clone(), message);
        }
        let base = &self.base;
        let way = base.outer.split('.').chain(parts.iter().map(String::as_str)).filter(|part| !part.is_empty());
        let changes = changes.iter().map(shown).collect::<Vec<_>>().join(", ");
        FileError::new(&base.path, &base.text, span_of(&base.text, way), format!("{} (with {changes})", error.message))
    }
}

/// The keys in `[set]` of parameters that no flow has: at other points there are such flows.
fn idle_settings(spec: &ScenarioSpec, table: &Table) -> Vec<KeyPath> {
    let set = table.get("set").and_then(Value::as_table);
    // By what the text calls its controller: the name, or a header's path.
    let written = |setting: &Setting| {
        let is_it = |written: &&String| named(written).is_ok_and(|c| std::ptr::eq(c, setting.controller()));
        set.and_then(|set| set.keys().find(is_it)).cloned()
    };
    let idle = spec.set.iter().filter(|setting| !spec.has_parameter(setting));
    idle.filter_map(|setting| format!("set.{}.{}", written(setting)?, setting.name()).parse().ok()).collect()
}
