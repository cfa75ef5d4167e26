// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem evaluate`.

mod common;

use common::Place;
use serde_json::Value;

/// A link of 64 and 256 kbit/s: a criterion that runs in an instant.
const SLOW: &str = "--criteria 7.4 --quick";

/// A window of one packet for ever uses no path.
const STUCK: &str = "#include \"growth.h\"\n\
    #define stuck_PARAMS(P) P(unused, 1, 0, 0, 1, \"nothing\")\n\
    struct stuck_params { stuck_PARAMS(TANDEM_PARAM_FIELD) };\n\
    struct stuck { u32 unused; };\n\
    #define stuck_PROBES(P, W)\n\
    #define FN(type, name, ...) TANDEM_FN type stuck_##name(struct stuck *s, const struct stuck_params *p, __VA_ARGS__)\n\
    FN(void, init, struct tandem_conn *c) { s->unused = 0; c->snd_cwnd = 1; }\n\
    FN(void, pkts_acked, const struct tandem_conn *c, const struct tandem_ack *ack) {}\n\
    FN(void, cong_avoid, struct tandem_conn *c, u32 acked) { c->snd_cwnd = 1; }\n\
    FN(u32, ssthresh, const struct tandem_conn *c, u32 reason) { return 2; }\n\
    FN(void, set_state, struct tandem_conn *c, u32 state) {}\n\
    FN(void, restart, struct tandem_conn *c) {}\n\
    FN(u32, undo_cwnd, const struct tandem_conn *c) { return 1; }\n\
    TANDEM_FN void stuck_view(const struct stuck *s, const struct stuck_params *p, const struct tandem_conn *c,\n\
        struct tandem_view *v) { v->loss_window = 1; }\n";

#[test]
fn a_criterion_has_its_limits_with_their_owners() {
    let place = Place::new();
    let json: Value = serde_json::from_str(&place.succeed(&format!("evaluate reno {SLOW} --json")).out).unwrap();
    assert_eq!((json["contender"].as_str(), json["form"].as_str()), (Some("reno"), Some("quick")));
    let [row] = json["rows"].as_array().unwrap().as_slice() else { panic!("one criterion was asked for") };
    assert_eq!((row["section"].as_str(), row["answer"].as_str()), (Some("7.4"), Some("passes")));
    assert_eq!(row["asked"].as_array().unwrap().len(), 2);
    assert!(row["asked"].as_array().unwrap().iter().all(|asked| !asked["owner"].as_str().unwrap().is_empty()));
    // The link is used to 90 % at both rates, and each point is there although it passes.
    let points = row["asked"][0]["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|point| point["at"].as_str().unwrap()).collect::<Vec<_>>(), ["at 64", "at 256"]);
    assert!(points.iter().all(|point| point["answer"] == "passes" && point["above"] == 90.0), "{points:?}");
    assert!(points.iter().all(|point| (90.0..=100.0).contains(&point["mean"].as_f64().unwrap())), "{points:?}");
    assert!(json["unposed"].as_array().unwrap().iter().any(|one| one["section"] == "7.10"));
}

/// A header's fault is found, its document has the file that shows it, and what got worse is the exit status.
#[test]
fn what_fails_comes_with_a_scenario_and_breaks_the_build() {
    let place = Place::new();
    place.write("stuck.h", STUCK);
    let before = place.succeed(&format!("evaluate reno {SLOW} --json")).out;
    place.write("before.json", &before);
    let failed = place
        .tandem(&format!("evaluate ./stuck.h {SLOW} --baseline before.json --markdown stuck.md --junit stuck.xml"));
    assert_eq!(failed.status, Some(1), "{}", failed.err);
    assert!(failed.err.contains("passed in the baseline and fails now: rfc9743/7.4-slow"), "{}", failed.err);
    assert!(failed.out.contains("the link is used to 90 % or more: fails"), "{}", failed.out);
    let beside = "\nBeside before.json: 1 passed and fail now: rfc9743/7.4-slow\n  another controller: `reno` there, `./stuck.h` here\n";
    assert!(failed.out.ends_with(beside), "{}", failed.out);
    let document = place.read("stuck.md");
    assert!(document.contains("](stuck/7.4-slow.svg)"), "{document}");
    assert!(place.read("stuck/7.4-slow.svg").starts_with("<svg"));
    assert!(place.read("stuck.xml").contains("failures=\"1\""), "{}", place.read("stuck.xml"));
    let (_, rest) = document.split_once("```toml\n").expect("a failure comes with its scenario");
    place.write("worst.toml", rest.split_once("```").unwrap().0);
    let worst: Value = serde_json::from_str(&place.succeed("run worst.toml --seeds 1 --json").out).unwrap();
    let utilisation = worst["runs"][0]["links"][0]["utilisation"].as_f64().unwrap();
    assert!(utilisation < 0.9, "{utilisation}");
    // It failed before: nothing has got worse.
    let failing = place.succeed(&format!("evaluate ./stuck.h {SLOW} --json")).out;
    place.write("failing.json", &failing);
    let again = place.succeed(&format!("evaluate ./stuck.h {SLOW} --baseline failing.json --json")).out;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["baseline"], serde_json::json!({ "regressions": [], "new": [], "gone": [] }));
    let refused = place.tandem("evaluate reno --suite rfc8867 --baseline failing.json");
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.err.contains("--baseline failing.json: it has the criteria of RFC 9743, not of RFC 8867: name"),
        "{}",
        refused.err
    );
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let place = Place::new();
    for (arguments, message) in [
        ("evaluate cubik", "did you mean `cubic`?"),
        ("evaluate kernel:cubic", "is the kernel's own"),
        ("evaluate reno --criteria 9", "there is no criterion `9`; there are 5.1.1"),
        ("evaluate reno --baseline none.json", "none.json"),
        ("evaluate reno --against reno,cubik", "did you mean `cubic`?"),
        ("evaluate reno --suite nist", "there are prudentia, rfc8867, rfc9743, tcpeval"),
        ("evaluate reno --suite ./none", "suite ./none: "),
        ("evaluate reno --markdown plain", "write `plain.md`"),
        ("evaluate reno --engine kernel", "write --engine sim,kernel"),
        ("evaluate noq:bbr3", "or write --engine quic"),
        ("evaluate reno --engine sim,quic", "--engine quic: QUIC's answers stand alone"),
        ("evaluate", "CONTROLLER"),
        ("evaluate reno --from a.json", "--from"),
        ("evaluate --from none.json", "none.json"),
        ("evaluate reno --engine sim,model", "--engine model cannot run the criteria"),
        ("evaluate prague --engine sim,kernel", "none of these criteria can be posed over real TCP: "),
        (
            "evaluate reno --criteria 7.6 --engine sim,kernel",
            "acknowledges two segments at once and says what has come",
        ),
    ] {
        let refused = place.tandem(arguments);
        assert_eq!(refused.status, Some(2), "{arguments}");
        assert!(refused.err.contains(message), "{arguments}: {}", refused.err);
    }
}

/// What --json kept is told again without a run: the same words, the same pictures.
#[test]
fn a_kept_report_is_told_again() {
    let place = Place::new();
    let json = place.succeed(&format!("evaluate reno {SLOW} --json --markdown first.md")).out;
    place.write("kept.json", &json);
    let again = place.succeed("evaluate --from kept.json --markdown second.md --junit second.xml --baseline kept.json");
    assert!(again.out.starts_with("RFC 9743, `reno`, quick runs: 1 passed, 0 failed, 0 undecided\n"), "{}", again.out);
    assert!(again.out.ends_with("\nBeside kept.json: nothing that passed fails now\n"), "{}", again.out);
    assert_eq!(place.read("second.md"), place.read("first.md").replace("](first/", "](second/"));
    assert_eq!(place.read("second/7.4-slow.svg"), place.read("first/7.4-slow.svg"));
    assert!(place.read("second.xml").contains("failures=\"0\""), "{}", place.read("second.xml"));
    place.write("other.json", "[]");
    let refused = place.tandem("evaluate --from other.json");
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.err.contains("--from other.json: this is not what `tandem evaluate --json` writes"),
        "{}",
        refused.err
    );
}

/// The stack's own controller is judged where its engine carries the path; a receiver that lies is not among what it carries.
#[test]
fn a_quic_stacks_own_controller_is_judged_over_quic() {
    let place = Place::new();
    let run = "evaluate noq:bbr3 --engine quic --criteria 7.4,7.6 --quick --json";
    let json: Value = serde_json::from_str(&place.succeed(run).out).unwrap();
    assert_eq!(json["engine"], "quic");
    let rows = json["rows"].as_array().unwrap();
    let slow = rows.iter().find(|row| row["section"] == "7.4").unwrap();
    assert_ne!(slow["answer"], "not_measured", "{slow}");
    assert_eq!(slow["asked"].as_array().unwrap().len(), 2);
    let lies: Vec<&Value> = rows.iter().filter(|row| row["section"] == "7.6").collect();
    assert_eq!(lies.len(), 2);
    for row in lies {
        let why = row["why"].as_str().unwrap();
        assert!(row["answer"] == "not_measured" && why.starts_with("cannot be posed: "), "{row}");
        assert!(!why.contains("leave"), "{why}");
    }
}

/// Each neighbour is a point.
#[test]
fn it_is_judged_beside_those_that_are_named() {
    let place = Place::new();
    let run = "evaluate vegas --criteria 5.2.1 --quick --against vegas --json";
    let json: Value = serde_json::from_str(&place.succeed(run).out).unwrap();
    let findings: Vec<&str> =
        json["rows"].as_array().unwrap().iter().map(|row| row["asked"][0]["finding"].as_str().unwrap()).collect();
    assert_eq!(findings.len(), 2);
    assert!(findings.iter().all(|finding| finding.contains("vegas") && !finding.contains("cubic")), "{findings:?}");
}

/// RFC 8867 has eight test cases. In that of section 5.1 nothing fails CUBIC, which is compared with itself. One packet a round trip is an eighth
/// of the goodput of a path that carries a thousand kilobits a second, and no queue.
#[test]
fn another_suite_is_chosen_by_its_name() {
    let place = Place::new();
    place.write("stuck.h", STUCK);
    for (contender, answer, of_limits) in
        [("cubic", "passes", ["passes", "passes"]), ("./stuck.h", "fails", ["fails", "passes"])]
    {
        let run = format!("evaluate {contender} --suite rfc8867 --criteria 5.1 --quick --json");
        let json: Value = serde_json::from_str(&place.succeed(&run).out).unwrap();
        let [row] = json["rows"].as_array().unwrap().as_slice() else { panic!("one case was asked for") };
        assert_eq!((row["id"].as_str(), row["answer"].as_str()), (Some("rfc8867/5.1-capacity"), Some(answer)));
        let asked: Vec<&str> =
            row["asked"].as_array().unwrap().iter().map(|asked| asked["answer"].as_str().unwrap()).collect();
        assert_eq!(asked, of_limits, "{contender}: {row}");
    }
}

/// Where a planted controller divides by nothing is said, and no verdict is given.
#[test]
fn a_division_by_zero_is_no_verdict() {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../evaluate/tests/planted/zero.h");
    let ended = Place::new().tandem(&format!("evaluate {header} --criteria 7.11 --quick"));
    assert!(ended.status != Some(0) && ended.out.is_empty(), "{}", ended.out);
    assert!(ended.err.contains("planted.h:") && ended.err.contains("a division by 0"), "{}", ended.err);
}
