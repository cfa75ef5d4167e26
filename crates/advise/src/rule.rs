// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rule by which `tandem advise` chooses; docs/advise.md states it for users. All of its constants are ours.
//!
//! Within the limits (what neighbours lose, what the queue's delay grows by) is what does not surely exceed one of them, on this path and, as far as
//! the present default keeps them there, on the paths that are as likely. The easiest to deploy comes first, the present default before all. What
//! takes more effort is chosen only if it surely gains enough over what takes less.

use serde::Serialize;
use tandem_scenario::units::Span;
use tandem_statistics::{Estimate, Looks, Neighbours, mean, stolen};

/// What a controller may do to others and still be advised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limits {
    /// Share of their goodput that neighbours may lose against the reference.
    pub stolen: f64,
    /// By how much the 95th percentile of the queueing delay may exceed the reference's, ms.
    pub added_delay_ms: f64,
    /// The gain in what counts, a share of the default's, that is worth a change.
    pub gain: f64,
    /// What counts.
    pub goal: Goal,
}

/// What a controller is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The highest goodput.
    #[default]
    Goodput,
    /// The lowest round-trip time, propagation and the 95th percentile of the wait in the queue together, of those that keep the goodput.
    Delay,
    /// The highest power: goodput over that time (Kleinrock 1979, ICC).
    Both,
}

impl std::str::FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "goodput" => Ok(Self::Goodput),
            "delay" => Ok(Self::Delay),
            "both" => Ok(Self::Both),
            other => Err(format!("`{other}` is no goal: give `goodput`, `delay` or `both`")),
        }
    }
}

/// On short paths, where half the RTT is less than a browser or a call would notice. Ours.
const LEAST_DELAY_LIMIT: Span = Span::from_ms(10);

/// By how much the delay may grow if nobody says: half the RTT, but 10 ms at least. Ours.
pub fn usual_delay_limit(rtt: Span) -> Span {
    Span { ns: rtt.ns / 2 }.max(LEAST_DELAY_LIMIT)
}

/// A difference in goodput of less than this share is none.
const SAME: f64 = 0.01;
/// An interval of half this share of the best goodput, or of this share of the neighbours' goodput, is narrow enough.
const NARROW: f64 = 0.05;
/// Neighbours that use less than this share of what they leave free cannot be robbed: what they lose counts as a share of that. Ours.
const LITTLE: f64 = 0.1;
/// What changes by more than this share of its part is not steady. Ours.
const DRIFT: f64 = 0.1;

/// A controller on one path, seed by seed, in the order of the seeds. Lists may differ in length between controllers; they begin with
/// the same seed, and what is compared is compared by seed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    pub name: String,
    /// The smaller, the easier it is to have it on this machine.
    pub effort: u8,
    /// Of the path, two-way, ms.
    pub base_rtt_ms: f64,
    /// Goodput, or a transfer's size over its time, Mb/s.
    pub goodput_mbps: Vec<f64>,
    /// The goodput of each neighbour beside it, Mb/s; empty without neighbours. A transfer's neighbours are one, all together.
    pub neighbours_mbps: Vec<Vec<f64>>,
    /// Of a reference that is exchangeable with its neighbours: the goodput of each own flow, Mb/s; otherwise empty.
    pub peers_mbps: Vec<Vec<f64>>,
    /// The 95th percentile of the queueing delay, ms.
    pub delay_ms: Vec<f64>,
    /// By how much its goodput rose from the first half of what was measured to the second, as a share of what its flows would have if all had
    /// the same; empty where nothing is measured by halves.
    pub drift: Vec<f64>,
    /// How long it took until it had nine tenths of what it got in the end, seconds; empty where nothing has an end.
    pub startup_s: Vec<f64>,
    /// What was measured is shorter than the time from loss to loss, as far as that is known: a part of a cycle.
    pub is_short: bool,
    /// Paths that are as likely, on which it exceeds a limit and the default does not: by what differs.
    pub exceeds_with: Vec<String>,
}

impl Observed {
    /// What counts of it, seed by seed: the more, the better.
    fn score(&self, goal: Goal) -> Vec<f64> {
        let rtts_ms = self.delay_ms.iter().map(|delay_ms| self.base_rtt_ms + delay_ms);
        match goal {
            Goal::Goodput => self.goodput_mbps.clone(),
            Goal::Delay => rtts_ms.map(|ms| 1.0 / ms).collect(),
            Goal::Both => self.goodput_mbps.iter().zip(rtts_ms).map(|(mbps, ms)| mbps / ms).collect(),
        }
    }

    /// What it and its neighbours had together, Mb/s.
    fn carried_mbps(&self) -> f64 {
        mean(&self.goodput_mbps) + self.neighbours_mean_mbps()
    }

    fn neighbours_mean_mbps(&self) -> f64 {
        mean(&self.neighbours_mbps.iter().map(|seed| seed.iter().sum()).collect::<Vec<f64>>())
    }

    /// Is it measured over a whole cycle, and did nothing move?
    pub fn is_steady(&self, looks: &Looks) -> bool {
        !self.is_short && !self.moves(looks)
    }

    /// Was it still on its way to what it gets in the end?
    fn moves(&self, looks: &Looks) -> bool {
        let drift = looks.widened(Estimate::of_mean(&self.drift));
        !self.drift.is_empty() && drift.value.abs() > DRIFT.max(half(drift))
    }
}

/// Without an interval chance may have done anything.
fn half(estimate: Estimate) -> f64 {
    estimate.half_width.unwrap_or(f64::INFINITY)
}

/// Is it above the limit, as far as seeds tell?
fn exceeds(estimate: Estimate, limit: f64) -> bool {
    estimate.value - half(estimate) > limit
}

/// Is the value on one side of the limit, as far as seeds tell, or near enough to be known?
fn is_clear_of(estimate: Estimate, limit: f64, narrow: f64) -> bool {
    (estimate.value - limit).abs() > half(estimate) || half(estimate) <= narrow
}

/// What the rule finds of a controller.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// With its parameters.
    pub controller: String,
    /// How many were run.
    pub seeds: usize,
    /// Goodput of all own flows, or a transfer's size over its time, Mb/s.
    pub goodput_mbps: Estimate,
    /// By how much its goodput is above that of the best within the limits; of the same seeds.
    pub above_best_mbps: Estimate,
    /// Share of their goodput that the neighbours lose against the reference; null without neighbours.
    pub stolen: Option<Estimate>,
    /// The 95th percentile of the queueing delay, ms.
    pub delay_ms: Estimate,
    /// The same less the reference's.
    pub added_delay_ms: Estimate,
    /// How long it took from its start until a whole second had 90 % of its steady goodput, seconds; null for transfers.
    pub startup_s: Option<Estimate>,
    /// Do neighbours surely lose more than the limit? What they lose counts less where they leave nearly all of the path free.
    pub takes_too_much: bool,
    /// Does it keep within all [`Limits`], as far as seeds tell?
    pub is_within_limits: bool,
    /// What was measured is what it gets in the end, as far as can be told. No choice is made of one that is not steady.
    pub is_steady: bool,
    /// Paths that are as likely, on which it exceeds a limit and the default does not.
    pub exceeds_with: Vec<String>,
    /// Cannot be told from the best within the limits.
    pub is_tied_with_best: bool,
    /// More seeds could change what becomes of it.
    pub is_open: bool,
}

/// Why the choice fell as it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The default is within the limits, and nothing else there gains enough to be worth a change.
    DefaultIsAsGood,
    /// It has more goodput than the default, which is within the limits.
    Better,
    /// The default exceeds a limit, and this is the best that does not.
    DefaultExceedsLimits,
    /// No controller keeps within the limits, so the default stays.
    NoneWithinLimits,
    /// The default, or what it is measured against, was not steady in the time that there was: nothing is said, and it stays.
    NotSteady,
}

/// The choice on one path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The controller to run, with its parameters.
    pub chosen: String,
    /// Why it is this one.
    pub why: Why,
    /// The choice's goodput over the default's, less 1; null if it is the default, or if that got nothing.
    pub gain: Option<Estimate>,
    /// Nothing that more seeds could change is open.
    pub is_clear: bool,
    /// The highest goodput first.
    pub controllers: Vec<Judged>,
}

impl Decision {
    /// What was found of a controller.
    pub fn of(&self, controller: &str) -> Option<&Judged> {
        self.controllers.iter().find(|judged| judged.controller == controller)
    }
}

/// Chooses. `reference` is what the path would carry if the flows were of their neighbours' kind, or without neighbours the default's run;
/// `default` names one of `observed`. Who looks at the seeds again and again has intervals as wide as `looks` asks.
pub fn decide(
    observed: &[Observed],
    default: &str,
    reference: &Observed,
    limits: Limits,
    looks: &Looks,
) -> Option<Decision> {
    let present = observed.iter().find(|o| o.name == default)?;
    let carried_mbps = observed.iter().chain([reference]).map(Observed::carried_mbps).fold(0.0, f64::max);
    let judge_one = |o| (judge(o, (reference, default), carried_mbps, limits, looks), o);
    let mut judged: Vec<(Judged, &Observed)> = observed.iter().map(judge_one).collect();
    judged.sort_by(|(a, _), (b, _)| b.goodput_mbps.value.total_cmp(&a.goodput_mbps.value));
    let is_steady = !reference.moves(looks) && !present.moves(looks);
    let chosen = if is_steady { choose(&judged, present, limits, looks) } else { None };
    let default_is_within = judged.iter().any(|(judged, o)| o.name == default && judged.is_within_limits);
    let why = match chosen {
        None if !is_steady => Why::NotSteady,
        None => Why::NoneWithinLimits,
        Some(chosen) if chosen.name == default => Why::DefaultIsAsGood,
        Some(_) if default_is_within => Why::Better,
        Some(_) => Why::DefaultExceedsLimits,
    };
    let chosen = chosen.unwrap_or(present);
    let best = judged.iter().find(|(judged, _)| judged.may_be_chosen()).map_or(present, |(_, observed)| *observed);
    for (judged, observed) in &mut judged {
        compare(judged, observed, best, looks);
        judged.is_open = is_open(judged, observed, chosen, limits, looks);
    }
    let is_clear = judged.iter().all(|(judged, _)| !judged.is_open);
    let controllers = judged.into_iter().map(|(judged, _)| judged).collect();
    let gain = gain(chosen, present, Goal::Goodput).map(|gain| looks.widened(gain));
    Some(Decision { gain, chosen: chosen.name.clone(), why, is_clear, controllers })
}

impl Judged {
    fn may_be_chosen(&self) -> bool {
        self.is_within_limits && self.is_steady && self.exceeds_with.is_empty()
    }
}

/// The default if it may be chosen; then, with more and more effort, what surely gains enough over that. `judged` has the highest goodput first.
fn choose<'a>(
    judged: &[(Judged, &'a Observed)],
    present: &'a Observed,
    limits: Limits,
    looks: &Looks,
) -> Option<&'a Observed> {
    // Who waits less because it sends less has done nothing.
    let keeps_goodput = |o: &Observed| {
        let lost = gain(o, present, Goal::Goodput).map(|gain| looks.widened(gain * -1.0));
        limits.goal != Goal::Delay || !lost.is_some_and(|lost| exceeds(lost, limits.gain))
    };
    let may_be_chosen = judged.iter().filter(|(judged, o)| judged.may_be_chosen() && keeps_goodput(o));
    let score = |o: &Observed| mean(&o.score(limits.goal));
    let mut in_question: Vec<&Observed> = may_be_chosen.map(|(_, o)| *o).collect();
    in_question.sort_by(|a, b| score(b).total_cmp(&score(a)));
    // Of what is as easy, the best stays first.
    in_question.sort_by_key(|o| (o.name != present.name, o.effort));
    in_question.into_iter().reduce(|chosen, next| {
        let gain = gain(next, chosen, limits.goal).map(|gain| looks.widened(gain));
        if gain.is_some_and(|gain| gain.value - half(gain) >= limits.gain) { next } else { chosen }
    })
}

fn judge(
    observed: &Observed,
    (reference, default): (&Observed, &str),
    carried_mbps: f64,
    limits: Limits,
    looks: &Looks,
) -> Judged {
    let pairs = observed.neighbours_mbps.iter().zip(&reference.neighbours_mbps).enumerate();
    let of_seed = |(seed, (beside, there)): (usize, (&Vec<f64>, &Vec<f64>))| Neighbours {
        beside: beside.clone(),
        reference: there.clone(),
        peers: reference.peers_mbps.get(seed).cloned().unwrap_or_default(),
    };
    let stolen = stolen(&pairs.map(of_seed).collect::<Vec<_>>()).map(|stolen| looks.widened(stolen));
    let added_delay_ms = looks.widened(Estimate::of_difference(&observed.delay_ms, &reference.delay_ms));
    let takes_too_much = stolen.is_some_and(|stolen| exceeds(stolen * weight(reference, carried_mbps), limits.stolen));
    Judged {
        controller: observed.name.clone(),
        seeds: observed.goodput_mbps.len(),
        goodput_mbps: looks.widened(Estimate::of_mean(&observed.goodput_mbps)),
        above_best_mbps: Estimate::exactly(0.0),
        stolen,
        delay_ms: looks.widened(Estimate::of_mean(&observed.delay_ms)),
        added_delay_ms,
        startup_s: (!observed.startup_s.is_empty()).then(|| looks.widened(Estimate::of_mean(&observed.startup_s))),
        takes_too_much,
        is_within_limits: !takes_too_much && !exceeds(added_delay_ms, limits.added_delay_ms),
        // What is compared with itself needs no whole cycle.
        is_steady: !observed.moves(looks) && (!observed.is_short || observed.name == default),
        exceeds_with: observed.exceeds_with.clone(),
        is_tied_with_best: true,
        is_open: false,
    }
}

/// What counts of the neighbours' loss: all of it, unless they use next to nothing of the path. Then it is measured against what they leave.
fn weight(reference: &Observed, carried_mbps: f64) -> f64 {
    let theirs = reference.neighbours_mean_mbps();
    let little = LITTLE * (carried_mbps - theirs);
    if theirs < little { theirs / little } else { 1.0 }
}

/// Sets what a controller is beside the best.
fn compare(judged: &mut Judged, observed: &Observed, best: &Observed, looks: &Looks) {
    let above = if observed.name == best.name {
        Estimate::exactly(0.0)
    } else {
        looks.widened(Estimate::of_difference(&observed.goodput_mbps, &best.goodput_mbps))
    };
    let is_clearly_worse = above.value + half(above) < 0.0 && above.value.abs() >= SAME * mean(&best.goodput_mbps);
    judged.above_best_mbps = above;
    judged.is_tied_with_best = !is_clearly_worse;
}

/// Could more seeds make it the choice, or unmake it? What surely gains too little over the choice is out, whatever else it does.
fn is_open(judged: &Judged, observed: &Observed, chosen: &Observed, limits: Limits, looks: &Looks) -> bool {
    if !judged.is_steady || !judged.exceeds_with.is_empty() {
        return false;
    }
    let limits_are_clear = judged.stolen.is_none_or(|stolen| is_clear_of(stolen, limits.stolen, NARROW))
        && is_clear_of(judged.added_delay_ms, limits.added_delay_ms, limits.added_delay_ms / 2.0);
    let Some(gain) = gain(observed, chosen, limits.goal).map(|gain| looks.widened(gain)) else {
        return !limits_are_clear;
    };
    let may_gain_enough = gain.value + half(gain) >= limits.gain;
    let gain_is_clear = !judged.is_within_limits || is_clear_of(gain, limits.gain, NARROW);
    may_gain_enough && !(limits_are_clear && gain_is_clear)
}

/// The difference from another in what counts, of the seeds that both have, over the other's mean there; `None` for itself, or if the other
/// got nothing.
fn gain(observed: &Observed, other: &Observed, goal: Goal) -> Option<Estimate> {
    let [score, of_other] = [observed, other].map(|o| o.score(goal));
    let both = score.len().min(of_other.len());
    let scale = mean(&of_other[..both]);
    let above = Estimate::of_difference(&score, &of_other);
    (observed.name != other.name && scale > 0.0).then(|| above / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { stolen: 0.1, added_delay_ms: 10.0, gain: 0.1, goal: Goal::Goodput };

    /// One look at three seeds.
    fn once() -> Looks {
        Looks::at(&[3])
    }

    /// Three seeds around a goodput, with so much left to neighbours and such a delay.
    fn observed(name: &str, goodput: f64, spread: f64, neighbours: f64, delay: f64) -> Observed {
        Observed {
            name: name.into(),
            effort: 1,
            goodput_mbps: vec![goodput - spread, goodput, goodput + spread],
            neighbours_mbps: vec![vec![neighbours]; 3],
            delay_ms: vec![delay; 3],
            base_rtt_ms: 20.0,
            ..Observed::default()
        }
    }

    fn decision(observed: &[Observed]) -> Decision {
        decide(observed, "cubic", &observed[0], LIMITS, &once()).unwrap()
    }

    #[test]
    fn the_highest_goodput_within_the_limits_is_advised() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        // It takes (50 - 40) / 50 = 20 % from the neighbours.
        let greedy = observed("scalable", 90.0, 1.0, 40.0, 20.0);
        // 11 ms more delay than the reference.
        let late = observed("highspeed", 85.0, 1.0, 49.0, 31.0);
        // 6 % and 10 ms are within both limits.
        let good = observed("compound", 75.0, 1.0, 47.0, 30.0);
        let decision = decision(&[cubic, greedy, late, good]);
        assert_eq!((&*decision.chosen, decision.why), ("compound", Why::Better));
        // 25 of 50; the seeds rise and fall together: (74, 75, 76) - (49, 50, 51) is 25 in each.
        let gain = decision.gain.unwrap();
        assert!((gain.value - 0.5).abs() < 1e-12 && gain.half_width.unwrap() < 1e-12, "{gain:?}");
        let names: Vec<&str> = decision.controllers.iter().map(|j| &*j.controller).collect();
        assert_eq!(names, ["scalable", "highspeed", "compound", "cubic"]);
        let stolen = decision.of("scalable").unwrap().stolen.unwrap();
        assert!((stolen.value - 0.2).abs() < 1e-12);
        assert!(decision.is_clear);
    }

    #[test]
    fn the_default_stays_if_nothing_is_better_beyond_the_interval() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        // 5 more on average, but -15, 5 and 25 by seed: half of the interval is 4.3027 * 20 / sqrt(3) = 49.7.
        let wild = observed("compound", 55.0, 21.0, 50.0, 20.0);
        let all = [cubic.clone(), wild];
        let unsure = decision(&all);
        assert_eq!((&*unsure.chosen, unsure.why, unsure.gain), ("cubic", Why::DefaultIsAsGood, None));
        assert!(!unsure.is_clear && unsure.of("compound").unwrap().is_open);
        // Certain, but less than a hundredth.
        let same = observed("compound", 50.4, 1.0, 50.0, 20.0);
        let decision = decision(&[cubic, same]);
        assert_eq!((&*decision.chosen, decision.is_clear), ("cubic", true));
    }

    #[test]
    fn a_certain_gain_may_not_be_worth_a_change() {
        let (cubic, better) =
            (observed("cubic", 50.0, 1.0, 50.0, 20.0), |mbps| observed("yeah", mbps, 1.0, 50.0, 20.0));
        assert_eq!(decision(&[cubic.clone(), better(54.9)]).chosen, "cubic");
        assert_eq!(decision(&[cubic.clone(), better(55.1)]).chosen, "yeah");
        // 5, 15 and 25 Mb/s more: 30 +- 49.7 % on average, which may be nothing.
        let lucky = Observed { goodput_mbps: vec![54.0, 65.0, 76.0], ..better(65.0) };
        let unsure = decision(&[cubic.clone(), lucky]);
        assert_eq!((&*unsure.chosen, unsure.is_clear), ("cubic", false));
        // It is no tie.
        assert!(!decision(&[cubic, better(54.9)]).of("cubic").unwrap().is_tied_with_best);
    }

    #[test]
    fn a_tie_goes_to_the_easiest_then_to_the_highest_goodput() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        let of = |name, goodput, effort| Observed { effort, ..observed(name, goodput, 1.0, 50.0, 20.0) };
        // 80.2 less 80.0 or 80.1 is less than a hundredth.
        let chosen = |effort| {
            decision(&[cubic.clone(), of("yeah", 80.0, effort), of("htcp", 80.1, effort), of("bic", 80.2, 3)]).chosen
        };
        assert_eq!(chosen(1), "htcp");
        assert_eq!(chosen(3), "bic");
    }

    /// 20 ms of propagation and 20 in the queue, or 4: 40 and 24 ms.
    #[test]
    fn delay_may_be_the_goal() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        let (short, idle) = (observed("bbr", 48.0, 1.0, 50.0, 4.0), observed("vegas", 20.0, 1.0, 50.0, 1.0));
        let more = observed("htcp", 58.0, 1.0, 50.0, 20.0);
        let chosen = |goal| {
            let all = [cubic.clone(), short.clone(), idle.clone(), more.clone()];
            decide(&all, "cubic", &cubic, Limits { goal, ..LIMITS }, &once()).unwrap().chosen
        };
        assert_eq!(chosen(Goal::Goodput), "htcp");
        // Vegas waits still less, and has less than half of the goodput.
        assert_eq!(chosen(Goal::Delay), "bbr");
        // 50 / 40 and 58 / 40 are less than 48 / 24.
        assert_eq!(chosen(Goal::Both), "bbr");
    }

    #[test]
    fn what_takes_more_effort_has_to_gain_enough_over_what_takes_less() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        let of = |name, goodput, effort| Observed { effort, ..observed(name, goodput, 1.0, 50.0, 20.0) };
        let chosen = |mbps| decision(&[cubic.clone(), of("htcp", 80.0, 1), of("bic", mbps, 3)]).chosen;
        // 9 % and 11 % more than 80.
        assert_eq!((chosen(87.2), chosen(88.8)), ("htcp".to_owned(), "bic".to_owned()));
    }

    /// Beside 20 Mb/s of neighbours 980 are free: what they lose counts as a share of 98, a tenth of that.
    #[test]
    fn neighbours_that_use_next_to_nothing_cannot_be_robbed() {
        let cubic = observed("cubic", 20.0, 1.0, 20.0, 20.0);
        let fills = |theirs| observed("bbr", 1000.0 - theirs, 1.0, theirs, 20.0);
        // 9 of 20 are 45 %, and 9 % of 98; 11 are more than a tenth.
        let decision = decision(&[cubic.clone(), fills(11.0)]);
        assert_eq!((&*decision.chosen, decision.of("bbr").unwrap().takes_too_much), ("bbr", false));
        assert!((decision.of("bbr").unwrap().stolen.unwrap().value - 0.45).abs() < 1e-12);
        assert_eq!(super::tests::decision(&[cubic, fills(9.0)]).chosen, "cubic");
    }

    #[test]
    fn no_choice_is_made_of_what_is_not_steady() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        let of = |drift: [f64; 3]| Observed { drift: drift.into(), ..observed("reno", 90.0, 1.0, 50.0, 20.0) };
        let chosen = |drift| decision(&[cubic.clone(), of(drift)]).chosen;
        // Half of the interval is 4.3027 * 0.01 / sqrt(3) = 0.025.
        assert_eq!(chosen([-0.29, -0.30, -0.31]), "cubic");
        // A tenth is little, and 0.3 +- 0.75 may be nothing.
        assert_eq!((chosen([0.08, 0.09, 0.1]), chosen([0.0, 0.3, 0.6])), ("reno".to_owned(), "reno".to_owned()));
        let moving = Observed { drift: vec![0.3; 3], ..cubic.clone() };
        let decision = decide(&[moving, of([0.0; 3])], "cubic", &cubic, LIMITS, &once()).unwrap();
        assert_eq!((&*decision.chosen, decision.why), ("cubic", Why::NotSteady));
    }

    #[test]
    fn what_exceeds_a_limit_elsewhere_is_no_choice() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        let elsewhere = vec!["a queue of 0.1bdp".to_owned()];
        let yeah = Observed { exceeds_with: elsewhere, ..observed("yeah", 90.0, 1.0, 50.0, 20.0) };
        assert_eq!(decision(&[cubic.clone(), yeah, observed("bbr", 80.0, 1.0, 50.0, 20.0)]).chosen, "bbr");
    }

    #[test]
    fn what_is_tied_with_the_best_has_to_be_better_than_the_default_too() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        let best = observed("htcp", 80.0, 1.0, 50.0, 20.0);
        // 40, 60 and 95: an interval of half 69 around 65, which has the 50 and the 80 in it; it is gentler than the best.
        let wild = Observed { goodput_mbps: vec![40.0, 60.0, 95.0], ..observed("veno", 0.0, 0.0, 60.0, 20.0) };
        let decision = decision(&[cubic, best, wild]);
        assert!(decision.of("veno").unwrap().is_tied_with_best);
        assert_eq!(decision.chosen, "htcp");
    }

    #[test]
    fn a_default_beyond_the_limits_is_replaced_even_at_a_loss() {
        let reno = observed("reno", 50.0, 1.0, 50.0, 20.0);
        let cubic = observed("cubic", 80.0, 1.0, 20.0, 20.0);
        let decision = decide(&[reno.clone(), cubic.clone()], "cubic", &reno, LIMITS, &once()).unwrap();
        assert_eq!((&*decision.chosen, decision.why), ("reno", Why::DefaultExceedsLimits));
        assert!((decision.gain.unwrap().value + 0.375).abs() < 1e-12);
        // The reference itself cannot be deployed here, and nothing else keeps the limits.
        let alone = decide(std::slice::from_ref(&cubic), "cubic", &reno, LIMITS, &once()).unwrap();
        assert_eq!((&*alone.chosen, alone.why), ("cubic", Why::NoneWithinLimits));
        assert!(decide(std::slice::from_ref(&reno), "cubic", &reno, LIMITS, &once()).is_none());
    }

    #[test]
    fn a_limit_that_the_interval_crosses_is_open() {
        let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
        // 0, 20 and 40 %: on average beyond the limit, but nobody knows.
        let wide = Observed {
            neighbours_mbps: vec![vec![50.0], vec![40.0], vec![30.0]],
            ..observed("bic", 90.0, 1.0, 0.0, 20.0)
        };
        let open = decision(&[cubic.clone(), wide]);
        assert!(open.of("bic").unwrap().is_open && !open.is_clear);
        // So is nothing of one that has less goodput anyway.
        let slow = Observed {
            neighbours_mbps: vec![vec![50.0], vec![40.0], vec![30.0]],
            ..observed("bic", 30.0, 1.0, 0.0, 20.0)
        };
        assert!(decision(&[cubic, slow]).is_clear);
    }

    #[test]
    fn without_neighbours_delay_alone_limits() {
        let alone =
            |name, goodput, delay| Observed { neighbours_mbps: Vec::new(), ..observed(name, goodput, 1.0, 0.0, delay) };
        let decision = decision(&[alone("cubic", 50.0, 20.0), alone("compound", 75.0, 25.0), alone("bic", 80.0, 31.0)]);
        assert_eq!(decision.chosen, "compound");
        assert_eq!(decision.of("compound").unwrap().stolen, None);
    }
}
