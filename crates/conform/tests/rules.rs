// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each rule: a log that breaks it, although the controller's values are right in it, and one of a host that keeps it. Windows are Reno's, by
//! hand: one packet more for each that is acknowledged below the threshold, half at a loss.

use std::{fs, path::Path, sync::Arc};

use tandem_conform::{Check, Event, Rule};
use tandem_controllers::{Params, find};

fn check(controller: &str, log: &str) -> Check {
    let mut check = Check::new(&Arc::new(Params::new(find(controller).unwrap())));
    for (number, line) in log.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty()) {
        let event: Event = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        check.event(number as u64, &event).unwrap();
    }
    check
}

/// The log breaks this rule in these lines (from 1, after the opening quote), and no other. Its values are right.
#[track_caller]
fn breaks(rule: Rule, lines: &[u64], log: &str) {
    let check = check("reno", log);
    let seen: Vec<_> = check.problems().iter().map(|problem| (problem.rule, problem.line)).collect();
    let expected: Vec<_> = lines.iter().map(|&line| (rule, line)).collect();
    assert_eq!(seen, expected, "{:#?}", check.problems());
    assert!(check.checked(Rule::Values) > 0, "such a log passes for another reason");
    assert!(!check.problems()[0].what.is_empty() && !rule.mend().is_empty());
}

/// The log breaks no rule, and this one is among those that were checked.
#[track_caller]
fn keeps(rule: Rule, log: &str) {
    let check = check("reno", log);
    assert!(check.problems().is_empty(), "{:#?}", check.problems());
    assert!(check.checked(rule) > 0, "not checked");
}

#[test]
fn clock() {
    let log = |now_us: u32| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000,"now_us":1000,"una":0,"nxt":10000}}
            {{"event":"ack","packets":1,"rtt_us":500,"now_us":1500,"una":1000,"nxt":10000,"cwnd":11}}
            {{"event":"ack","packets":1,"rtt_us":500,"now_us":{now_us},"una":2000,"nxt":12000,"cwnd":12}}"#
        )
    };
    breaks(Rule::Clock, &[3], &log(1499));
    // Two ACKs may come at the same time.
    keeps(Rule::Clock, &log(1500));
}

#[test]
fn sequence() {
    let log = |una: u32, nxt: u32| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000,"una":4294966296,"nxt":9000}}
            {{"event":"ack","packets":2,"rtt_us":500,"una":1000,"nxt":9000,"cwnd":12}}
            {{"event":"ack","packets":1,"rtt_us":500,"una":{una},"nxt":{nxt},"cwnd":13}}"#
        )
    };
    // An ACK that only SACKs leaves `una` where it is.
    keeps(Rule::Sequence, &log(1000, 9000));
    keeps(Rule::Sequence, &log(9000, 9000));
    breaks(Rule::Sequence, &[3], &log(0, 9000));
    breaks(Rule::Sequence, &[3], &log(1000, 8000));
    breaks(Rule::Sequence, &[3], &log(10000, 9000));
}

#[test]
fn acked() {
    let log = |packets: u32, una: u32, nxt: u32, cwnd: u32| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000,"una":0,"nxt":{nxt}}}
            {{"event":"ack","packets":{packets},"rtt_us":500,"una":{una},"nxt":{nxt},"cwnd":{cwnd}}}"#
        )
    };
    breaks(Rule::Acked, &[2], &log(50, 10_000, 10_000, 60));
    keeps(Rule::Acked, &log(10, 10_000, 10_000, 20));
    // More than the window, because it was larger before the host began to log; and ten packets of a few bytes.
    keeps(Rule::Acked, &log(40, 40_000, 40_000, 50));
    keeps(Rule::Acked, &log(10, 200, 200, 20));
}

#[test]
fn growth() {
    let log = |second: &str| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000,"una":0,"nxt":10000}}
            {{"event":"ack","packets":1,"rtt_us":500,"una":1000,"nxt":10000,"cwnd":11}}
            {second}
            {{"event":"ack","packets":1,"rtt_us":500,"una":3000,"nxt":13000}}"#
        )
    };
    let without = r#"{"event":"ack","packets":1,"rtt_us":500,"una":2000,"nxt":12000,"grow":false,"cwnd":11}"#;
    breaks(Rule::Growth, &[3], &log(without));
    // It comes later on the same ACK, or the ACK shows a loss.
    keeps(Rule::Growth, &log(&format!("{without}{}", "\n{\"event\":\"grow\",\"packets\":1,\"cwnd\":12}")));
    let loss = r#"
        {"event":"ssthresh","ssthresh":5}
        {"event":"state","state":"recovery"}"#;
    keeps(Rule::Growth, &log(&format!("{without}{loss}")));
    // It only SACKs, in Disorder: nothing advances.
    let sacks = r#"{"event":"state","state":"disorder"}
        {"event":"ack","packets":1,"rtt_us":500,"una":1000,"nxt":12000,"grow":false,"cwnd":11}"#;
    keeps(Rule::Growth, &log(sacks));
}

/// A host that loses a packet, and `events` from then on.
fn after_a_loss(events: &str) -> String {
    format!(
        r#"
        {{"event":"init","cwnd":10,"mss":1000,"una":0,"nxt":10000}}
        {{"event":"ack","packets":1,"rtt_us":500,"una":1000,"nxt":10000,"grow":false,"cwnd":10}}
        {{"event":"ssthresh","ssthresh":5}}
        {{"event":"state","state":"recovery","cwnd":10}}
        {events}"#
    )
}

#[test]
fn no_growth() {
    // Reno does not ask for the state: it grows if it is called.
    let ack = |grow: &str| {
        after_a_loss(&format!(
            r#"{{"event":"window","cwnd":4}}
            {{"event":"ack","packets":1,"rtt_us":500,"una":1000,"nxt":10000{grow}}}"#
        ))
    };
    keeps(Rule::NoGrowth, &ack(""));
    keeps(Rule::NoGrowth, &ack(",\"grow\":false,\"cwnd\":4"));
    breaks(Rule::NoGrowth, &[6], &ack(",\"grow\":true,\"cwnd\":5"));
    breaks(Rule::NoGrowth, &[7], &(ack("") + "\n{\"event\":\"grow\",\"packets\":1,\"cwnd\":5}"));
    // On the ACK that ends a recovery the state comes first, then growth.
    let end = r#"{"event":"window","cwnd":5}
        {"event":"ack","packets":9,"rtt_us":500,"una":10000,"nxt":10000}
        {"event":"state","state":"open"}
        {"event":"grow","packets":9,"cwnd":6}"#;
    keeps(Rule::NoGrowth, &after_a_loss(end));
}

#[test]
fn one_reduction() {
    // msquic#2231: loss, then persistent congestion in the same flight.
    let second = |una: u32, state: &str| {
        after_a_loss(&format!(
            r#"{{"event":"window","cwnd":5}}
            {{"event":"ack","packets":1,"rtt_us":500,"una":{una},"nxt":12000}}
            {{"event":"ssthresh","ssthresh":2}}
            {{"event":"window","cwnd":1}}
            {{"event":"state","state":"{state}"}}"#
        ))
    };
    breaks(Rule::OneReduction, &[7], &second(2000, "loss"));
    breaks(Rule::OneReduction, &[5], &after_a_loss(r#"{"event":"ssthresh","ssthresh":5}"#));
    // What was sent after the reduction is lost.
    keeps(Rule::OneReduction, &second(10_000, "loss"));
    keeps(Rule::OneReduction, &second(11_000, "recovery"));
    // A timeout takes over from the recovery with its threshold; after progress there is another.
    let timeouts = |una: u32, ssthresh: u32| {
        after_a_loss(&format!(
            r#"{{"event":"window","cwnd":1}}
            {{"event":"state","state":"loss"}}
            {{"event":"ack","packets":1,"rtt_us":0,"una":{una},"nxt":10000,"cwnd":2}}
            {{"event":"ssthresh","ssthresh":{ssthresh}}}
            {{"event":"window","cwnd":1}}"#
        ))
    };
    keeps(Rule::OneReduction, &timeouts(2000, 2));
    breaks(Rule::OneReduction, &[8], &timeouts(1000, 2));
    // After an undo there is no reduction that a further one could be part of.
    let undone = r#"{"event":"undo","cwnd":10}
        {"event":"state","state":"open"}
        {"event":"ssthresh","ssthresh":5}
        {"event":"state","state":"recovery"}"#;
    keeps(Rule::OneReduction, &after_a_loss(undone));
}

#[test]
fn entry() {
    let log = |events: &str| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000,"una":0,"nxt":10000}}
            {{"event":"ack","packets":1,"rtt_us":500,"una":1000,"nxt":10000,"cwnd":11}}
            {events}"#
        )
    };
    for state in ["cwr", "recovery", "loss"] {
        let enter = format!("{{\"event\":\"state\",\"state\":\"{state}\"}}");
        breaks(Rule::Entry, &[3], &log(&enter));
        keeps(Rule::Entry, &log(&format!("{{\"event\":\"ssthresh\",\"ssthresh\":5}}\n{enter}")));
    }
    let then = |next: &str| log(&format!("{{\"event\":\"ssthresh\",\"ssthresh\":5}}\n{next}"));
    breaks(Rule::Entry, &[3], &then(r#"{"event":"ack","packets":1,"rtt_us":500,"una":1000,"nxt":10000}"#));
    breaks(Rule::Entry, &[3], &then(r#"{"event":"state","state":"open"}"#));
    // CWR becomes Recovery, and that Loss, with the threshold of the first.
    let chain = r#"{"event":"state","state":"cwr"}
        {"event":"state","state":"recovery"}
        {"event":"window","cwnd":1}
        {"event":"state","state":"loss"}"#;
    keeps(Rule::Entry, &then(chain));
}

#[test]
fn exit() {
    let end = |window: u32| {
        after_a_loss(&format!(
            r#"{{"event":"window","cwnd":{window}}}
            {{"event":"state","state":"open"}}"#
        ))
    };
    breaks(Rule::Exit, &[6], &end(500));
    breaks(Rule::Exit, &[6], &end(6));
    // Rate halving may end far below.
    keeps(Rule::Exit, &end(5));
    keeps(Rule::Exit, &end(2));
    // Inflation, which the end takes back; a host that is a line late; an undo.
    let inflated = r#"{"event":"window","cwnd":13}
        {"event":"window","cwnd":5}
        {"event":"state","state":"open"}"#;
    keeps(Rule::Exit, &after_a_loss(inflated));
    let late = r#"{"event":"window","cwnd":3}
        {"event":"state","state":"open"}
        {"event":"window","cwnd":5}"#;
    keeps(Rule::Exit, &after_a_loss(late));
    let undone = r#"{"event":"window","cwnd":7}
        {"event":"undo","cwnd":10}
        {"event":"state","state":"open","cwnd":10}"#;
    keeps(Rule::Undo, &after_a_loss(undone));
    // The packets' size changes during it: 10 packets of 500 bytes are 5 of 1000.
    let smaller = r#"{"event":"window","cwnd":10,"ssthresh":10,"mss":500}
        {"event":"state","state":"open"}"#;
    keeps(Rule::Exit, &after_a_loss(smaller));
    // The threshold that the host sets itself is none that `ssthresh` returned.
    let own = r#"{"event":"window","cwnd":500,"ssthresh":500}
        {"event":"state","state":"open"}"#;
    breaks(Rule::Exit, &[6], &after_a_loss(own));
    // But a mark may be answered by less (RFC 8511: 80 %).
    let marked = r#"
        {"event":"init","cwnd":10,"mss":1000}
        {"event":"ssthresh","for_mark":true,"ssthresh":5}
        {"event":"window","ssthresh":8}
        {"event":"state","state":"cwr"}
        {"event":"window","cwnd":8}
        {"event":"state","state":"open"}"#;
    keeps(Rule::Exit, marked);
}

#[test]
fn raise() {
    let log = |window: &str| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000}}
            {{"event":"ack","packets":1,"rtt_us":500,"cwnd":11}}
            {window}"#
        )
    };
    breaks(Rule::Raise, &[3], &log(r#"{"event":"window","cwnd":12}"#));
    keeps(Rule::Raise, &log(r#"{"event":"window","cwnd":4}"#));
    // The same bytes in smaller packets.
    let smaller = log(r#"{"event":"window","cwnd":22,"mss":500}"#);
    assert!(check("reno", &smaller).problems().is_empty());
    // After a recovery as at any other time.
    let after = r#"{"event":"window","cwnd":5}
        {"event":"state","state":"open"}
        {"event":"window","cwnd":500}"#;
    breaks(Rule::Raise, &[7], &after_a_loss(after));
}

#[test]
fn timeout() {
    let log = |window: u32| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000}}
            {{"event":"ssthresh","ssthresh":5}}
            {{"event":"window","cwnd":{window}}}
            {{"event":"state","state":"loss"}}
            {{"event":"ack","packets":1,"rtt_us":500,"cwnd":{}}}"#,
            window + 1
        )
    };
    breaks(Rule::Timeout, &[4], &log(2));
    keeps(Rule::Timeout, &log(1));
    // Where the log tells what is under way, the window may be open to what is younger than an RTT: all but the first packet, with a probe and one more.
    // From ten packets on it is less than before.
    let telling = |window: u32, packets: u32| {
        format!(
            r#"
            {{"event":"init","cwnd":10,"mss":1000,"una":0,"nxt":{}}}
            {{"event":"ssthresh","ssthresh":5}}
            {{"event":"window","cwnd":{window}}}
            {{"event":"state","state":"loss"}}
            {{"event":"ack","packets":1,"rtt_us":500,"cwnd":{}}}"#,
            packets * 1000,
            window + u32::from(window < 5)
        )
    };
    keeps(Rule::Timeout, &telling(1, 4));
    keeps(Rule::Timeout, &telling(5, 4));
    breaks(Rule::Timeout, &[4], &telling(6, 4));
    keeps(Rule::Timeout, &telling(9, 20));
    breaks(Rule::Timeout, &[4], &telling(10, 20));
}

#[test]
fn undo() {
    let log = r#"
        {"event":"init","cwnd":10,"mss":1000}
        {"event":"undo","cwnd":10}"#;
    breaks(Rule::Undo, &[2], log);
    // Long after the recovery: a D-SACK has come.
    let late = r#"{"event":"window","cwnd":5}
        {"event":"state","state":"open"}
        {"event":"undo","cwnd":10}"#;
    keeps(Rule::Undo, &after_a_loss(late));
    breaks(Rule::Undo, &[8], &after_a_loss(&format!("{late}\n{{\"event\":\"undo\",\"cwnd\":10}}")));
}

/// Two packets are under way, each ACK of one ends a round, and the next goes out.
fn trickle(window: u32, packets: u32, limited: bool) -> String {
    let begun = "{\"event\":\"init\",\"ssthresh\":2,\"mss\":1000,\"una\":0,\"nxt\":2000";
    let mut log = format!("\n{begun},\"cwnd\":{window}}}");
    for i in 1..8 {
        let (una, nxt) = (i * 1000, i * 1000 + 1000);
        let ack = format!("\"una\":{una},\"nxt\":{nxt},\"limited\":{limited},\"ssthresh\":2");
        log += &format!("\n{{\"event\":\"ack\",\"packets\":{packets},{ack}}}");
    }
    log
}

#[test]
fn limited() {
    // Line 2 begins the first round. With line 4 two are over, and the next one confirms it.
    breaks(Rule::Limited, &[5, 6, 7, 8], &trickle(100, 1, true));
    keeps(Rule::Limited, &trickle(100, 1, false));
    // Half of the window is use enough, as in slow start; and packets may be small, so that their number fills the window.
    keeps(Rule::Limited, &trickle(3, 1, true));
    keeps(Rule::Limited, &trickle(16, 16, true));
    // The application stops: the window was the limit when what is acknowledged now was sent.
    let mut drained =
        "\n{\"event\":\"init\",\"cwnd\":20,\"ssthresh\":2,\"mss\":1000,\"una\":0,\"nxt\":20000}".to_owned();
    for una in (1..=60).map(|i| i * 1000) {
        let nxt = (una + 19_000).min(60_000);
        let ack = format!("\"una\":{una},\"nxt\":{nxt},\"limited\":true");
        drained += &format!("\n{{\"event\":\"ack\",\"packets\":1,{ack}}}");
    }
    keeps(Rule::Limited, &drained);
}

#[test]
fn rules_that_lack_their_lines_are_not_checked() {
    let check = check("reno", "{\"event\":\"init\",\"cwnd\":10,\"mss\":1000}");
    assert!(Rule::ALL.iter().all(|&rule| check.checked(rule) == 0 && check.broken(rule) == 0));
}

/// A controller that owns its window is called otherwise (`controllers/README.md`): its host leaves the window alone.
#[test]
fn owners_of_the_window_have_other_rules() {
    let log = r#"
        {"event":"init","cwnd":10,"mss":1000,"una":0,"nxt":10000}
        {"event":"ack","packets":1,"rtt_us":500,"una":1000,"nxt":10000,"grow":false}
        {"event":"ssthresh"}
        {"event":"state","state":"recovery"}
        {"event":"ack","packets":1,"rtt_us":500,"una":2000,"nxt":10000,"grow":false}
        {"event":"state","state":"open"}"#;
    let kept = check("bbr", log);
    assert!(kept.problems().is_empty(), "{:#?}", kept.problems());
    assert!(!kept.asks(Rule::Growth) && kept.asks(Rule::Raise));
    let raised = check(
        "bbr",
        &log.replace(r#"{"event":"ssthresh"}"#, "{\"event\":\"ssthresh\"}\n{\"event\":\"window\",\"cwnd\":90000}"),
    );
    assert_eq!(raised.problems().iter().map(|p| p.rule).collect::<Vec<_>>(), [Rule::Raise]);
}

/// A log is read back as it was written.
#[test]
fn events_survive_json() {
    for line in
        after_a_loss(r#"{"event":"window","mss":500,"cnt":3,"clamp":70}"#).lines().filter(|l| !l.trim().is_empty())
    {
        let event: Event = serde_json::from_str(line).unwrap();
        let again: Event = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        assert_eq!(format!("{event:?}"), format!("{again:?}"));
    }
}

/// docs/embedding.md has a row for each rule.
#[test]
fn the_rules_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/embedding.md");
    let text = fs::read_to_string(path).unwrap();
    let row = |rule: &Rule| format!("| `{}` | {} | {} |", rule.name(), rule.asks(), rule.source());
    let rows: Vec<String> = Rule::ALL.iter().map(row).collect();
    let is_there = text.contains(&rows.join("\n"));
    assert!(is_there, "docs/embedding.md lacks these rows:\n{}", rows.join("\n"));
}

/// A state and a bound that the draft has at the start (5.2.1), beside one that it has not.
#[test]
fn probes_are_compared() {
    let log = |probes: &str| {
        format!(
            r#"{{"event":"init","cwnd":10,"mss":1000}}
            {{"event":"ack","packets":1,"rtt_us":50000,"now_us":50000,"una":1000,"nxt":10000,"probes":{{{probes}}}}}"#
        )
    };
    let kept = check("bbr3", &log(r#""state":"STARTUP","full_bw_reached":0,"inflight_longterm_packets":null"#));
    assert!(kept.problems().is_empty(), "{:#?}", kept.problems());
    assert_eq!(kept.checked(Rule::Values), 3);
    let broken = check("bbr3", &log(r#""state":"UP","full_bw_reached":null,"inflight_longterm_packets":12.5"#));
    let words = "full_bw_reached is 0, the log has null, inflight_longterm_packets is null, the log has 12.5, \
                 state is STARTUP, the log has UP";
    assert_eq!(broken.problems().iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>(), [words]);
    let unknown: Event = serde_json::from_str(log(r#""mood":1"#).lines().last().unwrap()).unwrap();
    let mut check = check("bbr3", r#"{"event":"init","cwnd":10,"mss":1000}"#);
    let error = check.event(2, &unknown).unwrap_err();
    assert!(error.to_string().contains("`bbr3` has no probe `mood`; it has: state, bw_mbps"), "{error}");
}
