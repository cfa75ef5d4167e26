// SPDX-License-Identifier: MIT OR Apache-2.0
//! An answer of `tandem advise` against runs that are ten times as long, with other seeds.

use serde::{Deserialize, Serialize};
use tandem_advise::{
    Answer, Candidate, Judged, Known, Limits, Machine, Present, Question, Why, candidates, measured::Measured,
};
use tandem_batch::Batch;
use tandem_scenario::units::Span;
use tandem_sim::Sim;

use super::draw::Drawn;

/// How much longer, up to this many packets: a run of as many takes half a minute.
const LONGER: u64 = 10;
const MOST_PACKETS: f64 = 300e6;
/// The seeds of the advice are the first; these are others.
const FIRST_SEED: u64 = 10_001;
const MOST_SEEDS: u64 = 20;
/// The time is bounded by the lengths of the runs, not by the clock, so that any machine finds the same.
const TIME: Span = Span::from_secs(24 * 3600);
/// What the issue of the answer is judged by: a choice is as good as the best if it has this share of its goodput.
pub const AS_GOOD: f64 = 0.95;
/// So that the rule may choose what gains as little as that.
const MIN_GAIN: f64 = 1.0 - AS_GOOD;

/// A controller, as the advice and the long runs see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen {
    pub controller: String,
    pub seeds: usize,
    pub goodput_mbps: f64,
    pub goodput_half_mbps: f64,
    /// Of the neighbours' goodput; null without neighbours.
    pub stolen: Option<f64>,
    pub stolen_half: Option<f64>,
    pub is_within_limits: bool,
}

/// What became of a path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    pub number: u64,
    /// In the spelling of the options.
    pub path: String,
    pub advised: String,
    pub is_steady: bool,
    pub advice: Vec<Seen>,
    pub truth: Vec<Seen>,
}

fn seen(judged: &Judged) -> Seen {
    let half = |half: Option<f64>| half.unwrap_or(f64::MAX);
    Seen {
        controller: judged.controller.clone(),
        seeds: judged.seeds,
        goodput_mbps: judged.goodput_mbps.value,
        goodput_half_mbps: half(judged.goodput_mbps.half_width),
        stolen: judged.stolen.map(|stolen| stolen.value),
        stolen_half: judged.stolen.map(|stolen| half(stolen.half_width)),
        is_within_limits: judged.is_within_limits,
    }
}

/// What `advise` chooses from on a Debian machine, and what that machine has.
pub struct Usual {
    pub candidates: Vec<Candidate>,
    pub default: String,
}

impl Usual {
    /// On this path.
    pub fn on(known: &Known) -> anyhow::Result<Self> {
        let machine = Machine::debian();
        let present = Present::new(None, &machine)?;
        let candidates = candidates(&[], known.flows(), &machine, &present, known.ecn)?;
        Ok(Self { candidates, default: present.name })
    }
}

/// Asks for an advice, then runs those that it left a chance for longer.
pub fn judge(number: u64, drawn: &Drawn, batch: &Batch) -> anyhow::Result<Outcome> {
    let known = &drawn.known;
    let Usual { candidates, default } = Usual::on(known)?;
    let limits = Limits { gain: MIN_GAIN, ..Limits::usual(known.rtt) };
    let nothing = Measured::default();
    let question = Question {
        limits,
        most_seeds: MOST_SEEDS,
        cancelled: batch.cancelled,
        store: batch.store,
        time: TIME,
        ..Question::usual(known, &nothing, &candidates, &default, &Sim)
    };
    let answer = one(&question)?;
    let contenders = contenders(&answer, &candidates, &default);
    let (duration, warmup) = longer(&answer, known.rate.bps as f64 / 8.0 / 1500.0);
    let long = Question {
        candidates: &contenders,
        first_seed: FIRST_SEED,
        duration: Some(duration),
        warmup: Some(warmup),
        ..question
    };
    let truth = one(&long)?;
    Ok(Outcome {
        number,
        path: drawn.words.clone(),
        advised: answer.decision.chosen.clone(),
        is_steady: answer.decision.why != Why::NotSteady,
        advice: answer.decision.controllers.iter().map(seen).collect(),
        truth: truth.decision.controllers.iter().map(seen).collect(),
    })
}

fn one(question: &Question) -> anyhow::Result<Answer> {
    let cases = question.known.cases();
    let answers = question.answers(&cases)?;
    answers.answers.into_iter().next().ok_or_else(|| anyhow::anyhow!("interrupted"))
}

/// The choice, the default, and each that may prove the choice wrong: within the limits, or maybe so, it has more goodput than a choice that is as
/// good allows, as far as both intervals tell.
fn contenders(answer: &Answer, all: &[Candidate], default: &str) -> Vec<Candidate> {
    let decision = &answer.decision;
    let half = |judged: &Judged| judged.goodput_mbps.half_width.unwrap_or(f64::MAX);
    let least = |judged: &Judged| judged.goodput_mbps.value - half(judged);
    let as_good_mbps = decision.of(&decision.chosen).map_or(0.0, |chosen| least(chosen).max(0.0) / AS_GOOD);
    let has_chance =
        |judged: &Judged| judged.is_within_limits && judged.goodput_mbps.value + half(judged) >= as_good_mbps;
    let is_contender =
        |name: &str| name == decision.chosen || name == default || decision.of(name).is_some_and(has_chance);
    all.iter().filter(|candidate| is_contender(&candidate.flows.name)).cloned().collect()
}

/// All of what the advice ran is cut off.
fn longer(answer: &Answer, packets_per_s: f64) -> (Span, Span) {
    let (_, longest) = answer.length();
    let most = Span { ns: (MOST_PACKETS / packets_per_s * 1e9) as u64 };
    let duration = Span { ns: LONGER * longest.duration.ns }.min(most).max(Span { ns: 2 * longest.duration.ns });
    (duration, longest.duration)
}
