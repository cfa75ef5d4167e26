// SPDX-License-Identifier: MIT OR Apache-2.0
//! The advice as a whole, and as JSON.

use serde::Serialize;
use tandem_controllers::find;
use tandem_scenario::units::{Rate, Span};

use crate::{
    Answer, Answers, Assumed, Decision, Limits, Machine, Present, Question, Repeated, Way, machine::send_command,
    measured::Inferred, start::StartUp,
};

/// The whole advice.
pub struct Advice<'a> {
    /// What was asked.
    pub question: &'a Question<'a>,
    /// On the usual path: the advice.
    pub usual: Answer,
    /// On paths that differ in one thing.
    pub others: Vec<Answer>,
    /// The paths for which there was no time, by the value that differs.
    pub not_looked_at: Vec<String>,
    /// How the choice and the default begin on the usual path, as far as there was time for it.
    pub starts: Vec<StartUp>,
    /// The measured transfer in the simulator, if there is one.
    pub repeated: Option<Repeated>,
    /// What the machine runs now.
    pub present: &'a Present,
    /// Where the controller is to run.
    pub machine: &'a Machine,
}

/// The program and the command behind an advice.
pub struct Origin {
    /// The program's version.
    pub version: &'static str,
    /// The commit that it is built from.
    pub commit: &'static str,
    /// The command or the call that makes it again.
    pub command: String,
}

impl<'a> Advice<'a> {
    /// The advice from the answers to the question's cases; `None` if there was no time to answer the first.
    pub fn of(
        question: &'a Question<'a>,
        answers: Answers,
        present: &'a Present,
        machine: &'a Machine,
    ) -> Option<Self> {
        let Answers { answers, not_looked_at, starts, repeated } = answers;
        let mut answers = answers.into_iter();
        let usual = answers.next()?;
        Some(Self { question, usual, others: answers.collect(), not_looked_at, starts, repeated, present, machine })
    }
}

impl Advice<'_> {
    /// The command that switches the advised controller on for the whole machine; `None` if it is the default, or nothing here can.
    pub fn command(&self) -> Option<String> {
        self.way()?.command(&self.usual.decision.chosen)
    }

    /// The command by which one program uses it.
    pub fn command_for_one(&self) -> Option<String> {
        self.way()?.command_for_one(&self.usual.decision.chosen)
    }

    /// The command by which part of the machine's connections use it; needs [`Tools::loads`](crate::Tools).
    pub fn command_for_trial(&self) -> Option<String> {
        let can_try = self.machine.default.is_some() && self.machine.tools.loads;
        let present = self.present.stands_for.as_deref().unwrap_or(&self.present.name);
        self.way().filter(|_| can_try)?.command_for_trial(&self.usual.decision.chosen, present)
    }

    /// How the advised controller comes onto the machine.
    fn way(&self) -> Option<Way> {
        let chosen = &self.usual.decision.chosen;
        if *chosen == self.present.name {
            return None;
        }
        // With its own parameters, or if the kernel does not list it, it comes by eBPF.
        let name = chosen.split('@').next().unwrap_or(chosen);
        match find(name).ok().and_then(|c| self.machine.way(c))? {
            Way::Present | Way::Sysctl | Way::Module if chosen.contains('@') => Some(Way::Load),
            Way::Present => Some(Way::Sysctl),
            way => Some(way),
        }
    }

    /// The same for one transfer over QUIC, without root; `None` if QUIC cannot have it.
    pub fn command_without_root(&self) -> Option<String> {
        let chosen = &self.usual.decision.chosen;
        let controller = find(chosen.split('@').next()?).ok()?;
        self.machine.sends(controller).then(|| send_command(chosen))
    }

    /// The other cases in which the advice differs.
    pub fn changed(&self) -> impl Iterator<Item = &Answer> {
        self.others.iter().filter(|answer| answer.decision.chosen != self.usual.decision.chosen)
    }

    /// The other cases in which it is the same.
    pub fn unchanged(&self) -> impl Iterator<Item = &Answer> {
        self.others.iter().filter(|answer| answer.decision.chosen == self.usual.decision.chosen)
    }

    /// All of it, as `tandem advise --json` has it; docs/reference/result-keys.md describes the keys.
    pub fn results(&self, origin: &Origin) -> impl Serialize {
        let Question { known, limits, .. } = self.question;
        Output {
            version: origin.version,
            commit: origin.commit,
            command: origin.command.clone(),
            rate: known.rate,
            path: known.words(),
            rtt: known.rtt,
            first: self.cures(),
            headline: self.headline(),
            advice: &self.usual.decision.chosen,
            default: &self.present.name,
            stands_for: self.present.stands_for.as_deref(),
            try_it: self.command_for_one(),
            trial: self.command_for_trial(),
            switch_on: self.command(),
            without_root: self.command_without_root(),
            limits: *limits,
            inferred: &self.question.measured.inferred,
            cautions: &self.question.measured.cautions,
            assumed: known.assumed(),
            repeated: self.repeated.as_ref(),
            starts: &self.starts,
            paths: std::iter::once(&self.usual).chain(&self.others).map(|answer| self.of_path(answer)).collect(),
            not_looked_at: &self.not_looked_at,
        }
    }

    fn of_path<'a>(&'a self, answer: &'a Answer) -> OfPath<'a> {
        let names = self.question.candidates.iter().map(|c| &*c.flows.name);
        OfPath {
            differs: &answer.case.differs,
            rate: answer.case.rate,
            queue: answer.case.queue.to_string(),
            loss: answer.case.loss.0,
            neighbours: answer.case.neighbours.to_string(),
            reference: &answer.reference,
            duration_s: answer.length().1.duration.as_secs_f64(),
            warmup_s: answer.length().1.warmup.as_secs_f64(),
            is_clear: answer.is_clear(),
            how_sure: answer.sureness(self.question.time),
            is_cut_short: answer.is_cut_short,
            not_run: &answer.not_run,
            cautions: answer.cautions(&self.present.name),
            decision: &answer.decision,
            completion_s: names.zip(answer.completion_s.iter().copied()).collect(),
            is_extrapolated: answer.is_extrapolated,
        }
    }
}

#[derive(Serialize)]
struct Output<'a> {
    version: &'static str,
    commit: &'static str,
    command: String,
    rate: Rate,
    rtt: Span,
    /// In words.
    path: String,
    /// The other cures, which come before any controller.
    first: Vec<String>,
    /// The answer and the reason for it.
    headline: String,
    advice: &'a str,
    /// What the machine runs now.
    default: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stands_for: Option<&'a str>,
    /// Has one program use it; null as with `switch_on`.
    try_it: Option<String>,
    trial: Option<String>,
    /// Switches it on; null where nothing is to be switched, or nothing here can.
    switch_on: Option<String>,
    without_root: Option<String>,
    limits: Limits,
    inferred: &'a [Inferred],
    /// The values missing from the files of measurements.
    cautions: &'a [String],
    assumed: Vec<Assumed>,
    /// The measured transfer in the simulator; left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<&'a Repeated>,
    /// How the choice and the default begin on the first path.
    starts: &'a [StartUp],
    /// The path as assumed first, then those that differ in one thing.
    paths: Vec<OfPath<'a>>,
    /// The variations for which there was no time.
    not_looked_at: &'a [String],
}

#[derive(Serialize)]
struct OfPath<'a> {
    differs: &'a str,
    rate: Rate,
    queue: String,
    loss: f64,
    neighbours: String,
    /// What losses and delays are measured against: the flows run this.
    reference: &'a str,
    /// Duration of the longest runs.
    duration_s: f64,
    warmup_s: f64,
    /// Neither more time nor more seeds could change the choice; then the same in words.
    is_clear: bool,
    how_sure: String,
    /// The time was up before all was clear.
    is_cut_short: bool,
    not_run: &'a [String],
    cautions: Vec<&'a str>,
    #[serde(flatten)]
    decision: &'a Decision,
    /// Mean times of the transfer by controller; left out without --transfer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    completion_s: Vec<(&'a str, f64)>,
    /// Some transfers outlast their run; their time is extrapolated from its pace.
    is_extrapolated: bool,
}
