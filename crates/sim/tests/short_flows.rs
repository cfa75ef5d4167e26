// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short flows: how many come, how long each takes, what a queue of them does.

mod common;

use common::{run, run_seed, scenario, within};
use tandem_results::{Run, SeedResult, ShortTransfer};

fn transfers(result: &SeedResult) -> impl Iterator<Item = ShortTransfer> {
    result.flows.iter().flat_map(|flow| flow.short_flows.iter().copied())
}

/// One segment every 12 us; 1 Gb/s and 100 ms, as in the test of completion times in `traffic.rs`.
fn long_path(duration: &str, flows: &str) -> String {
    format!(
        "duration = \"{duration}\"\nsend_jitter = \"0\"\n[dumbbell]\nrate = \"1gbit\"\nrtt = \"100ms\"\nqueue = \"1000p\"\n\
         [[flows]]\ncontroller = \"reno\"\n{flows}"
    )
}

/// 100 segments take 400.397664 ms (worked out there), each time: a new connection begins at ten packets, whatever the last one had
/// reached. That is also the time alone on the path.
#[test]
fn each_transfer_has_a_new_connection() {
    let text = long_path("100s", "delayed_acks = false\ncount = 4\nshort = { per_second = 0.5, size = \"144800B\" }");
    let scenario = scenario(&text);
    let result = run_seed(&scenario, 1);
    let times: Vec<ShortTransfer> = transfers(&result).filter(|t| t.completion_time_s.is_some()).collect();
    assert!(times.len() > 20, "{}", times.len());
    // Few of them meet others on the way, which delays them by some packets.
    let alone = times.iter().filter(|t| (t.completion_time_s.unwrap() - 0.400397664).abs() < 1e-8).count();
    assert!(alone * 2 > times.len(), "{times:?}");
    assert!(times.iter().all(|t| (0.400397..0.4024).contains(&t.completion_time_s.unwrap())), "{times:?}");
    within(scenario.alone_s(&scenario.groups[0], 0.1, 144_800), 0.400397664, 1e-9);
}

/// The receiver has its last segment alone, and does not wait for another before it acknowledges: the delay of an ACK is 40 ms.
#[test]
fn the_last_segment_is_acknowledged_at_once() {
    let result = run(&long_path("20s", "short = { think = \"1s\", size = \"101kB\" }"));
    let times: Vec<f64> = transfers(&result).filter_map(|t| t.completion_time_s).collect();
    assert!(times.len() > 5 && times.iter().all(|&t| (0.300..0.301).contains(&t)), "{times:?}");
}

/// 30 % of 100 Mb/s, whose payload is 1448 of 1500 bytes, in transfers of 30 kB are 120.67 a second; in 50 s 6033, as a Poisson number
/// within 4 deviations of 78.
#[test]
fn the_load_is_what_was_asked_for() {
    let text = "duration = \"60s\"\nwarmup = \"10s\"\n[dumbbell]\nrate = \"100mbit\"\nrtt = \"20ms\"\nqueue = \"1bdp\"\n\
                [[flows]]\ncontroller = \"cubic\"\ncount = 200\nshort = { load = \"30%\", size = \"30kB\" }";
    let scenario = scenario(text);
    let results: Vec<SeedResult> = [1, 2].map(|seed| run_seed(&scenario, seed)).into();
    for result in &results {
        assert!(transfers(result).count().abs_diff(6033) < 311, "{}", transfers(result).count());
        assert!(transfers(result).all(|t| (10.0..60.0).contains(&t.arrived_s) && t.bytes == 30_000));
        let arrived_mbps = 8e-6 / 50.0 * 30_000.0 * transfers(result).count() as f64;
        // What is offered arrives, in packets of which the last is full here.
        let goodput_mbps: f64 = result.flows.iter().map(|flow| flow.goodput_mbps).sum();
        within(goodput_mbps / arrived_mbps, 21.0 * 1448.0 / 30_000.0, 0.01);
    }
    let run = Run::from_seeds(&scenario, "sim", results.len(), results);
    let short = run.groups[0].short_flows.as_ref().unwrap();
    within(short.load.unwrap(), 0.3, 0.011);
    assert!(short.unfinished < 20 && short.slowdown.unwrap().p50 >= 1.0, "{short:?}");
    // All are between the borders of 10 kB and 100 kB.
    let counts: Vec<u64> = short.classes.iter().map(|class| class.transfers).collect();
    assert_eq!(counts, [0, short.transfers, 0, 0]);
}

/// A link that is shared equally is a queue M/G/1 with processor sharing: a transfer takes 1 / (1 - load) times as long as alone,
/// whatever the sizes. FQ-CoDel, which here drops nothing, shares so. 1 % more is headers of ACKs and the like.
#[test]
fn equal_shares_are_processor_sharing() {
    for (load, seeds) in [(0.3, 2), (0.6, 3)] {
        let text = format!(
            "duration = \"220s\"\nwarmup = \"20s\"\nseeds = {seeds}\n\
             [dumbbell]\nrate = \"20mbit\"\nrtt = \"2ms\"\nqueue = \"10000p\"\n\
             aqm = {{ kind = \"fq_codel\", target = \"50s\", interval = \"100s\" }}\n\
             [[flows]]\ncontroller = \"reno\"\ncount = 300\n\
             short = {{ load = {load}, size = {{ kind = \"pareto\", smallest = \"60kB\", shape = 1.8, largest = \"1MB\" }} }}"
        );
        let scenario = scenario(&text);
        let results: Vec<SeedResult> = scenario.seeds.iter().map(|&seed| run_seed(&scenario, seed)).collect();
        let run = Run::from_seeds(&scenario, "sim", results.len(), results);
        let short = run.groups[0].short_flows.as_ref().unwrap();
        let slowdown = short.slowdown.unwrap().mean;
        let of_load = 1.0 / (1.0 - short.load.unwrap());
        assert!((slowdown / of_load - 1.0).abs() < 0.12, "load {load}: {slowdown}, expected {of_load}");
    }
}

/// The response time law: as many transfers as users, over think time and response time. 20 users who think 1 s on average and wait 300 ms
/// make 3077 in 200 s; an exponential think time has less variance than a Poisson process, four deviations of which are 222.
#[test]
fn users_make_as_many_transfers_as_they_have_time_for() {
    let result = run(&long_path("200s", "count = 20\nshort = { think = \"1s\", size = \"101kB\" }"));
    assert!(transfers(&result).count().abs_diff(3077) < 222, "{}", transfers(&result).count());
    for flow in &result.flows {
        let busy: Vec<(f64, f64)> =
            flow.short_flows.iter().filter_map(|t| Some((t.arrived_s, t.arrived_s + t.completion_time_s?))).collect();
        assert!(busy.windows(2).all(|w| w[0].1 <= w[1].0), "a user makes one transfer at a time: {busy:?}");
    }
}

/// One connection makes two or three a second, and ten come: the others wait, and their wait is part of their time. Those that are
/// not served at the end are counted.
#[test]
fn transfers_wait_for_a_connection() {
    let result = run(&long_path("40s", "short = { per_second = 10, size = \"101kB\" }"));
    let all: Vec<ShortTransfer> = transfers(&result).collect();
    assert!(all.len().abs_diff(400) < 80, "{}", all.len());
    let ended: Vec<ShortTransfer> = all.iter().copied().filter(|t| t.completion_time_s.is_some()).collect();
    // 300 ms each.
    assert!((130..=133).contains(&ended.len()), "{}", ended.len());
    assert!(ended.windows(2).all(|w| w[0].arrived_s <= w[1].arrived_s), "in the order of arrival");
    let last = ended.last().unwrap();
    assert!(last.arrived_s + last.completion_time_s.unwrap() > 39.0 && last.completion_time_s.unwrap() > 20.0);
}

/// The stop ends all: what comes later is not wanted, and what runs then is not finished.
#[test]
fn nothing_comes_after_the_stop() {
    let result = run(&long_path("20s", "count = 50\nstop = \"10s\"\nshort = { per_second = 50, size = \"101kB\" }"));
    assert!(transfers(&result).all(|t| t.arrived_s < 10.0));
    assert!(transfers(&result).filter_map(|t| Some(t.arrived_s + t.completion_time_s?)).all(|end| end <= 10.0));
    let unfinished = transfers(&result).filter(|t| t.completion_time_s.is_none()).count();
    // Of 50 a second those of the last 0.3 s.
    assert!((5..=30).contains(&unfinished), "{unfinished}");
}

/// Losses and all: a new connection is not disturbed by what the last one left on the way.
#[test]
fn a_lossy_path_loses_no_transfer() {
    let text = "duration = \"60s\"\n[dumbbell]\nrate = \"20mbit\"\nrtt = \"20ms\"\nqueue = \"20p\"\nloss = 0.01\nreverse_loss = 0.01\n\
                [effects.bottleneck]\nduplicate = \"1%\"\nreorder = { share = \"1%\", distance = \"30ms\" }\n\
                [[flows]]\ncontroller = \"compound\"\ncount = 30\n\
                short = { load = 0.4, size = { kind = \"lognormal\", median = \"10kB\", sigma = 1.5 } }";
    let result = run(text);
    assert!(transfers(&result).count() > 500, "{}", transfers(&result).count());
    let waiting = transfers(&result).filter(|t| t.completion_time_s.is_none()).count();
    assert!(waiting < 30, "{waiting}");
    // Payload received is what was sent: whole packets, at least the bytes of what ended.
    let received =
        result.flows.iter().flat_map(|f| &f.received_mbit_by_second).map(|&m| f64::from(m)).sum::<f64>() / 8e-6;
    let ended: f64 = transfers(&result).filter(|t| t.completion_time_s.is_some()).map(|t| t.bytes as f64).sum();
    assert!(received > ended && received < 1.4 * ended, "{received} {ended}");
}
