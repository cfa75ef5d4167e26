// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the options of a search ask for.

use std::sync::Arc;

use tandem_engine::Engine;
use tandem_engines::ENGINES;
use tandem_evaluate::{NEIGHBOURS_OF_ALL, RFC_9743, Suite};
use tandem_papers::Experiment;
use tandem_search::{ALL, Point, Question, Space, Worst};

use crate::failure::Failure;

/// The suites whose paths a search begins with.
const SUITES: [&str; 4] = [RFC_9743, "prudentia", "tcpeval", "rfc8867"];
/// In the place of the contender, where criteria are read for no controller.
const ANY_CONTROLLER: &str = "reno";

fn criteria(suite: &str) -> Vec<Experiment> {
    let suite = Suite::named(suite).and_then(|suite| suite.criteria(ANY_CONTROLLER, &[], &NEIGHBOURS_OF_ALL));
    suite.unwrap_or_default()
}

/// A measure's name, or a criterion of RFC 9743 by its number (`5.1.2`), its file's name (`7.1-marks`), or with the place of its limit
/// (`5.1.2:2`).
pub fn worst(text: &str) -> Result<Worst, Failure> {
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
        [] => return Err(Failure::usage(unknown(text))),
        [one] => one,
        several => {
            let names: Vec<&str> = several.iter().map(file_name).collect();
            return Err(Failure::usage(format!("--worst {text}: there are {}: name one of them", names.join(", "))));
        }
    };
    let limits = one.limits();
    let chosen = match place {
        Some(place) => limits.get(place.wrapping_sub(1)),
        None => limits.iter().find(|limit| limit.is_ok()).or(limits.first()),
    };
    match chosen {
        Some(Ok(limit)) => Ok(Worst::Criterion(Arc::new(limit.clone()))),
        Some(Err(why)) => Err(Failure::usage(format!("--worst {text}: it has meaning on its own paths alone: {why}"))),
        None => Err(Failure::usage(format!("--worst {text}: it has {} limits, counted from 1", limits.len()))),
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
pub fn check(question: &Question, space: &Space, over: &str) -> Result<(), Failure> {
    if question.is_posed_in(space) {
        return Ok(());
    }
    let lacks = match &question.worst {
        Worst::Recovery => "no path of it changes: try --over changing-path",
        Worst::Criterion(limit) if limit.is_after_change() => "no path of it changes: try --over changing-path",
        Worst::Starvation => "it has single flows alone: try --over competition",
        _ => "it has no flows of other controllers: try --over competition",
    };
    Err(Failure::usage(format!("--worst {} cannot be asked of `{over}`: {lacks}", question.worst)))
}

/// The engine that `--differ` names, if it is one.
pub fn engine(name: &str) -> Result<Option<&'static dyn Engine>, Failure> {
    let Some(engine) = ENGINES.iter().find(|engine| engine.name() == name) else { return Ok(None) };
    if engine.needs_machine() {
        return Err(Failure::usage(format!(
            "--differ {name}: it takes as long as what it emulates: search in the simulator with --keep DIR, then run \
             `sudo tandem evaluate CONTROLLER --suite DIR/ --engine sim,{name}`"
        )));
    }
    Ok(Some(*engine))
}

/// Points like the paths of the suites, each once.
pub fn starts(space: &Space) -> Vec<Point> {
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
