// SPDX-License-Identifier: MIT OR Apache-2.0
//! Made-up results that look like real ones: Reno's sawtooth, Compound's two windows, and a queue below both.

use tandem_results::{Distribution, FlowResult, FlowSample, FlowTrace, LinkResult, LinkTrace, Run, SeedResult, Trace};
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

pub const SAMPLES: usize = 2000;

/// Flows on 100 Mbit/s with an RTT of 100 ms; `groups` are (name, controller, flows).
pub fn scenario(name: &str, groups: &[(&str, &str, u32)]) -> Scenario {
    let mut text = format!(
        "name = {name:?}\nduration = \"150s\"\nwarmup = \"30s\"\nseeds = 5\n\
         [dumbbell]\nrate = \"100mbit\"\nrtt = \"100ms\"\nqueue = \"500p\"\nloss = 1e-6\n"
    );
    for (name, controller, flows) in groups {
        text += &format!("[[flows]]\nname = {name:?}\ncontroller = {controller:?}\ncount = {flows}\n");
    }
    parse(&text, "synthetic.toml", "synthetic", &Overrides::default()).expect("a good scenario")
}

pub fn run(scenario: &Scenario, seeds: usize) -> Run {
    let results = scenario.seeds.iter().take(seeds).map(|&seed| seed_result(scenario, seed)).collect();
    Run::from_seeds(scenario, "sim", scenario.seeds.len(), results)
}

fn seed_result(scenario: &Scenario, seed: u64) -> SeedResult {
    let groups = scenario.group_of_flow();
    let share = 95.0 / groups.len() as f64;
    // Compound takes more than its share, and each flow and seed a little more or less.
    let goodput = |flow: usize| {
        let compound = scenario.groups[groups[flow]].source.controller() == "compound";
        let greedy = if compound && scenario.groups.len() > 1 {
            1.2
        } else if scenario.groups.len() > 1 {
            0.8
        } else {
            1.0
        };
        share * greedy * (1.0 + 0.02 * ((flow as u64 * 7 + seed * 3) % 5) as f64 - 0.04)
    };
    SeedResult {
        seed,
        flows: (0..groups.len()).map(|f| flow_result(goodput(f), f as u64)).collect(),
        rtt_ms: scenario.groups.iter().map(|_| spread(123.4)).collect(),
        srtt_ms: scenario.groups.iter().map(|_| spread(121.0)).collect(),
        deliveries: Vec::new(),
        links: vec![
            LinkResult {
                marks: 0,
                utilisation: 0.985 + 0.001 * seed as f64,
                queue_packets: spread(211.0),
                queueing_delay_ms: spread(25.3),
                offered_packets: 1_000_000,
                drops: 123 + seed,
                random_losses: 1,
            },
            LinkResult { utilisation: 0.02, offered_packets: 500_000, ..LinkResult::default() },
        ],
        data_packets: 1_000_000,
        cpu_s: 0.25,
        cell: None,
        emulation: None,
        trace: (seed == scenario.seeds[0]).then(|| trace(scenario, seed, &groups, goodput).into()),
    }
}

fn flow_result(goodput_mbps: f64, flow: u64) -> FlowResult {
    FlowResult {
        goodput_mbps,
        sent_packets: 250_000,
        retransmits: 30 + flow,
        timeouts: flow % 2,
        window_reductions: 20,
        base_rtt_ms: 100.0,
        ..FlowResult::default()
    }
}

fn spread(mean: f64) -> Distribution {
    Distribution { mean, p50: mean, p95: mean * 1.2, p99: mean * 1.3, max: (mean * 1.4).round() }
}

fn trace(scenario: &Scenario, seed: u64, groups: &[usize], goodput: impl Fn(usize) -> f64) -> Trace {
    let time_s: Vec<f64> = (1..=SAMPLES).map(|i| i as f64 * 0.075).collect();
    let flow_trace = |flow: usize| {
        let compound = scenario.groups[groups[flow]].source.controller() == "compound";
        let samples = time_s.iter().map(|&t| sample(t, flow, compound, goodput(flow))).collect();
        FlowTrace { flow, group: groups[flow], samples }
    };
    let queue = |t: f64| (t * 25.0 % 500.0) as f32;
    let link = |name: &str, queue_packets| LinkTrace { name: name.into(), queue_packets, ..LinkTrace::default() };
    Trace {
        seed,
        flows: (0..groups.len()).map(flow_trace).collect(),
        links: vec![
            link("bottleneck", time_s.iter().map(|&t| queue(t)).collect()),
            link("reverse", vec![0.0; SAMPLES]),
        ],
        time_s,
    }
}

fn sample(time_s: f64, flow: usize, compound: bool, goodput_mbps: f64) -> FlowSample {
    let phase = (time_s + 3.0 * flow as f64) % 20.0;
    let diff = if compound { (phase * 2.5) as f32 } else { 0.0 };
    let loss_window = (150.0 + 7.5 * phase) as u32;
    let delay_window = if compound { (phase * 40.0).min((20.0 - phase) * 12.0).max(0.0) as u32 } else { 0 };
    FlowSample {
        cwnd_packets: loss_window + delay_window,
        loss_window_packets: loss_window,
        delay_window_packets: delay_window,
        ssthresh_packets: 150,
        gamma_packets: if compound { 30.0 } else { 0.0 },
        diff_packets: diff,
        srtt_ms: if time_s < 0.1 { 0.0 } else { 100.0 + 3.0 * phase as f32 },
        base_rtt_ms: if time_s < 0.1 { 0.0 } else { 100.0 },
        in_flight_packets: loss_window,
        goodput_mbps: goodput_mbps as f32 * (1.0 + 0.2 * (time_s as f32 * 1.7 + flow as f32).sin()),
        probes: None,
    }
}
