// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict on a log: in words, as JSON, as an exit status.

use serde::Serialize;
use tandem_conform::{Check, Rule};

use crate::failure::Failure;

/// The verdict on a log.
#[derive(Serialize)]
pub struct Verdict<'a> {
    log: &'a str,
    controller: String,
    conforms: bool,
    events: u64,
    problems: Vec<Problem<'a>>,
    rules: Vec<RuleVerdict>,
}

#[derive(Serialize)]
struct Problem<'a> {
    line: u64,
    rule: &'static str,
    what: &'a str,
    mend: &'static str,
}

#[derive(Serialize)]
struct RuleVerdict {
    rule: &'static str,
    asks: &'static str,
    source: &'static str,
    needs: &'static str,
    /// Does the contract require it of a host of this controller?
    is_asked: bool,
    checked: u64,
    broken: u64,
}

impl<'a> Verdict<'a> {
    pub fn new(log: &'a str, controller: String, check: &'a Check) -> Self {
        let problems = check.problems().iter().map(|problem| Problem {
            line: problem.line,
            rule: problem.rule.name(),
            what: &problem.what,
            mend: problem.rule.mend(),
        });
        let rules = Rule::ALL.iter().map(|&rule| RuleVerdict {
            rule: rule.name(),
            asks: rule.asks(),
            source: rule.source(),
            needs: rule.needs(),
            is_asked: check.asks(rule),
            checked: check.checked(rule),
            broken: check.broken(rule),
        });
        let (problems, rules): (Vec<_>, Vec<_>) = (problems.collect(), rules.collect());
        let conforms = problems.is_empty() && check.checked(Rule::Values) > 0;
        Self { log, controller, conforms, events: check.events(), problems, rules }
    }

    /// The rules for a host: all but the first.
    fn host_rules(&self) -> &[RuleVerdict] {
        &self.rules[1..]
    }

    /// Whether the controller's values come out as logged.
    fn values(&self) -> &RuleVerdict {
        &self.rules[Rule::Values as usize]
    }

    /// In words, without the problems.
    pub fn in_words(&self) -> String {
        let mut text = String::new();
        let Self { events, controller, .. } = self;
        if self.conforms {
            text += &format!("{events} events: none deviates from {controller} ({} values)\n", self.values().checked);
        }
        let kept = |rule: &&RuleVerdict| rule.checked > 0 && rule.broken == 0;
        let not_asked = |rule: &&RuleVerdict| !rule.is_asked;
        text += &listed("kept: ", self.host_rules().iter().filter(kept));
        text += &listed(&format!("not required of {controller}: "), self.host_rules().iter().filter(not_asked));
        for rule in self.host_rules().iter().filter(|rule| rule.is_asked && rule.checked == 0) {
            text += &format!("not checked: {}, which needs {}\n", rule.rule, rule.needs);
        }
        text
    }

    /// A log that deviates, breaks a rule or has nothing to check is a failure.
    pub fn result(&self) -> Result<(), Failure> {
        let Self { log, events, controller, .. } = self;
        let values = self.values();
        if values.checked == 0 {
            return Err(Failure::usage(format!(
                "{log}: there is nothing to compare: it lacks {}; let the host log `cwnd` after each call",
                values.needs
            )));
        }
        let departing =
            (values.broken > 0).then(|| format!("{} of {events} events deviate from `{controller}`", values.broken));
        let broken = |rule: &RuleVerdict| (rule.broken > 0).then(|| format!("{} ({})", rule.rule, rule.broken));
        let broken: Vec<String> = self.host_rules().iter().filter_map(broken).collect();
        let breach = (!broken.is_empty()).then(|| format!("the host breaks the contract: {}", broken.join(", ")));
        let words: Vec<String> = departing.into_iter().chain(breach).collect();
        if words.is_empty() { Ok(()) } else { Err(Failure::Failed(anyhow::anyhow!("{}", words.join("; ")))) }
    }
}

/// A line with the rules' names; nothing if there are none.
fn listed<'a>(title: &str, rules: impl Iterator<Item = &'a RuleVerdict>) -> String {
    let names: Vec<&str> = rules.map(|rule| rule.rule).collect();
    if names.is_empty() { String::new() } else { format!("{title}{}\n", names.join(", ")) }
}
