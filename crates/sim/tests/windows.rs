// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fast way through a run gives what the slow one gives, to the last bit: windows of time for each end against one event after the other.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::{fingerprint, scenario};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tandem_engine::Options;
use tandem_scenario::Scenario;
use tandem_testing::random_test;

/// A dumbbell, or two links of their own rates.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Case {
    seed: u64,
    rate_kbit: u64,
    /// Of the link back; `None`: a dumbbell, whose links are alike.
    back_rate_kbit: Option<u64>,
    one_way_us: u64,
    queue_packets: u64,
    aqm: String,
    loss: String,
    delayed_acks: bool,
    jitter_us: u64,
    /// Keys of the effects of the link there and the link back.
    #[serde(default)]
    effects: [String; 2],
    groups: Vec<Group>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Group {
    /// Keys and values of a table `[[flows]]`.
    keys: String,
    count: u64,
    rtt_spread_us: u64,
    start_ms: u64,
    start_spread_ms: u64,
}

impl Case {
    fn text(&self) -> String {
        let Self { rate_kbit, one_way_us, queue_packets, aqm, loss, delayed_acks, jitter_us, .. } = self;
        let network = match self.back_rate_kbit {
            None => format!(
                "[dumbbell]\nrate = \"{rate_kbit}kbit\"\nrtt = \"{}us\"\nqueue = \"{queue_packets}p\"\naqm = {aqm}\nloss = {loss}\n",
                2 * one_way_us
            ),
            Some(back) => ["a b", "b a"].into_iter().zip([*rate_kbit, back]).fold(String::new(), |text, (ends, rate)| {
                let (from, to) = ends.split_once(' ').unwrap();
                let link = format!(
                    "[[links]]\nname = \"{from}{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}kbit\"\ndelay = \"{one_way_us}us\"\nqueue = \"{queue_packets}p\"\naqm = {aqm}\nloss = {loss}\n"
                );
                text + &link
            }),
        };
        let route = if self.back_rate_kbit.is_some() { "from = \"a\"\nto = \"b\"\n" } else { "" };
        let links = if self.back_rate_kbit.is_some() { ["ab", "ba"] } else { ["bottleneck", "reverse"] };
        let effects = links.into_iter().zip(&self.effects).filter(|(_, keys)| !keys.is_empty());
        let effects: String =
            effects.map(|(link, keys)| format!("[effects.{link}]\n{}\n", keys.replace("LINK", link))).collect();
        let groups: String = self.groups.iter().map(|group| group.text(route)).collect();
        format!(
            "duration = \"4s\"\nwarmup = \"1s\"\ndelayed_acks = {delayed_acks}\nsend_jitter = \"{jitter_us}us\"\n{network}{effects}{groups}"
        )
    }
}

impl Group {
    fn text(&self, route: &str) -> String {
        let Self { keys, count, rtt_spread_us, start_ms, start_spread_ms } = self;
        format!(
            "[[flows]]\n{route}{keys}\ncount = {count}\nrtt_spread = \"{rtt_spread_us}us\"\nstart = \"{start_ms}ms\"\nstart_spread = \"{start_spread_ms}ms\"\n"
        )
    }
}

fn one_of(values: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(values).prop_map(str::to_owned)
}

fn group() -> impl Strategy<Value = Group> {
    let keys = one_of(&[
        "controller = \"reno\"",
        "controller = \"cubic\"",
        "controller = \"cubic\"\npacing = true",
        "controller = \"reno\"\npacing = true\nreceive_window = \"60kB\"",
        "controller = \"compound\"",
        "controller = \"compound_tube\"\nrecovery = \"rate-halving\"",
        "controller = \"westwood\"",
        "controller = \"bbr\"",
        "controller = \"dctcp\"\necn = \"accurate\"",
        "controller = \"prague\"\necn = \"accurate\"",
        "controller = \"cubic\"\necn = \"rfc3168\"",
        "controller = \"vegas\"\ntransfer = \"200kB\"\npause = \"50ms\"",
        "controller = \"fusion\"\nstop = \"2s\"",
        "controller = \"reno\"\nreceive_window = \"30kB\"",
        "udp = { rate = \"1mbit\", on = \"100ms\", off = \"50ms\" }",
    ]);
    (keys, 1..=4u64, 0..3000u64, 0..1500u64, 0..200u64).prop_map(
        |(keys, count, rtt_spread_us, start_ms, start_spread_ms)| Group {
            keys,
            count,
            rtt_spread_us,
            // Half of them begin together, at the very start.
            start_ms: start_ms.saturating_sub(750),
            start_spread_ms: start_spread_ms.saturating_sub(100),
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let aqm = one_of(&[
        "\"droptail\"",
        "\"droptail\"",
        "\"red\"",
        "\"pie\"",
        "\"codel\"",
        "{ kind = \"codel\", ecn = true }",
        "\"fq_codel\"",
        // Flows share queues, whose number is no power of two.
        "{ kind = \"fq_codel\", flows = 3, ecn = true }",
        "\"dualpi2\"",
    ]);
    let loss = one_of(&["0.0", "0.0", "1e-4", "1e-2", "{ good_to_bad = 1e-3, bad_to_good = 0.2 }"]);
    let effects = || {
        one_of(&[
            "",
            "",
            "",
            "jitter = { time = \"1ms\" }",
            "jitter = { time = \"100us\", distribution = \"normal\", correlation = 0.5 }",
            "jitter = { time = \"10ms\", distribution = \"wifi\" }",
            "policer = { rate = \"5mbit\", burst = \"20kB\" }",
            "shaper = { rate = \"5mbit\", burst = \"20kB\" }\ndrop = { every = 100 }",
            "delay_limit = 40\nbleach = \"10%\"\nunmark = \"10%\"",
            "[[effects.LINK.changes]]\nat = \"500ms\"\nevery = \"1s\"\nrate = \"1mbit\"\ndelay = \"50us\"\n\
             [[effects.LINK.changes]]\nat = \"1s\"\nevery = \"1s\"\nrate = \"20mbit\"\ndelay = \"30ms\"\nloss = \"1%\"\nqueue = \"30p\"",
            // These go by events.
            "duplicate = \"1%\"",
            "aggregate = { hold = \"5ms\", most = 16 }",
        ])
    };
    let groups = (proptest::collection::vec(group(), 1..4), [effects(), effects()]);
    let back_rate_kbit = prop_oneof![20..500u64, 500..50_000u64];
    let rates = (2_000..100_000u64, proptest::option::of(back_rate_kbit));
    (1..1000u64, rates, 100..60_000u64, 2..300u64, aqm, loss, any::<bool>(), 0..500u64, groups).prop_map(
        |(
            seed,
            (rate_kbit, back_rate_kbit),
            one_way_us,
            queue_packets,
            aqm,
            loss,
            delayed_acks,
            jitter_us,
            (groups, effects),
        )| {
            Case {
                seed,
                rate_kbit,
                back_rate_kbit,
                one_way_us,
                queue_packets,
                aqm,
                loss,
                delayed_acks,
                jitter_us: jitter_us.saturating_sub(250),
                effects,
                groups,
            }
        },
    )
}

/// Both ways of one run, without samples over time and with them, each of which ends a window; whether the first went by windows.
fn both_ways(scenario: &Scenario, seed: u64) -> (bool, [String; 2], [String; 2]) {
    let options = |traced_flows_per_group| Options { traced_flows_per_group, ..Options::default() };
    let by_windows = tandem_sim::start(scenario, seed, options(0)).unwrap().goes_by_windows();
    let fast = [0, 1].map(|traced| tandem_sim::run(scenario, seed, options(traced)).unwrap().unwrap());
    let slow = [0, 1].map(|traced| tandem_sim::run_by_events(scenario, seed, options(traced)).unwrap().unwrap());
    assert_eq!(format!("{:?}", fast[1].trace), format!("{:?}", slow[1].trace), "the samples over time");
    (by_windows, fast.map(fingerprint), slow.map(fingerprint))
}

#[test]
fn random_paths_have_the_same_result_by_windows_and_by_events() {
    let (runs, by_windows) = (AtomicU32::new(0), AtomicU32::new(0));
    let check = |case: Case| -> Result<(), TestCaseError> {
        let (goes_by_windows, fast, slow) = both_ways(&scenario(&case.text()), case.seed);
        runs.fetch_add(1, Relaxed);
        by_windows.fetch_add(goes_by_windows.into(), Relaxed);
        prop_assert_eq!(fast, slow);
        Ok(())
    };
    random_test!(random_paths_have_the_same_result_by_windows_and_by_events, 150).run(case(), check);
    let (runs, by_windows) = (runs.into_inner(), by_windows.into_inner());
    assert!(2 * by_windows > runs, "only {by_windows} of {runs} runs went by windows");
}

/// Ten flows begin at the same nanosecond, so times tie; queues of both families, both ways of pacing, marks; with jitter, too, which gives many packets
/// equal times.
#[test]
fn windows_are_used_and_change_nothing() {
    let jitter = "\n[effects.bottleneck]\njitter = { time = \"2ms\" }\n[effects.reverse]\njitter = { time = \"2ms\" }";
    let both = ["\"droptail\"", "\"codel\"", "\"fq_codel\"", "\"dualpi2\"", "\"pie\"", "\"red\""]
        .map(|aqm| [aqm.to_owned(), format!("{aqm}{jitter}")]);
    for aqm in both.as_flattened() {
        let text = format!(
            r#"
            duration = "8s"
            warmup = "1s"
            [dumbbell]
            rate = "50mbit"
            rtt = "40ms"
            queue = "100p"
            aqm = {aqm}
            [[flows]]
            controller = "cubic"
            count = 3
            [[flows]]
            controller = "bbr"
            count = 2
            [[flows]]
            controller = "dctcp"
            ecn = "accurate"
            [[flows]]
            controller = "compound_tube"
            transfer = "1MB"
            pause = "100ms"
            count = 3
            [[flows]]
            udp = {{ rate = "2mbit" }}
            "#
        );
        let (by_windows, fast, slow) = both_ways(&scenario(&text), 3);
        assert!(by_windows, "{aqm}");
        assert_eq!(fast, slow, "{aqm}");
    }
}

/// Where a packet may matter to the other end at once, or the ends share more than packets, events come one after the other.
#[test]
fn other_networks_go_by_events() {
    let two_ways = "duration = \"2s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"50p\"\n[[flows]]\ncontroller = \"reno\"\n[[flows]]\ncontroller = \"reno\"\nreverse = true\n";
    let short = "duration = \"2s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"50p\"\n[[flows]]\ncontroller = \"reno\"\nshort = { size = \"20kB\", load = \"20%\" }\n";
    for text in [two_ways, short] {
        assert!(!tandem_sim::start(&scenario(text), 1, Options::default()).unwrap().goes_by_windows(), "{text}");
    }
}

/// The last ACKs that wait for a slow link back leave it when no receiver has anything to do: that is no silence. `tandem search` found it.
#[test]
fn acks_that_leave_a_slow_link_back_in_the_silence_are_not_skipped() {
    let text = "duration = \"14s\"\nwarmup = \"4.2s\"\n\
                [dumbbell]\nrate = \"4mbit\"\nreverse_rate = \"39.6kbit\"\nrtt = \"34ms\"\nqueue = \"1p\"\nloss = 0.0011\n\
                aqm = { kind = \"fq_codel\", ecn = true }\n\
                [[flows]]\ncontroller = \"compound\"\necn = \"rfc3168\"\n\
                [[flows]]\nname = \"far\"\ncontroller = \"compound\"\naccess = \"8.16ms\"\n";
    for seed in 1..=8 {
        let (by_windows, fast, slow) = both_ways(&scenario(text), seed);
        assert!(by_windows);
        assert_eq!(fast, slow, "seed {seed}");
    }
}
