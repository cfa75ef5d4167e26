// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run prints and writes.

mod common;

use std::fs;

use common::{Finished, Place, QUICK, QUICK_FILE};
use serde_json::Value;

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {path} of {value}"))
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_else(|| panic!("no text at {path} of {value}"))
}

fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).unwrap_or_else(|| panic!("no list at {path} of {value}"))
}

#[test]
fn json_has_what_is_promised() {
    let place = Place::new();
    let finished =
        place.succeed(&format!("compare {QUICK} --seeds 3 --against reno:2 compound:2 compound_tube:2 --json"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    let runs = list(&results, "/runs");
    assert_eq!(runs.len(), 2);
    for (run, contender) in runs.iter().zip(["compound", "compound_tube"]) {
        assert_eq!(text(run, "/engine"), "sim");
        assert_eq!(list(run, "/seeds"), [1, 2, 3]);
        let groups = list(run, "/groups");
        assert_eq!(groups.len(), 2);
        for (group, controller) in groups.iter().zip([contender, "reno"]) {
            assert_eq!(text(group, "/controller"), controller);
            assert_eq!(number(group, "/flows"), 2.0);
            assert!(number(group, "/goodput_ci95_mbps") >= 0.0);
            let flows = list(group, "/per_flow_goodput_mbps").iter().map(|v| v.as_f64().unwrap());
            assert_eq!(flows.len(), 2);
            assert!((flows.sum::<f64>() - number(group, "/goodput_mbps")).abs() < 1e-9);
            for path in ["/retransmits", "/timeouts", "/rtt_ms/mean", "/rtt_ms/p50", "/rtt_ms/p95", "/rtt_ms/p99"] {
                assert!(number(group, path) >= 0.0);
            }
            assert!(number(group, "/rtt_ms/mean") >= 20.0);
        }
        assert_eq!(groups[0]["stolen"], Value::Null);
        assert!((-1.0..=1.0).contains(&number(&groups[1], "/stolen")));
        let bottleneck = list(run, "/links").iter().find(|l| l["name"] == "bottleneck").unwrap();
        assert!((0.5..=1.0).contains(&number(bottleneck, "/utilisation")));
        assert!(number(bottleneck, "/queue_packets/mean") <= number(bottleneck, "/queue_packets/p95"));
        assert!(number(bottleneck, "/queue_packets/p95") <= number(bottleneck, "/queue_packets/max"));
        assert_eq!(number(bottleneck, "/queue_packets/max"), 20.0);
        assert!(number(bottleneck, "/drops") > 0.0);
        assert!((0.0..=1.0).contains(&number(run, "/jain")));
        // Three seeds of 3 s at 10 Mbit/s: at most 7500 packets.
        assert!((3000.0..=7500.0).contains(&number(run, "/data_packets")));
    }
    assert_eq!(place.read("tandem-out/compare-10mbit-20ms/results.json"), finished.out);
}

#[test]
fn one_seed_has_no_interval_and_no_baseline_means_nothing_stolen() {
    let place = Place::new();
    let finished = place.succeed(&format!("compare {QUICK} --seeds 1 reno:2 --json"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    let group = results.pointer("/runs/0/groups/0").unwrap();
    assert_eq!(group["goodput_ci95_mbps"], Value::Null);
    assert_eq!(group["stolen"], Value::Null);
}

#[test]
fn namesakes_are_told_apart() {
    let finished = Place::new().succeed(&format!("compare {QUICK} reno:2 reno:4 compound --json"));
    let results: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(
        list(&results, "/runs").iter().map(|r| text(r, "/name")).collect::<Vec<_>>(),
        ["reno:2", "reno:4", "compound"]
    );
}

#[test]
fn the_way_back_may_be_another() {
    let place = Place::new();
    let reverse_link = |options: &str| -> Value {
        let finished = place.succeed(&format!("compare {QUICK} --no-delayed-acks {options} reno:2 --json"));
        let results: Value = serde_json::from_str(&finished.out).unwrap();
        let run = list(&results, "/runs")[0].clone();
        assert!(number(&run, "/groups/0/goodput_mbps") > 9.0);
        list(&run, "/links").iter().find(|l| l["name"] == "reverse").unwrap().clone()
    };
    // 833 packets of 1500 bytes a second, each with an ACK of 52: 347 kbit/s.
    let slow = reverse_link("--reverse-rate 700kbit");
    assert!((0.45..=0.5).contains(&number(&slow, "/utilisation")), "{slow}");
    assert_eq!(number(&slow, "/random_losses"), 0.0);
    let lossy = reverse_link("--reverse-loss 10%");
    assert!((0.08..=0.12).contains(&number(&lossy, "/loss_rate")), "{lossy}");
    // Less than the ACKs ask for.
    let narrow = reverse_link("--reverse-rate 300kbit --reverse-queue 7p");
    assert_eq!(number(&narrow, "/queue_packets/max"), 7.0);
}

/// 60 Mb/s for 20 ms are 100 packets; with the one in transmission and 1000 that wait, Reno grows from 550.5 to 1101 packets, which takes
/// (1101^2 - 550.5^2) / 2 / 5000 = 90.9 s. With slow start 92 s are cut off, and four times 90.9 s, 364 s, are measured. A minute of 240 Mb/s is more
/// than a million packets; of 10 Mb/s these would take longer than the ten minutes that no run exceeds.
#[test]
fn runs_are_as_long_as_the_path_needs_unless_told_otherwise() {
    let place = Place::new();
    let compare = |options: &str| place.succeed(&format!("compare --rtt 20ms --seeds 1 {options} reno --json"));
    let length = |out: &str| {
        let results: Value = serde_json::from_str(out).unwrap();
        (number(&results, "/runs/0/duration_s"), number(&results, "/runs/0/warmup_s"))
    };
    let long = compare("--rate 60mbit --queue 1000p");
    assert!(long.err.contains("reno takes some 91 s from loss to loss"), "{}", long.err);
    assert_eq!(length(&long.out), (456.0, 92.0));
    let short = compare("--rate 240mbit --queue 20p");
    assert!(short.err.starts_with("Each run lasts 60s, without the first 10s: slow start"), "{}", short.err);
    assert_eq!(length(&short.out), (60.0, 10.0));
    assert_eq!(length(&compare("--rate 10mbit --queue 20p").out), (600.0, 100.0));
    let told = compare("--rate 60mbit --queue 1000p --duration 20s --warmup 5s");
    assert!(!told.err.contains("Each run lasts"), "{}", told.err);
    assert_eq!(length(&told.out), (20.0, 5.0));
    assert!(told.out.contains("reno takes some 91 s from loss to loss, but only 15 s were measured"), "{}", told.out);
}

/// 1448 kB are 1000 packets. At 12 Mb/s each takes 1 ms, and the first round 20 ms more: nothing is faster than 1.02 s. Two flows at once take at
/// least 2 s for both. Slow start with a queue of 200 packets loses some, but not the time of as many again.
#[test]
fn a_transfer_is_measured_by_its_time() {
    let place = Place::new();
    let compare = |options: &str| {
        place.succeed(&format!(
            "compare --rate 12mbit --rtt 20ms --queue 200p --transfer 1448kB --seeds 2 {options} --json"
        ))
    };
    let results: Value = serde_json::from_str(&compare("reno cubic:2").out).unwrap();
    let [reno, cubic] = list(&results, "/runs") else { panic!("{results}") };
    let time = |run: &Value, figure: &str| number(run, &format!("/groups/0/completion_time_s/{figure}"));
    assert!((1.02..2.0).contains(&time(reno, "mean")), "{reno}");
    assert!((2.0..4.0).contains(&time(cubic, "max")) && time(cubic, "mean") > 1.02, "{cubic}");
    assert_eq!((number(reno, "/warmup_s"), number(reno, "/duration_s")), (0.0, 60.0));
    assert_eq!(list(reno, "/cautions").len(), 1, "only that two seeds are few: {reno}");
    // 150 MB of two flows are 200 s at 12 Mb/s, and as many again to be sure.
    let long: Value = serde_json::from_str(
        &place.succeed("compare --rate 12mbit --rtt 20ms --transfer 150MB --seeds 1 reno:2 --json --out long").out,
    )
    .unwrap();
    assert_eq!(number(&long, "/runs/0/duration_s"), 400.0);
    let cut = compare("--duration 1s reno:2 --out cut");
    let cut: Value = serde_json::from_str(&cut.out).unwrap();
    assert_eq!(cut.pointer("/runs/0/groups/0/completion_time_s"), Some(&Value::Null));
    let cautions = list(&cut, "/runs/0/cautions");
    assert!(cautions.iter().any(|c| c.as_str().unwrap().contains("4 of 4 transfers did not end")), "{cautions:?}");
}

#[test]
fn the_same_command_gives_the_same_bytes() {
    let command = format!("compare {QUICK} --seeds 2 --loss 1% --against reno:1 compound:1 --out o");
    let [first, second] = [(); 2].map(|()| {
        let place = Place::new();
        place.succeed(&command);
        ["o/results.json", "o/report.html"].map(|file| place.read(file))
    });
    assert!(first == second);
}

#[test]
fn the_table_goes_to_standard_output_and_the_rest_beside_it() {
    let place = Place::new();
    let finished = place.succeed(&format!("compare {QUICK} --seeds 2 --out o reno:2 compound:2"));
    for part in ["Goodput", "reno", "compound", "Bottleneck", "n = 2"] {
        assert!(finished.out.contains(part), "{}", finished.out);
    }
    let (report, time) = finished.err.split_once('\n').unwrap();
    assert_eq!(report, "Report: o/report.html");
    assert!(time.starts_with("It took ") && time.ends_with(" s of processor time.\n"), "{time}");
    assert_eq!(place.files("o"), ["report.html", "results.json"]);
    let report = place.read("o/report.html");
    assert!(report.trim_end().ends_with("</html>") && report.len() < 1_500_000, "{} bytes", report.len());
}

/// `tandem run --acks`: rows for each of both flows, and none left when they are not asked for.
#[test]
fn acks_are_written_on_request() {
    let place = Place::new();
    fs::write(place.path("s.toml"), QUICK_FILE.join("\n") + "\ncount = 2\n").unwrap();
    place.succeed("run s.toml --acks --out o");
    let (schema, batches) = tandem_tables::read_parquet(&place.path("o/acks.parquet")).unwrap();
    assert!(schema.field_with_name("cwnd_packets").is_ok() && schema.field_with_name("goodput_mbps").is_err());
    // 10 Mb/s for 3 s are 2480 packets of 1500 bytes, half of which are answered where ACKs are delayed.
    let rows: Vec<usize> = batches.iter().map(|batch| batch.num_rows()).collect();
    assert!(rows.len() == 2 && (1100..2600).contains(&rows.iter().sum::<usize>()), "{rows:?}");
    place.succeed("run s.toml --out o --replace");
    assert_eq!(place.files("o"), ["report.html", "results.json"]);
    let refused = place.tandem("run s.toml --acks --engine model --out p");
    assert!(refused.status == Some(2) && refused.err.contains("--acks works only in the simulator"), "{}", refused.err);
}

#[test]
fn another_commands_results_are_given_up_only_when_the_user_says_so() {
    let place = Place::new();
    place.succeed(&format!("compare {QUICK} --seeds 1 --trace --out o reno:2"));
    assert_eq!(place.files("o"), ["flows.parquet", "links.parquet", "report.html", "results.json"]);
    for file in ["o/flows.parquet", "o/links.parquet"] {
        let bytes = fs::read(place.path(file)).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{file}");
    }
    let other = format!("compare {QUICK} --seeds 1 --out o compound:1");
    let refused = place.tandem(&other);
    assert_eq!((refused.status, &*refused.out), (Some(2), ""));
    for part in ["`o` holds the results of `tandem compare", "reno:2`", "--out", "--replace"] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
    // Samples of the run before would pass for this one's.
    place.succeed(&format!("{other} --replace"));
    assert_eq!(place.files("o"), ["report.html", "results.json"]);
    assert_eq!(place.json("o/results.json").pointer("/runs/0/groups/0/controller").unwrap(), "compound");
}

/// A result is worth keeping if one knows what it is a result of.
#[test]
fn results_have_the_scenario_and_the_commit() {
    let place = Place::new();
    place.succeed(&format!("compare {QUICK} --seeds 2 --against reno:1 compound@gamma=7:1 --out o"));
    let results = place.json("o/results.json");
    assert!(!text(&results, "/commit").is_empty());
    let scenario = |path: &str| results.pointer(&format!("{path}/scenario")).unwrap().clone();
    for path in ["/runs/0", "/baseline"] {
        assert_eq!(number(&scenario(path), "/duration_s"), 3.0);
        assert_eq!(number(&scenario(path), "/network/links/0/rate_bps"), 1e7);
        assert_eq!(list(&scenario(path), "/seeds"), [1, 2]);
    }
    let controller = scenario("/runs/0").pointer("/groups/0/source/tcp/controller").unwrap().clone();
    assert_eq!((text(&controller, "/name"), number(&controller, "/parameters/gamma")), ("compound", 7.0));
    assert_eq!(text(&scenario("/baseline"), "/groups/0/source/tcp/controller/name"), "reno");
}

#[test]
fn a_report_is_left_out_on_demand() {
    let place = Place::new();
    let command = |options: &str| format!("compare {QUICK} --seeds 1 --out o {options} reno");
    place.succeed(&command(""));
    let finished = place.succeed(&command("--no-report --replace"));
    assert!(finished.err.starts_with("Results: o/results.json"), "{}", finished.err);
    assert_eq!(place.files("o"), ["results.json"], "the report of the run before would pass for this one's");
}

#[test]
fn each_command_has_a_folder_of_its_own() {
    let place = Place::new();
    let compare = |controller: &str| place.succeed(&format!("compare {QUICK} --seeds 1 {controller}")).err;
    assert!(compare("reno").starts_with("Report: tandem-out/compare-10mbit-20ms/report.html\n"));
    assert!(compare("compound").starts_with("Report: tandem-out/compare-10mbit-20ms-2/report.html\n"));
    let again = compare("reno");
    assert!(again.starts_with("Report: tandem-out/compare-10mbit-20ms/report.html (it replaces"), "{again}");
    assert_eq!(place.files("tandem-out"), ["compare-10mbit-20ms", "compare-10mbit-20ms-2"]);
}

/// A folder is no file of 4 kB: it cannot take a report, but the answer has been worked out.
#[test]
fn the_answer_is_printed_even_if_it_cannot_be_written() {
    let place = Place::new();
    fs::create_dir_all(place.path("o/report.html")).unwrap();
    let finished = place.tandem(&format!("compare {QUICK} --seeds 1 --out o reno:2"));
    assert_eq!(finished.status, Some(1));
    assert!(finished.out.contains("Goodput"), "{}", finished.out);
    assert!(finished.err.contains("cannot write `o/report.html`"), "{}", finished.err);
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_anything_runs() {
    let place = Place::new();
    place.write("plain", "");
    // Permissions do not hold root back; these do. An hour's run: the test would not end if it began.
    for folder in ["plain/below", "plain", "/proc/tandem"] {
        let long = "--rate 10gbit --rtt 20ms --duration 1h";
        let finished = place.tandem(&format!("compare {long} reno --out {folder}"));
        assert_eq!(finished.status, Some(1), "{}", finished.err);
        let message = format!("tandem: cannot write to the output folder `{folder}`; choose another with --out: ");
        assert!(finished.err.starts_with(&message), "{}", finished.err);
        assert_eq!(finished.out, "");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    for arguments in ["list controllers", "--help", &format!("compare {QUICK} --seeds 1 --json --out o reno")] {
        let mut running = place.start(arguments);
        drop(running.child().stdout.take());
        let finished = Finished::from(running.output());
        assert_eq!(finished.status, Some(0), "{}", finished.err);
        assert!(!finished.err.contains("panicked"), "{}", finished.err);
    }
    // Nobody reads errors either: `2>&1 | head`.
    let run = format!("compare {QUICK} --seeds 1 --out p reno");
    let mut running = place.start(&run);
    drop((running.child().stdout.take(), running.child().stderr.take()));
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    for (command, example) in [
        ("", "tandem compare --rate"),
        ("compare", "tandem compare --rate"),
        ("run", "tandem run scenarios/dumbbell.toml"),
        ("list", "tandem list controllers"),
        ("list controllers", "tandem list controllers"),
        ("list engines", "tandem list engines"),
    ] {
        let help = place.succeed(&format!("{command} --help")).out;
        let examples =
            help.split("Examples:").nth(1).unwrap_or_else(|| panic!("`tandem {command}`: no examples\n{help}"));
        assert!(examples.contains(example), "{examples}");
    }
}

#[test]
fn lists_are_text_and_json() {
    let place = Place::new();
    assert!(place.succeed("list controllers").out.contains("compound_tube"));
    assert!(place.succeed("list engines").out.contains("sim"));
    let controllers: Value = serde_json::from_str(&place.succeed("list controllers --json").out).unwrap();
    let compound = controllers.as_array().unwrap().iter().find(|c| c["name"] == "compound").unwrap();
    let gamma = list(compound, "/parameters").iter().find(|p| p["name"] == "gamma").unwrap();
    assert_eq!(number(gamma, "/default"), 30.0);
    let named = |name| controllers.as_array().unwrap().iter().find(|c| c["name"] == name).unwrap();
    let (bbr, prague) = (named("bbr"), named("prague"));
    assert_eq!((&bbr["signal"], &bbr["fits_kernel"]), (&Value::from("model"), &Value::from(true)));
    assert_eq!(prague["fits_kernel"], false);
    assert!(text(prague, "/kernel_obstacle").contains("ECT(1)"), "{prague}");
    assert!(place.succeed("list controllers").out.contains("Not in the kernel: its packets must carry ECT(1)"));
    assert_eq!((&compound["fits_kernel"], &compound["kernel_obstacle"]), (&Value::from(true), &Value::Null));
    let state = &list(named("bbr3"), "/probes")[0];
    assert_eq!((text(state, "/name"), &state["words"][6]), ("state", &Value::from("PROBE_RTT")));
    assert!(place.succeed("list controllers").out.contains("`tandem kernel watch`: alpha (average share"));
    let engines: Value = serde_json::from_str(&place.succeed("list engines --json").out).unwrap();
    assert_eq!(engines[0]["name"], "sim");
}

/// Left alone `cubic` and `reno` are near each other, and what is not decided is named; the matrix says so, too.
#[test]
fn seeds_are_added_until_it_is_decided() {
    let place = Place::new();
    let results: Value =
        serde_json::from_str(&place.succeed(&format!("compare {QUICK} --json reno:2 cubic:2")).out).unwrap();
    let why = results["why_these_seeds"].as_str().unwrap();
    for run in results["runs"].as_array().unwrap() {
        let seeds = run["seeds"].as_array().unwrap().len();
        assert!((5..=20).contains(&seeds), "{seeds}");
        assert_eq!(run["scenario"]["seeds"].as_array().unwrap().len(), seeds);
        assert!(why.contains(if seeds == 20 { "still open" } else { "not needed" }), "{why}");
    }
    let table = place.succeed(&format!("compare {QUICK} --most-seeds 5 --precision 0.1% reno:2 cubic:2")).out;
    assert!(table.contains("After 5 seeds (--most-seeds) still open"), "{table}");
    let matrix = place.succeed(&format!("compare {QUICK} --matrix reno:2 cubic:2")).out;
    assert!(matrix.contains("More seeds were not needed") || matrix.contains("still open"), "{matrix}");
    // The model knows no chance.
    let model = place.succeed("compare --rate 10mbit --rtt 20ms --engine model --json compound@rtt_gain=0").out;
    assert!(!model.contains("why_these_seeds"), "{model}");
}
