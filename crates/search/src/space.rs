// SPDX-License-Identifier: MIT OR Apache-2.0
//! A space of scenarios: what is always there, and features that a point has or lacks, each with its parameters. A parameter of a feature
//! means something only where the feature is.

use std::path;

use tandem_papers::SPACES;
use tandem_scenario::{
    FileError,
    file::{span_of, text_of},
};
use toml::{Table, Value};

use crate::{
    fragment::{fill, keys, placeholders},
    parameter::{Domain, Parameter, Path, Unit, quantity, rounded, written},
};

/// What stands in a space for the controller whose worst path is looked for.
pub const CONTENDER: &str = "contender";
/// For its kind of ECN, as in suites.
pub(crate) const ECN: &str = "as the contender";
const RATE: &str = "rate";
const RTT: &str = "rtt";

/// Scenarios from which a search picks.
#[derive(Debug)]
pub struct Space {
    /// What it is about.
    pub title: String,
    /// How long runs are.
    pub length: Length,
    /// All, those that are always there first.
    pub parameters: Vec<Parameter>,
    /// In the order of their names.
    pub features: Vec<Feature>,
    /// The scenario without features.
    pub(crate) base: Table,
    /// The places of `rate` and `rtt` among the parameters.
    pub(crate) rate: usize,
    pub(crate) rtt: usize,
}

/// Something that a scenario has or lacks.
#[derive(Debug)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// What it adds to the scenario.
    pub(crate) scenario: Table,
    /// The features that set a key which it sets, too: a point has one of them.
    pub(crate) excludes: Vec<usize>,
}

/// How long a run is. What a run costs is its packets, and a fast link is not to eat the time of all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    /// Round trips of a run.
    pub round_trips: f64,
    /// No run is shorter, seconds.
    pub at_least_s: f64,
    /// The most packets that the bottleneck could carry in a run.
    pub packets_most: f64,
    /// The share of a run that no measure counts.
    pub warmup: f64,
}

/// A run of fewer says nothing.
const LEAST_ROUND_TRIPS: f64 = 50.0;
/// Bits of a full packet.
const PACKET_BITS: f64 = 12_000.0;

impl Length {
    /// Seconds of a run that is shorter by `factor`; `None` where that is too short to say something.
    pub fn run_s(&self, rate_bps: f64, rtt_s: f64, factor: f64) -> Option<f64> {
        let least = self.at_least_s.max(LEAST_ROUND_TRIPS * rtt_s);
        let most = self.packets_most * PACKET_BITS / rate_bps;
        let run = rounded((self.round_trips * rtt_s * factor).max(least).min(most), 2);
        (least <= most && run >= 0.95 * least).then_some(run)
    }
}

impl Space {
    /// A space that comes with the program, or that of a file, whose name has a `/` or ends in `.toml`.
    ///
    /// # Errors
    /// If there is none of this name, the file cannot be read, or something is wrong with it.
    pub fn named(name: &str) -> Result<Self, FileError> {
        if name.contains('/') || name.ends_with(".toml") {
            return Self::parse(&text_of(path::Path::new(name))?, name);
        }
        let short = |id: &'static str| id.strip_prefix("search/").unwrap_or(id);
        let found = SPACES.iter().find(|(id, _)| short(id) == name);
        let (id, text) = found.ok_or_else(|| {
            let known = SPACES.iter().map(|(id, _)| short(id)).collect::<Vec<_>>().join(", ");
            let message = format!("there is no such space; there are {known}, and files: ./mine.toml");
            FileError { path: name.to_owned(), place: None, message }
        })?;
        Self::parse(text, &format!("experiments/{id}.toml"))
    }

    /// A space from text; `path` is for messages.
    ///
    /// # Errors
    /// If something is wrong with it, with its line and the fix.
    pub fn parse(text: &str, path: &str) -> Result<Self, FileError> {
        let file: Table = toml::from_str(text).map_err(|e| FileError::new(path, text, e.span(), e.message()))?;
        Reader { text, path }.space(&file)
    }

    /// The parameter with this name, as a feature sees it, or the scenario without features.
    pub(crate) fn parameter(&self, name: &str, feature: Option<usize>) -> Option<usize> {
        find(&self.parameters, name, feature)
    }
}

fn find(parameters: &[Parameter], name: &str, feature: Option<usize>) -> Option<usize> {
    parameters.iter().position(|p| p.name == name && (p.feature.is_none() || p.feature == feature))
}

struct Reader<'a> {
    text: &'a str,
    path: &'a str,
}

impl Reader<'_> {
    fn error(&self, way: &[&str], message: impl Into<String>) -> FileError {
        FileError::new(self.path, self.text, span_of(self.text, way.iter().copied()), message)
    }

    fn space(&self, file: &Table) -> Result<Space, FileError> {
        self.known(file, &[], &["title", "length", "parameters", "scenario", "features"])?;
        let title = file.get("title").and_then(Value::as_str);
        let title = title.ok_or_else(|| self.error(&[], "there is no `title`: say what the space is about"))?;
        let length = self.length(self.table(file, &[], "length")?)?;
        let base = self.table(file, &[], "scenario")?.clone();
        let mut parameters = self.parameters(self.table(file, &[], "parameters")?, &["parameters"], None)?;
        let mut features = Vec::new();
        let empty = Table::new();
        let listed = if file.contains_key("features") { self.table(file, &[], "features")? } else { &empty };
        for (place, name) in listed.keys().enumerate() {
            let feature = self.table(listed, &["features"], name)?;
            let way = ["features", name.as_str()];
            self.known(feature, &way, &["parameters", "scenario"])?;
            let own = self.table(feature, &way, "parameters")?;
            parameters.extend(self.parameters(own, &["features", name, "parameters"], Some(place))?);
            let scenario = self.table(feature, &way, "scenario")?.clone();
            features.push(Feature { name: name.clone(), scenario, excludes: Vec::new() });
        }
        exclude(&mut features);
        let place_of = |name: &str, unit: Unit| {
            let found = find(&parameters, name, None).filter(
                |&i| matches!(parameters[i].domain, Domain::Range { unit: of, from, .. } if of == unit && from > 0.0),
            );
            let message = format!("[parameters] needs `{name}`, a range above 0, of which others may be multiples");
            found.ok_or_else(|| self.error(&["parameters", name], message))
        };
        let (rate, rtt) = (place_of(RATE, Unit::Bps)?, place_of(RTT, Unit::S)?);
        let space = Space { title: title.to_owned(), length, parameters, features, base, rate, rtt };
        self.check_placeholders(&space)?;
        Ok(space)
    }

    fn known(&self, table: &Table, way: &[&str], known: &[&str]) -> Result<(), FileError> {
        let Some(unknown) = table.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        let way: Vec<&str> = way.iter().copied().chain([unknown.as_str()]).collect();
        Err(self.error(&way, format!("unknown key `{unknown}`; here there may be `{}`", known.join("`, `"))))
    }

    fn table<'t>(&self, table: &'t Table, way: &[&str], key: &str) -> Result<&'t Table, FileError> {
        table.get(key).and_then(Value::as_table).ok_or_else(|| {
            let way: Vec<&str> = way.iter().copied().chain([key]).collect();
            self.error(&way, format!("`{}` must be a table: write [{}]", key, way.join(".")))
        })
    }

    fn length(&self, table: &Table) -> Result<Length, FileError> {
        self.known(table, &["length"], &["round_trips", "at_least", "packets_most", "warmup"])?;
        let number = |key: &str, unit: Unit, low: f64, high: f64, otherwise: Option<f64>| {
            let read = match table.get(key) {
                None => otherwise,
                Some(value) => quantity(value).filter(|(_, of)| *of == unit).map(|(x, _)| x),
            };
            read.filter(|x| (low..=high).contains(x)).ok_or_else(|| {
                let unit = if unit == Unit::S { ", in seconds such as \"20s\"," } else { "" };
                self.error(&["length", key], format!("`{key}`{unit} must be from {low} to {high}"))
            })
        };
        Ok(Length {
            round_trips: number("round_trips", Unit::None, LEAST_ROUND_TRIPS, 1e6, None)?,
            at_least_s: number("at_least", Unit::S, 0.0, 1e4, Some(0.0))?,
            packets_most: number("packets_most", Unit::None, 1e3, 1e9, None)?,
            warmup: number("warmup", Unit::None, 0.0, 0.9, Some(0.0))?,
        })
    }

    fn parameters(&self, table: &Table, way: &[&str], feature: Option<usize>) -> Result<Vec<Parameter>, FileError> {
        let parameter = |name: &String| {
            let domain = self.table(table, way, name)?;
            let domain = Domain::read(domain).map_err(|message| {
                let way: Vec<&str> = way.iter().copied().chain([name.as_str()]).collect();
                self.error(&way, format!("`{name}`: {message}"))
            })?;
            Ok(Parameter { name: name.clone(), feature, domain })
        };
        table.keys().map(parameter).collect()
    }

    /// Every placeholder has a parameter, every parameter a placeholder, and sums are of one kind.
    fn check_placeholders(&self, space: &Space) -> Result<(), FileError> {
        let mut used = vec![false; space.parameters.len()];
        let any_path = Path { rate_bps: 1e6, rtt_s: 0.1, run_s: 10.0 };
        let parts = space.features.iter().enumerate().map(|(i, feature)| (Some(i), &feature.scenario));
        for (feature, part) in std::iter::once((None, &space.base)).chain(parts) {
            let mut outer = feature.map_or(Vec::new(), |i| vec!["features".to_owned(), space.features[i].name.clone()]);
            outer.push("scenario".to_owned());
            let mut check = |text: &str, way: &[String]| {
                let Some(names) = placeholders(text) else { return Ok(None) };
                let way: Vec<&str> = way.iter().map(String::as_str).collect();
                let mut terms = Vec::new();
                for name in names {
                    let place = space.parameter(name, feature);
                    let place =
                        place.ok_or_else(|| self.error(&way, format!("there is no parameter `{name}` here")))?;
                    used[place] = true;
                    terms.push((&space.parameters[place], space.parameters[place].domain.at(0.0)));
                }
                let wrong = || self.error(&way, format!("`{text}`: only quantities of one kind can be added"));
                written(&terms, &any_path).map(|_| None).ok_or_else(wrong)
            };
            fill(&mut Value::Table(part.clone()), &mut outer, &mut check)?;
        }
        let Some(unused) = used.iter().position(|used| !used) else { return Ok(()) };
        let Parameter { name, feature, .. } = &space.parameters[unused];
        let message = format!("`{name}` is used nowhere: write \"{{{name}}}\" in the scenario, or leave it out");
        match feature {
            None => Err(self.error(&["parameters", name], message)),
            Some(i) => Err(self.error(&["features", &space.features[*i].name, "parameters", name], message)),
        }
    }
}

/// Features that set the same key, or one that is inside the other's, exclude each other.
fn exclude(features: &mut [Feature]) {
    let set: Vec<Vec<String>> = features.iter().map(|feature| keys(&feature.scenario)).collect();
    let is_inside =
        |key: &str, outer: &str| key.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let clash = |a: &str, b: &str| is_inside(a, b) || is_inside(b, a);
    for (i, feature) in features.iter_mut().enumerate() {
        let is_rival = |j: &usize| *j != i && set[*j].iter().any(|key| set[i].iter().any(|own| clash(key, own)));
        feature.excludes = (0..set.len()).filter(is_rival).collect();
    }
}
