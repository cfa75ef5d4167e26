// SPDX-License-Identifier: MIT OR Apache-2.0
//! Criteria over real TCP, with an engine that stands in for it: the simulator, with a link that is used less.

use std::path::Path;

use tandem_batch::Batch;
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_evaluate::{
    Agreement, Answer, Assessment, NEIGHBOURS_OF_ALL, OverRealTcp, RealTcp, Suite, criteria, evaluate, obstacles, text,
};
use tandem_papers::{Experiment, Form, RealTcpRuns, measure, missing};
use tandem_results::{Emulation, SeedResult};
use tandem_scenario::{Honesty, Scenario, TcpSource};
use tandem_sim::Sim;

/// Receivers that lie do not exist in it.
struct StandIn {
    /// Of the simulator's utilisation.
    used: f64,
    doubt: Option<&'static str>,
    arithmetic: &'static str,
}

const FAITHFUL: StandIn = StandIn { used: 1.0, doubt: None, arithmetic: "of a test" };

impl Engine for StandIn {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn description(&self) -> &'static str {
        "The simulator, with a link that is used less"
    }

    fn arithmetic(&self) -> &'static str {
        self.arithmetic
    }

    fn check(&self, scenario: &Scenario, _force: bool) -> Result<Vec<Warning>, EngineError> {
        let lies = |tcp: &TcpSource| tcp.receiver != Honesty::Honest;
        match scenario.groups.iter().any(|group| group.source.tcp().is_some_and(lies)) {
            true => Err(EngineError::refused("receivers are honest here: use --engine sim")),
            false => Ok(Vec::new()),
        }
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        let Some(mut result) = Sim.run(scenario, seed, options)? else { return Ok(None) };
        result.links.iter_mut().for_each(|link| link.utilisation *= self.used);
        let doubts = self.doubt.iter().map(|&doubt| doubt.to_owned()).collect();
        Ok(Some(SeedResult { emulation: Some(Emulation { doubts, ..Emulation::default() }), ..result }))
    }

    fn needs_machine(&self) -> bool {
        true
    }
}

fn of_sections(sections: &[&str]) -> Vec<Experiment> {
    let sections: Vec<String> = sections.iter().map(|&section| section.to_owned()).collect();
    let all = criteria("reno", &sections, &NEIGHBOURS_OF_ALL).unwrap_or_else(|e| panic!("{e}"));
    all.into_iter().map(|one| one.with_kernel_seeds(1)).collect()
}

/// Whatever is missing in the file is made; how many runs these were, and what is judged then.
fn judged(posed: &[Experiment], engine: &StandIn, path: &Path) -> (usize, Assessment) {
    let batch = Batch { quiet: true, ..Batch::default() };
    let obstacles = obstacles("reno", posed, engine, false).unwrap();
    let carried: Vec<&Experiment> =
        posed.iter().zip(&obstacles).filter_map(|(one, obstacle)| obstacle.is_none().then_some(one)).collect();
    let mut runs = RealTcpRuns::open(path).unwrap().of_engine(engine.arithmetic());
    let todo = missing(carried, &runs).unwrap();
    assert!(measure(&todo, engine, &mut runs, &batch).unwrap());
    let real = OverRealTcp { runs: &runs, obstacles: &obstacles };
    (todo.len(), evaluate("reno", posed, Form::Smoke, &Sim, &batch, Some(real)).unwrap())
}

fn only(assessment: &Assessment) -> (Answer, &RealTcp) {
    let [row] = &assessment.rows[..] else { panic!("one criterion was asked for") };
    (row.answer, row.real_tcp.as_ref().unwrap())
}

fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.jsonl");
    (folder, path)
}

/// Each curve of Reno and of CUBIC is read off one run.
#[test]
fn where_the_engines_agree_so_do_the_answers() {
    let (_folder, path) = place();
    let posed = of_sections(&["7.4"]);
    let (runs, assessment) = judged(&posed, &FAITHFUL, &path);
    let (answer, there) = only(&assessment);
    assert_eq!((runs, answer, there.answer), (2, Answer::Passes, Answer::Passes), "{there:?}");
    assert_eq!((there.agreement, &*there.why, &there.seeds[..]), (Agreement::Agrees, "", &[1][..]));
    assert_eq!(judged(&posed, &FAITHFUL, &path).0, 0, "they are kept");
    let changed = StandIn { arithmetic: "another", ..FAITHFUL };
    assert_eq!(judged(&posed, &changed, &path).0, 2, "what ran them has changed since");
    assert_eq!(RealTcpRuns::open(&path).unwrap().iter().count(), 2, "nobody can use the old ones");
}

#[test]
fn where_the_engines_differ_both_figures_are_told() {
    let (_folder, path) = place();
    let (_, assessment) = judged(&of_sections(&["7.4"]), &StandIn { used: 0.5, ..FAITHFUL }, &path);
    let (answer, there) = only(&assessment);
    assert_eq!((answer, there.answer, there.simulated), (Answer::Passes, Answer::Fails, Answer::Passes), "{there:?}");
    assert_eq!(there.agreement, Agreement::Differs);
    let text = text(&assessment);
    assert!(text.contains("real TCP fails: on the same path a single run differs from the simulator's"), "{text}");
    assert!(text.contains("the link is used to 90 % or more: real TCP fails: 50"), "{text}");
    assert!(text.contains("; simulator on that path holds: 100 ± 0 at 256"), "{text}");
}

/// It is told, judged by nobody, and made again.
#[test]
fn a_doubted_run_counts_for_nothing() {
    let (_folder, path) = place();
    let posed = of_sections(&["7.4"]);
    let (_, assessment) = judged(&posed, &StandIn { used: 0.5, doubt: Some("late"), ..FAITHFUL }, &path);
    let (_, there) = only(&assessment);
    assert_eq!((there.agreement, there.asked.len(), there.doubts.len()), (Agreement::NotMeasured, 0, 2), "{there:?}");
    assert!(there.doubts[0].ends_with("seed 1: late"), "{there:?}");
    let (runs, assessment) = judged(&posed, &FAITHFUL, &path);
    assert_eq!((runs, only(&assessment).1.agreement), (2, Agreement::Agrees));
}

#[test]
fn what_cannot_be_carried_says_why() {
    let (_folder, path) = place();
    let (runs, assessment) = judged(&of_sections(&["7.6"]), &FAITHFUL, &path);
    assert_eq!((runs, assessment.rows.len()), (0, 2));
    for row in &assessment.rows {
        let there = row.real_tcp.as_ref().unwrap();
        assert_eq!((there.agreement, &*there.why), (Agreement::NotPosed, "receivers are honest here"));
    }
}

/// Every criterion of RFC 9743 has a short form, except those that Linux's receiver cannot pose. Other suites lack it where thousands of
/// connections, a wireless cell or media that adapts are asked for. The forms of a suite take minutes.
#[test]
fn criteria_have_forms_that_take_minutes() {
    let loads = ["4.4.1-data-center", "4.4.2-access", "4.4.3-ocean", "4.4.4-satellite", "4.4.5-wlan", "4.4.6-dial-up"];
    let of_users = ["5.1-buffers", "6.1-impact", "6.3-bottlenecks"];
    for (suite, without, minutes) in [
        ("rfc9743", vec!["7.6-early-acks", "7.6-hidden-marks"], 10.0..16.0),
        ("rfc8867", vec!["5.6-beside-media"], 10.0..25.0),
        ("prudentia", vec![], 3.0..10.0),
        ("tcpeval", [&loads[..], &of_users].concat(), 5.0..20.0),
    ] {
        let all = Suite::named(suite).unwrap().criteria("compound_tube", &[], &NEIGHBOURS_OF_ALL).unwrap();
        let all: Vec<Experiment> = all.into_iter().map(|one| one.with_kernel_seeds(1)).collect();
        let mut lacking: Vec<&str> = all.iter().filter(|one| !one.engines().contains(&"kernel")).map(short).collect();
        lacking.sort_unstable();
        let mut without = without;
        without.sort_unstable();
        assert_eq!(lacking, without, "{suite}");
        let nothing = RealTcpRuns::open(Path::new("/nonexistent/runs.jsonl")).unwrap();
        let runs = missing(&all, &nothing).unwrap();
        let seconds: f64 = runs.iter().map(|run| run.scenario.duration.as_secs_f64()).sum();
        assert!(minutes.contains(&(seconds / 60.0)), "{suite}: {} runs, {seconds} s", runs.len());
    }
}

fn short(one: &Experiment) -> &str {
    one.id.split_once('/').unwrap().1
}
