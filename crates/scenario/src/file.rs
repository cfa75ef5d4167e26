// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenario files: TOML in, a checked [`Scenario`] out, every error with its line.

use std::{env, fmt, ops::Range, path::Path};

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, DeValue, ValueDeserializer},
};

pub use crate::check::{MAX_COUNT, Overrides};
use crate::{
    bounded::{SCENARIO_BYTES, read_text},
    check::SpecError,
    controller::{folder, in_folder},
    scenario::{Scenario, Written},
    spec::ScenarioSpec,
};

/// What is wrong with a scenario file, and where.
#[derive(Debug)]
pub struct FileError {
    /// The file's path as given.
    pub path: String,
    /// 1-based line and column, if the error has a place.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and how to fix it.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for FileError {}

/// Reads, checks and completes a scenario file.
///
/// # Errors
/// If a file cannot be read, or something in it is wrong: with line and column.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Scenario, FileError> {
    let text = text_of(path)?;
    let default_name = path.file_stem().map_or("scenario".into(), |s| s.to_string_lossy().into_owned());
    let folder = path.parent().unwrap_or(Path::new(""));
    in_folder(folder, || parse(&text, &path.display().to_string(), &default_name, overrides))
}

/// The text of a file of scenarios: of one, of many, or of one among other things.
///
/// # Errors
/// If it cannot be read, is too large, or is not UTF-8.
pub fn text_of(path: &Path) -> Result<String, FileError> {
    read_text(path, SCENARIO_BYTES).map_err(|e| FileError {
        path: path.display().to_string(),
        place: None,
        message: format!("cannot be read: {e}"),
    })
}

/// As [`load`], from text; `path` is for messages.
///
/// # Errors
/// If something in the text is wrong: with line and column.
pub fn parse(text: &str, path: &str, default_name: &str, overrides: &Overrides) -> Result<Scenario, FileError> {
    let spec = read(text, path)?;
    let scenario = complete(spec, default_name, overrides).map_err(|e| FileError::of_spec(path, text, e))?;
    Ok(scenario.written_as(written(|| Some(text.to_owned()), overrides)))
}

/// The text with the folder in which it is read; `None` if the overrides change what it means.
fn written(text: impl FnOnce() -> Option<String>, overrides: &Overrides) -> Option<Written> {
    if overrides.no_delayed_acks || overrides.settings.iter().next().is_some() {
        return None;
    }
    Some(Written { text: text()?, folder: env::current_dir().ok()?.join(folder()) })
}

impl Written {
    /// The scenario again, with the seeds of the text. As in [`parse_value`], `[set]` may name controllers that no flow has.
    ///
    /// # Errors
    /// If a file that the text names is not there, or is another one: with line and column.
    pub fn read(&self) -> Result<Scenario, FileError> {
        let error = |(span, message): Problem| FileError::new("scenario", &self.text, span, message);
        let document = DeTable::parse(&self.text).map_err(|e| error((e.span(), e.message().to_owned())))?;
        let whole = Spanned::new(document.span(), DeValue::Table(document.into_inner()));
        in_folder(&self.folder, || parse_value(whole, "scenario", &Overrides::default())).map_err(error)
    }
}

/// As [`parse`], of a file that has the scenario in its table `[scenario]`; other tables are not read. Here `[set]` and
/// the overrides may name controllers that no flow has: the file is one of several, and another has them.
///
/// # Errors
/// As [`parse`], and if there is no table `[scenario]`.
pub fn parse_inner(text: &str, path: &str, default_name: &str, overrides: &Overrides) -> Result<Scenario, FileError> {
    let error = |(span, message): Problem| FileError::new(path, text, span, message);
    let document = DeTable::parse(text).map_err(|e| error((e.span(), e.message().to_owned())))?;
    let scenario = document.get_ref().get("scenario");
    let scenario = scenario.ok_or_else(|| error((None, "there is no table [scenario]".into())))?;
    parse_value(scenario.clone(), default_name, overrides).map_err(error)
}

/// What is wrong, after the bytes of the text that it is about, if it has a place.
pub type Problem = (Option<Range<usize>>, String);

/// As [`parse_inner`], of the table itself. It may be put together from several texts: the places in errors are those of its values.
///
/// # Errors
/// If something in the table is wrong: with its place in the text.
pub fn parse_value(scenario: Spanned<DeValue>, default_name: &str, overrides: &Overrides) -> Result<Scenario, Problem> {
    let spec = ScenarioSpec::deserialize(ValueDeserializer::from(scenario.clone()));
    let mut spec = spec.map_err(|e| (e.span(), e.message().to_owned()))?;
    let all = spec.clone();
    spec.set.retain(|setting| all.has_parameter(setting));
    let mut overrides = overrides.clone();
    overrides.settings.retain(|setting| all.has_parameter(setting));
    let completed = complete(spec, default_name, &overrides).map_err(|e| {
        let span = (!e.key.is_empty()).then(|| nearest(&scenario, e.key.split('.')).span());
        (span, e.message)
    })?;
    let text = || {
        let table = toml::Table::deserialize(ValueDeserializer::from(scenario)).ok()?;
        toml::to_string(&table).ok()
    };
    Ok(completed.written_as(written(text, &overrides)))
}

fn read<T: serde::de::DeserializeOwned>(text: &str, path: &str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|e| FileError::new(path, text, e.span(), e.message()))
}

fn complete(mut spec: ScenarioSpec, default_name: &str, overrides: &Overrides) -> Result<Scenario, SpecError> {
    spec.name.get_or_insert_with(|| default_name.to_owned());
    overrides.apply(&mut spec)?;
    spec.check()
}

/// The bytes of the value at a path of keys, or of the nearest table around it that is there. Places in arrays count from 0.
pub fn span_of<'a>(text: &str, mut keys: impl Iterator<Item = &'a str>) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let first = document.get_ref().get(keys.next()?)?;
    Some(nearest(first, keys).span())
}

fn nearest<'v, 'i, 'k>(
    value: &'v Spanned<DeValue<'i>>,
    keys: impl Iterator<Item = &'k str>,
) -> &'v Spanned<DeValue<'i>> {
    let mut value = value;
    for part in keys {
        let inner = match value.get_ref() {
            DeValue::Table(table) => table.get(part),
            DeValue::Array(array) => part.parse().ok().and_then(|i: usize| array.get(i)),
            _ => None,
        };
        let Some(inner) = inner else { break };
        value = inner;
    }
    value
}

impl FileError {
    /// About these bytes of a file's text.
    pub fn new(path: &str, text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), place: span.map(|s| place(text, s.start)), message: message.into() }
    }

    fn of_spec(path: &str, text: &str, error: SpecError) -> Self {
        let span = if error.key.is_empty() { None } else { span_of(text, error.key.split('.')) };
        Self::new(path, text, span, error.message)
    }
}

/// Line and column of a byte, counted from 1.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
