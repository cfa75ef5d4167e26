// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cases of cases/ can be posed, and a small one is judged as counting by hand says.

use std::sync::atomic::AtomicBool;

use tandem_papers::{
    Verdict,
    cases::{Case, Found, cases, run, text},
};

static NEVER: AtomicBool = AtomicBool::new(false);

/// 20 Mb/s and 100 ms for a second: STARTUP, from 10 packets on.
const SMALL: &str = r#"
title = "small"
asks = "something"
paths = [["20mbit", "100ms"]]

[scenario]
duration = "{10 * rtt}s"
[scenario.dumbbell]
rate = "{rate_bps}bit"
rtt = "{rtt}s"
queue = "{2 * bdp}p"
[[scenario.flows]]
controller = "{controller}"

[[claims]]
text = "ten packets are the first window"
at = "enter"
holds = "cwnd == 10"
show = "time"
"#;

fn judged(text: &str) -> Found {
    let case = Case::parse("small", "small.toml", text).unwrap();
    run(&[case], false, &NEVER, &|_| ()).unwrap().expect("nobody interrupts it").remove(0)
}

#[test]
fn all_cases_of_the_draft_are_posed() {
    let all = cases("").unwrap_or_else(|e| panic!("{e}"));
    let numbers: Vec<&str> = all.iter().map(|case| &case.id["bbr-draft/".len()..][..2]).collect();
    for number in 1..=22 {
        assert!(numbers.contains(&&*format!("{number:02}")), "{number}");
    }
    assert_eq!(cases("bbr-draft/03").unwrap().len(), 1);
    assert!(cases("bbr-draft/99").unwrap_err().to_string().contains("--list"));
}

/// The first look is when the flow begins. The first ACK comes a round later: 100 ms and a packet's transmission of 0.6 ms, or two, as ACKs are
/// delayed.
#[test]
fn claims_are_judged() {
    let found = judged(SMALL);
    assert_eq!((found.verdict("bbr3"), found.runs.len()), (Verdict::Holds, 2), "{}", text(&found));
    let shown = found.runs[0].outcomes[0].shown.unwrap();
    assert_eq!(shown, (0.0, 0.0));
    let first_ack = "holds = \"delivered == 0 or prev.delivered > 0 or time > 0.1006 and time < 0.1014\"";
    let found = judged(&SMALL.replace("at = \"enter\"\nholds = \"cwnd == 10\"", first_ack));
    assert_eq!(found.verdict("bbr3"), Verdict::Holds, "{}", text(&found));

    let wrong = judged(&SMALL.replace("cwnd == 10", "cwnd <= 2"));
    assert_eq!(wrong.verdict("bbr3"), Verdict::DoesNotHold);
    assert!(text(&wrong).contains("not at 1 of 1 looks"), "{}", text(&wrong));

    let never = judged(&SMALL.replace("at = \"enter\"", "in = \"REFILL\""));
    assert!(text(&never).contains("its moment did not come"), "{}", text(&never));
}

/// The rate falls to a tenth upon entering DRAIN, so the ACKs of the second after it are a tenth as many as the 1667 before.
#[test]
fn a_trigger_is_met_in_a_second_run() {
    let change =
        "[[scenario.effects.bottleneck.changes]]\nat = \"{t}s\"\nrate = \"{rate_bps / 10}bit\"\n[[scenario.flows]]";
    let claim = "[[claims]]\ntext = \"a tenth\"\nat = \"end\"\nsince = \"t + 0.5\"\nholds = \"abs((delivered - since.delivered) / (time - since.time) / rate - 0.1) < 0.01\"\n\
                 [[claims]]\ntext = \"it is DRAIN\"\nat = \"enter\"\nholds = \"state == DRAIN and prev.state == STARTUP\"\n[[claims]]";
    let text_of = SMALL.replace("[[scenario.flows]]", change).replace("[[claims]]", claim);
    let text_of = text_of
        .replace("{10 * rtt}s", "{t + 1.5}s")
        .replace("\n[scenario]", "trigger = { enter = \"DRAIN\", within = \"5\" }\n[scenario]");
    let found = judged(&text_of.replace("at = \"enter\"\nholds = \"cwnd == 10\"", "holds = \"1\""));
    assert_eq!(found.verdict("bbr3"), Verdict::Holds, "{}", text(&found));
    let began_s = found.runs[0].began_s.unwrap();
    // Six doublings from 10 packets, and three rounds without growth.
    assert!((0.6..1.5).contains(&began_s), "{began_s}");
}

#[test]
fn mistakes_name_their_place() {
    for (from, to, message) in [
        ("holds = \"cwnd", "holds = \"cwd", "small.toml: line 15: there is no `cwd`"),
        ("at = \"enter\"", "in = \"STARTING\"", "there is no state `STARTING`"),
        ("{10 * rtt}s", "{10 * rt}s", "there is no `rt`"),
        ("{10 * rtt}s", "{10 * rtt", "a `}` is missing"),
        ("text = ", "txt = ", "unknown field `txt`"),
        ("[[claims]]", "[[claim]]", "unknown field `claim`"),
        ("paths = [[\"20mbit\", \"100ms\"]]", "", "there is nothing to judge"),
        ("{controller}", "{controller}@no=1", "no parameter `no`"),
    ] {
        let error = Case::parse("small", "small.toml", &SMALL.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with("small.toml: ") && error.contains(message), "{to}: {error}");
    }
}

/// What is left of an interrupted run judges nothing.
#[test]
fn an_interrupted_run_finds_nothing() {
    static CANCELLED: AtomicBool = AtomicBool::new(true);
    assert!(run(&cases("bbr-draft/20").unwrap(), true, &CANCELLED, &|_| ()).unwrap().is_none());
}

/// Two of the draft's cases, in the reduced form.
#[test]
fn cases_that_hold() {
    let few: Vec<Case> = ["bbr-draft/20", "bbr-draft/22"].iter().flat_map(|word| cases(word).unwrap()).collect();
    for found in run(&few, true, &NEVER, &|_| ()).unwrap().expect("nobody interrupts it") {
        assert_eq!(found.verdict("bbr3"), Verdict::Holds, "{}", text(&found));
    }
}
