// SPDX-License-Identifier: MIT OR Apache-2.0
//! Summing up seeds, by hand.

use tandem_results::{Distribution, FlowResult, LinkResult, Run, SeedResult};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

fn scenario(groups: &str) -> Scenario {
    let text = format!(
        "duration = \"40s\"\nwarmup = \"10s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"50ms\"\nqueue = \"99p\"\n{groups}"
    );
    parse(&text, "x", "x", &Overrides::default()).unwrap()
}

const TWO_GROUPS: &str =
    "[[flows]]\ncontroller = \"reno\"\ncount = 2\n[[flows]]\ncontroller = \"compound\"\nrtt = \"100ms\"";

fn flow(goodput_mbps: f64) -> FlowResult {
    FlowResult { goodput_mbps, sent_packets: 1000, retransmits: 10, timeouts: 1, ..FlowResult::default() }
}

fn seed(seed: u64, goodputs: &[f64]) -> SeedResult {
    SeedResult {
        seed,
        flows: goodputs.iter().map(|&g| flow(g)).collect(),
        // As many groups as any test has.
        rtt_ms: vec![Default::default(); 3],
        links: vec![
            LinkResult { utilisation: 0.5, offered_packets: 1000, drops: 30, random_losses: 20, ..Default::default() },
            LinkResult::default(),
        ],
        data_packets: 7,
        ..SeedResult::default()
    }
}

#[test]
fn groups_and_links() {
    let run = Run::from_seeds(
        &scenario(TWO_GROUPS),
        "sim",
        3,
        vec![seed(2, &[20.0, 30.0, 40.0]), seed(1, &[10.0, 20.0, 30.0])],
    );
    assert_eq!((run.seeds.as_slice(), run.partial, run.data_packets), (&[1, 2][..], true, 14));
    // Reno: 30 and 50 over its two flows. Half width: t(0.975, 1) = 12.706 times the standard error, 10.
    let reno = &run.groups[0];
    assert_eq!((reno.goodput_mbps, reno.goodput_by_seed_mbps.as_slice()), (40.0, &[30.0, 50.0][..]));
    assert!((reno.goodput_ci95_mbps.unwrap() - 127.062).abs() < 0.001);
    assert_eq!(reno.per_flow_goodput_mbps, [15.0, 25.0]);
    assert_eq!((reno.retransmit_rate, reno.retransmits, reno.timeouts), (0.01, 20.0, 2.0));
    assert_eq!((reno.base_rtt_ms, run.groups[1].base_rtt_ms), (50.0, 100.0));
    assert_eq!(run.links[0].loss_rate, 0.05);
    // By flow, a Reno flow of 50 ms gets 20 where Compound at 100 ms gets 35.
    let fairness = run.rtt_fairness.unwrap();
    assert_eq!((fairness.rtt_ratio, fairness.goodput_ratio), (2.0, 20.0 / 35.0));
    // (60)^2 / (3 * 1400) and (90)^2 / (3 * 2900), averaged.
    assert!((run.jain.unwrap() - (3600.0 / 4200.0 + 8100.0 / 8700.0) / 2.0).abs() < 1e-12);
}

/// Nothing acknowledges UDP: it has no RTT, rather than one of 0, but a propagation delay to compare its one-way delay with. A seed that
/// measured no RTT does not count in the mean over seeds.
#[test]
fn an_rtt_that_nothing_measured_is_null() {
    let text = "[[flows]]\ncontroller = \"reno\"\nrtt = \"90ms\"\n[[flows]]\nudp = { rate = \"1mbit\" }\n";
    let rtt = |mean| Distribution { mean, p50: mean, p95: mean, p99: mean, max: mean };
    let with_rtt = |number: u64, ms: f64| {
        let of_groups = vec![rtt(ms), Distribution::default()];
        SeedResult { rtt_ms: of_groups.clone(), srtt_ms: of_groups, ..seed(number, &[10.0, 1.0]) }
    };
    let run = Run::from_seeds(&scenario(text), "sim", 3, vec![with_rtt(1, 60.0), with_rtt(2, 0.0), with_rtt(3, 80.0)]);
    let [reno, udp] = &run.groups[..] else { panic!() };
    assert_eq!((reno.rtt_ms.unwrap().mean, reno.srtt_ms.unwrap().p95, reno.base_delay_ms), (70.0, 70.0, None));
    assert_eq!((udp.rtt_ms, udp.srtt_ms, udp.base_delay_ms), (None, None, Some(25.0)));
    let json = serde_json::to_value(&run).unwrap();
    assert!(json["groups"][1]["rtt_ms"].is_null() && json["groups"][1]["srtt_ms"].is_null(), "{json}");
    assert!(json["groups"][0].get("base_delay_ms").is_none(), "{json}");
}

/// Where all were Reno, the two flows got 20 + 30 and 40 + 40, 130 over the two seeds that both runs have; beside Compound 30 and 50: of 130,
/// 50 are gone. That is all there is to say where the third flow has an RTT of its own.
///
/// Where it has not, it is one of them, with 40 each time: totals of 90 and 120, so 60 and 80 are due; luck -10 and 0. Within seeds x is
/// 20, 30 and 40, 40, y 10, 20 and 20, 30: products 50, squares 50, slope 1 of 2, as the prior's of 8. So (80 + 10) / 140 is kept as far
/// as is known without a look at the luck, and between seeds Q - (9/14) due is -60/7 and -10/7, times -5 and 5: 250/7 over 50 is 5/7 of 1.
/// b = (10 + 5/7) / 11 = 75/77. So 30 + 750/77 + 50 of 140 are kept.
#[test]
fn stolen_from_a_group() {
    let alike = TWO_GROUPS.replace("\nrtt = \"100ms\"", "");
    for (groups, expected) in [(TWO_GROUPS, 50.0 / 130.0), (&alike, 1.0 - (80.0 + 750.0 / 77.0) / 140.0)] {
        let all_reno = scenario(&groups.replace("compound", "reno"));
        let there = vec![seed(3, &[9.0; 3]), seed(2, &[40.0, 40.0, 40.0]), seed(1, &[20.0, 30.0, 40.0])];
        let baseline = Run::from_seeds(&all_reno, "sim", 3, there);
        let here = vec![seed(1, &[10.0, 20.0, 30.0]), seed(2, &[20.0, 30.0, 40.0])];
        let mut run = Run::from_seeds(&scenario(groups), "sim", 2, here);
        run.set_stolen(0, &baseline);
        assert!((run.groups[0].stolen.unwrap() - expected).abs() < 1e-12, "{:?}", run.groups[0].stolen);
        assert_eq!(run.groups[1].stolen, None);
    }
}

/// Two flows, one of which starts at 5 s. Until 12 s the first has all, then both are equal: Jain's index of 10-second windows
/// is 0.95 when their shares are 1 and 0.628 at most apart. In the window from 8 to 18 s they have 4 + 6 * 0.5 = 7 and 3; from 10 s,
/// 6 and 4: 100 / 104 = 0.96; from 9 s, 6.5 and 3.5: 100 / 109 = 0.917. So it takes 10 - 5 = 5 s.
#[test]
fn convergence_time() {
    let scenario = scenario("[[flows]]\ncontroller = \"reno\"\n[[flows]]\ncontroller = \"compound\"\nstart = \"5s\"");
    let mut result = seed(1, &[50.0, 50.0]);
    result.flows[0].received_mbit_by_second = (0..40).map(|s| if s < 12 { 1.0 } else { 0.5 }).collect();
    result.flows[1].received_mbit_by_second = (0..40).map(|s| if s < 12 { 0.0 } else { 0.5 }).collect();
    assert_eq!(Run::from_seeds(&scenario, "sim", 1, vec![result.clone()]).convergence_s, Some(5.0));
    // The same 20 s later: the last window of all, from 30 s.
    result.flows[0].received_mbit_by_second = (0..40).map(|s| if s < 32 { 1.0 } else { 0.5 }).collect();
    result.flows[1].received_mbit_by_second = (0..40).map(|s| if s < 32 { 0.0 } else { 0.5 }).collect();
    assert_eq!(Run::from_seeds(&scenario, "sim", 1, vec![result.clone()]).convergence_s, Some(25.0));
    result.flows[1].received_mbit_by_second = vec![0.0; 40];
    assert_eq!(Run::from_seeds(&scenario, "sim", 1, vec![result]).convergence_s, None);
}

/// A flow on the way back has a link of its own: 30 and 30 are fair, whatever it gets.
#[test]
fn the_way_back_is_no_part_of_jains_index() {
    let groups = "[[flows]]\ncontroller = \"reno\"\n[[flows]]\ncontroller = \"compound\"\n[[flows]]\ncontroller = \"reno\"\nreverse = true";
    let run = Run::from_seeds(&scenario(groups), "sim", 1, vec![seed(1, &[30.0, 30.0, 5.0])]);
    assert!((run.jain.unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn without_tcp_there_is_no_fairness_among_its_flows() {
    let udp = "[[flows]]\nudp = { rate = \"1mbit\" }\ncount = 2";
    let run = Run::from_seeds(&scenario(udp), "sim", 1, vec![seed(1, &[1.0, 1.0])]);
    assert_eq!(run.jain, None);
    let json = serde_json::to_value(&run).unwrap();
    assert!(json["jain"].is_null(), "{json}");
    // Nor where nothing has arrived. With one flow it is 1.
    let reno =
        |goodput| Run::from_seeds(&scenario("[[flows]]\ncontroller = \"reno\""), "sim", 1, vec![seed(1, &[goodput])]);
    assert_eq!((reno(0.0).jain, reno(3.0).jain), (None, Some(1.0)));
}
