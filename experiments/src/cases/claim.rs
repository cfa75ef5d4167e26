// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a case claims, judged while the run goes on: nothing is kept but what the claim asks for.

use serde::{Deserialize, Serialize};

use super::{
    expression::Expression,
    row::{OF_PATH, Row, place, states, value, word},
};

/// A claim as in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimSpec {
    /// In words.
    pub text: String,
    /// The visits that it is about: a state, `PROBE_BW` for the four of its cycle, or `RUN`, from the trigger to the end.
    #[serde(rename = "in", default = "run")]
    of: String,
    /// Which visit since the trigger, from 1; 0: all.
    #[serde(default = "one")]
    visit: u32,
    /// At which moments of it.
    #[serde(default)]
    at: At,
    /// From this time on only, seconds.
    since: Option<String>,
    /// Until before this time, seconds.
    until: Option<String>,
    /// What holds then.
    holds: String,
    /// What is shown of it.
    show: Option<String>,
    /// Is a number in it ours rather than the draft's?
    #[serde(default)]
    pub ours: bool,
}

fn run() -> String {
    "RUN".into()
}

fn one() -> u32 {
    1
}

/// Moments of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum At {
    /// All.
    #[default]
    Each,
    /// One at least.
    Some,
    /// The first.
    Enter,
    /// The last, once it is over.
    Leave,
    /// The first after it.
    After,
    /// The last, also the run's.
    End,
}

/// A claim while a run goes on.
#[derive(Debug)]
pub struct Claim {
    /// Numbers of states; `None`: all, and none.
    states: Option<Vec<usize>>,
    visit: u32,
    at: At,
    since: Option<Expression>,
    until: Option<Expression>,
    holds: Expression,
    show: Option<Expression>,
    visits: u32,
    is_inside: bool,
    entry: Option<Row>,
    from: Option<Row>,
    outcome: Outcome,
}

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// How often it was looked at; 0: its moment never came.
    pub looks: u64,
    /// How often it did not hold.
    pub misses: u64,
    /// The smallest and the largest of what is shown.
    pub shown: Option<(f64, f64)>,
    #[serde(skip)]
    is_some: bool,
}

impl Outcome {
    /// Does the claim hold?
    pub fn holds(&self) -> bool {
        if self.is_some { self.misses < self.looks } else { self.looks > 0 && self.misses == 0 }
    }
}

impl ClaimSpec {
    /// Ready for a run.
    ///
    /// # Errors
    /// With the part of it that is wrong.
    pub(super) fn start(&self) -> Result<Claim, String> {
        let read = |text: &String| Expression::parse(text, &place);
        let states = match self.of.as_str() {
            "RUN" => None,
            "PROBE_BW" => Some(["DOWN", "CRUISE", "REFILL", "UP"].into_iter().filter_map(word).collect()),
            name if states().contains(&name) => Some(word(name).into_iter().collect()),
            name => {
                return Err(format!(
                    "there is no state `{name}`: write RUN, PROBE_BW or one of {}",
                    states().join(", ")
                ));
            }
        };
        Ok(Claim {
            states,
            visit: self.visit,
            at: self.at,
            since: self.since.as_ref().map(read).transpose()?,
            until: self.until.as_ref().map(read).transpose()?,
            holds: read(&self.holds)?,
            show: self.show.as_ref().map(read).transpose()?,
            visits: 0,
            is_inside: false,
            entry: None,
            from: None,
            outcome: Outcome { looks: 0, misses: 0, shown: None, is_some: self.at == At::Some },
        })
    }
}

impl Claim {
    /// The run has come to `row`, in this state; `before` was the row before it. `t` is when the trigger was.
    pub fn see(&mut self, row: &Row, state: Option<usize>, before: &Row, t: f64, of_path: &[f64; OF_PATH.len()]) {
        let is_meant = self.states.as_ref().is_none_or(|states| state.is_some_and(|state| states.contains(&state)));
        let is_inside = row.time() >= t && is_meant;
        let was_inside = std::mem::replace(&mut self.is_inside, is_inside);
        if is_inside && !was_inside {
            self.visits += 1;
            self.entry = Some(row.clone());
        }
        let is_meant = self.visit == 0 || self.visits == self.visit;
        if !is_meant || self.entry.is_none() {
            return;
        }
        match (was_inside, is_inside, self.at) {
            (false, true, At::Enter) | (true, false, At::After) => self.look(row, before, of_path),
            (true, false, At::Leave | At::End) => self.look(before, before, of_path),
            (_, true, At::Each | At::Some) => self.look(row, before, of_path),
            (_, true, At::End) => self.note(row, of_path),
            _ => {}
        }
    }

    /// The run is over; `last` was its last row.
    pub fn end(mut self, last: &Row, of_path: &[f64; OF_PATH.len()]) -> Outcome {
        if self.at == At::End && self.is_inside && (self.visit == 0 || self.visits == self.visit) {
            self.look(last, last, of_path);
        }
        self.outcome
    }

    /// Is the time one that the claim speaks of? Notes the first row of which it is.
    fn note(&mut self, row: &Row, of_path: &[f64; OF_PATH.len()]) {
        let time = |expression: &Expression| expression.value(&|place| value(place, of_path, [row; 4]));
        if self.from.is_none() && self.since.as_ref().is_none_or(|since| row.time() >= time(since)) {
            self.from = Some(row.clone());
        }
    }

    fn look(&mut self, row: &Row, before: &Row, of_path: &[f64; OF_PATH.len()]) {
        self.note(row, of_path);
        let (Some(from), Some(entry)) = (&self.from, &self.entry) else { return };
        let of = |place| value(place, of_path, [row, before, entry, from]);
        if self.until.as_ref().is_some_and(|until| row.time() >= until.value(&of)) {
            return;
        }
        self.outcome.looks += 1;
        self.outcome.misses += u64::from(self.holds.value(&of) == 0.0);
        if let Some(show) = &self.show {
            let shown = show.value(&of);
            let (low, high) = self.outcome.shown.unwrap_or((shown, shown));
            self.outcome.shown = Some((low.min(shown), high.max(shown)));
        }
    }
}
