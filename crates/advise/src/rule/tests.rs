// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the rule chooses, worked out by hand.

use super::*;

const LIMITS: Limits = Limits { stolen: 0.1, added_delay_ms: 10.0, gain: 0.1, goal: Goal::Goodput };

/// One look at three seeds.
fn once() -> Looks {
    Looks::at(&[3])
}

/// Three seeds around a goodput, with this much left to neighbours and such a delay.
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

/// The same with these goodputs.
fn in_seeds(name: &str, goodput_mbps: Vec<f64>) -> Observed {
    Observed { goodput_mbps, ..observed(name, 0.0, 0.0, 50.0, 20.0) }
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
    assert!(!decision.may_change());
}

#[test]
fn the_default_stays_if_nothing_is_better_beyond_the_interval() {
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    // 5 more on average, but -15, 5 and 25 by seed: half of the interval is 4.3027 * 20 / sqrt(3) = 49.7.
    let wild = observed("compound", 55.0, 21.0, 50.0, 20.0);
    let all = [cubic.clone(), wild];
    let unsure = decision(&all);
    assert_eq!((&*unsure.chosen, unsure.why, unsure.gain), ("cubic", Why::DefaultIsAsGood, None));
    assert!(unsure.may_change() && unsure.of("compound").unwrap().is_open);
    // Certain, but less than a hundredth.
    let same = observed("compound", 50.4, 1.0, 50.0, 20.0);
    let decision = decision(&[cubic, same]);
    assert_eq!((&*decision.chosen, decision.may_change()), ("cubic", false));
}

#[test]
fn a_certain_gain_may_not_be_worth_a_change() {
    let (cubic, better) = (observed("cubic", 50.0, 1.0, 50.0, 20.0), |mbps| observed("yeah", mbps, 1.0, 50.0, 20.0));
    assert_eq!(decision(&[cubic.clone(), better(54.9)]).chosen, "cubic");
    assert_eq!(decision(&[cubic.clone(), better(55.1)]).chosen, "yeah");
    // 5, 15 and 25 Mb/s more: 30 +- 49.7 % on average, which may be nothing.
    let lucky = Observed { goodput_mbps: vec![54.0, 65.0, 76.0], ..better(65.0) };
    let unsure = decision(&[cubic.clone(), lucky]);
    assert_eq!((&*unsure.chosen, unsure.may_change()), ("cubic", true));
    // 5, 7 and 8 Mb/s more: 13.3 +- 7.6 %. That it gains is certain, and by the mean it gains enough.
    let likely = Observed { goodput_mbps: vec![55.0, 57.0, 58.0], ..better(57.0) };
    assert_eq!(decision(&[cubic.clone(), likely]).chosen, "yeah");
    // It is no tie.
    assert!(!decision(&[cubic, better(54.9)]).of("cubic").unwrap().is_tied_with_best);
}

/// 2, 10 and 50 Mb/s against 0.1: the mean is 20.7 +- 63.8 Mb/s higher, which may be nothing; but 20, 100 and 500 times as much are, as logarithms,
/// 4.61 +- 4.00.
#[test]
fn a_gain_with_a_heavy_tail_is_a_gain() {
    let cubic = observed("cubic", 0.1, 0.0, 50.0, 20.0);
    let of_seeds = |goodput_mbps| in_seeds("yeah", goodput_mbps);
    let wild = decision(&[cubic.clone(), of_seeds(vec![2.0, 10.0, 50.0])]);
    assert_eq!((&*wild.chosen, wild.why), ("yeah", Why::Better));
    // 0.2, 10 and 500: 2, 100 and 5000 times as much, 4.61 +- 9.72.
    assert_eq!(decision(&[cubic.clone(), of_seeds(vec![0.2, 10.0, 500.0])]).chosen, "cubic");
    // Of nothing there is no logarithm.
    assert_eq!(decision(&[cubic, of_seeds(vec![0.0, 10.0, 50.0])]).chosen, "cubic");
}

/// `reno` was out after two seeds: 10 Mb/s less than `cubic` in both. `compound` has 1.3, 1.2 and 1.25 times as much as `cubic`; two ratios to `reno`,
/// 1.63 and 1.47, prove nothing (0.434 +- 0.651 as logarithms), and need not. Nor does it matter that `reno` may gain enough over `cubic`: 5 and -5 Mb/s
/// are 0 +- 63.5.
#[test]
fn what_is_not_worth_its_effort_excludes_nothing() {
    let of = |name, goodput_mbps, effort| Observed { effort, ..in_seeds(name, goodput_mbps) };
    let cubic = of("cubic", vec![50.0, 55.0, 60.0], 0);
    for reno in [vec![40.0, 45.0], vec![55.0, 50.0]] {
        let all = [cubic.clone(), of("reno", reno, 0), of("compound", vec![65.0, 66.0, 75.0], 1)];
        assert_eq!(decision(&all).chosen, "compound");
    }
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
fn less_delay_is_had_from_the_easiest() {
    let of = |name, goodput, delay, effort| Observed { effort, ..observed(name, goodput, 1.0, 50.0, delay) };
    let cubic = of("cubic", 50.0, 20.0, 0);
    // 48 are 96 % of 50, 47 are 94 %; 11 ms are more than half of 20.
    let all = [
        cubic,
        of("fast", 50.0, 2.0, 3),
        of("bbr", 48.0, 9.0, 2),
        of("vegas", 47.0, 1.0, 1),
        of("yeah", 50.0, 11.0, 1),
    ];
    let decision = decision(&all);
    let names: Vec<&str> = decision.with_less_delay().iter().map(|judged| &*judged.controller).collect();
    assert_eq!((&*decision.chosen, names), ("cubic", vec!["bbr", "fast"]));
}

#[test]
fn what_takes_more_effort_has_to_gain_enough_over_what_takes_less() {
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    let of = |name, goodput, effort| Observed { effort, ..observed(name, goodput, 1.0, 50.0, 20.0) };
    let chosen = |mbps| decision(&[cubic.clone(), of("htcp", 80.0, 1), of("bic", mbps, 3)]).chosen;
    // 9 % and 11 % more than 80.
    assert_eq!((chosen(87.2), chosen(88.8)), ("htcp".to_owned(), "bic".to_owned()));
}

/// 60 are not surely more than 50, and 56 are. 60 without doubt are only 7 % more than these, which take less effort; 62 are 11 % more.
#[test]
fn what_is_harder_has_to_gain_over_the_choice_among_what_is_easier() {
    let of = |name, mbps, effort| Observed { effort, ..observed(name, mbps, 1.0, 50.0, 20.0) };
    let wild = Observed { effort: 1, ..in_seeds("illinois", vec![30.0, 60.0, 90.0]) };
    let all = |mbps| [of("cubic", 50.0, 0), wild.clone(), of("bbr3", 56.0, 2), of("fusion", mbps, 3)];
    let [less, more] = [60.0, 62.0].map(|mbps| decision(&all(mbps)));
    assert_eq!([less.chosen, more.chosen], ["bbr3", "fusion"]);
    assert!(less.controllers.iter().any(|judged| judged.controller == "illinois" && judged.is_open));
}

/// 15 % more is enough for what others have run, and 25 % for what nobody has.
#[test]
fn to_be_the_first_has_to_gain_twice_as_much() {
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    let chosen = |mbps, is_untried| {
        let next = Observed { effort: 3, is_untried, ..observed("fusion", mbps, 1.0, 50.0, 20.0) };
        decision(&[cubic.clone(), next]).chosen
    };
    assert_eq!((chosen(57.5, false), chosen(57.5, true)), ("fusion".to_owned(), "cubic".to_owned()));
    assert_eq!(chosen(62.5, true), "fusion");
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
    assert_eq!(self::decision(&[cubic, fills(9.0)]).chosen, "cubic");
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
fn where_nothing_else_ran_there_is_nothing_to_choose() {
    let alone = decision(&[observed("cubic", 50.0, 1.0, 50.0, 20.0)]);
    assert_eq!((&*alone.chosen, alone.why), ("cubic", Why::NothingElseRan));
}

#[test]
fn what_exceeds_a_limit_elsewhere_is_no_choice() {
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    let elsewhere = vec!["a queue of 0.1bdp".to_owned()];
    let yeah = Observed { exceeds_with: elsewhere, ..observed("yeah", 90.0, 1.0, 50.0, 20.0) };
    assert_eq!(decision(&[cubic.clone(), yeah, observed("bbr", 80.0, 1.0, 50.0, 20.0)]).chosen, "bbr");
}

/// 90, 80 and 50 Mb/s here. Elsewhere the fastest has half of the best goodput; the other loses at most a ninth anywhere, 10/90 here.
#[test]
fn a_choice_gives_way_to_what_loses_much_less_where_the_unknown_differs() {
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    let elsewhere = |of_best| Some(Elsewhere { differs: "jitter of 1ms".to_owned(), of_best });
    let with =
        |name, mbps, of_best| Observed { elsewhere: elsewhere(of_best), ..observed(name, mbps, 1.0, 50.0, 20.0) };
    let chosen = |copa, bbr3| {
        let decision = decision(&[cubic.clone(), with("copa", 90.0, copa), with("bbr3", 80.0, bbr3)]);
        (decision.chosen, decision.gave_way)
    };
    let bbr3 = ("bbr3".to_owned(), Some("copa".to_owned()));
    let copa = ("copa".to_owned(), None);
    assert_eq!(chosen(0.5, 1.0), bbr3);
    // 79 and 88.9 %: 10 points less are as much as a change needs; 80 % are not.
    assert_eq!((chosen(0.788, 1.0), chosen(0.8, 1.0)), (bbr3, copa.clone()));
    assert_eq!(chosen(0.5, 0.55), copa);
    // What is not worth a change here does not become one because of another path.
    let stays = decision(&[with("cubic", 50.0, 0.2), with("bbr3", 54.0, 1.0)]);
    assert_eq!((&*stays.chosen, stays.gave_way), ("cubic", None));
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
    let bic = observed("bic", 80.0, 1.0, 20.0, 20.0);
    let none = decide(&[cubic, bic], "cubic", &reno, LIMITS, &once()).unwrap();
    assert_eq!((&*none.chosen, none.why), ("cubic", Why::NoneWithinLimits));
    assert!(decide(std::slice::from_ref(&reno), "cubic", &reno, LIMITS, &once()).is_none());
}

/// 3 % on average and 1.4, 3 and 4.6 % by seed: half of the interval is 4.3027 * 1.6 / sqrt(3) = 4.0 %. Where 2 % suffice, it may gain nothing, so
/// that more seeds matter; where 10 % are asked for, it certainly gains less.
#[test]
fn a_small_gain_that_is_enough_but_not_certain_is_open() {
    let all = [observed("cubic", 50.0, 0.0, 50.0, 20.0), observed("compound", 51.5, 0.8, 50.0, 20.0)];
    let asked = |gain| decide(&all, "cubic", &all[0], Limits { gain, ..LIMITS }, &once()).unwrap();
    let open = asked(0.02);
    assert_eq!(open.chosen, "cubic");
    assert!(open.of("compound").unwrap().is_open && open.may_change());
    assert!(!asked(0.1).of("compound").unwrap().is_open);
}

#[test]
fn a_limit_that_the_interval_crosses_is_open() {
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    // 0, 20 and 40 %: on average beyond the limit, but nobody knows.
    let wide =
        Observed { neighbours_mbps: vec![vec![50.0], vec![40.0], vec![30.0]], ..observed("bic", 90.0, 1.0, 0.0, 20.0) };
    let open = decision(&[cubic.clone(), wide]);
    assert!(open.of("bic").unwrap().is_open && open.may_change());
    // So is nothing of one that has less goodput anyway.
    let slow =
        Observed { neighbours_mbps: vec![vec![50.0], vec![40.0], vec![30.0]], ..observed("bic", 30.0, 1.0, 0.0, 20.0) };
    assert!(!decision(&[cubic, slow]).may_change());
}

/// Half of the interval of -1.2, 0 and 1.2 ms around a mean is 4.3027 * 1.2 / sqrt(3) = 3.0 ms, more than a fifth of the limit of 10; of 0.76 ms 1.9.
#[test]
fn a_delay_beside_the_limit_is_open_until_it_is_known_to_a_fifth_of_it() {
    let is_open = |mean: f64, spread: f64| {
        let delay_ms = vec![mean - spread, mean, mean + spread];
        let late = Observed { delay_ms, ..observed("fast", 90.0, 1.0, 50.0, 0.0) };
        decision(&[observed("cubic", 50.0, 1.0, 50.0, 20.0), late]).of("fast").unwrap().is_open
    };
    assert_eq!([is_open(28.0, 1.2), is_open(26.0, 1.2), is_open(29.5, 0.76)], [true, false, false]);
}

#[test]
fn without_neighbours_delay_alone_limits() {
    let alone =
        |name, goodput, delay| Observed { neighbours_mbps: Vec::new(), ..observed(name, goodput, 1.0, 0.0, delay) };
    let decision = decision(&[alone("cubic", 50.0, 20.0), alone("compound", 75.0, 25.0), alone("bic", 80.0, 31.0)]);
    assert_eq!(decision.chosen, "compound");
    assert_eq!(decision.of("compound").unwrap().stolen, None);
}

/// The limit of what is taken is 10 %. Half of the interval of -3, 0 and 3 % around a mean is 4.3027 * 3 / sqrt(3) = 7.5 %.
#[test]
fn what_is_not_surely_beyond_a_limit_is_for_those_who_have_nothing_else() {
    let of = |name: &str, goodput: f64, taken: f64, effort| Observed {
        effort,
        neighbours_mbps: [-1.5, 0.0, 1.5].map(|spread| vec![50.0 * (1.0 - taken) + spread]).into(),
        ..observed(name, goodput, 1.0, 0.0, 20.0)
    };
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    let greedy = of("cubic", 60.0, 0.3, 0);
    let decided = |all: &[Observed]| decide(all, "cubic", &cubic, LIMITS, &once()).unwrap();
    // Both intervals cross the limit.
    let (over, under) = (of("yeah", 90.0, 0.14, 3), of("reno", 55.0, 0.04, 1));
    let decision = decided(&[greedy.clone(), over.clone(), under.clone()]);
    assert_eq!((&*decision.chosen, decision.why), ("reno", Why::DefaultExceedsLimits));
    let yeah = decision.of("yeah").unwrap();
    assert!(yeah.is_within_limits && !yeah.means_are_within_limits && yeah.is_open);
    // Where nothing else is left, it is not surely wrong.
    assert_eq!(decided(&[greedy, over.clone()]).chosen, "yeah");
    // 8 ± 7.5 % is on the right side of the limit.
    assert_eq!(decided(&[cubic.clone(), of("yeah", 90.0, 0.08, 3), under.clone()]).chosen, "yeah");
    // The default is not sent away for what is not sure.
    let doubtful = of("cubic", 60.0, 0.12, 0);
    assert_eq!(decided(&[doubtful.clone(), under]).chosen, "cubic");
    assert_eq!(decided(&[doubtful, of("compound", 80.0, 0.02, 3)]).chosen, "compound");
    // Nor is a default that keeps the limits left for it, whatever it gains.
    assert_eq!(decided(&[cubic.clone(), over]).chosen, "cubic");
}

/// The same holds for delay: 10 ms more are allowed, and 12 ± 12.4 are not surely more.
#[test]
fn a_mean_delay_beyond_the_limit_is_no_choice_either() {
    let cubic = observed("cubic", 50.0, 1.0, 50.0, 20.0);
    let late = Observed { delay_ms: vec![27.0, 32.0, 37.0], ..observed("htcp", 90.0, 1.0, 50.0, 0.0) };
    let decision = decision(&[cubic, late, observed("veno", 60.0, 1.0, 50.0, 20.0)]);
    assert_eq!(decision.chosen, "veno");
    assert!(decision.of("htcp").unwrap().is_within_limits);
}
