// SPDX-License-Identifier: MIT OR Apache-2.0
//! A log's events, judged one after the other.

use std::{fmt, sync::Arc};

use tandem_controllers::Params;

use crate::{
    event::Event,
    replay::{EventError, Replay},
    rules::{HostRules, Rule},
};

/// Problems that are kept; the others are counted.
const KEPT: usize = 1000;

/// An event that departs from the controller or breaks a rule of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the log.
    pub line: u64,
    /// What is not kept.
    pub rule: Rule,
    /// What was seen.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, what, .. } = self;
        match rule {
            // The controller's values say by themselves what should be.
            Rule::Values => write!(f, "{what}"),
            _ => write!(f, "{}: {what}; {}", rule.name(), rule.mend()),
        }
    }
}

/// How often each rule was checked and broken, and the first problems.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    checked: [u64; Rule::ALL.len()],
    broken: [u64; Rule::ALL.len()],
    problems: Vec<Problem>,
}

impl Tally {
    /// A rule is checked at a line; `what` was seen if it does not hold.
    pub fn check(&mut self, rule: Rule, line: u64, holds: bool, what: impl FnOnce() -> String) {
        self.checked[rule as usize] += 1;
        if !holds {
            self.broken[rule as usize] += 1;
            if self.problems.len() < KEPT {
                self.problems.push(Problem { line, rule, what: what() });
            }
        }
    }
}

/// Judges the log of one host, whose connections follow each other.
#[derive(Clone)]
pub struct Check {
    params: Arc<Params>,
    connection: Option<(Replay, HostRules)>,
    events: u64,
    tally: Tally,
}

impl Check {
    /// For a host that runs this controller.
    pub fn new(params: &Arc<Params>) -> Self {
        Self { params: Arc::clone(params), connection: None, events: 0, tally: Tally::default() }
    }

    /// The next event, which is in this line of the log.
    ///
    /// # Errors
    /// The event cannot be played: it is not the `init` that must come first, or it has a value that is no window.
    pub fn event(&mut self, line: u64, event: &Event) -> Result<(), EventError> {
        let tally = &mut self.tally;
        if let (Event::Init { .. }, _) | (_, None) = (event, &self.connection) {
            let replay = Replay::begin(&self.params, event)?;
            let rules = HostRules::begin(self.params.controller().owns_window(), event, &replay.conn);
            self.connection = Some((replay, rules));
        } else if let Some((replay, rules)) = &mut self.connection {
            rules.before(line, event, &replay.conn, tally);
            let outcome = replay.play(event)?;
            if outcome.compared > 0 {
                tally.checked[Rule::Values as usize] += outcome.compared - 1;
                tally.check(Rule::Values, line, outcome.departure.is_none(), || outcome.departure.unwrap_or_default());
            }
            rules.after(event, &replay.conn);
        }
        self.events += 1;
        Ok(())
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The first problems, at most 1000, by their lines.
    pub fn problems(&self) -> &[Problem] {
        &self.tally.problems
    }

    /// Does the contract ask this of a host of the controller?
    pub fn asks(&self, rule: Rule) -> bool {
        rule.is_for_owners() || !self.params.controller().owns_window()
    }

    /// How often a rule was checked; for [`Rule::Values`] the values compared.
    pub fn checked(&self, rule: Rule) -> u64 {
        self.tally.checked[rule as usize]
    }

    /// How often a rule was broken; for [`Rule::Values`] the events that depart.
    pub fn broken(&self, rule: Rule) -> u64 {
        self.tally.broken[rule as usize]
    }
}
