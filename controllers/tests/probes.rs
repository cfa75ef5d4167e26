// SPDX-License-Identifier: MIT OR Apache-2.0
//! What controllers name of what they know: the list, and its values by hand at moments of short stories (`vectors/README.md`).

use std::collections::BTreeMap;

use tandem_controllers::{CONTROLLERS, Instance, Reading, find};
use tandem_testing::trace::{Command, Host, parse};

/// A name means the same wherever it stands, and is one only once.
#[test]
fn the_list_is_sound() {
    let mut meanings = BTreeMap::new();
    for controller in &CONTROLLERS {
        let names: Vec<_> = controller.probes().map(|probe| probe.name).collect();
        assert!((1..names.len()).all(|i| !names[i..].contains(&names[i - 1])), "{controller:?}: {names:?}");
        for probe in controller.probes() {
            let is_word = *meanings.entry(probe.name).or_insert(probe.is_word());
            assert!(is_word == probe.is_word(), "{controller:?}: {probe:?} is a word here and a number there");
            assert!(
                !probe.doc.is_empty() && (!probe.is_word() || probe.words().count() > 1),
                "{controller:?}: {probe:?}"
            );
        }
    }
}

/// Expected of a probe at the end of a story.
enum Shown {
    Word(&'static str),
    /// To within the controller's own unit.
    Near(f64, f64),
    Nothing,
}

fn check(story: &str, expected: &[(&str, Shown)]) {
    let mut host = Host::<Instance>::default();
    let mut controller = None;
    for line in story.lines() {
        let Some(command) = parse(line).unwrap() else { continue };
        if let Command::Controller(name) = &command {
            controller = find(name).ok();
        }
        host.play(&command).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
    let readings: Vec<_> = controller.expect("a story begins with its controller").readings(&host.view()).collect();
    for (name, shown) in expected {
        let (_, reading) = readings.iter().find(|(probe, _)| probe.name == *name).expect("a probe of this name");
        let is_met = match (shown, reading) {
            (Shown::Nothing, None) => true,
            (Shown::Word(word), Some(Reading::Word(read))) => read == word,
            (Shown::Near(value, step), Some(Reading::Number(read))) => (read - value).abs() <= *step,
            _ => false,
        };
        assert!(is_met, "{name} is {reading:?} at the end of\n{story}");
    }
}

/// The beginning of vectors/bbr3.trace, which has the arithmetic: 400 packets of 1000 bytes a second are 3.2 Mb/s. Three rounds without
/// growth, and 50 packets in flight where 40 fill the path: DRAIN; at 40 the queue is gone.
const FILLED: &str = "controller bbr3
set aggregation 0
conn cwnd=10 flight=10
ack 10 rtt=100000 delivered=10 in=100000 gap=100000
ack 20 rtt=100000 delivered=20 in=100000 gap=100000
ack 40 rtt=100000 delivered=40 in=100000 gap=100000
ack 80 rtt=200000 delivered=80 in=200000 gap=200000 times=2
ack 30 rtt=200000 delivered=80 in=200000 gap=75000 times=2";

#[test]
fn bbr3_shows_its_states_and_rates() {
    use Shown::{Near, Nothing, Word};
    let begun = "controller bbr3\nconn cwnd=10 flight=10";
    check(begun, &[("state", Word("STARTUP")), ("bw_mbps", Near(0.0, 0.0)), ("inflight_longterm_packets", Nothing)]);
    check(
        FILLED,
        &[
            ("state", Word("STARTUP")),
            ("full_bw_count", Near(2.0, 0.0)),
            ("full_bw_reached", Near(0.0, 0.0)),
            ("pacing_gain", Near(2.77, 1e-9)),
        ],
    );
    let drains = format!("{FILLED}\nack 30 rtt=200000 delivered=80 in=200000 gap=75000");
    check(
        &drains,
        &[
            ("state", Word("DRAIN")),
            ("bw_mbps", Near(3.2, 0.001)),
            ("max_bw_mbps", Near(3.2, 0.001)),
            ("pacing_gain", Near(0.5, 1e-9)),
            ("full_bw_reached", Near(1.0, 0.0)),
            ("inflight_shortterm_packets", Nothing),
        ],
    );
    let cruises = format!("{drains}\nack 40 rtt=200000 delivered=80 in=200000 gap=1");
    check(&cruises, &[("state", Word("CRUISE")), ("pacing_gain", Near(1.0, 1e-9))]);
}

/// By the rules of their sources, at a first loss at 100 packets.
#[test]
fn a_loss_shows() {
    use Shown::{Near, Nothing};
    let story =
        |controller: &str, rest: &str| format!("controller {controller}\nconn cwnd=100 ssthresh=50 flight=100\n{rest}");
    check(&story("bic", ""), &[("w_max_packets", Nothing)]);
    check(&story("bic", "loss"), &[("w_max_packets", Near(100.0, 0.0))]);
    // RFC 9438 section 4.6.
    check(&story("cubic", "loss"), &[("w_max_packets", Near(100.0, 1.0 / 256.0))]);
    // One half, until two losses can be compared; RTT_max is that of the sample.
    check(&story("htcp", "ack 1 rtt=50000\nloss"), &[("beta", Near(0.5, 0.0)), ("max_rtt_ms", Near(50.0, 0.0))]);
}

/// alpha begins at 1 and comes down by 1/16 with each round without a mark (RFC 8257 section 3.3).
#[test]
fn dctcp_shows_alpha() {
    let clean = "controller dctcp\nconn cwnd=10 ssthresh=10 flight=10\nround rtt=10000\nack 1 rtt=10000";
    check(clean, &[("alpha", Shown::Near(15.0 / 16.0, 1e-6))]);
}

/// Before there is a measurement there is nothing to show; Illinois begins with its largest growth and Reno's reduction, as in Linux.
#[test]
fn what_is_not_known_is_nothing() {
    use Shown::{Near, Nothing, Word};
    let begun = |controller: &str| format!("controller {controller}\nconn cwnd=10 flight=10");
    check(&begun("compound_tube"), &[("diff_reno_packets", Nothing)]);
    check(&begun("compound_auto"), &[("max_rtt_ms", Nothing)]);
    check(&begun("illinois"), &[("alpha_packets", Near(10.0, 0.001)), ("beta", Near(0.5, 1e-4))]);
    check(&begun("yeah"), &[("mode", Word("FAST")), ("w_reno_packets", Nothing)]);
    check(&begun("africa"), &[("mode", Word("SLOW"))]);
    check(&begun("bbr"), &[("state", Word("STARTUP")), ("full_bw_reached", Near(0.0, 0.0))]);
}
