// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem papers`.

mod common;

use common::{Finished, Place};
use serde_json::Value;
use tandem_testing::wait_until;

/// Runs of milliseconds.
const SMALL: &str = include_str!("../../../experiments/tests/small.toml");

#[test]
fn the_list_has_id_title_claim_and_engines() {
    let place = Place::new();
    let list: Value = serde_json::from_str(&place.succeed("papers list --json").out).unwrap();
    let entry = list.as_array().unwrap().iter().find(|e| e["id"] == "s0/fig3").unwrap();
    assert!(entry["title"].as_str().unwrap().contains("random loss"));
    assert!(entry["claim"].as_str().unwrap().contains("73 %"));
    assert_eq!(entry["engines"], serde_json::json!(["sim"]));
    let on_machines = list.as_array().unwrap().iter().find(|e| e["id"] == "s3/fig4").unwrap();
    assert_eq!(on_machines["engines"], serde_json::json!(["sim", "kernel"]));
    let text = place.succeed("papers list").out;
    assert!(text.starts_with("Tan, Song, Zhang, Sridharan: Compound TCP"));
    // Each id can be copied, the longest too.
    for entry in list.as_array().unwrap() {
        let (id, title) = (entry["id"].as_str().unwrap(), entry["title"].as_str().unwrap());
        assert!(
            text.lines().any(|l| l.split_once(' ').is_some_and(|(i, t)| i == id && t.trim_start() == title)),
            "{id}"
        );
    }
}

#[test]
fn a_run_is_judged_and_written() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let out = place.succeed("papers run small.toml --json --doc doc.md").out;
    let results: Value = serde_json::from_str(&out).unwrap();
    let found = &results["experiments"][0];
    assert_eq!(found["file"]["title"], found["title"]);
    assert!(found["file"]["scenario"]["dumbbell"]["rtt"].is_string());
    assert_eq!((found["id"].as_str(), found["verdict"].as_str()), (Some("small"), Some("holds")));
    assert_eq!(found["seeds"], serde_json::json!([1, 2]));
    assert_eq!(found["curves"][0]["points"][1]["mean"], 0.0);
    assert!(found["reason"].as_str().unwrap().starts_with("Headline: less than 10: holds"));
    assert_eq!(place.read("tandem-out/papers/results.json"), out);
    assert!(place.read("tandem-out/papers/report.html").contains("A run beside itself"));
    assert!(place.read("doc.md").contains("| [small](doc/small.md) |"));
    let quick: Value = serde_json::from_str(&place.succeed("papers run small.toml --quick --json").out).unwrap();
    assert_eq!(quick["experiments"][0]["x"], serde_json::json!(["20"]));
}

/// The numbers of a run go into a folder, and come back as text, as JSON with each seed's value, and as documents.
#[test]
fn numbers_are_kept_shown_and_documented() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.succeed("papers run small.toml --data numbers");
    let kept: Value = serde_json::from_str(&place.read("numbers/small.json")).unwrap();
    assert_eq!(kept["curves"][0]["points"][0]["by_seed"], serde_json::json!([0.0, 0.0]));
    let text = place.succeed("papers show s1/fig4").out;
    assert!(text.contains("\nVariant: Without a delay window: ") && text.contains("Assumed: "), "{text}");
    let shown: Value = serde_json::from_str(&place.succeed("papers show s1/fig4 --json").out).unwrap();
    assert_eq!((shown[0]["id"].as_str(), shown[0]["x"][2].as_str()), (Some("s1/fig4"), Some("3")));
    place.succeed("papers doc page.md");
    assert!(place.read("page.md").contains("| [s1/fig4](page/s1-fig4.md) |"));
    assert!(place.read("page/s1-fig4.svg").starts_with("<svg "));
    let refused = |command: &str, message: &str| {
        let finished = place.tandem(command);
        assert_eq!(finished.status, Some(2), "{command}");
        assert!(finished.err.contains(message), "{}", finished.err);
    };
    refused(
        "papers show s1/fig4 --data numbers",
        "there are no numbers of `s1/fig4`: `tandem papers run s1/fig4 --data DIR` makes them",
    );
    refused("papers doc page", "give a name that ends in .md");
}

#[test]
fn what_is_done_is_not_done_again() {
    let place = Place::with_store();
    place.write("small.toml", SMALL);
    let run = |file: &str| (place.succeed(&format!("papers run {file} --json")).out, place.stored_runs());
    let first = run("small.toml");
    assert_eq!(run("small.toml"), first);
    // Another text, title and claim, and what others make of it.
    place
        .write("renamed.toml", &format!("# The same runs.\n{}", SMALL.replace("A run beside itself", "Another title")));
    let (out, runs) = run("renamed.toml");
    assert!(out.contains("Another title") && runs == first.1, "{runs} runs, not {}", first.1);
    place.write("other.toml", &SMALL.replace("\"4s\"", "\"5s\""));
    assert!(run("other.toml").1 > first.1);
}

/// In full where all of it is kept; otherwise in the quick form; otherwise not at all.
#[test]
fn what_is_kept_is_judged_without_running_anything() {
    let place = Place::with_store();
    place.write("small.toml", SMALL);
    place.write("other.toml", &SMALL.replace("\"4s\"", "\"5s\""));
    let judged = || {
        let finished = place.tandem("papers run small.toml other.toml --kept --json --doc doc.md");
        assert_eq!(finished.status, Some(1), "{}", finished.err);
        let results: Value = serde_json::from_str(&finished.out).unwrap();
        let one = |e: &Value| format!("{} {}", e["id"].as_str().unwrap(), e["form"].as_str().unwrap());
        let found = results["experiments"].as_array().unwrap().iter().map(one).collect::<Vec<_>>().join(", ");
        (found, finished.err)
    };
    let (found, note) = judged();
    assert_eq!(found, "");
    assert!(note.contains("2 of 2 experiments are left out: small, other. Not all of their runs are in"), "{note}");
    place.succeed("papers run small.toml --quick");
    assert_eq!(judged().0, "small quick");
    place.succeed("papers run small.toml");
    let (found, note) = judged();
    assert_eq!(found, "small full");
    assert!(note.contains("1 of 2 experiments are left out: other. Not all of their runs are in"), "{note}");
    place.succeed("papers run small.toml --kept");
    assert!(place.read("doc.md").contains("| [small](doc/small.md) |"));
    assert_eq!(place.tandem("papers run small.toml --kept --quick").status, Some(2));
}

#[test]
fn an_interrupted_run_goes_on() {
    let place = Place::with_store();
    // Each core has several runs, of which the first to end are seen long before the last.
    let seeds = 4 * std::thread::available_parallelism().unwrap().get().max(2);
    place.write("long.toml", &SMALL.replace("\"4s\"", "\"1000s\"").replace("seeds = 2", &format!("seeds = {seeds}")));
    let running = place.start("papers run long.toml");
    wait_until("three runs are kept", || place.stored_runs() >= 3);
    running.signal("INT");
    let interrupted = Finished::from(running.output());
    assert_eq!(interrupted.status, Some(130), "{}", interrupted.err);
    assert!(interrupted.err.contains("the same command continues"), "{}", interrupted.err);
    let before = place.stored_runs();
    // Killed, it goes on too.
    let running = place.start("papers run long.toml");
    wait_until("more runs are kept", || place.stored_runs() > before);
    running.signal("KILL");
    drop(running.output());
    let out = place.succeed("papers run long.toml --json").out;
    // Each run that ends adds a line: what was done was not done again.
    let all = place.stored_runs();
    assert!(before < all, "{before} runs were all");
    place.succeed("papers run long.toml --json");
    assert_eq!(place.stored_runs(), all);
    // A run in one go gives the same numbers.
    place.succeed("store clear");
    let whole = place.succeed("papers run long.toml --json --out elsewhere").out;
    assert_eq!(place.stored_runs(), all, "some runs were made twice");
    let numbers = |text: &str| serde_json::from_str::<Value>(text).unwrap()["experiments"].clone();
    assert_eq!(numbers(&out), numbers(&whole));
}

#[test]
fn an_experiment_of_ones_own_says_what_its_figures_cannot_mean() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let out = place.succeed("papers run small.toml").out;
    let cautions: Vec<&str> = out.lines().filter(|line| line.starts_with("Caution: ")).collect();
    // Two seeds, in each of its runs.
    let few = cautions.iter().find(|caution| caution.contains("two seeds make a very wide interval")).unwrap();
    let (_, runs) = few.rsplit_once('(').unwrap();
    let counts: Vec<&str> = runs.trim_end_matches(" runs).").split(" of ").collect();
    assert!(counts.len() == 2 && counts[0] == counts[1], "{few}");
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let finished = place.tandem("papers run s0/fig33");
    assert_eq!(finished.status, Some(2));
    assert!(finished.err.contains("there is no experiment `s0/fig33`, did you mean `s0/fig3`?"), "{}", finished.err);
    let finished = place.tandem("papers run S2");
    assert!(finished.err.contains("there is no experiment `S2`, did you mean `s2`?"), "{}", finished.err);
    place.write("small.toml", &SMALL.replace("\"reno\"", "\"rino\""));
    let finished = place.tandem("papers run small.toml");
    assert_eq!(finished.status, Some(2));
    assert!(finished.err.contains("small.toml:14:14: unknown controller `rino`"), "{}", finished.err);
    assert_eq!(place.tandem("papers run missing.toml").status, Some(2));
}

#[test]
fn what_cannot_run_over_real_tcp_is_refused() {
    let place = Place::new();
    for (arguments, message) in [
        ("papers run s0/fig3 --engine kernel", "`s0/fig3` has no form for --engine kernel"),
        ("papers run s0/fig3 --engine sim,model", "--engine model cannot run the experiments"),
        ("papers run s0/fig3 --engine sim,sim", "`sim` is named twice"),
        ("papers run s2 --engine kernel", "none of these has a form for --engine kernel"),
        ("papers run s3/fig4 --engine kernel --quick", "leave out --quick"),
        ("papers run s3/fig4 --kernel-runs nowhere.csv", "there is no `nowhere.csv`"),
    ] {
        let finished = place.tandem(arguments);
        assert_eq!(finished.status, Some(2), "{arguments}: {}", finished.err);
        assert!(finished.err.contains(message), "{arguments}: {}", finished.err);
    }
}
