// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[effects.LINK]`: what is read, and what is refused with its place and the fix.

use std::fs;

use tandem_scenario::{
    Effects, Limit, Loss, Scenario,
    effects::{Drops, JitterDistribution, RateTrace},
    file::{FileError, Overrides, load, parse},
    units::{LossRate, Rate, Span},
};

fn with_effects(effects: &str) -> Result<Scenario, FileError> {
    let text = format!(
        "duration = \"60s\"\n[dumbbell]\nrate = \"12mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\n[[flows]]\n\
         controller = \"reno\"\n[effects.bottleneck]\n{effects}"
    );
    parse(&text, "x.toml", "x", &Overrides::default())
}

fn effects(text: &str) -> Effects {
    let scenario = with_effects(text).unwrap_or_else(|e| panic!("{e}"));
    assert!(scenario.network.links[1].effects.is_none(), "the way back has none");
    *scenario.network.links[0].effects.clone().expect("the bottleneck has some")
}

#[test]
fn changes() {
    let text = r#"changes = [
        { at = "10s", rate = "0" },
        { at = "11s", every = "30s", rate = "6mbit", delay = "1ms", loss = 0.01, queue = "10ms" },
        { at = "12s", rate = "0mbit" },
    ]"#;
    let [outage, step, again] = &effects(text).changes[..] else { panic!("three") };
    assert_eq!((outage.at, outage.every, outage.rate_bps, outage.delay), (Span::from_secs(10), None, Some(0), None));
    assert_eq!(
        (step.every, step.rate_bps, step.delay),
        (Some(Span::from_secs(30)), Some(6_000_000), Some(Span::from_ms(1)))
    );
    // 10 ms at 6 Mb/s are five packets.
    assert_eq!((step.limit, again.rate_bps), (Some(Limit::Packets(5)), Some(0)));
}

#[test]
fn the_others() {
    let text = r#"
        jitter = { time = "5ms", distribution = "pareto", correlation = "25%" }
        reorder = { share = "1%", distance = "3p" }
        duplicate = "0.1%"
        aggregate = { hold = "4ms", most = 16 }
        policer = { rate = "10mbit", burst = "100kB" }
        shaper = { rate = "8mbit", burst = "1500B" }
        drop = { packets = [30, 10] }
        bleach = "100%"
        unmark = 0.25
    "#;
    let Effects { jitter, reorder, duplicate, aggregate, policer, shaper, drop, bleach, unmark, .. } = effects(text);
    assert_eq!((drop, bleach, unmark), (Some(Drops::Packets(vec![10, 30])), 1.0, 0.25));
    assert_eq!(effects("drop = { every = 100 }").drop, Some(Drops::Every(100)));
    let words = effects("delay_limit = 1000\njitter = { time = \"7ms\", distribution = \"wifi\" }");
    assert_eq!(words.in_words(), ["wifi jitter of 7\u{a0}ms", "at most 1000 packets on their way"]);
    let words = effects("drop = { every = 100 }\nbleach = 0.5\nunmark = 1").in_words().join("; ");
    assert_eq!(words, "one packet in 100 lost, evenly; 50 % of ECN fields bleached; 100 % of ECN marks lost");
    assert_eq!(effects("drop = { keep_every = 8 }").drop, Some(Drops::KeepEvery(8)));
    let jitter = jitter.unwrap();
    assert_eq!((jitter.distribution, jitter.correlation, jitter.keep_order), (JitterDistribution::Pareto, 0.25, true));
    // 3.5 packets of 1 ms.
    assert_eq!(reorder.unwrap().by, Span { ns: 3_500_000 });
    assert_eq!((duplicate.0, aggregate.unwrap().most), (0.001, 16));
    assert_eq!((policer.unwrap().burst_bytes, shaper.unwrap().rate.bps), (100_000, 8_000_000));
}

#[test]
fn a_while() {
    let text = r#"
        reorder = { share = "1%", distance = "3p", from = "2s", until = "2500ms" }
        jitter = { time = "5ms", until = "1s" }
        changes = [{ at = "1s", loss = "100%" }, { at = "2s", loss = 1 }, { at = "3s", loss = 0 }]
    "#;
    let effects = effects(text);
    let (reorder, jitter) = (effects.reorder.unwrap().during, effects.jitter.unwrap().during);
    assert_eq!((reorder.from, reorder.until), (Span::from_secs(2), Some(Span::from_ms(2500))));
    assert_eq!([1_999_999_999, 2_000_000_000, 2_500_000_000].map(|ns| reorder.has(ns)), [false, true, false]);
    assert_eq!((jitter.has(0), jitter.is_always()), (true, false));
    let losses: Vec<_> = effects.changes.iter().map(|change| change.loss.unwrap()).collect();
    assert_eq!(losses, [Loss::Bernoulli(LossRate::ALL), Loss::Bernoulli(LossRate::ALL), Loss::None]);
    let words = effects.in_words().join("; ");
    assert!(
        words.contains("late from 2\u{a0}s until 2.5\u{a0}s") && words.contains("jitter of 5\u{a0}ms until 1\u{a0}s"),
        "{words}"
    );
}

/// A table without anything in it is no effect.
#[test]
fn nothing_asked_for_is_none() {
    assert!(with_effects("").unwrap().network.links[0].effects.is_none());
}

#[track_caller]
fn refused(effects: &str, place: (usize, usize), parts: &[&str]) {
    let error = with_effects(effects).expect_err(effects);
    assert_eq!(error.place, Some(place), "{error}");
    for part in parts {
        assert!(error.message.contains(part), "{error}");
    }
}

#[test]
fn mistakes() {
    refused("changes = [{ at = \"1s\" }]", (9, 19), &["changes nothing", "rate, delay, loss or queue"]);
    refused("changes = [{ at = \"1s\", rate = \"10\" }]", (9, 32), &["no unit"]);
    refused("changes = [{ at = \"1s\", rate = \"1mbit\", every = \"1us\" }]", (9, 49), &["at least 1ms"]);
    refused("changes = [{ at = \"1s\", queue = \"2bdp\" }]", (9, 33), &["no bdp", "packets, bytes or a time"]);
    refused("jitter = { time = \"0ms\" }", (9, 19), &["above 0"]);
    refused(
        "jitter = { time = \"1ms\", distribution = \"gauss\" }",
        (9, 41),
        &["`uniform`", "`normal`", "`pareto`", "`wifi`"],
    );
    refused("jitter = { time = \"86ms\", distribution = \"wifi\" }", (9, 19), &["at most 85ms, not 86ms"]);
    let correlated = "jitter = { time = \"9ms\", distribution = \"wifi\", correlation = 0.1 }";
    refused(correlated, (9, 63), &["leave correlation out"]);
    refused("delay_limit = 0", (9, 15), &["1 packet or more"]);
    refused("jitter = { time = \"1ms\", correlation = 1 }", (9, 40), &["below 1"]);
    refused("reorder = { share = \"1%\", distance = \"3kB\" }", (9, 38), &["`5ms` or `3p`"]);
    refused("reorder = { share = \"1%\", distance = \"60s\" }", (9, 38), &["60s late: at most 10s"]);
    refused("aggregate = { hold = \"1ms\", most = 1 }", (9, 36), &["2 to 100000"]);
    refused("policer = { rate = \"1mbit\", burst = \"1kB\" }", (9, 11), &["does not hold one packet of 1500 bytes"]);
    refused("drop = {}", (9, 8), &["one of `packets`, `every` and `keep_every`"]);
    refused("drop = { every = 9, keep_every = 9 }", (9, 8), &["one of `packets`, `every` and `keep_every`"]);
    refused("drop = { every = 1 }", (9, 18), &["2 or more"]);
    refused("drop = { packets = [] }", (9, 20), &["no packet is named"]);
    refused("drop = { packets = [0, 4] }", (9, 20), &["counted from 1"]);
    refused("bleach = \"101%\"", (9, 10), &["share `101%` is not from 0 to 1"]);
    // Nothing is lost here, so none of them is a loss rate.
    refused("duplicate = \"150%\"", (9, 13), &["share `150%` is not from 0 up to below 1"]);
    refused("duplicate = -0.1", (9, 13), &["share `-0.1` is not from 0 up to below 1"]);
    refused("duplicate = true", (9, 13), &["a share such as 1e-6"]);
    refused(
        "reorder = { share = \"101%\", distance = \"3p\" }",
        (9, 21),
        &["share `101%` is not from 0 up to below 1"],
    );
    refused("jitter = { time = \"1ms\", correlation = \"x\" }", (9, 40), &["`x` is not a share"]);
    refused(
        "aggregate = { hold = \"1ms\", most = 9, from = \"3s\", until = \"3s\" }",
        (9, 60),
        &["later than from, 3s"],
    );
    refused("changes = [{ at = \"1s\", loss = \"101%\" }]", (9, 32), &["not from 0 up to below 1"]);
    refused("jiter = 3", (9, 1), &["unknown field `jiter`", "`jitter`"]);
    let text = "rate_trace = \"none.trace\"\nchanges = [{ at = \"1s\", rate = \"0\" }]";
    refused(text, (9, 14), &["none.trace", "cannot be read"]);
}

#[test]
fn a_link_that_is_not_there() {
    let text = "duration = \"60s\"\n[dumbbell]\nrate = \"12mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\n[[flows]]\n\
                controller = \"reno\"\n[effects.botleneck]\nduplicate = 0.1\n";
    let error = parse(text, "x.toml", "x", &Overrides::default()).unwrap_err();
    assert!(error.message.contains("no link `botleneck`; there are `bottleneck`, `reverse`"), "{error}");
    assert_eq!(error.place.map(|place| place.0), Some(8), "{error}");
}

#[test]
fn traces_are_read_by_line() {
    let trace = RateTrace::parse("0\n5\n5\n10\n", "t").unwrap();
    assert_eq!((trace.opportunities_ms(), trace.period()), (&[0, 5, 5, 10][..], Span::from_ms(10)));
    // 4 * 1500 bytes in 10 ms.
    assert_eq!(trace.mean_rate(1500), Rate { bps: 4_800_000 });
    let wrong = [
        ("", "t: the trace is empty"),
        ("1\n\n2\n", "t:2: `` is not a time"),
        ("1\n3\n2\n", "t:3: 2 comes after 3"),
        ("1\n2.5\n", "t:2: `2.5` is not a time"),
        ("1\n-2\n", "t:2: `-2` is not a time"),
        ("0\n0\n", "t:2: the trace takes no time"),
        ("99999999\n", "t:1: 99999999 ms is more than a day"),
    ];
    for (text, expected) in wrong {
        let message = RateTrace::parse(text, "t").unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

/// A relative path begins at the file's folder; the trace gives the link its rate, and its errors have the trace's line.
#[test]
fn traces_lie_beside_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    let text = "duration = \"60s\"\n[dumbbell]\nrate = \"12mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\n[[flows]]\n\
                controller = \"reno\"\n[effects.bottleneck]\nrate_trace = \"t.trace\"\n";
    fs::write(&file, text).unwrap();
    fs::write(folder.path().join("t.trace"), "1\n2\n").unwrap();
    let link = load(&file, &Overrides::default()).unwrap().network.links[0].clone();
    assert_eq!(link.rate, Rate { bps: 12_000_000 });
    fs::write(folder.path().join("t.trace"), b"1\n\xff\n").unwrap();
    let error = load(&file, &Overrides::default()).unwrap_err();
    assert!(error.message.contains("t.trace:2: this is not text"), "{error}");
    assert_eq!(error.place, Some((9, 14)));
    fs::write(&file, text.to_owned() + "changes = [{ at = \"1s\", rate = \"0\" }]").unwrap();
    fs::write(folder.path().join("t.trace"), "1\n").unwrap();
    assert!(load(&file, &Overrides::default()).unwrap_err().message.contains("leave one out"));
}
