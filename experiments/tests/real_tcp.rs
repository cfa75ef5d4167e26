// SPDX-License-Identifier: MIT OR Apache-2.0
//! Experiments over real TCP, with an engine that stands in for it: the simulator, a little slower.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use tandem_batch::Batch;
use tandem_engine::{Engine, EngineError, Options, Warning};
use tandem_papers::{
    Experiment, Findings, Form, Missing, Place, RealTcpRuns, Seeds, all, markdown, measure, missing, run, text,
};
use tandem_results::{Emulation, SeedResult};
use tandem_scenario::Scenario;
use tandem_sim::Sim;

const KERNEL: &str = "machines = true\n[kernel]\nvalues = [20]\nseeds = 2\nscale = \"At a tenth of the rate\"\n";

/// Two curves of one scenario, and what the kernel is to run of it.
fn experiment() -> Experiment {
    let small = include_str!("small.toml").replace("kind = \"stolen\"\ngroups = [0]", "kind = \"goodput\"");
    let text = small
        .replace("[[claims]]", "[[curves]]\nname = \"b\"\nmeasure = { kind = \"goodput\", groups = [1] }\n[[claims]]");
    let (top, kernel) = KERNEL.split_once('\n').unwrap();
    Experiment::parse("small", "small.toml", &format!("{top}\n{text}\n{kernel}")).unwrap_or_else(|e| panic!("{e}"))
}

/// Nine tenths of the simulator's goodput; some seeds are doubted.
struct Slower {
    doubted: Option<u64>,
    runs: AtomicU32,
}

impl Slower {
    fn new(doubted: Option<u64>) -> Self {
        Self { doubted, runs: AtomicU32::new(0) }
    }
}

impl Engine for Slower {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn description(&self) -> &'static str {
        "The simulator, a little slower"
    }

    fn arithmetic(&self) -> &'static str {
        "of a test"
    }

    fn check(&self, scenario: &Scenario, force: bool) -> Result<Vec<Warning>, EngineError> {
        Sim.check(scenario, force)
    }

    fn run(&self, scenario: &Scenario, seed: u64, options: Options) -> Result<Option<SeedResult>, EngineError> {
        self.runs.fetch_add(1, Relaxed);
        let Some(mut result) = Sim.run(scenario, seed, options)? else { return Ok(None) };
        result.flows.iter_mut().for_each(|flow| flow.goodput_mbps *= 0.9);
        let doubts = self.doubted.iter().filter(|s| **s == seed).map(|_| "late, by \"much\"".to_owned()).collect();
        Ok(Some(SeedResult { emulation: Some(Emulation { doubts, ..Emulation::default() }), ..result }))
    }

    fn needs_machine(&self) -> bool {
        true
    }
}

/// How many runs it took.
fn measured(path: &Path, engine: &Slower) -> u32 {
    let experiments = [experiment()];
    let mut kept = RealTcpRuns::open(path).unwrap();
    let todo = missing(&experiments, &kept).unwrap();
    assert!(measure(&todo, engine, &mut kept, &Batch::default()).unwrap());
    engine.runs.load(Relaxed)
}

fn findings(path: &Path, form: Form) -> Findings {
    let kept = RealTcpRuns::open(path).unwrap();
    run(&[experiment()], form, Seeds::OfFile, &Sim, &Batch::default(), Some(&kept)).unwrap().remove(0).unwrap()
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/kernel.jsonl");
    (folder, path)
}

/// Both curves are of one scenario: two seeds are two runs. What is there is not run again, except for what is doubted.
#[test]
fn each_run_is_made_once_and_kept() {
    let (_folder, path) = place();
    assert_eq!(measured(&path, &Slower::new(Some(2))), 2);
    assert_eq!(measured(&path, &Slower::new(None)), 1, "the doubtful one");
    assert_eq!(measured(&path, &Slower::new(None)), 0);
}

/// The stand-in has nine tenths of what the simulator has with the same seeds: the simulator is a ninth above it.
#[test]
fn simulation_and_real_tcp_stand_side_by_side() {
    let (_folder, path) = place();
    measured(&path, &Slower::new(None));
    let found = findings(&path, Form::Full);
    assert_eq!((found.form, &*found.engine, &found.seeds[..]), (Form::Full, "sim", &[1, 2][..]));
    let beside = found.kernel.as_ref().unwrap();
    assert_eq!((&beside.seeds[..], &beside.x[..]), (&[1, 2][..], &["20".to_owned()][..]));
    assert!(beside.doubts.is_empty());
    assert_eq!(beside.simulated.curves[0].points[0].as_ref().unwrap().by_seed.len(), 10);
    for difference in &beside.differences {
        assert!((difference.difference - 1.0 / 9.0).abs() < 1e-3, "{difference:?}");
    }
    assert_eq!(beside.differences.len(), 2);
    assert_eq!(beside.simulated_seeds, 10);
    let place = Place { name: "doc.md", folder: "doc", has_experiments: false };
    let document = markdown(&[(&experiment(), &found)], "tandem", &place);
    let [(file, page), (picture, svg)] = &document.files[..] else { panic!("a page and a picture") };
    assert_eq!((&**file, &**picture), ("small.md", "small.svg"));
    assert!(svg.contains(">RTT, ms<") && !svg.contains("real TCP"), "the path is another: {svg}");
    assert!(document.table.contains("| [small](doc/small.md) |"), "{}", document.table);
    assert!(page.contains("[All figures](../doc.md)"), "{page}");
    assert!(page.contains("At a tenth of the rate."), "{page}");
    let page = page.replace('\n', " ");
    assert!(page.contains("differ by 11 % in the median, by 5 % or less in 0 of 2 values"), "{page}");
    let text = text(&experiment(), &found);
    assert!(text.contains("+11.1 %") && text.contains("differ by 5 % or less in 0"), "{text}");
}

#[test]
fn over_real_tcp_alone_its_numbers_are_judged() {
    let (_folder, path) = place();
    measured(&path, &Slower::new(Some(1)));
    let found = findings(&path, Form::Kernel);
    assert_eq!((found.form, &*found.engine, &found.seeds[..]), (Form::Kernel, "kernel", &[1, 2][..]));
    let own = found.own.curves[0].points[0].as_ref().unwrap();
    assert_eq!(own, found.kernel.as_ref().unwrap().measured.curves[0].points[0].as_ref().unwrap());
    let text = text(&experiment(), &found);
    assert!(text.contains("(doubtful)") && text.contains("a, 20, seed 1: late, by \"much\""), "{text}");
}

#[test]
fn without_runs_there_is_nothing_beside() {
    let (_folder, path) = place();
    assert!(findings(&path, Form::Quick).kernel.is_none());
}

#[test]
fn what_the_kernel_cannot_show_is_refused() {
    let error = |text: String| Experiment::parse("small", "small.toml", &text).expect_err(&text).to_string();
    let small = include_str!("small.toml");
    assert!(error(format!("{small}\n[kernel]\n")).contains("machines = true"));
    let gamma = small.replace("kind = \"stolen\"", "kind = \"window\"");
    assert!(error(format!("machines = true\n{gamma}\n[kernel]\n")).contains("is not kept of runs over real TCP"));
    assert!(error(format!("machines = true\n{small}\n[kernel]\ncurves = [\"z\"]\n")).contains("there is no curve `z`"));
}

/// Runs that have yet to be made: one of S3's Figure 10 with `cubic`, which was made when it had no HyStart.
const YET_TO_BE_MADE: usize = 1;

/// A run counts as long as its scenario is the same, so a scenario that changes loses its runs without a word.
#[test]
fn every_run_that_is_kept_is_asked_for() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("papers/real-tcp.jsonl");
    let kept = RealTcpRuns::open(&path).unwrap();
    let nothing = RealTcpRuns::open(Path::new("/nonexistent/runs.jsonl")).unwrap();
    let wanted = missing(&all().unwrap(), &nothing).unwrap();
    let still_missing = missing(&all().unwrap(), &kept).unwrap();
    let names = |runs: &[Missing]| runs.iter().map(|m| m.scenario.name.clone()).collect::<Vec<_>>();
    let doubtful = still_missing.iter().filter(|m| m.is_doubtful(&kept)).count();
    assert_eq!(still_missing.len(), doubtful + YET_TO_BE_MADE, "not there: {:?}", names(&still_missing));
    assert_eq!(kept.iter().count() + YET_TO_BE_MADE, wanted.len());
}
