// SPDX-License-Identifier: MIT OR Apache-2.0
//! L4S against RFC 9332's own claims: an L4S queue of about a millisecond, and about equal rates of a scalable flow and a CUBIC flow. The
//! whole grid stands in docs/validation.md. And DCTCP over a queue that marks at a low threshold.

use tandem_engine::Options;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

fn run(text: &str) -> SeedResult {
    let scenario: Scenario = parse(text, "s.toml", "s", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    tandem_sim::run(&scenario, 1, Options::default()).unwrap().unwrap()
}

/// A flow of each kind shares a link with DualPI2; `rtt_ms` is the propagation delay of both.
fn pair(rate_mbps: u32, rtt_ms: u32, duration_s: u32) -> SeedResult {
    run(&format!(
        "duration = \"{duration_s}s\"\nwarmup = \"{}s\"\n[dumbbell]\nrate = \"{rate_mbps}mbit\"\nrtt = \"{rtt_ms}ms\"\n\
         queue = \"250ms\"\naqm = \"dualpi2\"\n[[flows]]\ncontroller = \"prague\"\n[[flows]]\ncontroller = \"cubic\"\n",
        duration_s / 3
    ))
}

/// The aim of the coupling [RFC 9332 2.1], with the RFC's own words "approximately equal": a factor of two here. What L4S packets wait is at most the time of
/// two packets, or a millisecond and a little.
#[test]
fn prague_and_cubic_share_a_link() {
    for (rate_mbps, rtt_ms) in [(12, 20), (40, 10), (40, 50), (120, 5)] {
        let result = pair(rate_mbps, rtt_ms, 45);
        let place = format!("{rate_mbps} Mb/s, {rtt_ms} ms");
        let ratio = result.flows[0].goodput_mbps / result.flows[1].goodput_mbps;
        assert!((0.5..2.0).contains(&ratio), "{place}: {ratio}");
        assert!(result.links[0].utilisation > 0.98, "{place}: {}", result.links[0].utilisation);
        let packet_ms = 12.0 / f64::from(rate_mbps);
        let wait = |rtt: f64| rtt - f64::from(rtt_ms) - packet_ms;
        let (l4s, classic) = (&result.rtt_ms[0], &result.rtt_ms[1]);
        assert!(wait(l4s.p99) < f64::max(1.2, 2.0 * packet_ms), "{place}: {l4s:?}");
        assert!((10.0..20.0).contains(&wait(classic.mean)), "{place}: {classic:?}");
        assert_eq!(result.flows[0].retransmits, 0, "{place}");
    }
}

/// Prague alone keeps the link busy with hardly a queue: the native ramp marks it.
#[test]
fn prague_alone_fills_the_link() {
    let result =
        run("duration = \"30s\"\nwarmup = \"10s\"\n[dumbbell]\nrate = \"40mbit\"\nrtt = \"20ms\"\nqueue = \"250ms\"\n\
                      aqm = \"dualpi2\"\n[[flows]]\ncontroller = \"prague\"\n");
    assert!(result.links[0].utilisation > 0.95, "{}", result.links[0].utilisation);
    assert!(result.rtt_ms[0].p99 < 20.3 + 1.5, "{:?}", result.rtt_ms[0]);
    assert!(result.links[0].drops == 0 && result.links[0].marks > 100);
}

/// RFC 8257: four flows over a queue that marks all packets that find 20 waiting keep it near that length, and the link busy. Reno over the
/// same queue halves at each mark and leaves a part of the link idle.
#[test]
fn dctcp_keeps_the_queue_at_its_threshold() {
    let over_a_step = |flows: &str| {
        run(&format!(
            "duration = \"10s\"\nwarmup = \"3s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"4ms\"\nqueue = \"200p\"\n\
             aqm = {{ kind = \"red\", min = 20, max = 20.1, max_p = 1, weight = 1, ecn = true }}\n[[flows]]\ncount = 4\n{flows}\n"
        ))
    };
    let dctcp = over_a_step("controller = \"dctcp\"");
    let link = &dctcp.links[0];
    assert!(link.utilisation > 0.99, "{}", link.utilisation);
    assert!((10.0..22.0).contains(&link.queue_packets.mean) && link.drops == 0, "{:?}", link.queue_packets);
    let reno = over_a_step("controller = \"reno\"\necn = \"rfc3168\"");
    assert!(reno.links[0].queue_packets.mean < link.queue_packets.mean, "{:?}", reno.links[0].queue_packets);
}
