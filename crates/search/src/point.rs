// SPDX-License-Identifier: MIT OR Apache-2.0
//! A point of a space, and the scenario that it stands for.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use tandem_scenario::{
    ControllerSpec, FileError, Scenario,
    file::{Overrides, parse},
};
use toml::{Table, Value};

use crate::{
    fragment::{fill, merge, placeholders},
    parameter::{Domain, Path, rounded, seconds, written},
    space::{CONTENDER, ECN, Space},
};

/// Which features a point has, and a value for every parameter. Those of features that it lacks mean nothing, and wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// By the place of the feature.
    pub has: Vec<bool>,
    /// By the place of the parameter; of a choice its place in the list.
    pub values: Vec<f64>,
    /// What share of the usual length a run has.
    pub length: f64,
}

/// The mean number of features of a point that is drawn.
const FEATURES_DRAWN: f64 = 1.5;
/// A space of which nearly no point can be afforded is searched all the same.
const TRIES: usize = 200;
/// How far a value moves in a mutation, shares of its scale: from anywhere to a little.
const STEPS: [f64; 3] = [0.4, 0.1, 0.03];
/// Chances of a mutation; ours.
const CHANCE_OF_CROSSING: f64 = 0.3;
const CHANCE_OF_TOGGLE: f64 = 0.3;

impl Space {
    /// A point drawn at random.
    pub fn draw(&self, rng: &mut Pcg64Mcg) -> Point {
        let chance = (FEATURES_DRAWN / self.features.len().max(1) as f64).min(0.5);
        let one = |rng: &mut Pcg64Mcg| {
            let has = self.features.iter().map(|_| rng.random_bool(chance)).collect();
            let values = self.parameters.iter().map(|p| p.domain.at(rng.random())).collect();
            self.allowed(Point { has, values, length: 1.0 }, rng)
        };
        let mut point = one(rng);
        for _ in 0..TRIES {
            if self.path(&point).is_some() {
                break;
            }
            point = one(rng);
        }
        point
    }

    /// A point near this one, with something of the other.
    pub fn mutate(&self, point: &Point, other: &Point, rng: &mut Pcg64Mcg) -> Point {
        let mut near = point.clone();
        if rng.random_bool(CHANCE_OF_CROSSING) {
            self.cross(&mut near, other, rng);
        }
        if !self.features.is_empty() && rng.random_bool(CHANCE_OF_TOGGLE) {
            let feature = rng.random_range(0..self.features.len());
            near.has[feature] = !near.has[feature];
        }
        let active: Vec<usize> = self.active(&near).collect();
        let chance = (2.0 / active.len() as f64).min(1.0);
        let step = STEPS[rng.random_range(0..STEPS.len())];
        for &i in &active {
            if rng.random_bool(chance) {
                near.values[i] = self.moved(i, near.values[i], step, rng);
            }
        }
        let near = self.allowed(near, rng);
        if near == *point || self.path(&near).is_none() { self.draw(rng) } else { near }
    }

    /// A point around this one: every number moves by up to a share of its scale, choices and features stay.
    pub fn neighbour(&self, point: &Point, step: f64, rng: &mut Pcg64Mcg) -> Point {
        let mut near = point.clone();
        for i in self.active(point).collect::<Vec<_>>() {
            if matches!(self.parameters[i].domain, Domain::Range { .. }) {
                near.values[i] = self.moved(i, near.values[i], step, rng);
            }
        }
        near
    }

    fn moved(&self, i: usize, value: f64, step: f64, rng: &mut Pcg64Mcg) -> f64 {
        let domain = &self.parameters[i].domain;
        match domain {
            Domain::OneOf(_) => domain.at(rng.random()),
            // Triangular: most often close by.
            Domain::Range { .. } => {
                let by = step * (rng.random::<f64>() - rng.random::<f64>());
                domain.at((domain.share(value) + by).clamp(0.0, 1.0))
            }
        }
    }

    /// Whole features go over, each with its values.
    fn cross(&self, point: &mut Point, other: &Point, rng: &mut Pcg64Mcg) {
        let takes: Vec<bool> = self.features.iter().map(|_| rng.random_bool(0.5)).collect();
        for (i, parameter) in self.parameters.iter().enumerate() {
            if parameter.feature.map_or_else(|| rng.random_bool(0.3), |feature| takes[feature]) {
                point.values[i] = other.values[i];
            }
        }
        for (feature, _) in takes.iter().enumerate().filter(|(_, takes)| **takes) {
            point.has[feature] = other.has[feature];
        }
    }

    /// Of features that exclude each other one stays.
    fn allowed(&self, mut point: Point, rng: &mut Pcg64Mcg) -> Point {
        for i in 0..self.features.len() {
            let rivals: Vec<usize> = self.features[i].excludes.iter().copied().filter(|&j| point.has[j]).collect();
            if point.has[i] && !rivals.is_empty() && rng.random_bool(0.5) {
                point.has[i] = false;
            } else if point.has[i] {
                rivals.into_iter().for_each(|j| point.has[j] = false);
            }
        }
        point
    }

    /// The parameters that mean something at a point.
    pub fn active(&self, point: &Point) -> impl Iterator<Item = usize> {
        let means = |i: &usize| self.parameters[*i].feature.is_none_or(|feature| point.has[feature]);
        (0..self.parameters.len()).filter(means)
    }

    /// The names of a point's features.
    pub fn features_of(&self, point: &Point) -> Vec<&str> {
        self.features
            .iter()
            .zip(&point.has)
            .filter(|(_, has)| **has)
            .map(|(feature, _)| feature.name.as_str())
            .collect()
    }

    /// Rate, RTT and length; `None` if a run that says something costs too much.
    pub fn path(&self, point: &Point) -> Option<Path> {
        let (rate_bps, rtt_s) = (point.values[self.rate], point.values[self.rtt]);
        Some(Path { rate_bps, rtt_s, run_s: self.length.run_s(rate_bps, rtt_s, point.length)? })
    }

    /// A point's scenario as a table, with this controller in the contender's place; `None` if it costs too much.
    pub fn table(&self, point: &Point, controller: &str) -> Option<Table> {
        let path = self.path(point)?;
        let mut scenario = self.filled(&self.base, None, point, &path);
        for (i, feature) in self.features.iter().enumerate().filter(|(i, _)| point.has[*i]) {
            merge(&mut scenario, &self.filled(&feature.scenario, Some(i), point, &path));
        }
        scenario.insert("duration".into(), Value::String(seconds(path.run_s)));
        if self.length.warmup > 0.0 {
            let warmup_s = rounded(self.length.warmup * path.run_s, 2);
            scenario.insert("warmup".into(), Value::String(seconds(warmup_s)));
        }
        let counts_marks = controller.parse::<ControllerSpec>().is_ok_and(|spec| spec.counts_marks());
        let mut named = |text: &str, _: &[String]| {
            let name = match text {
                CONTENDER => Some(controller),
                ECN if counts_marks => Some("accurate"),
                ECN => Some("rfc3168"),
                _ => None,
            };
            Ok::<_, ()>(name.map(|name| Value::String(name.to_owned())))
        };
        let mut whole = Value::Table(scenario);
        let _ = fill(&mut whole, &mut Vec::new(), &mut named);
        if let Value::Table(scenario) = whole { Some(scenario) } else { None }
    }

    fn filled(&self, part: &Table, feature: Option<usize>, point: &Point, path: &Path) -> Table {
        let mut value = Value::Table(part.clone());
        let mut fill_one = |text: &str, _: &[String]| {
            let terms = placeholders(text).map(|names| {
                let places = names.into_iter().filter_map(|name| self.parameter(name, feature));
                places.map(|i| (&self.parameters[i], point.values[i])).collect::<Vec<_>>()
            });
            Ok::<_, ()>(terms.and_then(|terms| written(&terms, path)))
        };
        let _ = fill(&mut value, &mut Vec::new(), &mut fill_one);
        if let Value::Table(table) = value { table } else { Table::new() }
    }

    /// A point's scenario; `None` if it costs too much.
    ///
    /// # Errors
    /// If a value is one that no scenario may have.
    pub fn scenario(&self, point: &Point, controller: &str) -> Option<Result<Scenario, FileError>> {
        let table = self.table(point, controller)?;
        let text = toml::to_string(&table).unwrap_or_default();
        Some(parse(&text, &format!("a point of `{}`", self.title), &self.title, &Overrides::default()))
    }
}
