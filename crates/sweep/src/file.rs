// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of sweeps: TOML in, a checked [`Sweep`] out, every error with its place.

use std::{ops::Range, path::Path};

use tandem_scenario::{
    FileError,
    bounded::{SCENARIO_BYTES, read_text},
    file::{MAX_COUNT, span_of, text_of},
};
use toml::{Table, Value};

use crate::{
    column::Column,
    draw::Source,
    key_path::{KeyPath, KeyPathError},
};

/// A scenario, and the keys that vary.
#[derive(Debug)]
pub struct Sweep {
    /// The file's path as given.
    pub path: String,
    pub(crate) text: String,
    pub(crate) base: Base,
    first_seed: u64,
    pub(crate) seed_count: usize,
    /// All keys that vary, with their columns.
    pub(crate) keys: Vec<Swept>,
    /// The values of each point of `[[list]]`, by key.
    pub(crate) list: Vec<Vec<(usize, Value)>>,
    pub(crate) random: Option<Random>,
    /// The values of each key of `[grid]`.
    pub(crate) grid: Vec<(usize, Vec<Value>)>,
}

/// The scenario that points are made of.
#[derive(Debug)]
pub(crate) struct Base {
    pub scenario: Table,
    pub path: String,
    pub text: String,
    /// The key of the text that the scenario is below.
    pub outer: &'static str,
    /// Where traces with a relative path are looked for.
    pub folder: std::path::PathBuf,
}

/// A key that varies.
#[derive(Debug)]
pub(crate) struct Swept {
    pub key: KeyPath,
    pub column: Column,
    /// Where the file has its values first.
    pub place: Option<Range<usize>>,
}

#[derive(Debug)]
pub(crate) struct Random {
    pub points: usize,
    pub seed: u64,
    pub sources: Vec<(usize, Source)>,
}

const TABLES: [&str; 4] = ["scenario", "grid", "list", "random"];
/// What a sweep has of its own.
const NOT_SWEPT: [&str; 3] = ["name", "seeds", "first_seed"];

impl Sweep {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no sweep. Whether its scenarios are good is not known before [`Sweep::survey`].
    pub fn load(path: &Path) -> Result<Self, FileError> {
        let shown = path.display().to_string();
        let text = text_of(path)?;
        Self::parse(&text, &shown, path.parent().unwrap_or(Path::new("")))
    }

    /// As [`load`](Self::load), from text. `path` is for messages; other files are looked for in `folder`.
    ///
    /// # Errors
    /// If something in the text is wrong: with line and column; or a file that it names cannot be read.
    pub fn parse(text: &str, path: &str, folder: &Path) -> Result<Self, FileError> {
        let file: Table = toml::from_str(text).map_err(|e| FileError::new(path, text, e.span(), e.message()))?;
        let reader = Reader { text, path };
        if let Some(unknown) = file.keys().find(|key| !TABLES.contains(&key.as_str())) {
            let message = format!("unknown key `{unknown}`; a sweep has [scenario], and [grid], [[list]] or [random]");
            return Err(reader.error(&[unknown], message));
        }
        let mut base = reader.base(&file, folder)?;
        let (first_seed, seed_count) = seeds(&mut base)?;
        let mut keys = Keys { reader, found: Vec::new() };
        let list = keys.list(file.get("list"))?;
        let random = keys.random(file.get("random"))?;
        let grid = keys.grid(file.get("grid"))?;
        if keys.found.is_empty() {
            return Err(reader.error(&[], "nothing varies: add [grid], [[list]] or [random]"));
        }
        let keys = keys.swept(&list, random.as_ref(), &grid);
        Ok(Self { path: path.into(), text: text.into(), base, first_seed, seed_count, keys, list, random, grid })
    }

    /// Replaces the number of seeds and the first one, where given. At most [`MAX_COUNT`] seeds.
    pub fn with_seeds(mut self, count: Option<u32>, first: Option<u64>) -> Self {
        self.seed_count = count.map_or(self.seed_count, |n| n.clamp(1, MAX_COUNT) as usize);
        self.first_seed = first.unwrap_or(self.first_seed);
        self
    }

    /// Where files with a relative path that its scenarios name are looked for.
    pub fn scenario_folder(&self) -> &Path {
        &self.base.folder
    }

    /// The seeds of each point.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = u64> + Send + use<> {
        let first = self.first_seed;
        (0..self.seed_count as u64).map(move |i| first.wrapping_add(i))
    }

    /// The columns of the keys that vary.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.keys.iter().map(|swept| &swept.column)
    }
}

/// Takes the seeds out of the scenario, because a task has one of its own: the first, and how many follow each other.
fn seeds(base: &mut Base) -> Result<(u64, usize), FileError> {
    base.scenario.remove("name");
    let mut number = |key: &str, largest: i64| match base.scenario.remove(key) {
        None => Ok(1),
        Some(Value::Integer(n)) if (1..=largest).contains(&n) || (key == "first_seed" && n == 0) => Ok(n as u64),
        Some(_) => {
            let span = span_of(&base.text, base.outer.split('.').filter(|part| !part.is_empty()).chain([key]));
            let message = format!("`{key}` must be a whole number from 1 to {largest}");
            Err(FileError::new(&base.path, &base.text, span, message))
        }
    };
    let (count, first) = (number("seeds", MAX_COUNT.into())?, number("first_seed", i64::MAX)?);
    Ok((first, count as usize))
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    text: &'a str,
    path: &'a str,
}

impl Reader<'_> {
    fn error(&self, way: &[&str], message: impl Into<String>) -> FileError {
        let span = span_of(self.text, way.iter().copied());
        FileError::new(self.path, self.text, span, message)
    }

    fn base(&self, file: &Table, folder: &Path) -> Result<Base, FileError> {
        match file.get("scenario") {
            Some(Value::Table(scenario)) => Ok(Base {
                scenario: scenario.clone(),
                path: self.path.into(),
                text: self.text.into(),
                outer: "scenario",
                folder: folder.into(),
            }),
            Some(Value::String(name)) => {
                let path = folder.join(name);
                let text = read_text(&path, SCENARIO_BYTES)
                    .map_err(|e| self.error(&["scenario"], format!("`{}` cannot be read: {e}", path.display())))?;
                let shown = path.display().to_string();
                let scenario =
                    toml::from_str(&text).map_err(|e| FileError::new(&shown, &text, e.span(), e.message()))?;
                let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                Ok(Base { scenario, path: shown, text, outer: "", folder })
            }
            Some(_) => Err(self.error(&["scenario"], "`scenario` must be a table, or the path of a scenario's file")),
            None => Err(self.error(&[], "there is no scenario: add [scenario], or `scenario = \"FILE.toml\"`")),
        }
    }
}

/// The keys found so far.
struct Keys<'a> {
    reader: Reader<'a>,
    found: Vec<(KeyPath, Option<Range<usize>>)>,
}

type Leaf<'v> = (KeyPath, Vec<String>, &'v Value);

impl Keys<'_> {
    fn error(&self, way: &[String], message: impl Into<String>) -> FileError {
        self.reader.error(&way.iter().map(String::as_str).collect::<Vec<_>>(), message)
    }

    /// The place of a key among all; each has one, however often `[[list]]` has it.
    fn add(&mut self, key: KeyPath, way: &[String], is_new: bool) -> Result<usize, FileError> {
        if NOT_SWEPT.contains(&key.parts()[0].as_str()) {
            let message = format!("`{key}` cannot be swept: seeds and names are set in [scenario]");
            return Err(self.error(way, message));
        }
        if let Some(i) = self.found.iter().position(|(known, _)| *known == key) {
            return if is_new { Err(self.error(way, format!("`{key}` is swept twice"))) } else { Ok(i) };
        }
        let place = span_of(self.reader.text, way.iter().map(String::as_str));
        self.found.push((key, place));
        Ok(self.found.len() - 1)
    }

    /// Keys with their values. Tables are keys with dots, unless they are a range.
    fn leaves<'v>(&self, table: &'v Table, way: &[String], name: &str) -> Result<Vec<Leaf<'v>>, FileError> {
        let mut leaves = Vec::new();
        for (part, value) in table {
            let (mut way, name) = (way.to_vec(), if name.is_empty() { part.clone() } else { format!("{name}.{part}") });
            way.push(part.clone());
            match value {
                Value::Table(inner) if !inner.contains_key("from") => leaves.extend(self.leaves(inner, &way, &name)?),
                _ => {
                    leaves.push((name.parse().map_err(|e: KeyPathError| self.error(&way, e.to_string()))?, way, value))
                }
            }
        }
        Ok(leaves)
    }

    fn grid(&mut self, section: Option<&Value>) -> Result<Vec<(usize, Vec<Value>)>, FileError> {
        let way = ["grid".to_owned()];
        let Some(section) = section else { return Ok(Vec::new()) };
        let Value::Table(table) = section else { return Err(self.error(&way, "`grid` must be a table: write [grid]")) };
        let mut grid = Vec::new();
        for (key, way, value) in self.leaves(table, &way, "")? {
            let values = self.values(&key, &way, value)?;
            grid.push((self.add(key, &way, true)?, values));
        }
        Ok(grid)
    }

    fn values(&self, key: &KeyPath, way: &[String], value: &Value) -> Result<Vec<Value>, FileError> {
        match value {
            Value::Array(values) if !values.is_empty() => Ok(values.clone()),
            _ => Err(self.error(way, format!("`{key}` needs a list of values, such as [\"10mbit\", \"100mbit\"]"))),
        }
    }

    fn list(&mut self, section: Option<&Value>) -> Result<Vec<Vec<(usize, Value)>>, FileError> {
        let way = "list".to_owned();
        let Some(section) = section else { return Ok(Vec::new()) };
        let wrong = "`list` must be tables, one for each point: write [[list]]";
        let Value::Array(points) = section else { return Err(self.error(&[way], wrong)) };
        let mut list = Vec::new();
        for (i, point) in points.iter().enumerate() {
            let way = [way.clone(), i.to_string()];
            let Value::Table(table) = point else { return Err(self.error(&way, wrong)) };
            let leaves = self.leaves(table, &way, "")?;
            if leaves.is_empty() {
                return Err(self.error(&way, "this point changes nothing: give it keys, or leave it out"));
            }
            let point = leaves.into_iter().map(|(key, way, value)| Ok((self.add(key, &way, false)?, value.clone())));
            list.push(point.collect::<Result<_, FileError>>()?);
        }
        Ok(list)
    }

    fn random(&mut self, section: Option<&Value>) -> Result<Option<Random>, FileError> {
        let way = ["random".to_owned()];
        let Some(section) = section else { return Ok(None) };
        let Value::Table(table) = section else {
            return Err(self.error(&way, "`random` must be a table: write [random]"));
        };
        if let Some(unknown) = table.keys().find(|key| !["points", "seed", "values"].contains(&key.as_str())) {
            let message = format!("unknown key `{unknown}`; [random] has `points`, `seed` and [random.values]");
            return Err(self.error(&["random".into(), unknown.clone()], message));
        }
        let points = table.get("points").and_then(Value::as_integer).and_then(|n| usize::try_from(n).ok());
        let Some(points) = points.filter(|&n| n > 0) else {
            return Err(self.error(&["random".into(), "points".into()], "[random] needs `points`, a number from 1"));
        };
        let seed = match table.get("seed").map(|seed| seed.as_integer().and_then(|n| u64::try_from(n).ok())) {
            None => 1,
            Some(Some(seed)) => seed,
            Some(None) => {
                return Err(self.error(&["random".into(), "seed".into()], "`seed` must be a whole number from 0"));
            }
        };
        let way = ["random".to_owned(), "values".to_owned()];
        let Some(values) = table.get("values").and_then(Value::as_table).filter(|values| !values.is_empty()) else {
            return Err(self.error(&way, "[random] needs [random.values]: keys, each with a list or { from, to }"));
        };
        let mut sources = Vec::new();
        for (key, way, value) in self.leaves(values, &way, "")? {
            let source = self.source(&key, &way, value)?;
            sources.push((self.add(key, &way, true)?, source));
        }
        Ok(Some(Random { points, seed, sources }))
    }

    fn source(&self, key: &KeyPath, way: &[String], value: &Value) -> Result<Source, FileError> {
        let Value::Table(range) = value else { return Ok(Source::OneOf(self.values(key, way, value)?)) };
        let wrong = |message: &str| self.error(way, format!("`{key}`: {message}"));
        if let Some(unknown) = range.keys().find(|key| !["from", "to", "scale"].contains(&key.as_str())) {
            return Err(wrong(&format!("unknown key `{unknown}`; a range has `from`, `to` and `scale`")));
        }
        let log = match range.get("scale").map(Value::as_str) {
            None | Some(Some("linear")) => false,
            Some(Some("log")) => true,
            Some(_) => return Err(wrong("`scale` must be \"linear\" or \"log\"")),
        };
        let (Some(from), Some(to)) = (range.get("from"), range.get("to")) else {
            return Err(wrong("a range needs `to`"));
        };
        Source::range(from, to, log).map_err(|message| wrong(&message))
    }

    fn swept(self, list: &[Vec<(usize, Value)>], random: Option<&Random>, grid: &[(usize, Vec<Value>)]) -> Vec<Swept> {
        let column = |i: usize, key: &KeyPath| {
            let listed = list.iter().flatten().filter(|(k, _)| *k == i).map(|(_, value)| value);
            let gridded = grid.iter().filter(|(k, _)| *k == i).flat_map(|(_, values)| values);
            let sources = random.iter().flat_map(|random| &random.sources).filter(|(k, _)| *k == i);
            let drawn: Vec<Value> = sources.flat_map(|(_, source)| source.examples()).collect();
            Column::new(key, listed.chain(gridded).chain(&drawn))
        };
        let found = self.found.into_iter().enumerate();
        found.map(|(i, (key, place))| Swept { column: column(i, &key), key, place }).collect()
    }
}
