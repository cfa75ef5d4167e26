// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios over the real stack in virtual time: what must hold whatever the stack does.

use tandem_engine::{Engine, Options};
use tandem_quic_engine::Quic;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

fn scenario(top: &str, network: &str, flows: &str) -> Scenario {
    let text = format!("{top}\n[dumbbell]\n{network}\n{flows}");
    parse(&text, "s.toml", "s", &Overrides::default()).unwrap()
}

fn run(scenario: &Scenario) -> SeedResult {
    Quic.run(scenario, 1, Options::default()).unwrap().unwrap()
}

const PATH: &str = "rate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"50p\"";

fn flow(controller: &str, more: &str) -> String {
    format!("[[flows]]\ncontroller = \"{controller}\"\n{more}\n")
}

/// A bulk flow alone fills the link. Of 1500 bytes on the wire IPv4 and UDP take 28, a short header 9 and a packet number, the tag 16, the
/// stream frame's head a few: less than 1445 are left. No controller is left out, except for those that count ECN marks.
#[test]
fn every_controller_fills_a_link() {
    for controller in tandem_controllers::CONTROLLERS.iter().filter(|c| !c.counts_marks()).map(|c| c.name) {
        let result = run(&scenario("duration = \"8s\"\nwarmup = \"3s\"", PATH, &flow(controller, "")));
        let mbps = result.flows[0].goodput_mbps;
        assert!((8.0..9.63).contains(&mbps), "{controller}: {mbps} Mb/s");
        let utilisation = result.links[0].utilisation;
        assert!((0.85..=1.0).contains(&utilisation), "{controller}: {utilisation}");
    }
}

/// The same scenario and seed, the same result to the last digit, though each run has other keys.
#[test]
fn runs_repeat() {
    let scenario = scenario(
        "duration = \"6s\"",
        &format!("{PATH}\nloss = 1e-3"),
        &(flow("compound_tube", "count = 2") + &flow("bbr", "") + &flow("cubic", "transport = \"tcp\"")),
    );
    let without_cpu = |seed| {
        let result = Quic.run(&scenario, seed, Options::default()).unwrap().unwrap();
        format!("{:?}", SeedResult { cpu_s: 0.0, ..result })
    };
    assert_eq!(without_cpu(1), without_cpu(1));
    assert_ne!(without_cpu(1), without_cpu(2));
}

/// 1 MB at 10 Mb/s takes 0.8 s and some round trips: slow start from 10 packets, and the handshake before it. The second begins a second after.
#[test]
fn transfers_complete() {
    let scenario = scenario("duration = \"5s\"", PATH, &flow("reno", "transfer = \"1MB\"\npause = \"1s\""));
    let times = &run(&scenario).flows[0].completion_times_s;
    assert!(times.len() >= 2, "{times:?}");
    assert!(times.iter().all(|&s| (0.84..1.6).contains(&s)), "{times:?}");
}

/// TCP and QUIC share a path: together they fill it, and neither starves with the same controller.
#[test]
fn tcp_and_quic_share_a_path() {
    let flows = flow("reno", "transport = \"tcp\"") + &flow("reno", "transport = \"quic\"");
    let result = run(&scenario("duration = \"30s\"\nwarmup = \"10s\"", PATH, &flows));
    let mbps: Vec<f64> = result.flows.iter().map(|f| f.goodput_mbps).collect();
    assert!((8.5..9.7).contains(&mbps.iter().sum::<f64>()), "{mbps:?}");
    assert!(mbps.iter().all(|&m| m > 2.0), "{mbps:?}");
}

/// Slow start loses every other packet of a window of thousands: more gaps than the stack keeps of a stream that is read in order.
#[test]
fn a_long_fat_path_is_filled_in_spite_of_thousands_of_gaps() {
    let network = "rate = \"300mbit\"\nrtt = \"100ms\"\nqueue = \"500p\"";
    let result = run(&scenario("duration = \"4s\"\nwarmup = \"500ms\"", network, &flow("compound_tube", "")));
    assert!(result.flows[0].retransmits > 2 * 1024, "{}", result.flows[0].retransmits);
    assert!(result.flows[0].goodput_mbps > 200.0, "{}", result.flows[0].goodput_mbps);
}

/// The stack's own controllers, alone, and beside one of ours.
#[test]
fn the_stacks_own_run_too() {
    let top = "duration = \"6s\"\nwarmup = \"2s\"";
    let mbps = |flows: &str| run(&scenario(top, PATH, flows)).flows.iter().map(|f| f.goodput_mbps).collect::<Vec<_>>();
    let own = ["noq:reno", "noq:cubic", "noq:bbr3"].map(|name| mbps(&flow(name, ""))[0]);
    assert!(own.iter().all(|&mbps| mbps > 7.0), "{own:?}");
    assert!(own[0] != own[1] && own[1] != own[2], "each is another controller: {own:?}");
    let both = mbps(&(flow("noq:cubic", "") + &flow("cubic", "")));
    assert!(both.iter().sum::<f64>() > 7.0 && both.iter().all(|&mbps| mbps > 0.5), "{both:?}");
}

#[test]
fn refusals_say_what_to_do() {
    let refusal = |top: &str, flows: &str| Quic.check(&scenario(top, PATH, flows), false).unwrap_err().to_string();
    let small = refusal("duration = \"1s\"\nmtu = 1000", &flow("reno", ""));
    assert!(small.contains("an mtu of 1228 at least"), "{small}");
    let halving = refusal("duration = \"1s\"", &flow("reno", "recovery = \"rate-halving\""));
    assert!(halving.contains("transport = \"tcp\""), "{halving}");
    let marked = refusal("duration = \"1s\"", &flow("reno", "ecn = \"rfc3168\""));
    assert!(marked.contains("not marked here"), "{marked}");
    assert!(refusal("duration = \"1s\"", &flow("kernel:cubic", "")).contains("kernel"));
    let over_tcp = refusal("duration = \"1s\"", &flow("noq:cubic", "transport = \"tcp\""));
    assert!(over_tcp.contains("is the QUIC stack's own"), "{over_tcp}");
    let simulated = scenario("duration = \"1s\"", PATH, &flow("noq:cubic", ""));
    assert!(tandem_sim::Sim.check(&simulated, false).unwrap_err().to_string().contains("--engine quic"));
    let quic = scenario("duration = \"1s\"", PATH, &flow("reno", "transport = \"quic\""));
    assert!(tandem_sim::Sim.check(&quic, false).unwrap_err().to_string().contains("--engine quic"));
}
