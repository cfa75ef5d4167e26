// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points to begin with, from scenarios that somebody thought of: those of suites.

use toml::{Table, Value};

use crate::{
    fragment::{fill, placeholders},
    parameter::{Domain, Path, Unit, quantity, rounded},
    point::Point,
    space::Space,
};

const PACKET_BITS: f64 = 12_000.0;

impl Space {
    /// The point whose scenario is nearest to this one: its path, and the features that it has in the space's words. `None` if the path is not
    /// in the space.
    pub fn like(&self, scenario: &Table) -> Option<Point> {
        let mut point = Point { has: vec![false; self.features.len()], values: self.simplest(), length: 1.0 };
        let quantity_at = |way: [&str; 2]| quantity(scenario.get(way[0])?.get(way[1])?).map(|(value, _)| value);
        let any =
            Path { rate_bps: quantity_at(["dumbbell", "rate"])?, rtt_s: quantity_at(["dumbbell", "rtt"])?, run_s: 1.0 };
        let base = self.read(&self.base, None, scenario, &any);
        for parameter in [self.rate, self.rtt] {
            point.values[parameter] = base.iter().find(|(i, _)| *i == parameter)?.1?;
        }
        let path = self.path(&point)?;
        let path = Path { run_s: quantity(scenario.get("duration")?)?.0, ..path };
        for (i, value) in self.read(&self.base, None, scenario, &path) {
            point.values[i] = value.unwrap_or(point.values[i]);
        }
        for (place, feature) in self.features.iter().enumerate() {
            let read = self.read(&feature.scenario, Some(place), scenario, &path);
            let is_free = feature.excludes.iter().all(|&rival| !point.has[rival]);
            let is_there = !read.is_empty() && read.iter().all(|(_, value)| value.is_some());
            if is_free && is_there {
                point.has[place] = true;
                read.into_iter().for_each(|(i, value)| point.values[i] = value.unwrap_or(point.values[i]));
            }
        }
        Some(point)
    }

    /// The simplest choices, and the middle of every range.
    fn simplest(&self) -> Vec<f64> {
        let simplest = |domain: &Domain| domain.at(if matches!(domain, Domain::OneOf(_)) { 0.0 } else { 0.5 });
        self.parameters.iter().map(|parameter| simplest(&parameter.domain)).collect()
    }

    /// What a scenario has in the places that parameters of a part fill; `None` where it has nothing that the parameter may be.
    fn read(&self, part: &Table, feature: Option<usize>, scenario: &Table, path: &Path) -> Vec<(usize, Option<f64>)> {
        let mut read = Vec::new();
        let mut look = |text: &str, way: &[String]| {
            if let Some(names) = placeholders(text) {
                let there = at(scenario, way).filter(|_| names.len() == 1);
                let places = names.iter().filter_map(|name| self.parameter(name, feature));
                read.extend(
                    places.map(|i| (i, there.and_then(|value| self.parameters[i].domain.read_value(value, path)))),
                );
            }
            Ok::<_, ()>(None)
        };
        let _ = fill(&mut Value::Table(part.clone()), &mut Vec::new(), &mut look);
        read
    }
}

/// The value to which a way of keys and places in lists leads.
fn at<'a>(scenario: &'a Table, way: &[String]) -> Option<&'a Value> {
    let (first, rest) = way.split_first()?;
    rest.iter().try_fold(scenario.get(first)?, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    })
}

impl Domain {
    /// What a scenario has, as a value of this domain; `None` if it may not be that.
    fn read_value(&self, value: &Value, path: &Path) -> Option<f64> {
        let Self::Range { from, to, whole, unit, .. } = self else {
            let Self::OneOf(values) = self else { return None };
            return values.iter().position(|one| one == value).map(|place| place as f64);
        };
        let bdp_packets = path.rate_bps * path.rtt_s / PACKET_BITS;
        let (number, of) = quantity(value)?;
        let number = match (of, *unit) {
            (of, unit) if of == unit => number,
            (Unit::Bps, Unit::Rates) => number / path.rate_bps,
            (Unit::S, Unit::Rtts) => number / path.rtt_s,
            (Unit::S, Unit::Runs) => number / path.run_s,
            (Unit::Packets, Unit::Bdp) => number / bdp_packets,
            (Unit::Bdp, Unit::Packets) => number * bdp_packets,
            _ => return None,
        };
        let number = if *whole { number.round() } else { rounded(number, 2) };
        (*from..=*to).contains(&number).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        toml::from_str(text).unwrap()
    }

    /// 20 Mb/s and 50 ms are 83 packets of 1500 bytes.
    #[test]
    fn a_scenario_is_found_again_in_a_space() {
        let space = Space::named("fixed-path").unwrap();
        let scenario = table(
            "duration = \"60s\"\ndumbbell = { rate = \"20mbit\", rtt = \"50ms\", queue = \"167p\", loss = 1e-4 }\n\
             flows = [{ controller = \"reno\" }]\n[effects.bottleneck.reorder]\nshare = \"1%\"\n",
        );
        let point = space.like(&scenario).unwrap();
        let value = |name| space.parameters.iter().position(|p| p.name == name).map(|i| point.values[i]);
        assert_eq!(
            (value("rate"), value("rtt"), value("queue"), value("loss")),
            (Some(2e7), Some(0.05), Some(2.0), Some(1e-4))
        );
        assert_eq!(space.features_of(&point), ["loss"], "reordering lacks its distance");
        let far = table("duration = \"60s\"\ndumbbell = { rate = \"20gbit\", rtt = \"50ms\" }\n");
        assert!(space.like(&far).is_none());
    }
}
