// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same scenario and seed gives the same result, whatever else happens; and runs can be ended.

mod common;

use std::{
    cell::RefCell,
    rc::Rc,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use common::{fingerprint, run_seed, scenario};
use tandem_engine::Options;
use tandem_results::FlowSample;
use tandem_scenario::Scenario;
use tandem_sim::{Look, run_watched};

/// Something of everything: random loss, both ways, AQM, starts, jitter, finite transfers, UDP.
fn mixture() -> Scenario {
    mixture_of("20s")
}

fn mixture_of(duration: &str) -> Scenario {
    scenario(&format!(
        r#"
        duration = "{duration}"
        warmup = "2s"
        [dumbbell]
        rate = "50mbit"
        rtt = "40ms"
        queue = "60p"
        aqm = "red"
        loss = {{ good_to_bad = 1e-4, bad_to_good = 0.2 }}
        [[flows]]
        controller = "compound"
        count = 3
        rtt_spread = "20ms"
        start_spread = "1s"
        [[flows]]
        controller = "reno"
        reverse = true
        pacing = true
        [[flows]]
        controller = "compound_tube"
        transfer = "1MB"
        pause = "500ms"
        [[flows]]
        udp = {{ rate = "2mbit", on = "100ms", off = "200ms" }}
        "#
    ))
}

#[test]
fn same_seed_same_result() {
    let scenario = mixture();
    let first = fingerprint(run_seed(&scenario, 7));
    assert_eq!(first, fingerprint(run_seed(&scenario, 7)));
    assert_ne!(first, fingerprint(run_seed(&scenario, 8)).replace("seed: 8", "seed: 7"));
}

#[test]
fn tracing_changes_nothing() {
    let scenario = mixture();
    let traced =
        tandem_sim::run(&scenario, 7, Options { traced_flows_per_group: 2, ..Options::default() }).unwrap().unwrap();
    let trace = traced.trace.as_ref().expect("a trace was asked for");
    // Two of the three in the first group, one each of the two other TCP groups; 2000 samples in the whole run.
    assert_eq!(trace.flows.iter().map(|f| f.flow).collect::<Vec<_>>(), [0, 1, 3, 4]);
    assert_eq!((trace.time_s.len(), trace.links.len()), (2000, 2));
    assert!(trace.flows.iter().all(|f| f.samples.len() == 2000));
    assert!(trace.flows[0].samples.iter().any(|s| s.cwnd_packets > 10));
    assert_eq!(fingerprint(traced), fingerprint(run_seed(&scenario, 7)));
}

#[test]
fn parallel_runs_do_not_disturb_each_other() {
    let scenario = mixture();
    let alone: Vec<String> = (1..=4).map(|seed| fingerprint(run_seed(&scenario, seed))).collect();
    let together: Vec<String> = std::thread::scope(|scope| {
        let run = |seed| scope.spawn(move || fingerprint(run_seed(&mixture(), seed)));
        let threads: Vec<_> = (1..=4).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}

/// One more flow changes neither the luck of the links nor the random parts of the others.
#[test]
fn flows_have_their_own_random_numbers() {
    let spread = |count: u32| {
        let text = format!(
            "duration = \"1s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"60p\"\n\
             [[flows]]\ncontroller = \"reno\"\ncount = {count}\nrtt_spread = \"20ms\""
        );
        let result = run_seed(&scenario(&text), 3);
        result.flows.iter().map(|f| f.base_rtt_ms).collect::<Vec<_>>()
    };
    let (few, many) = (spread(5), spread(6));
    assert_eq!(few[..], many[..5]);
    assert!(few.iter().all(|rtt| (40.0..=60.0).contains(rtt)));
    assert!(few.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn without_jitter_it_runs_too_and_differs() {
    let scenario = mixture();
    let with = fingerprint(run_seed(&scenario, 7));
    let scenario = scenario.without_default_send_jitter();
    let result = run_seed(&scenario, 7);
    assert!(result.data_packets > 10_000);
    assert_ne!(with, fingerprint(result));
}

#[test]
fn cancelling() {
    let scenario = mixture();
    let cancelled = AtomicBool::new(true);
    assert!(
        tandem_sim::run(&scenario, 1, Options { cancelled: Some(&cancelled), ..Options::default() }).unwrap().is_none()
    );
    // While it runs: as soon as a tenth has passed.
    let (cancelled, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let long = mixture_of("100000s");
    std::thread::scope(|scope| {
        let options = Options { cancelled: Some(&cancelled), progress_ns: Some(&progress), ..Options::default() };
        let long = &long;
        let run = scope.spawn(move || tandem_sim::run(long, 1, options).unwrap().is_none());
        tandem_testing::wait_until("it runs", || progress.load(Relaxed) >= 1_000_000_000 || run.is_finished());
        cancelled.store(true, Relaxed);
        assert!(run.join().unwrap(), "it ended early");
    });
    assert!(progress.load(Relaxed) < long.duration.ns);
}

/// All simulated time is reported: at least up to the last 10 ms.
#[test]
fn progress() {
    let scenario = mixture();
    let progress = AtomicU64::new(0);
    tandem_sim::run(&scenario, 1, Options { progress_ns: Some(&progress), ..Options::default() }).unwrap();
    assert!((scenario.duration.ns - 10_000_000..=scenario.duration.ns).contains(&progress.load(Relaxed)));
}

/// Who looks at senders after each ACK and timer sees what samples see, and changes nothing. Of a sample the last look before it decides.
#[test]
fn a_watched_run_is_the_same_run() {
    let scenario = mixture();
    let looks: Rc<RefCell<Vec<(u64, usize, FlowSample)>>> = Rc::default();
    let kept = Rc::clone(&looks);
    let watch = Rc::new(RefCell::new(move |look: Look| kept.borrow_mut().push((look.now, look.flow, look.sample()))));
    let options = Options { traced_flows_per_group: 2, ..Options::default() };
    let watched = run_watched(&scenario, 7, options, &|flow| flow != 1, watch).unwrap().unwrap();
    let traced = tandem_sim::run(&scenario, 7, options).unwrap().unwrap();
    let looks = looks.take();
    assert!(looks.iter().all(|(_, flow, _)| *flow != 1), "nobody asked for flow 1");
    let trace = traced.trace.as_ref().unwrap();
    for flow in trace.flows.iter().filter(|flow| flow.flow != 1) {
        let of_flow: Vec<_> = looks.iter().filter(|(_, of, _)| *of == flow.flow).collect();
        assert!(of_flow.len() > 1000, "{} looks", of_flow.len());
        for (time_s, sample) in trace.time_s.iter().zip(&flow.samples) {
            let until = of_flow.partition_point(|(now, ..)| (*now as f64) < time_s * 1e9);
            let Some((_, _, seen)) = until.checked_sub(1).map(|last| of_flow[last]) else { continue };
            // What is in flight is told before the ACK lets go; goodput takes time.
            let alike =
                FlowSample { in_flight_packets: sample.in_flight_packets, goodput_mbps: sample.goodput_mbps, ..*seen };
            assert_eq!(*sample, alike, "flow {} at {time_s} s", flow.flow);
        }
    }
    assert_eq!(fingerprint(watched), fingerprint(traced));
}
