// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rule by which `tandem advise` chooses; docs/advise.md states it for users. All of its constants are ours.
//!
//! Of the controllers that keep within the limits (what neighbours lose, what the queue's delay grows by) the one with the highest goodput is
//! best. Those that cannot be told from it are tied with it. The present default stays if it is one of them, or if none of them gains enough
//! over it to be worth a change. Otherwise the tie goes to the controller that is easiest to deploy, and among those to the highest goodput.

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
    /// The gain in goodput, a share of the default's, that is worth a change.
    pub gain: f64,
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

/// A controller on one path, seed by seed, in the order of the seeds. Lists may differ in length between controllers; they begin with
/// the same seed, and what is compared is compared by seed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    pub name: String,
    /// The smaller, the easier it is to have it on this machine.
    pub effort: u8,
    /// Goodput, or a transfer's size over its time, Mb/s.
    pub goodput_mbps: Vec<f64>,
    /// The goodput of each neighbour beside it, Mb/s; empty without neighbours. A transfer's neighbours are one, all together.
    pub neighbours_mbps: Vec<Vec<f64>>,
    /// Of a reference that is exchangeable with its neighbours: the goodput of each own flow, Mb/s; otherwise empty.
    pub peers_mbps: Vec<Vec<f64>>,
    /// The 95th percentile of the queueing delay, ms.
    pub delay_ms: Vec<f64>,
}

/// Without an interval chance may have done anything.
fn half(estimate: Estimate) -> f64 {
    estimate.half_width.unwrap_or(f64::INFINITY)
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
    /// Does it keep within all [`Limits`]?
    pub is_within_limits: bool,
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
    let judged = observed.iter().map(|o| (judge(o, reference, limits, looks), o));
    let mut judged: Vec<(Judged, &Observed)> = judged.collect();
    let gain = |observed: &Observed, present: &Observed| gain(observed, present).map(|gain| looks.widened(gain));
    judged.sort_by(|(a, _), (b, _)| b.goodput_mbps.value.total_cmp(&a.goodput_mbps.value));
    let best = judged.iter().find(|(judged, _)| judged.is_within_limits).map(|(_, observed)| *observed);
    let bar = best.unwrap_or(present);
    let default_is_within = judged.iter().any(|(judged, o)| o.name == default && judged.is_within_limits);
    for (judged, observed) in &mut judged {
        compare(judged, observed, bar, observed.name == default, limits, looks);
        let is_in_question = judged.is_within_limits && judged.is_tied_with_best;
        let worth = gain(observed, present).filter(|_| default_is_within && is_in_question);
        judged.is_open |=
            worth.is_some_and(|gain| gain.value >= limits.gain && !is_clear_of(gain, limits.gain, NARROW));
    }
    let is_worth_it = |o: &Observed| gain(o, present).is_some_and(|gain| gain.value - half(gain) >= limits.gain);
    // A default that exceeds a limit has to go, whatever that costs; one that does not, for something that is worth it.
    let may_be_chosen = |o: &Observed| if default_is_within { o.name != default && is_worth_it(o) } else { true };
    let default_is_tied = judged.iter().any(|(judged, o)| o.name == default && judged.is_tied_with_best);
    let tied = judged
        .iter()
        .filter(|(judged, o)| judged.is_within_limits && judged.is_tied_with_best && may_be_chosen(o))
        .filter(|_| !(default_is_within && default_is_tied));
    // The first of those that are as easy has the highest goodput.
    let first = tied.min_by_key(|(_, o)| o.effort);
    let chosen = best.and(first).map_or(present, |(_, observed)| observed);
    let why = match (best, chosen.name == default, default_is_within) {
        (None, _, _) => Why::NoneWithinLimits,
        (_, true, _) => Why::DefaultIsAsGood,
        (_, _, true) => Why::Better,
        (_, _, false) => Why::DefaultExceedsLimits,
    };
    let is_clear = judged.iter().all(|(judged, _)| !judged.is_open);
    let controllers = judged.into_iter().map(|(judged, _)| judged).collect();
    Some(Decision { gain: gain(chosen, present), chosen: chosen.name.clone(), why, is_clear, controllers })
}

fn judge(observed: &Observed, reference: &Observed, limits: Limits, looks: &Looks) -> Judged {
    let pairs = observed.neighbours_mbps.iter().zip(&reference.neighbours_mbps).enumerate();
    let of_seed = |(seed, (beside, there)): (usize, (&Vec<f64>, &Vec<f64>))| Neighbours {
        beside: beside.clone(),
        reference: there.clone(),
        peers: reference.peers_mbps.get(seed).cloned().unwrap_or_default(),
    };
    let stolen = stolen(&pairs.map(of_seed).collect::<Vec<_>>()).map(|stolen| looks.widened(stolen));
    let added_delay_ms = looks.widened(Estimate::of_difference(&observed.delay_ms, &reference.delay_ms));
    let is_within_limits =
        stolen.is_none_or(|s| s.value <= limits.stolen) && added_delay_ms.value <= limits.added_delay_ms;
    let goodput_mbps = looks.widened(Estimate::of_mean(&observed.goodput_mbps));
    Judged {
        controller: observed.name.clone(),
        seeds: observed.goodput_mbps.len(),
        goodput_mbps,
        above_best_mbps: Estimate::exactly(0.0),
        stolen,
        delay_ms: looks.widened(Estimate::of_mean(&observed.delay_ms)),
        added_delay_ms,
        is_within_limits,
        is_tied_with_best: true,
        is_open: false,
    }
}

/// Sets what a controller is beside the best. What can make no difference that is worth a change is not open.
fn compare(judged: &mut Judged, observed: &Observed, best: &Observed, is_default: bool, limits: Limits, looks: &Looks) {
    let best_mbps = mean(&best.goodput_mbps);
    let above = if observed.name == best.name {
        Estimate::exactly(0.0)
    } else {
        looks.widened(Estimate::of_difference(&observed.goodput_mbps, &best.goodput_mbps))
    };
    let is_clearly_worse = above.value + half(above) < 0.0 && above.value.abs() >= SAME * best_mbps;
    judged.above_best_mbps = above;
    judged.is_tied_with_best = !is_clearly_worse;
    let limits_are_clear = judged.stolen.is_none_or(|s| is_clear_of(s, limits.stolen, NARROW))
        && is_clear_of(judged.added_delay_ms, limits.added_delay_ms, limits.added_delay_ms / 2.0);
    let may_matter =
        if is_default { half(above) - above.value } else { half(above) + above.value } > limits.gain * best_mbps;
    let goodput_is_clear = !judged.is_within_limits || half(above) <= NARROW * best_mbps || !may_matter;
    judged.is_open = !(is_clearly_worse || limits_are_clear && goodput_is_clear);
}

/// The difference from the default, of the seeds that both have, over the default's mean there.
fn gain(observed: &Observed, present: &Observed) -> Option<Estimate> {
    let both = observed.goodput_mbps.len().min(present.goodput_mbps.len());
    let scale = mean(&present.goodput_mbps[..both]);
    let above = Estimate::of_difference(&observed.goodput_mbps, &present.goodput_mbps);
    (observed.name != present.name && scale > 0.0).then(|| above / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { stolen: 0.1, added_delay_ms: 10.0, gain: 0.1 };

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
            peers_mbps: Vec::new(),
            delay_ms: vec![delay; 3],
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
        assert!(!unsure.is_clear && unsure.of("cubic").unwrap().is_open);
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
