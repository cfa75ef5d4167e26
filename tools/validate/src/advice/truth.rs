// SPDX-License-Identifier: MIT OR Apache-2.0
//! An answer of `tandem advise` against runs that are ten times as long, with other seeds.

use serde::{Deserialize, Serialize};
use tandem_advise::{
    Answer, Candidate, Doing, Judged, Known, Limits, Machine, Present, Question, Why, candidates, measured::Measured,
};
use tandem_batch::{Batch, Shown};
use tandem_scenario::{DEFAULT_MTU, units::Span};
use tandem_sim::Sim;
use tandem_statistics::Looks;

use super::draw::Drawn;

/// How much longer, up to this many packets: a run of as many takes half a minute.
const LONGER: u64 = 10;
const MOST_PACKETS: f64 = 300e6;
/// The seeds of the advice are the first; these are others.
const FIRST_SEED: u64 = 10_001;
/// There are more than [`Question::USUAL_SEEDS`] only while a controller's runs together have no more packets than this.
const PACKETS_OF_MORE_SEEDS: f64 = 300e6;
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
    /// Its goodput is the final one, as far as can be told. Older rows do not say.
    #[serde(default = "unless_said")]
    pub is_steady: bool,
}

fn unless_said() -> bool {
    true
}

impl Seen {
    /// Does it keep the limits, as far as its interval tells, and may it have more goodput than a choice that is [as good](AS_GOOD) leaves it?
    fn may_prove_wrong(&self, chosen: &Self) -> bool {
        let least_mbps = (chosen.goodput_mbps - chosen.goodput_half_mbps).max(0.0);
        self.is_within_limits && self.goodput_mbps + self.goodput_half_mbps >= least_mbps / AS_GOOD
    }
}

/// What became of a path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    pub number: u64,
    /// In the spelling of the options; the kind of jitter and of trace in words.
    pub path: String,
    pub advised: String,
    pub is_steady: bool,
    pub advice: Vec<Seen>,
    pub truth: Vec<Seen>,
}

impl Outcome {
    /// Its long runs, if the short runs are still the same: what has as many seeds in both has the same goodput.
    fn truth_for(&self, advice: &[Seen]) -> &[Seen] {
        let pairs = advice.iter().flat_map(|new| self.advice.iter().map(move |old| (old, new)));
        let comparable: Vec<_> =
            pairs.filter(|(old, new)| old.controller == new.controller && old.seeds == new.seeds).collect();
        // A number read from text may be another in its last digit.
        let is_same = |(old, new): &(&Seen, &Seen)| (old.goodput_mbps / new.goodput_mbps - 1.0).abs() < 1e-12;
        if !comparable.is_empty() && comparable.iter().all(is_same) { &self.truth } else { &[] }
    }
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
        is_steady: judged.is_steady,
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

/// Asks for an advice, then runs those that it left a chance for longer, as far as the path's earlier `outcome` lacks them.
pub fn judge(number: u64, drawn: &Drawn, earlier: Option<&Outcome>, batch: &Batch) -> anyhow::Result<Outcome> {
    let known = &drawn.known;
    let Usual { candidates, default } = Usual::on(known)?;
    let limits = Limits { gain: MIN_GAIN, ..Limits::usual(known.rtt) };
    let nothing = Measured::default();
    let shown = Shown::new(false);
    let advises = |doing: Doing| shown.tell(doing.share, &format!("path {number}: the advice"));
    let question = Question {
        limits,
        cancelled: batch.cancelled,
        store: batch.store,
        time: TIME,
        watch: Some(&advises),
        ..Question::usual(known, &nothing, &candidates, &default, &Sim)
    };
    let answer = one(&question)?;
    let advice: Vec<Seen> = answer.decision.controllers.iter().map(seen).collect();
    let mut left = contenders(&advice, &answer.decision.chosen, &candidates, &default);
    let packets_per_s = known.rate.packets_per_s(DEFAULT_MTU);
    let (duration, warmup) = longer(&answer, packets_per_s);
    let words = |of: &[Candidate]| {
        let names: Vec<&str> = of.iter().map(|candidate| &*candidate.flows.name).collect();
        format!("path {number}: {:.0} s of {}", duration.as_secs_f64(), names.join(", "))
    };
    let long = Question {
        first_seed: FIRST_SEED,
        duration: Some(duration),
        warmup: Some(warmup),
        most_seeds: seeds_of_truth(duration.as_secs_f64() * packets_per_s),
        ..question
    };
    let truth_of = |of: &[Candidate], least_seeds: u64| -> anyhow::Result<Vec<Seen>> {
        let runs_on = |doing: Doing| shown.tell(doing.share, &words(of));
        let answer = one(&Question { watch: Some(&runs_on), candidates: of, least_seeds, ..long })?;
        Ok(answer.decision.controllers.iter().map(seen).collect())
    };
    let chosen = &answer.decision.chosen;
    let mut truth = earlier.map_or(&[][..], |earlier| earlier.truth_for(&advice)).to_vec();
    for look in Looks::from_to(long.least_seeds as usize, long.most_seeds as usize).iter() {
        let lacking = lacking(&left, &truth, look.seeds, &default);
        if !lacking.is_empty() {
            merge(&mut truth, truth_of(&lacking, look.seeds as u64)?);
        }
        if !is_undecided(&truth, chosen) {
            break;
        }
        left = contenders(&truth, chosen, &candidates, &default);
    }
    Ok(Outcome {
        number,
        path: drawn.words.clone(),
        advised: chosen.clone(),
        is_steady: answer.decision.why != Why::NotSteady,
        advice,
        truth,
    })
}

/// Those whose long runs have fewer seeds than these, with the default, without which nothing can be judged; nobody if none lacks any.
fn lacking(of: &[Candidate], truth: &[Seen], seeds: usize, default: &str) -> Vec<Candidate> {
    let lacks = |candidate: &&Candidate| {
        let name = &candidate.flows.name;
        !truth.iter().any(|seen| seen.controller == *name && seen.seeds >= seeds)
    };
    let lacks_or_default = |candidate: &&Candidate| candidate.flows.name == default || lacks(candidate);
    if of.iter().any(|candidate| lacks(&candidate)) {
        of.iter().filter(lacks_or_default).cloned().collect()
    } else {
        Vec::new()
    }
}

fn merge(truth: &mut Vec<Seen>, new: Vec<Seen>) {
    truth.retain(|seen| new.iter().all(|better| better.controller != seen.controller));
    truth.extend(new);
    truth.sort_by(|a, b| b.goodput_mbps.total_cmp(&a.goodput_mbps));
}

/// The rule stops where its own choice is clear. More seeds could still show that the advised controller exceeds a limit, or that one that may have more
/// goodput keeps them. Those that still may get as many seeds as the next look has.
fn is_undecided(truth: &[Seen], advised: &str) -> bool {
    let Some(chosen) = truth.iter().find(|seen| seen.controller == advised) else { return false };
    let may_exceed = chosen.is_within_limits
        && chosen.stolen.zip(chosen.stolen_half).is_some_and(|(stolen, half)| stolen + half > Limits::USUAL_STOLEN);
    may_exceed || truth.iter().any(|seen| seen.controller != advised && seen.may_prove_wrong(chosen))
}

fn one(question: &Question) -> anyhow::Result<Answer> {
    // All is known.
    let answers = question.answers(&question.known.cases()[..1])?;
    answers.answers.into_iter().next().ok_or_else(|| anyhow::anyhow!("interrupted"))
}

/// The choice, the default, and each that may prove the choice wrong.
fn contenders(advice: &[Seen], chosen: &str, all: &[Candidate], default: &str) -> Vec<Candidate> {
    let of = |name: &str| advice.iter().find(|seen| seen.controller == name);
    let is_contender = |name: &str| {
        let may_prove_wrong = of(name).zip(of(chosen)).is_some_and(|(seen, chosen)| seen.may_prove_wrong(chosen));
        name == chosen || name == default || may_prove_wrong
    };
    all.iter().filter(|candidate| is_contender(&candidate.flows.name)).cloned().collect()
}

/// All of what the advice ran is cut off.
fn longer(answer: &Answer, packets_per_s: f64) -> (Span, Span) {
    let (_, longest) = answer.length();
    let most = Span { ns: (MOST_PACKETS / packets_per_s * 1e9) as u64 };
    let duration = Span { ns: LONGER * longest.duration.ns }.min(most).max(Span { ns: 2 * longest.duration.ns });
    (duration, longest.duration)
}

fn seeds_of_truth(packets_of_run: f64) -> u64 {
    ((PACKETS_OF_MORE_SEEDS / packets_of_run) as u64).clamp(Question::USUAL_SEEDS, Question::MOST_SEEDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(goodput_mbps: f64, goodput_half_mbps: f64) -> Seen {
        let controller = "any".into();
        Seen {
            controller,
            seeds: 5,
            goodput_mbps,
            goodput_half_mbps,
            stolen: None,
            stolen_half: None,
            is_within_limits: true,
            is_steady: true,
        }
    }

    /// A choice of 95 +- 1.9 Mb/s is as good as 98 Mb/s.
    #[test]
    fn what_cannot_have_over_5_percent_more_proves_nothing() {
        let chosen = seen(95.0, 1.9);
        assert!(!seen(97.0, 0.9).may_prove_wrong(&chosen));
        assert!(seen(97.0, 1.1).may_prove_wrong(&chosen) && seen(99.0, 0.0).may_prove_wrong(&chosen));
        assert!(!Seen { is_within_limits: false, ..seen(99.0, 0.0) }.may_prove_wrong(&chosen));
        // One run tells no interval.
        assert!(seen(1.0, 0.0).may_prove_wrong(&seen(95.0, f64::MAX)));
    }

    #[test]
    fn long_runs_are_kept_while_the_short_ones_are_the_same() {
        let named = |controller: &str, goodput_mbps| Seen { controller: controller.into(), ..seen(goodput_mbps, 1.0) };
        let (advice, truth) = (vec![named("cubic", 98.0), named("bbr", 50.0)], vec![named("cubic", 97.0)]);
        let earlier = Outcome { number: 1, path: "p".into(), advised: "cubic".into(), is_steady: true, advice, truth };
        let more_seeds = Seen { seeds: 8, ..named("bbr", 51.0) };
        assert_eq!(earlier.truth_for(&[named("cubic", 98.0), more_seeds.clone()]).len(), 1);
        assert!(earlier.truth_for(&[named("cubic", 99.0), more_seeds.clone()]).is_empty());
        assert!(earlier.truth_for(&[more_seeds]).is_empty());
    }

    #[test]
    fn cheap_runs_have_more_seeds() {
        assert_eq!([1e6, 6e6, 300e6].map(seeds_of_truth), [100, 50, 20]);
    }
}
