// SPDX-License-Identifier: MIT OR Apache-2.0
//! A find as a criterion of `tandem evaluate`: a file of a suite, in which any controller can be judged at that point.

use serde::Serialize;
use tandem_scenario::FORWARD_LINK;
use tandem_statistics::mean;
use toml::{Table, Value};

use crate::{
    file::Compared,
    question::Worst,
    settle::Find,
    space::{CONTENDER, Space},
};

/// Of each side, enough to decide what is as clear as a find.
const SEEDS: i64 = 8;

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
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

impl Compared<'_> {
    /// The find as a criterion, with `contender` for the controller that is judged and `least` for the least violation that fails it. `None`
    /// where the contender is the better one, or the point cannot be run.
    pub fn criterion_file(&self, space: &Space, find: &Find, name: &str, least: f64) -> Option<String> {
        let scenario = space.scenario(&find.point, self.contender)?.ok()?;
        let (own, other) = (mean(&find.judged.measured.own), mean(&find.judged.measured.baseline));
        if self.question.worst.gap(own, other, &scenario) < least {
            return None;
        }
        let mut part = space.table(&find.point, CONTENDER)?;
        part.insert("seeds".into(), Value::Integer(SEEDS));
        let flows = part.get("flows")?.as_array()?.iter().enumerate();
        let is_own = |flow: &Value| flow.get("controller").and_then(Value::as_str) == Some(CONTENDER);
        let with_baseline: Table = flows
            .filter(|(_, flow)| is_own(flow))
            .map(|(i, _)| (format!("flows.{i}.controller"), self.baseline.into()))
            .collect();
        let rate = part.get("dumbbell").and_then(|dumbbell| dumbbell.get("rate"))?.clone();
        let worst = self.question.worst;
        let of_baseline = (worst != Worst::Stolen)
            .then(|| table([("name", "baseline".into()), ("set", Value::Table(with_baseline.clone()))]));
        let claim = format!("The contender is not as much worse than `{}` in {worst} as {name} was.", self.baseline);
        let file = Criterion {
            title: format!("{}: {name}", space.title),
            claim: claim.clone(),
            criterion: table([("section", "search".into())]),
            baseline: (worst == Worst::Stolen).then_some(with_baseline),
            sweep: table([
                ("label", "Rate".into()),
                ("values", Value::Array(vec![rate])),
                ("set", Value::Table(table([("dumbbell.rate", "{}".into())]))),
            ]),
            y: table([("label", format!("{worst}, at {FORWARD_LINK}").into())]),
            measure: toml::from_str::<Table>(&worst.measure_text(&scenario)?).ok()?.into(),
            curves: [Some(table([("name", CONTENDER.into())])), of_baseline].into_iter().flatten().collect(),
            claims: vec![worst.claim(claim, least, other, &scenario)],
            scenario: part,
        };
        let words = self.words(find).into_iter().map(|line| format!("# {line}\n")).collect::<String>();
        Some(format!("{words}\n{}", toml::to_string(&file).ok()?))
    }
}

impl Worst {
    /// The limit at which a violation is `least`, if the baseline has what it had: an experiment's claim.
    fn claim(self, text: String, least: f64, baseline: f64, scenario: &tandem_scenario::Scenario) -> Table {
        let rtt_ms = scenario.base_rtt(&scenario.groups[0]).as_secs_f64() * 1e3;
        let (way, limit, key) = match self {
            Self::Utilisation => ("over", 1.0 - least, "above"),
            Self::Stolen => ("", 100.0 * least, "below"),
            Self::Delay => ("minus", least * (rtt_ms + baseline), "below"),
            Self::Loss => ("minus", 100.0 * least, "below"),
            Self::Starvation => ("minus", -least, "above"),
            Self::Recovery => ("minus", least * self.rest_s(scenario), "below"),
        };
        let mut claim = table([
            ("text", text.into()),
            ("owner", "what `tandem search` found; the limit is its --least".into()),
            ("headline", true.into()),
            ("ours", true.into()),
            ("curve", CONTENDER.into()),
            (key, limit.into()),
        ]);
        if !way.is_empty() {
            claim.insert(way.into(), "baseline".into());
        }
        claim
    }
}
