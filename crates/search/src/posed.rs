// SPDX-License-Identifier: MIT OR Apache-2.0
//! A search as its user asks for it, in words.

use std::sync::Arc;

use tandem_engine::Engine;
use tandem_evaluate::{NEIGHBOURS_OF_ALL, RFC_9743, Suite, from_anywhere};
use tandem_papers::Experiment;
use tandem_scenario::{ControllerSpec, FileError, Settings};

use crate::{
    file::Compared,
    judge::Side,
    point::Point,
    question::Question,
    space::Space,
    worst::{ALL, Worst},
};

/// The suites whose paths a search begins with.
const SUITES: [&str; 4] = [RFC_9743, "prudentia", "tcpeval", "rfc8867"];
/// In the place of the contender, where criteria are read for no controller.
const ANY_CONTROLLER: &str = "reno";
/// In the contender's place, unless somebody says.
const USUAL_BASELINE: &str = "cubic";

/// Why a search cannot be asked for, and the remedy, in the command line's words.
#[derive(Debug, thiserror::Error)]
pub enum PosedError {
    /// The words do not go together, or one of them means nothing.
    #[error("{0}")]
    Words(String),
    /// The space's file is wrong.
    #[error(transparent)]
    Space(#[from] FileError),
}

fn words<T>(message: impl Into<String>) -> Result<T, PosedError> {
    Err(PosedError::Words(message.into()))
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// The controller, as the command line spells it.
    pub contender: &'a str,
    /// A measure, or a criterion of RFC 9743.
    pub worst: &'a str,
    /// The space's name, or its file.
    pub over: &'a str,
    /// The controller that it is compared with; `None`: CUBIC, or a criterion's own.
    pub baseline: Option<&'a str>,
    /// What it is to differ from, whichever is worse: a controller or an engine.
    pub differ: Option<&'a str>,
}

/// What the words mean.
pub struct Posed {
    /// Where to look.
    pub space: Space,
    /// What is asked of its paths.
    pub question: Question,
    /// The engine that is compared with the own one, if engines are compared and not controllers.
    pub other_engine: Option<&'static dyn Engine>,
    contender: String,
    baseline: String,
}

impl Words<'_> {
    /// Reads the space and the controllers. Runs are made in the engine `own`; `differ` may name one of `others`.
    ///
    /// # Errors
    /// [`PosedError`].
    pub fn pose(&self, own: &dyn Engine, others: &[&'static dyn Engine]) -> Result<Posed, PosedError> {
        let space = Space::named(self.over)?;
        let question = Question { worst: worst(self.worst)?, either_way: self.differ.is_some() };
        check(&question, &space, self.over)?;
        let contender = simulated(self.contender)?;
        let other_engine = self.differ.map(|name| engine(name, others)).transpose()?.flatten();
        let baseline = match (other_engine, self.differ.or(self.baseline), &question.worst) {
            (Some(_), ..) => contender.clone(),
            (None, Some(named), _) => simulated(named)?,
            (None, None, Worst::Criterion(limit)) => limit.reference.clone().unwrap_or(USUAL_BASELINE.into()),
            _ => USUAL_BASELINE.into(),
        };
        if contender == baseline && other_engine.is_none_or(|other| other.name() == own.name()) {
            return words(format!("`{contender}` is compared with itself: name another one with --baseline"));
        }
        Ok(Posed { space, question, other_engine, contender, baseline })
    }
}

impl Posed {
    /// The two that are compared, and what runs each.
    pub fn compared<'a>(&'a self, own: &'a dyn Engine, other: &'a dyn Engine) -> Compared<'a> {
        Compared {
            contender: Side { controller: &self.contender, engine: own },
            baseline: Side { controller: &self.baseline, engine: other },
            question: &self.question,
        }
    }
}

/// A controller that can be simulated, as scenarios anywhere spell it.
fn simulated(name: &str) -> Result<String, PosedError> {
    let spec = name.parse::<ControllerSpec>().map_err(|e| PosedError::Words(e.to_string()))?;
    match spec.with(&Settings::default()).foreign() {
        Some(whose) => {
            words(format!("`{name}` is {whose}, and searches are simulated: name one of `tandem list controllers`"))
        }
        None => Ok(from_anywhere(name)),
    }
}

fn criteria(suite: &str) -> Vec<Experiment> {
    let suite = Suite::named(suite).and_then(|suite| suite.criteria(ANY_CONTROLLER, &[], &NEIGHBOURS_OF_ALL));
    suite.unwrap_or_default()
}

/// A measure's name, or a criterion of RFC 9743 by its number (`5.1.2`), its file's name (`7.1-marks`), or with the place of its limit
/// (`5.1.2:2`).
fn worst(text: &str) -> Result<Worst, PosedError> {
    if let Some(worst) = Worst::named(text) {
        return Ok(worst);
    }
    let (name, place) = match text.rsplit_once(':') {
        Some((name, place)) => (name, place.parse::<usize>().ok()),
        None => (text, None),
    };
    let mut found = criteria(RFC_9743);
    found.retain(|one| {
        let section = one.criterion().map_or("", |criterion| &criterion.section);
        file_name(one) == name || section.split(", ").any(|section| section == name)
    });
    let one = match found.as_slice() {
        [] => return words(unknown(text)),
        [one] => one,
        several => {
            let names: Vec<&str> = several.iter().map(file_name).collect();
            return words(format!("--worst {text}: there are {}: name one of them", names.join(", ")));
        }
    };
    let limits = one.limits();
    let chosen = match place {
        Some(place) => limits.get(place.wrapping_sub(1)),
        None => limits.iter().find(|limit| limit.is_ok()).or(limits.first()),
    };
    match chosen {
        Some(Ok(limit)) => Ok(Worst::Criterion(Arc::new(limit.clone()))),
        Some(Err(why)) => words(format!("--worst {text}: it has meaning on its own paths alone: {why}")),
        None => words(format!("--worst {text}: it has {} limits, counted from 1", limits.len())),
    }
}

fn file_name(criterion: &Experiment) -> &str {
    criterion.id.rsplit('/').next().unwrap_or_default()
}

fn unknown(text: &str) -> String {
    let names = ALL.map(|worst| worst.name().to_owned()).join(", ");
    format!("`{text}` is not a measure: write one of {names}, or a criterion of `tandem evaluate` such as 5.1.2")
}

/// Refuses a space that has nothing of what is measured.
fn check(question: &Question, space: &Space, over: &str) -> Result<(), PosedError> {
    if question.is_posed_in(space) {
        return Ok(());
    }
    let lacks = match &question.worst {
        Worst::Recovery => "no path of it changes: try --over changing-path",
        Worst::Criterion(limit) if limit.is_after_change() => "no path of it changes: try --over changing-path",
        Worst::Starvation => "it has single flows alone: try --over competition",
        _ => "it has no flows of other controllers: try --over competition",
    };
    words(format!("--worst {} cannot be asked of `{over}`: {lacks}", question.worst))
}

/// The engine that `--differ` names, if it is one.
fn engine(name: &str, engines: &[&'static dyn Engine]) -> Result<Option<&'static dyn Engine>, PosedError> {
    let Some(engine) = engines.iter().find(|engine| engine.name() == name) else { return Ok(None) };
    if engine.needs_machine() {
        return words(format!(
            "--differ {name}: it takes as long as what it emulates: search in the simulator with --keep DIR, then run \
             `sudo tandem evaluate CONTROLLER --suite DIR/ --engine sim,{name}`"
        ));
    }
    Ok(Some(*engine))
}

/// Points like the paths of the suites, each once.
pub(crate) fn starts(space: &Space) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for criterion in SUITES.iter().flat_map(|suite| criteria(suite)) {
        for scenario in criterion.scenarios().unwrap_or_default() {
            points.extend(space.like(&scenario).filter(|point| !points.contains(point)));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that cannot be asked of other paths are about the flows, the transfers or the receivers of their own.
    #[test]
    fn most_criteria_can_be_asked_of_any_path() {
        let refused: Vec<String> = criteria(RFC_9743)
            .iter()
            .map(|criterion| file_name(criterion).to_owned())
            .filter(|name| worst(name).is_err())
            .collect();
        let expected = [
            "5.1.1-outage",
            "5.1.4-latecomer",
            "5.1.4-rtt",
            "5.1.5-short-flows",
            "5.2.2-real-time",
            "7.11-incast",
            "7.5-satellite",
            "7.6-early-acks",
            "7.6-hidden-marks",
        ];
        assert_eq!(refused, expected);
    }

    #[test]
    fn searches_begin_with_paths_of_the_suites() {
        for (name, least) in [("fixed-path", 20), ("competition", 10), ("changing-path", 10)] {
            let points = starts(&Space::named(name).unwrap());
            assert!(points.len() >= least, "{name}: {}", points.len());
        }
    }
}
