// SPDX-License-Identifier: MIT OR Apache-2.0
//! The advice as a whole, and as JSON.

use serde::Serialize;
use tandem_advise::{Answer, Assumed, Decision, Limits, Present, Question, Way, measured::Inferred, send_command};
use tandem_scenario::units::{Rate, Span};

use crate::{
    failure::Failure,
    origin::{COMMIT, command_line},
    output::json_text,
};

/// All that is to be said.
pub struct Advice<'a> {
    pub question: &'a Question<'a>,
    /// From measurements.
    pub inferred: &'a [Inferred],
    /// On the usual path: the advice.
    pub usual: &'a Answer,
    /// On paths that differ in one thing.
    pub others: &'a [Answer],
    /// Those for which there was no time, by what differs.
    pub not_looked_at: Vec<String>,
    pub present: &'a Present,
    pub time: Span,
    /// How a controller comes onto this machine.
    pub way: &'a dyn Fn(&str) -> Option<Way>,
}

impl Advice<'_> {
    /// The command that switches the advised controller on; `None` if it is the default, or nothing here can.
    pub fn command(&self) -> Option<String> {
        let chosen = &self.usual.decision.chosen;
        if *chosen == self.present.name {
            return None;
        }
        // With parameters of its own, or unknown to the kernel's list, it is eBPF's.
        let name = chosen.split('@').next().unwrap_or(chosen);
        match (self.way)(name) {
            Some(Way::Present | Way::Sysctl | Way::Module) if chosen.contains('@') => Way::Load.command(chosen),
            Some(Way::Present) => Way::Sysctl.command(chosen),
            Some(way) => way.command(chosen),
            None => None,
        }
    }

    /// The same for one transfer over QUIC, without root; `None` if QUIC cannot have it.
    pub fn command_without_root(&self) -> Option<String> {
        let chosen = &self.usual.decision.chosen;
        let controller = tandem_controllers::find(chosen.split('@').next()?).ok()?;
        (super::TOOLS.sends && !controller.owns_window() && !controller.counts_marks()).then(|| send_command(chosen))
    }

    /// Those of the other cases in which the advice is another.
    pub fn changed(&self) -> impl Iterator<Item = &Answer> {
        self.others.iter().filter(|answer| answer.decision.chosen != self.usual.decision.chosen)
    }

    /// Those in which it is the same.
    pub fn unchanged(&self) -> impl Iterator<Item = &Answer> {
        self.others.iter().filter(|answer| answer.decision.chosen == self.usual.decision.chosen)
    }
}

#[derive(Serialize)]
struct Output<'a> {
    version: &'static str,
    commit: &'static str,
    command: String,
    rate: Rate,
    rtt: Span,
    advice: &'a str,
    /// What the machine runs now.
    default: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stands_for: Option<&'a str>,
    /// Switches it on; null where nothing is to be switched, or nothing here can.
    switch_on: Option<String>,
    without_root: Option<String>,
    limits: Limits,
    inferred: &'a [Inferred],
    assumed: Vec<Assumed>,
    /// The path as assumed first, then those that differ in one thing.
    paths: Vec<OfPath<'a>>,
    /// What would have been varied, had there been time.
    not_looked_at: &'a [String],
}

#[derive(Serialize)]
struct OfPath<'a> {
    differs: &'a str,
    queue: String,
    loss: f64,
    neighbours: String,
    /// What losses and delays are measured against: the flows run this.
    reference: &'a str,
    duration_s: f64,
    warmup_s: f64,
    /// The time was up before all was clear.
    is_cut_short: bool,
    cautions: &'a [String],
    #[serde(flatten)]
    decision: &'a Decision,
    /// Mean times of the transfer by controller; left out without --transfer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    completion_s: Vec<(&'a str, f64)>,
    /// Some transfers outlast their run, and their time is worked out from its pace.
    is_extrapolated: bool,
}

pub fn json(advice: &Advice) -> Result<String, Failure> {
    let output = Output {
        version: env!("CARGO_PKG_VERSION"),
        commit: COMMIT,
        command: command_line(),
        rate: advice.question.known.rate,
        rtt: advice.question.known.rtt,
        advice: &advice.usual.decision.chosen,
        default: &advice.present.name,
        stands_for: advice.present.stands_for.as_deref(),
        switch_on: advice.command(),
        without_root: advice.command_without_root(),
        limits: advice.question.limits,
        inferred: advice.inferred,
        assumed: advice.question.known.assumed(),
        paths: std::iter::once(advice.usual).chain(advice.others).map(|answer| of_path(advice, answer)).collect(),
        not_looked_at: &advice.not_looked_at,
    };
    Ok(json_text(&output)?)
}

fn of_path<'a>(advice: &'a Advice, answer: &'a Answer) -> OfPath<'a> {
    let names = advice.question.candidates.iter().map(|c| &*c.flows.name);
    OfPath {
        differs: &answer.case.differs,
        queue: answer.case.queue.to_string(),
        loss: answer.case.loss.0,
        neighbours: answer.case.neighbours.to_string(),
        reference: &answer.reference,
        duration_s: answer.length.duration.as_secs_f64(),
        warmup_s: answer.length.warmup.as_secs_f64(),
        is_cut_short: answer.is_cut_short,
        cautions: &answer.cautions,
        decision: &answer.decision,
        completion_s: names.zip(answer.completion_s.iter().copied()).collect(),
        is_extrapolated: answer.is_extrapolated,
    }
}
