// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said of a result that cannot mean what it seems to.

use tandem_results::{FlowResult, LinkResult, Run, SeedResult};
use tandem_scenario::file::{Overrides, parse};

/// The cautions for these flows, whose windows were reduced so often in each of the seeds.
fn cautions(warmup: &str, seeds: u64, flows: &str, reductions: &[u64]) -> Vec<String> {
    let text = format!(
        "duration = \"40s\"\nwarmup = \"{warmup}\"\nseeds = {seeds}\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"50ms\"\nqueue = \"99p\"\n{flows}"
    );
    let scenario = parse(&text, "x", "x", &Overrides::default()).unwrap();
    let flow = |&window_reductions: &u64| FlowResult { window_reductions, ..FlowResult::default() };
    let result = |seed| SeedResult {
        seed,
        flows: reductions.iter().map(flow).collect(),
        rtt_ms: vec![Default::default(); 2],
        links: vec![LinkResult::default(); 2],
        ..SeedResult::default()
    };
    Run::from_seeds(&scenario, "sim", seeds as usize, (1..=seeds).map(result).collect()).cautions
}

fn flows(controller: &str, count: u32) -> String {
    format!("[[flows]]\ncontroller = \"{controller}\"\ncount = {count}\n")
}

#[test]
fn without_losses_nothing_is_seen_of_a_controller_that_waits_for_them() {
    let [none] = &cautions("10s", 5, &flows("reno", 2), &[0, 0])[..] else { panic!() };
    assert!(none.starts_with("no flow met a loss in the 30 s that were measured"), "{none}");
    // Ten seeds' worth of five reductions a flow would be enough; these are two and a half.
    let [few] = &cautions("10s", 5, &flows("compound", 2), &[2, 3])[..] else { panic!() };
    assert!(few.starts_with("a flow met fewer than three losses in the 30 s"), "{few}");
    assert!(cautions("10s", 5, &flows("compound", 2), &[3, 3]).is_empty());
    // A delay-based controller and one with a model of the path avoid losses; a transfer ends when it ends.
    for other in ["vegas", "bbr"] {
        assert!(cautions("10s", 5, &flows(other, 1), &[0]).is_empty(), "{other}");
    }
    let [unfinished] = &cautions("10s", 5, &(flows("reno", 1) + "transfer = \"1MB\"\n"), &[0])[..] else { panic!() };
    assert!(unfinished.starts_with("reno: 5 of 5 transfers did not end"), "{unfinished}");
}

#[test]
fn a_caution_names_groups_unless_it_goes_for_all() {
    let both = flows("reno", 1) + &flows("cubic", 1);
    let all = cautions("10s", 5, &both, &[0, 0]);
    assert!(all.len() == 1 && all[0].starts_with("no flow met"), "{all:?}");
    let one = cautions("10s", 5, &both, &[9, 0]);
    assert!(one.len() == 1 && one[0].starts_with("cubic: no flow met"), "{one:?}");
}

/// 100 Mb/s for 50 ms are 416.7 packets, with the queue 515.7: from 10 packets with delayed ACKs 9.7 rounds, 0.486 s; 0.1 s later at the latest.
/// Four flows need a quarter each: 6.3 rounds, 0.315 s.
#[test]
fn a_warm_up_shorter_than_slow_start() {
    let late = flows("reno", 1) + "start_spread = \"100ms\"\n";
    let [caution] = &cautions("500ms", 5, &late, &[9])[..] else { panic!() };
    assert!(caution.starts_with("slow start may last until 0.6 s, and the warm-up is 0.5 s"), "{caution}");
    assert!(cautions("600ms", 5, &late, &[9]).is_empty());
    assert!(cautions("310ms", 5, &flows("reno", 4), &[9; 4]).len() == 1);
    assert!(cautions("320ms", 5, &flows("reno", 4), &[9; 4]).is_empty());
    // It is there to be seen as it begins.
    assert!(cautions("10s", 5, &(flows("reno", 1) + "start = \"20s\"\n"), &[9]).is_empty());
}

/// The queue of [`cautions`] is drop-tail.
#[test]
fn ecn_without_a_queue_that_marks_does_nothing() {
    let marked = |controller: &str, ecn: &str| flows(controller, 1) + &format!("ecn = \"{ecn}\"\n");
    for (controller, ecn) in [("reno", "rfc3168"), ("cubic", "rfc8511"), ("reno", "accurate"), ("dctcp", "accurate")] {
        let [caution] = &cautions("10s", 5, &marked(controller, ecn), &[9])[..] else { panic!("{controller} {ecn}") };
        assert!(caution.starts_with("ECN needs a queue that marks, and none on the way does"), "{caution}");
    }
    let [one] = &cautions("10s", 5, &(marked("reno", "rfc3168") + &flows("cubic", 1)), &[9, 9])[..] else { panic!() };
    assert!(one.starts_with("reno: ECN needs a queue that marks"), "{one}");
    assert!(cautions("10s", 5, &marked("reno", "off"), &[9]).is_empty());
}

#[test]
fn ecn_behind_a_queue_that_marks_is_right() {
    let behind = |aqm: &str, flows: &str| {
        let text = format!(
            "duration = \"40s\"\nwarmup = \"10s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"50ms\"\nqueue = \"99p\"\naqm = {aqm}\n{flows}"
        );
        let scenario = parse(&text, "x", "x", &Overrides::default()).unwrap();
        !tandem_results::cautions(&scenario, &[]).iter().any(|caution| caution.contains("ECN needs"))
    };
    let reno = flows("reno", 1) + "ecn = \"rfc3168\"\n";
    for kind in ["red", "codel", "fq_codel", "pie"] {
        assert!(behind(&format!("{{ kind = \"{kind}\", ecn = true }}"), &reno), "{kind}");
        assert!(!behind(&format!("\"{kind}\""), &reno), "{kind} drops if it is not told to mark");
    }
    assert!(behind("\"dualpi2\"", &reno));
    // Its queue for L4S packets marks whether or not the other does.
    let dropping = "{ kind = \"dualpi2\", ecn = false }";
    assert!(!behind(dropping, &reno) && behind(dropping, &flows("prague", 1)));
}

#[test]
fn two_seeds_are_few() {
    let [caution] = &cautions("10s", 2, &flows("reno", 1), &[9])[..] else { panic!() };
    assert!(caution.starts_with("two seeds make a very wide interval"), "{caution}");
    // With one there is no interval, which shows.
    assert!(cautions("10s", 1, &flows("reno", 1), &[9]).is_empty());
}

/// What a queue of this size means to these flows on 10 Mb/s.
fn about_bursts(queue: &str, flows: &str) -> Vec<String> {
    let text = format!(
        "duration = \"40s\"\nwarmup = \"10s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"50ms\"\nqueue = \"{queue}\"\n{flows}"
    );
    let scenario = parse(&text, "x", "x", &Overrides::default()).unwrap();
    tandem_results::cautions(&scenario, &[]).into_iter().filter(|caution| caution.contains("burst")).collect()
}

/// A delayed ACK for two packets releases three, the jitter brings a fourth; one of them is sent at once. So it is in the simulator: cubic uses
/// 2 % of 10 Mb/s at 150 ms with one packet of room, 13 % with two, 88 % with three.
#[test]
fn a_queue_shorter_than_a_delayed_acks_burst() {
    for queue in ["1p", "2p", "4499B"] {
        let [caution] = &about_bursts(queue, &flows("cubic", 1))[..] else { panic!("{queue}") };
        assert!(caution.starts_with("the queue of `bottleneck` is shorter than a delayed ACK's burst"), "{caution}");
        assert!(caution.contains("3 packets or more") && caution.contains("`pacing = true`"), "{caution}");
    }
    for queue in ["3p", "4500B", "1bdp"] {
        assert!(about_bursts(queue, &flows("cubic", 1)).is_empty(), "{queue}");
    }
    let each_acked = flows("cubic", 1) + "delayed_acks = false";
    let [caution] = &about_bursts("1p", &each_acked)[..] else { panic!() };
    assert!(caution.contains("an ACK's burst") && caution.contains("2 packets or more"), "{caution}");
    assert!(about_bursts("2p", &each_acked).is_empty());
    for mended in ["pacing = true", "transport = \"quic\""] {
        assert!(about_bursts("1p", &(flows("cubic", 1) + mended)).is_empty(), "{mended}");
    }
    assert!(about_bursts("1p", &flows("bbr", 1)).is_empty(), "it sends at a rate of its own");
    assert!(about_bursts("1p", "[[flows]]\nudp = { rate = \"1mbit\" }").is_empty());
}

/// 100 Mb/s for 25 ms are 208.3 packets of 1500 bytes, and 208 of them are 99.84 Mb/s. netem's 1000 are enough.
#[test]
fn a_delay_with_less_room_than_a_full_path_needs() {
    let about_room = |limit: u32, flows: &str| {
        let effects = format!("{flows}\n[effects.bottleneck]\ndelay_limit = {limit}\n");
        let mut all = cautions("10s", 5, &effects, &[9]);
        all.retain(|caution| caution.contains("delay_limit"));
        all
    };
    let [caution] = &about_room(208, &flows("cubic", 1))[..] else { panic!() };
    assert!(caution.contains("room for 208 packets") && caution.contains("a full path has 209"), "{caution}");
    assert!(caution.ends_with("drops what exceeds 99.84mbit"), "{caution}");
    assert!(about_room(209, &flows("cubic", 1)).is_empty() && about_room(1000, &flows("cubic", 1)).is_empty());
    let back = flows("cubic", 1) + "reverse = true";
    assert!(about_room(208, &back).is_empty(), "only its ACKs go there");
}

/// A slower link before it takes the burst apart.
#[test]
fn a_burst_that_a_slower_link_has_spread_needs_no_room() {
    let link = |name: &str, ends: (&str, &str), rate: &str, queue: &str| {
        let (from, to) = ends;
        format!(
            "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"1ms\"\nqueue = \"{queue}\"\nboth_ways = true\n"
        )
    };
    let cautions = |first: &str, second: &str| {
        let links = link("one", ("a", "b"), first, "99p") + &link("two", ("b", "c"), second, "1p");
        let text = format!("duration = \"9s\"\n{links}{}from = \"a\"\nto = \"c\"\n", flows("reno", 1));
        let scenario = parse(&text, "x", "x", &Overrides::default()).unwrap();
        tandem_results::cautions(&scenario, &[]).iter().filter(|caution| caution.contains("queue of `two`")).count()
    };
    assert_eq!(cautions("10mbit", "10mbit"), 0);
    assert_eq!(cautions("1mbit", "10mbit"), 0);
    assert_eq!(cautions("10mbit", "9mbit"), 1);
}

/// In the simulator it uses 2 % of 2 Mb/s at 11 s, 70 % at 9 s.
#[test]
fn bbr_on_a_path_longer_than_its_memory_of_the_rtt() {
    let at = |rtt: &str, controller: &str| {
        let text = format!(
            "duration = \"400s\"\nwarmup = \"300s\"\n[dumbbell]\nrate = \"2mbit\"\nrtt = \"{rtt}\"\nqueue = \"1bdp\"\n{}",
            flows(controller, 1)
        );
        let scenario = parse(&text, "x", "x", &Overrides::default()).unwrap();
        tandem_results::cautions(&scenario, &[])
    };
    let [caution] = &at("11s", "bbr")[..] else { panic!() };
    assert!(caution.contains("every `rtt_window` = 10 s, and a round here takes 11.0 s"), "{caution}");
    assert!(caution.contains("`bbr@rtt_window=33` or more"), "{caution}");
    assert!(at("9s", "bbr").is_empty() && at("11s", "bbr@rtt_window=33").is_empty());
}
