// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files in experiments/papers/: all are good, and a short form of each gives what it gave.

use std::fmt::Write;

use tandem_batch::Batch;
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_papers::{Experiment, Form, Seeds, Source, Verdict, all, run, text};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;
use tandem_sim::Sim;

/// So short that nothing can be said of the papers, long enough to notice a change: a controller, the simulator or a file
/// that works otherwise than before shows here. Read the difference, then accept it with `cargo insta accept`.
#[test]
fn short_forms_give_what_they_gave() {
    let experiments = all().unwrap_or_else(|e| panic!("{e}"));
    let found = run(&experiments, Form::Smoke, Seeds::Auto, &Sim, &Batch::default(), None).unwrap();
    let mut papers: Vec<(String, String)> = Vec::new();
    for (experiment, findings) in experiments.iter().zip(&found) {
        let (paper, _) = experiment.id.split_once('/').unwrap();
        if papers.last().is_none_or(|(last, _)| last != paper) {
            papers.push((paper.to_owned(), String::new()));
        }
        let text = text(experiment, findings.as_ref().expect("nothing interrupts it"));
        // The numbers; claims are about longer runs.
        let table = text.split("\n\n").nth(1).expect("text has its table in the middle");
        let (_, page) = papers.last_mut().unwrap();
        writeln!(page, "{}: {}\n{table}\n", experiment.id, experiment.title()).unwrap();
    }
    for (paper, page) in papers {
        insta::assert_snapshot!(paper, page);
    }
}

#[test]
fn each_says_what_it_assumes_and_has_an_id_of_its_own() {
    let experiments = all().unwrap_or_else(|e| panic!("{e}"));
    assert!(experiments.len() >= 20);
    for experiment in &experiments {
        assert!(experiment.title().len() > 10 && experiment.claim().len() > 20, "{}", experiment.id);
        assert!(experiment.engines().contains(&"sim"));
        assert!(tandem_papers::source(&experiment.id).is_some(), "{}", experiment.id);
    }
}

const SMALL: &str = include_str!("small.toml");

/// Runs all but scenarios of two flows on the shorter path, as an interrupt may leave it.
struct Interrupted;

impl Engine for Interrupted {
    fn name(&self) -> &'static str {
        Sim.name()
    }

    fn description(&self) -> &'static str {
        Sim.description()
    }

    fn arithmetic(&self) -> &'static str {
        Sim.arithmetic()
    }

    fn check(&self, scenario: &Scenario, is_traced: bool) -> Result<Vec<Warning>, EngineError> {
        Sim.check(scenario, is_traced)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let is_left = scenario.network.links.iter().all(|link| link.delay.as_secs_f64() < 0.006);
        if is_left && scenario.group_of_flow().len() == 2 { Ok(None) } else { Sim.run(scenario, seed, options) }
    }
}

/// A point whose own run is missing does not take the next one's for its reference, which has other flows.
#[test]
fn an_experiment_that_is_not_whole_is_not_judged() {
    let other = SMALL.replace("\"flows.1.controller\" = \"cubic\"", "\"flows.0.count\" = 3");
    let other = other.replace("controller = \"reno\"", "controller = \"reno\"\ncount = 1");
    let experiment = Experiment::parse("small", "small.toml", &other).unwrap_or_else(|e| panic!("{e}"));
    let judged = |engine: &dyn Engine| {
        run(std::slice::from_ref(&experiment), Form::Full, Seeds::Auto, engine, &Batch::default(), None).unwrap()
    };
    assert!(judged(&Interrupted)[0].is_none());
    assert!(judged(&Sim)[0].is_some());
}

/// A third of the seeds of its file is enough for what is plain, and of a variant's own.
#[test]
fn what_is_plain_takes_few_seeds() {
    let variant = "[[variants]]\nname = \"longer\"\nseeds = 15\nset = { duration = \"5s\" }\n[quick]";
    let text =
        SMALL.replace("seeds = 2", "seeds = 18").replace("below = 10", "below = 1000").replace("[quick]", variant);
    let experiment = Experiment::parse("small", "small.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let seeds = |seeds: Seeds| {
        let found = run(std::slice::from_ref(&experiment), Form::Full, seeds, &Sim, &Batch::default(), None).unwrap();
        let found = found[0].as_ref().unwrap();
        let of_variant = found.variants[0].curves[0].points.iter().flatten();
        (found.seeds.len(), of_variant.map(|point| point.by_seed.len()).max())
    };
    assert_eq!((seeds(Seeds::Auto), seeds(Seeds::OfFile)), ((6, Some(5)), (18, Some(15))));
}

/// The file with one line changed: `FILE:LINE:COLUMN: MESSAGE`.
fn error(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    Experiment::parse("small", "small.toml", &SMALL.replace(from, to)).expect_err(to).to_string()
}

#[test]
fn a_small_file_is_good() {
    Experiment::parse("small", "small.toml", SMALL).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn errors_name_the_line_and_the_mend() {
    for (from, to, place, message) in [
        ("below = 10", "belo = 10", "small.toml:", "unknown field `belo`"),
        ("curve = \"a\"", "curve = \"z\"", "small.toml:37:1:", "there is no curve `z`"),
        ("below = 10", "", "small.toml:37:1:", "give one kind of limit"),
        ("below = 10", "below = 10\nfrom = 30", "small.toml:37:1:", "none of the sweep's values"),
        ("below = 10", "published_within = 0.1", "small.toml:37:1:", "needs points of this curve"),
        ("headline = true", "headline = false", "small.toml:37:1:", "add `headline = true`"),
        ("rate = \"10mbit\"", "rate = 10", "small.toml:9:8:", ""),
        ("controller = \"reno\"", "controller = \"rino\"", "small.toml:14:14:", "did you mean"),
        ("\"dumbbell.rtt\" =", "\"dumbbell.rt\" =", "small.toml:19:", "there is no `dumbbell.rt`"),
        ("\"{}ms\"", "\"{}\"", "small.toml:10:", ""),
        ("groups = [0]", "groups = [2]", "small.toml:", "there is no group 2"),
        ("kind = \"stolen\"", "kind = \"goodput\"", "", ""),
        ("values = [20]", "values = [30]", "small.toml:44:10:", "not among the sweep's values"),
        ("values = [20]", "values = []", "small.toml:44:10:", "nothing is left to run"),
        ("values = [20]", "seeds = 0", "small.toml:44:9:", "at least 1"),
        ("values = [20]", "seeds = 4000000000", "small.toml:44:9:", "at most 100000"),
        ("[baseline]", "[[variants]]\nname = \"v\"\n[variants.set]", "small.toml:", "needs a [baseline]"),
    ] {
        if place.is_empty() {
            let text = SMALL.replace(from, to);
            Experiment::parse("small", "small.toml", &text).unwrap_or_else(|e| panic!("{to}: {e}"));
            continue;
        }
        let error = error(from, to);
        assert!(error.starts_with(place) && error.contains(message), "{to}: {error}");
    }
}

/// The baseline of the small file is the run itself, so nothing is stolen.
#[test]
fn a_claim_is_judged_from_the_runs() {
    let experiment = Experiment::parse("small", "small.toml", SMALL).unwrap();
    let found = run(&[experiment], Form::Full, Seeds::Auto, &Sim, &Batch::default(), None).unwrap();
    let findings = found[0].as_ref().unwrap();
    assert_eq!(findings.verdict.words(), "holds", "{}", findings.reason);
    assert_eq!(findings.seeds, [1, 2]);
    for value in findings.own.curves[0].points.iter().flatten() {
        assert_eq!((value.estimate.value, value.estimate.half_width), (0.0, Some(0.0)));
    }
}

/// Nothing is stolen in the small file, so that a claim above 10 fails at both points.
#[test]
fn headlines_alone_make_the_verdict() {
    let with = |kind: &str| {
        let claim =
            format!("[[claims]]\ntext = 'more than 10'\n{kind}\ncurve = 'a'\nabove = 10\nours = true\n[[claims]]");
        let text = SMALL.replace("[[claims]]", &claim).replace("claim = ", "why = 'a cause'\nclaim = ");
        let experiment = Experiment::parse("small", "small.toml", &text).unwrap();
        let found =
            run(std::slice::from_ref(&experiment), Form::Full, Seeds::Auto, &Sim, &Batch::default(), None).unwrap();
        let findings = found.into_iter().next().flatten().unwrap();
        (tandem_papers::text(&experiment, &findings), findings)
    };
    let (text, findings) = with("headline = false");
    assert_eq!(findings.verdict, Verdict::Holds, "a side claim does not lower it");
    assert_eq!(findings.why.as_deref(), Some("a cause"), "the cause of the side claim's failure is told");
    let kinds: Vec<bool> = findings.own.claims.iter().map(|claim| claim.headline).collect();
    assert_eq!(kinds, [true, false], "headlines come first");
    assert!(text.contains("Verdict: holds (1 of 1 headline, 0 of 1 side claim)"), "{text}");
    assert!(
        text.contains("Side claim: more than 10: fails at both points: 0 ± 0 at 10")
            && text.contains("(our limit: above 10)"),
        "{text}"
    );

    let (text, findings) = with("headline = true");
    assert_eq!(findings.verdict, Verdict::DoesNotHold, "the other headline, which holds, does not lift it");
    assert!(text.contains("Verdict: fails (1 of 2 headlines)"), "{text}");
}

/// Two seeds of 10 Mb/s shared say nothing of what a flow gets at 10 ms; more do. Nothing is asked at 20 ms, which keeps its two.
#[test]
fn what_is_undecided_gets_more_seeds() {
    let text = SMALL.replace("kind = \"stolen\"", "kind = \"goodput\"").replace("below = 10", "above = 3.8\nat = [10]");
    let text = text.replace("controller = \"reno\"", "controller = \"reno\"\nstart_spread = \"500ms\"");
    let experiments = [Experiment::parse("small", "small.toml", &text).unwrap()];
    let of = |seeds| run(&experiments, Form::Full, seeds, &Sim, &Batch::default(), None).unwrap().remove(0).unwrap();
    let fixed = of(Seeds::OfFile);
    assert_eq!((fixed.verdict, fixed.seeds.len()), (Verdict::Undecided, 2), "{}", fixed.reason);
    assert!(fixed.reason.contains("seeds would decide it"), "{}", fixed.reason);
    let auto = of(Seeds::Auto);
    assert_eq!((auto.verdict, auto.fewest_seeds), (Verdict::Holds, 2), "{}", auto.reason);
    assert!((3..=8).contains(&auto.seeds.len()), "{:?}", auto.seeds);
    let seeds_at: Vec<usize> = auto.own.curves[0].points.iter().flatten().map(|value| value.by_seed.len()).collect();
    assert_eq!(seeds_at, [auto.seeds.len(), 2]);
}

/// A formula has one value and the simulation one a seed: they are compared all the same.
#[test]
fn a_formula_stands_beside_several_seeds() {
    let text = include_str!("../papers/s2/fig9.toml").replace("[smoke]", "[smoke]\nseeds = 2");
    let paper = Source { path: "paper.toml", text: include_str!("../papers/s2/paper.toml") };
    let figure = Experiment::read("s2/fig9", Source { path: "fig9.toml", text: &text }, Some(paper)).unwrap();
    let found = run(&figure, Form::Smoke, Seeds::Auto, &Sim, &Batch::default(), None).unwrap();
    let findings = found[0].as_ref().unwrap();
    let claim = findings.own.claims.iter().find(|c| c.text.starts_with("S2's model is within")).unwrap();
    assert_eq!(claim.verdict, Verdict::Holds, "{claim:?}");
}
