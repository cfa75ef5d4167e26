// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limits of criteria without their paths: what can be asked on any path that has what they measure.

use crate::{
    file::{Curve, Experiment},
    judge::Claim,
    measure::{Kind, Measure},
    patch::Changes,
};

/// What a criterion allows the controller under test.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The criterion's file: `rfc9743/5.1.2-delay`.
    pub criterion: String,
    /// In words.
    pub text: String,
    /// What is measured, with its unit.
    pub label: String,
    /// The controller that it is compared with in the same place; `None`: with none.
    pub reference: Option<String>,
    /// How it is compared.
    pub relation: Relation,
    /// It keeps to the limit from here,
    pub above: Option<f64>,
    /// to here.
    pub below: Option<f64>,
    /// The flows of other controllers are measured, and not its own.
    pub is_of_neighbours: bool,
    /// `[measure]` without its groups.
    kind: String,
}

/// What has a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The controller's own figure.
    Alone,
    /// It over the reference's.
    Over,
    /// It less the reference's.
    Minus,
}

/// Why a claim can be asked on the criterion's own paths alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotALimit(String);

impl Experiment {
    /// Each claim of a criterion as a limit, or why it is none.
    pub fn limits(&self) -> Vec<Result<Limit, NotALimit>> {
        self.file.claims.iter().map(|claim| self.limit(claim.get_ref()).map_err(NotALimit)).collect()
    }

    fn limit(&self, claim: &Claim) -> Result<Limit, String> {
        let curve = |name: &String| self.file.curves.iter().map(toml::Spanned::get_ref).find(|c| c.name == *name);
        let own = curve(&claim.curve).ok_or("it has no such curve")?;
        let is_plain = claim.rises.is_none() && claim.within.is_none() && claim.published_within.is_none();
        if !is_plain || claim.at.is_some() || claim.from.is_some() || claim.to.is_some() || claim.some {
            return Err("it is about certain points of the criterion".into());
        }
        if !own.set.is_empty() {
            return Err("it changes the path for the contender".into());
        }
        let (relation, other) = match (&claim.over, &claim.minus) {
            (Some(other), _) => (Relation::Over, curve(other)),
            (_, Some(other)) => (Relation::Minus, curve(other)),
            _ => (Relation::Alone, None),
        };
        let reference = other.map(|other| controller(&other.set)).transpose()?;
        let measure = self.measure(own).ok_or("it measures nothing")?.get_ref();
        let is_of_neighbours = is_of_neighbours(measure)?;
        Ok(Limit {
            criterion: self.id.clone(),
            text: claim.text.clone(),
            label: self.label(own, measure),
            reference,
            relation,
            above: claim.above,
            below: claim.below,
            is_of_neighbours,
            kind: measure.text_without_groups(),
        })
    }

    /// The axis says it, except for curves that measure something else.
    fn label(&self, curve: &Curve, measure: &Measure) -> String {
        if curve.measure.is_some() { measure.kind.name().replace('_', " ") } else { self.file.y.label.clone() }
    }
}

/// The controller that changes put into the contender's place, if they change nothing else.
fn controller(set: &Changes) -> Result<String, String> {
    let is_of_flow = |key: &str, last| key.strip_prefix("flows.").is_some_and(|rest| rest.ends_with(last));
    let mut found = None;
    for (key, value) in set {
        let key = key.get_ref();
        if is_of_flow(key, ".controller") {
            found = value.as_str();
        } else if !is_of_flow(key, ".ecn") {
            return Err(format!("it compares with the same controller on another path (`{key}`)"));
        }
    }
    found.map(str::to_owned).ok_or_else(|| "it compares with no other controller".into())
}

/// Whether the flows beside the contender's are measured, of what can be measured on any path.
fn is_of_neighbours(measure: &Measure) -> Result<bool, String> {
    use Kind::*;
    let name = measure.kind.name();
    if measure.link.is_some() || measure.window_s.is_some() || measure.at_s.is_some() {
        return Err(format!("`{name}` is of a link or a time of the criterion"));
    }
    match (measure.kind, measure.groups.as_slice()) {
        (Stolen | LeastShare, [1]) => Ok(true),
        (Goodput | Utilisation | Queue | Jain | LeastOverMost | RetransmitShare | LossRate | QueueingDelay, [0]) => {
            Ok(false)
        }
        (Recovery | Settled, [0]) => Ok(false),
        (Completion | ShortCompletion | Delay, _) => {
            Err(format!("`{name}` is of transfers or real-time flows, which spaces lack"))
        }
        (Sent, _) => Err(format!("`{name}` has a limit for the length of the criterion's runs")),
        _ => Err(format!("`{name}` is of the criterion's own groups of flows")),
    }
}

impl Limit {
    /// How far figures are beyond the limit, as a share of it; below 0 if they keep to it. Without a relation the reference's own excess is
    /// no fault of the contender. Not finite where a reference is 0.
    pub fn excess(&self, own: f64, reference: f64) -> f64 {
        match self.relation {
            Relation::Alone => self.beyond(own) - self.beyond(reference).max(0.0),
            Relation::Over => self.beyond(own / reference),
            Relation::Minus => self.beyond(own - reference),
        }
    }

    fn beyond(&self, value: f64) -> f64 {
        let scaled = |by: f64, limit: f64| by / if limit == 0.0 { 1.0 } else { limit.abs() };
        let above = self.above.map(|limit| scaled(limit - value, limit));
        let below = self.below.map(|limit| scaled(value - limit, limit));
        above.into_iter().chain(below).fold(f64::NEG_INFINITY, f64::max)
    }

    /// `[measure]` of an experiment's file, of these groups.
    pub fn measure_text(&self, groups: &[usize]) -> String {
        format!("{}groups = {groups:?}", self.kind)
    }

    /// Whether it can be read only after a change of the path.
    pub fn is_after_change(&self) -> bool {
        self.kind.contains("\"recovery\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
title = "Delay"
claim = "A queue is short."
[criterion]
section = "1.2"
[scenario]
duration = "9s"
dumbbell = { rate = "10mbit", rtt = "20ms", queue = "1bdp" }
flows = [{ controller = "vegas", receive_window = "1MB" }]
[sweep]
label = "Rate, Mb/s"
values = [10]
set = { "dumbbell.rate" = "{}mbit" }
[y]
label = "Delay, ms"
[measure]
kind = "queueing_delay"
[[curves]]
name = "contender"
[[curves]]
name = "Reno"
set = { "flows.0.controller" = "reno" }
[[curves]]
name = "small"
set = { "flows.0.receive_window" = "20kB" }
"#;

    fn limits(claim: &str) -> Vec<Result<Limit, NotALimit>> {
        let text = format!(
            "{TEXT}[[claims]]\ntext = \"it is short\"\nowner = \"ours\"\nheadline = true\ncurve = \"contender\"\n{claim}"
        );
        Experiment::parse("x/1.2", "1.2.toml", &text).unwrap().limits()
    }

    #[test]
    fn claims_about_another_controller_are_limits() {
        let all = limits("over = \"Reno\"\nbelow = 1.5\n");
        let limit = all[0].as_ref().unwrap();
        assert_eq!((limit.reference.as_deref(), limit.label.as_str()), (Some("reno"), "Delay, ms"));
        assert_eq!(limit.measure_text(&[0, 2]), "kind = \"queueing_delay\"\ngroups = [0, 2]");
        // 30 over 10 is 3, twice the limit; 15 over 10 is the limit.
        assert_eq!((limit.excess(30.0, 10.0), limit.excess(15.0, 10.0)), (1.0, 0.0));
        let alone = limits("above = 4\nbelow = 10\n").remove(0).unwrap();
        assert_eq!((alone.reference.clone(), alone.excess(20.0, 5.0), alone.excess(1.0, 5.0)), (None, 1.0, 0.75));
        assert_eq!(alone.excess(20.0, 20.0), 0.0, "nobody does well there");
        let minus = limits("minus = \"Reno\"\nbelow = 2\n").remove(0).unwrap();
        assert_eq!(minus.excess(7.0, 1.0), 2.0);
    }

    #[test]
    fn claims_about_the_path_of_the_criterion_are_refused() {
        for (claim, part) in [
            ("over = \"small\"\nbelow = 1\n", "on another path (`flows.0.receive_window`)"),
            ("below = 9\nat = [10]\n", "certain points"),
        ] {
            let all = limits(claim);
            assert!(all[0].as_ref().unwrap_err().0.contains(part), "{all:?}");
        }
    }
}
