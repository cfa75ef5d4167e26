// SPDX-License-Identifier: MIT OR Apache-2.0
//! A case as a file has it.

use std::fmt::Write;

use serde::Deserialize;
use tandem_scenario::{
    HEADER_BYTES, Scenario,
    file::{Overrides, parse},
    units::{Rate, Span},
};
use toml::Spanned;

use super::{
    claim::ClaimSpec,
    expression::Expression,
    row::{OF_PATH, place, states, word},
};

/// A file of cases/.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// The draft's heading.
    pub title: String,
    /// What the draft asks for, in our words.
    pub asks: String,
    /// What of the set-up is ours.
    pub setup: Option<String>,
    /// The cause of a miss.
    pub why: Option<String>,
    /// Rates and RTTs, each with each.
    pub grid: Option<Grid>,
    /// Single paths: a rate and an RTT each.
    #[serde(default)]
    pub paths: Vec<Path>,
    /// The paths of the reduced form.
    #[serde(default)]
    pub quick: Vec<Path>,
    /// When the test begins; with the run if not given.
    pub trigger: Option<Trigger>,
    /// As a scenario file has it, with `{...}` in its texts: calculated of each path.
    scenario: toml::Table,
    /// What is judged.
    pub claims: Vec<Spanned<ClaimSpec>>,
}

/// Rates and RTTs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    rates: Vec<Rate>,
    rtts: Vec<Span>,
}

/// A rate and a two-way propagation delay.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Path(pub Rate, pub Span);

/// When the flow enters a state.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// The state.
    enter: String,
    /// From this one; from any if not given.
    from: Option<String>,
    /// For the how manyth time, from 1.
    #[serde(default = "first")]
    pub nth: u32,
    /// And this many seconds later.
    after: Option<String>,
    /// By this time, seconds, it is to be.
    within: String,
}

fn first() -> u32 {
    1
}

impl Trigger {
    /// The numbers of the state, and of the one before it.
    pub fn states(&self) -> (Option<usize>, Option<usize>) {
        (word(&self.enter), self.from.as_deref().and_then(word))
    }
}

impl Path {
    /// By [`OF_PATH`]; `t`: when the trigger is.
    pub fn values(&self, packet_bytes: u32, t: f64) -> [f64; OF_PATH.len()] {
        let Self(Rate { bps }, rtt) = *self;
        let rate = bps as f64 / (8.0 * f64::from(packet_bytes));
        let round = rtt.as_secs_f64() + f64::from(packet_bytes + HEADER_BYTES) * 8.0 / bps as f64;
        let packet_kbit = f64::from(packet_bytes - HEADER_BYTES) * 8.0 / 1e3;
        [
            rate,
            bps as f64,
            rate * packet_kbit / 1e3,
            rtt.as_secs_f64(),
            round,
            rate * round,
            t,
            packet_bytes.into(),
            packet_kbit,
            f64::INFINITY,
        ]
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}, {}", self.0, self.1)
    }
}

/// Bytes of a packet; what scenarios have that do not say.
pub const PACKET_BYTES: u32 = tandem_scenario::DEFAULT_MTU;

impl CaseFile {
    /// Reads a file's text and poses each of its runs once.
    ///
    /// # Errors
    /// With what is wrong, and where.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let line = |at: usize| text[..at].lines().count() + 1;
        let at = |span: std::ops::Range<usize>, message: String| format!("line {}: {message}", line(span.start));
        let file: Self = toml::from_str(text).map_err(|e| at(e.span().unwrap_or_default(), e.message().into()))?;
        for name in file.trigger.iter().flat_map(|trigger| trigger.from.iter().chain([&trigger.enter])) {
            if !states().contains(&name.as_str()) {
                return Err(format!("trigger: there is no state `{name}`: write one of {}", states().join(", ")));
            }
        }
        for claim in &file.claims {
            claim.get_ref().start().map_err(|message| at(claim.span(), message))?;
        }
        if file.claims.is_empty() || file.all_paths().is_empty() {
            return Err("there is nothing to judge: add [[claims]], and [grid] or paths".into());
        }
        for path in file.all_paths().iter().chain(&file.quick) {
            file.search_ends(path)?;
            file.scenario(path, "bbr3", 1.0)?;
        }
        Ok(file)
    }

    /// All that the case is run on.
    pub fn all_paths(&self) -> Vec<Path> {
        let grid = self.grid.iter().flat_map(|g| g.rates.iter().flat_map(|r| g.rtts.iter().map(|t| Path(*r, *t))));
        grid.chain(self.paths.iter().copied()).collect()
    }

    /// By when the trigger is to be, seconds.
    pub(super) fn search_ends(&self, path: &Path) -> Result<f64, String> {
        self.trigger.as_ref().map_or(Ok(0.0), |trigger| calculated(&trigger.within, path, 0.0))
    }

    /// How long after it has entered the state the test begins, seconds.
    pub(super) fn delay(&self, path: &Path) -> Result<f64, String> {
        let after = self.trigger.as_ref().and_then(|trigger| trigger.after.as_ref());
        after.map_or(Ok(0.0), |after| calculated(after, path, 0.0))
    }

    /// The scenario on this path, if the trigger is at `t` seconds.
    pub(super) fn scenario(&self, path: &Path, controller: &str, t: f64) -> Result<Scenario, String> {
        let filled = filled(&toml::Value::Table(self.scenario.clone()), path, controller, t)?;
        let text = toml::to_string(&filled).map_err(|e| e.to_string())?;
        parse(&text, "scenario", "case", &Overrides::default()).map_err(|e| format!("{path}: {e}\n{text}"))
    }
}

fn calculated(text: &str, path: &Path, t: f64) -> Result<f64, String> {
    let of_path = path.values(PACKET_BYTES, t);
    let known = |name: &str| place(name).filter(|place| *place < OF_PATH.len());
    Ok(Expression::parse(text, &known)?.value(&|place| of_path[place]))
}

/// A value with all `{...}` in its texts calculated.
fn filled(value: &toml::Value, path: &Path, controller: &str, t: f64) -> Result<toml::Value, String> {
    let one = |value| filled(value, path, controller, t);
    Ok(match value {
        toml::Value::String(text) => toml::Value::String(filled_text(text, path, controller, t)?),
        toml::Value::Array(values) => toml::Value::Array(values.iter().map(one).collect::<Result<_, _>>()?),
        toml::Value::Table(table) => {
            let filled = table.iter().map(|(key, value)| Ok((key.clone(), one(value)?)));
            toml::Value::Table(filled.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// Times to the nanosecond, all else whole.
fn filled_text(text: &str, path: &Path, controller: &str, t: f64) -> Result<String, String> {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, behind) = after.split_once('}').ok_or_else(|| format!("`{text}`: a `}}` is missing"))?;
        done += before;
        rest = behind;
        if inside == "controller" {
            done += controller;
            continue;
        }
        let value = calculated(inside, path, t).map_err(|e| format!("`{text}`: {e}"))?;
        let decimals = if behind.starts_with('s') { 9 } else { 0 };
        write!(done, "{value:.decimals$}").map_err(|e| e.to_string())?;
    }
    Ok(done + rest)
}
