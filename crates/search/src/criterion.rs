// SPDX-License-Identifier: MIT OR Apache-2.0
//! A find as a criterion of `tandem evaluate`: a file of a suite, in which any controller can be judged at that point.

use serde::Serialize;
use tandem_papers::Relation;
use tandem_scenario::{FORWARD_LINK, Scenario};
use tandem_statistics::mean;
use toml::{Table, Value};

use crate::{
    file::Compared,
    settle::Find,
    space::{CONTENDER, Space},
    worst::{RETURNED, Worst, rest_s},
};

/// Of each side, enough to decide what is as clear as a find.
const SEEDS: i64 = 8;
/// Over real TCP.
const REAL_SEEDS: i64 = 3;
const BASELINE: &str = "baseline";
const END: &str = "in the end";
const END_OF_BASELINE: &str = "in the end, baseline";

/// The keys of an experiment's file that a find needs.
#[derive(Serialize)]
struct Criterion {
    title: String,
    claim: String,
    criterion: Table,
    scenario: Table,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Table>,
    sweep: Table,
    y: Table,
    measure: Value,
    curves: Vec<Table>,
    claims: Vec<Table>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<Table>,
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

impl Compared<'_> {
    /// The find as a criterion, with `contender` for the controller that is judged and `least` for the least violation that fails it. `None`
    /// where the contender is the better one, or the point cannot be run. Engines are not compared so.
    pub fn criterion_file(&self, space: &Space, find: &Find, name: &str, least: f64) -> Option<String> {
        let scenario = space.scenario(&find.point, self.contender.controller)?.ok()?;
        let (own, other) = (mean(&find.judged.measured.own), mean(&find.judged.measured.baseline));
        let worst = &self.question.worst;
        if self.is_of_engines() || worst.gap(own, other, &scenario) < least {
            return None;
        }
        let mut part = space.table(&find.point, CONTENDER)?;
        part.insert("seeds".into(), Value::Integer(SEEDS));
        let flows = part.get("flows")?.as_array()?.iter().enumerate();
        let is_own = |flow: &Value| flow.get("controller").and_then(Value::as_str) == Some(CONTENDER);
        let with_baseline: Table = flows
            .filter(|(_, flow)| is_own(flow))
            .map(|(i, _)| (format!("flows.{i}.controller"), self.baseline.controller.into()))
            .collect();
        let rate = part.get("dumbbell").and_then(|dumbbell| dumbbell.get("rate"))?.clone();
        let measure_text = worst.measure_text(&scenario)?;
        let is_stolen = measure_text.starts_with("kind = \"stolen\"");
        let beside = format!("The contender is not as much worse than `{}` in {worst} as", self.baseline.controller);
        let text = format!("{beside} {name} was.");
        let (curves, claims) = (worst.curves(&with_baseline, is_stolen), worst.claims(&text, least, other, &scenario));
        let file = Criterion {
            title: format!("{}: {name}", space.title),
            claim: text,
            criterion: table([("section", "search".into())]),
            baseline: is_stolen.then_some(with_baseline),
            sweep: table([
                ("label", "Rate".into()),
                ("values", Value::Array(vec![rate])),
                ("set", Value::Table(table([("dumbbell.rate", "{}".into())]))),
            ]),
            y: table([("label", format!("{worst}, at {FORWARD_LINK}").into())]),
            measure: toml::from_str::<Table>(&measure_text).ok()?.into(),
            curves,
            claims,
            scenario: part,
            // Of runs over real TCP everything except windows is kept.
            kernel: (!worst.measure(&scenario)?.needs_windows()).then(|| table([("seeds", REAL_SEEDS.into())])),
        };
        let words = self.words(find).into_iter().map(|line| format!("# {line}\n")).collect::<String>();
        Some(format!("{words}\n{}", toml::to_string(&file).ok()?))
    }
}

/// A claim of ours about a contender's curve.
fn claim<const N: usize>(text: &str, limits: [(&str, Value); N]) -> Table {
    let mut claim = table([
        ("text", text.into()),
        ("owner", "what `tandem search` found; the limit is its --least".into()),
        ("headline", true.into()),
        ("ours", true.into()),
        ("curve", CONTENDER.into()),
    ]);
    claim.extend(table(limits));
    claim
}

impl Worst {
    /// The contender's curves, and where they are compared the baseline's. A recovery has those of what it ends with, too.
    fn curves(&self, with_baseline: &Table, is_stolen: bool) -> Vec<Table> {
        let set = || ("set", Value::Table(with_baseline.clone()));
        let mut curves = vec![table([("name", CONTENDER.into())])];
        if !is_stolen {
            curves.push(table([("name", BASELINE.into()), set()]));
        }
        if *self == Self::Recovery {
            let settled = || ("measure", Value::Table(table([("kind", "settled".into())])));
            curves.push(table([("name", END.into()), settled()]));
            curves.push(table([("name", END_OF_BASELINE.into()), settled(), set()]));
        }
        curves
    }

    fn claims(&self, text: &str, least: f64, baseline: f64, scenario: &Scenario) -> Vec<Table> {
        let mut claims = vec![self.claim(text, least, baseline, scenario)];
        if *self == Self::Recovery {
            let limits = [("curve", END.into()), ("over", END_OF_BASELINE.into()), ("above", RETURNED.into())];
            claims.push(claim("The contender returns to what the baseline has.", limits));
        }
        claims
    }

    /// The limit at which a violation is `least`, if the baseline has what it had: an experiment's claim. A criterion has its own limit.
    fn claim(&self, text: &str, least: f64, baseline: f64, scenario: &Scenario) -> Table {
        let rtt_ms = scenario.base_rtt(&scenario.groups[0]).as_secs_f64() * 1e3;
        let beside = |way: &str, key: &str, limit: f64| claim(text, [(way, BASELINE.into()), (key, limit.into())]);
        match self {
            Self::Utilisation => beside("over", "above", 1.0 - least),
            Self::Stolen => claim(text, [("below", (100.0 * least).into())]),
            Self::Delay => beside("minus", "below", least * (rtt_ms + baseline)),
            Self::Loss => beside("minus", "below", 100.0 * least),
            Self::Starvation => beside("minus", "above", -least),
            Self::Recovery => beside("minus", "below", least * rest_s(scenario)),
            Self::Oscillation => beside("minus", "below", least),
            Self::Criterion(limit) => {
                let mut claim = claim(&limit.text, []);
                match limit.relation {
                    Relation::Alone => None,
                    Relation::Over => claim.insert("over".into(), BASELINE.into()),
                    Relation::Minus => claim.insert("minus".into(), BASELINE.into()),
                };
                let ends = [("above", limit.above), ("below", limit.below)];
                claim.extend(ends.into_iter().filter_map(|(key, end)| Some((key.to_owned(), end?.into()))));
                claim
            }
        }
    }
}
