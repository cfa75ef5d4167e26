// SPDX-License-Identifier: MIT OR Apache-2.0
//! What scenarios may ask for, over real TCP, a few seconds each. A run that a busy machine has spoilt is repeated; before that only
//! what does not depend on time is asked of it.

mod common;

use common::can_emulate;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tandem_engine::Options;
use tandem_results::{FlowResult, SeedResult};
use tandem_scenario::file::{Overrides, parse};
use tandem_testbed::run;
use tandem_testing::trusted_run;

/// A run that may be judged; `None`, and said so, where paths cannot be emulated or the machine is too busy.
fn emulate(text: &str) -> Option<SeedResult> {
    emulate_and_ask(text, Options::default(), |_| ())
}

fn emulate_once(text: &str, options: Options) -> SeedResult {
    let scenario = parse(text, "s.toml", "s", &Overrides::default()).unwrap();
    run(&scenario, 1, options).unwrap().unwrap()
}

/// `always` is asked of each run, whatever the machine did.
fn emulate_and_ask(text: &str, options: Options, always: impl Fn(&SeedResult)) -> Option<SeedResult> {
    if !can_emulate() {
        return None;
    }
    trusted_run(|| {
        let result = emulate_once(text, options);
        always(&result);
        let doubts = result.emulation.as_ref().unwrap().doubts.clone();
        (result, doubts)
    })
}

/// What all flows received, in packets of this payload.
fn received_packets(result: &SeedResult, payload_bytes: f64) -> f64 {
    let mbit: f32 = result.flows.iter().flat_map(|flow| &flow.received_mbit_by_second).sum();
    f64::from(mbit) / 8e-6 / payload_bytes
}

/// A dumbbell of 20 Mb/s and 20 ms: a packet takes 0.6 ms, the BDP is 33.
fn dumbbell(duration: &str, queue: &str, flows: &str) -> String {
    format!("duration = \"{duration}\"\n[dumbbell]\nrate = \"20mbit\"\nrtt = \"20ms\"\n{queue}\n{flows}")
}

/// 12 Mb/s are a packet each millisecond: 1000 in each second that is on, and silence in each that is off. What is sent late is sent all
/// the same, in bursts that the queue may have no room for.
#[test]
fn udp_goes_on_and_off() {
    let udp = "[[flows]]\nudp = { rate = \"12mbit\", on = \"1s\", off = \"1s\" }\nstop = \"3500ms\"";
    let always = |result: &SeedResult| {
        let flow = &result.flows[0];
        assert_eq!((flow.retransmits, flow.window_reductions), (0, 0));
        // A packet counts as TCP's payload of 1448 bytes.
        let ended = received_packets(result, 1448.0) + result.links[0].drops as f64;
        assert!(flow.sent_packets <= 2000 && ended <= flow.sent_packets as f64 + 0.1, "{ended}: {flow:?}");
    };
    let text = dumbbell("4s", "queue = \"1bdp\"", udp);
    let Some(result) = emulate_and_ask(&text, Options::default(), always) else { return };
    let flow = &result.flows[0];
    assert_eq!((flow.sent_packets, result.data_packets), (2000, 2000));
    // 2000 packets are 23.168 megabits. The last of a second arrive 10.6 ms after they were sent.
    let by_second = &flow.received_mbit_by_second;
    for (second, expected) in [11.46, 0.12, 11.46, 0.12].into_iter().enumerate() {
        assert!((by_second[second] - expected).abs() < 0.3, "{by_second:?}");
    }
    assert!((by_second.iter().sum::<f32>() - 23.168).abs() < 0.1, "{by_second:?}");
}

/// 100 kB are 70 segments: 10, 20 and 40 in three rounds of slow start, each of 20 ms and more. With a buffer that holds
/// them all nothing is lost, so that a transfer takes three rounds and the transmission of the last one's 40 packets at most, and
/// some milliseconds until the program looks.
#[test]
fn transfers_end_and_begin_again() {
    let flows = "[[flows]]\ncontroller = \"reno\"\ntransfer = \"100kB\"\npause = \"200ms\"";
    let always = |result: &SeedResult| {
        let times = &result.flows[0].completion_times_s;
        assert!(times.iter().all(|&t| t >= 0.060), "{times:?}");
        let received_bytes = received_packets(result, 1.0);
        assert!(received_bytes + 1e3 >= 1e5 * times.len() as f64, "{received_bytes} for {times:?}");
    };
    let text = dumbbell("4s", "queue = \"100p\"", flows);
    let Some(result) = emulate_and_ask(&text, Options::default(), always) else { return };
    let flow = &result.flows[0];
    let times = &flow.completion_times_s;
    assert!((12..=15).contains(&times.len()), "{times:?}");
    assert!(times.iter().all(|&t| t <= 0.120), "{times:?}");
    assert_eq!((flow.retransmits, flow.timeouts), (0, 0));
}

/// Once, at a given time, and another flow that stops.
#[test]
fn flows_start_and_stop_when_they_should() {
    let flows = "[[flows]]\ncontroller = \"reno\"\nstop = \"2s\"\n\
                 [[flows]]\ncontroller = \"kernel:cubic\"\nstart = \"3s\"\ntransfer = \"1MB\"";
    let nothing_before = |result: &SeedResult| assert_eq!(result.flows[1].received_mbit_by_second[..3], [0.0; 3]);
    let text = dumbbell("5s", "queue = \"1bdp\"", flows);
    let Some(result) = emulate_and_ask(&text, Options::default(), nothing_before) else { return };
    let [bulk, once] = &result.flows[..] else { panic!("two flows") };
    assert_eq!(bulk.received_mbit_by_second[4], 0.0);
    // 19.3 Mb/s of payload; slow start's overshoot takes some of it.
    assert!(bulk.received_mbit_by_second[1] > 14.0, "{:?}", bulk.received_mbit_by_second);
    assert_eq!(once.completion_times_s.len(), 1);
    assert!((0.41..1.5).contains(&once.completion_times_s[0]), "{:?}", once.completion_times_s);
    assert!((f64::from(once.received_mbit_by_second.iter().sum::<f32>()) - 8.0).abs() < 1e-3);
}

/// Two bottlenecks in a row. Delays are those of the hops that a flow crosses; the flow that crosses both gets less than those of
/// one each.
#[test]
fn a_parking_lot_has_a_bottleneck_at_each_hop() {
    let text = r#"
        duration = "6s"
        warmup = "2s"
        [parking_lot]
        hops = 2
        rate = "20mbit"
        hop_delay = "5ms"
        queue = "1bdp"
        [[flows]]
        controller = "reno"
        from = "r1"
        to = "r3"
        [[flows]]
        controller = "reno"
        from = "r1"
        to = "r2"
        [[flows]]
        controller = "reno"
        from = "r2"
        to = "r3"
    "#;
    let Some(result) = emulate(text) else { return };
    let rtts: Vec<f64> = result.flows.iter().map(|f| f.base_rtt_ms).collect();
    assert_eq!(rtts, [20.0, 10.0, 10.0]);
    let [long, first, second] = [0, 1, 2].map(|f| result.flows[f].goodput_mbps);
    // The long flow shares each link with another one: 20 Mb/s are 19.3 of payload. How they share is a matter of phase.
    for pair in [long + first, long + second] {
        assert!((17.0..19.8).contains(&pair) && long > 0.5, "{long}, {first}, {second}");
    }
    // The two links that data takes are full, the two that ACKs take are not.
    let full = result.links.iter().filter(|l| l.utilisation > 0.9).count();
    assert_eq!(full, 2, "{:?}", result.links.iter().map(|l| l.utilisation).collect::<Vec<_>>());
}

/// 15 000 bytes are ten packets of 1500, not eleven, whatever the machine does: what is sent late comes in bursts, which fill the buffer all the
/// more. UDP, because not all of TCP's packets are full.
#[test]
fn a_buffer_of_bytes_holds_so_many_full_packets() {
    if !can_emulate() {
        return;
    }
    let text = dumbbell("2s", "queue = \"15kB\"", "[[flows]]\nudp = { rate = \"24mbit\" }");
    let link = &emulate_once(&text, Options::default()).links[0];
    assert!(link.queue_packets.max == 10.0 && link.drops > 0 && link.random_losses == 0, "{link:?}");
    // Those ten, and what is left of the one in transmission.
    assert!(link.queueing_delay_ms.max <= 11.0 * 0.6, "{link:?}");
}

/// A buffer of ten BDP, 333 packets or 200 ms, which Reno alone would fill.
fn with_aqm(aqm: &str) -> Option<SeedResult> {
    let queue = format!("queue = \"10bdp\"\naqm = {aqm}");
    emulate(
        &dumbbell("8s", &queue, "[[flows]]\ncontroller = \"reno\"")
            .replace("[dumbbell]", "warmup = \"4s\"\n[dumbbell]"),
    )
}

/// Between 10 and 30 packets on average RED begins to drop, at twice 30 it drops all (Floyd's `gentle`).
#[test]
fn red_keeps_the_queue_between_its_thresholds() {
    let Some(result) = with_aqm("{ kind = \"red\", min = 10, max = 30, max_p = 0.1, weight = 0.02 }") else { return };
    let link = &result.links[0];
    assert!(link.drops > 0);
    assert!((3.0..40.0).contains(&link.queue_packets.mean), "{:?}", link.queue_packets);
    assert!(link.utilisation > 0.85, "{}", link.utilisation);
}

/// Packets that wait for longer than 5 ms for longer than 100 ms: CoDel drops.
#[test]
fn codel_keeps_the_wait_near_its_target() {
    let Some(result) = with_aqm("{ kind = \"codel\", target = \"5ms\", interval = \"100ms\" }") else { return };
    let link = &result.links[0];
    assert!(link.drops > 0);
    assert!((0.5..20.0).contains(&link.queueing_delay_ms.mean), "{:?}", link.queueing_delay_ms);
    assert!(link.utilisation > 0.8, "{}", link.utilisation);
}

/// CUBIC grows with the time since the last loss, but not with that in which nothing was to be sent (RFC 9438 section 4.2). The path has room for
/// 287 packets. The 12 s between two transfers, taken for growth, are 0.4 * 12^3 = 691 packets: the window would be reduced again.
#[test]
fn an_idle_time_is_no_time_to_grow() {
    let path = "[dumbbell]\nrate = \"50mbit\"\nrtt = \"40ms\"\nqueue = \"120p\"";
    let text = format!(
        "duration = \"17500ms\"\n{path}\n[[flows]]\ncontroller = \"cubic@hystart=0\"\ntransfer = \"10MB\"\npause = \"12s\""
    );
    let options = Options { traced_flows_per_group: 1, ..Options::default() };
    let Some(result) = emulate_and_ask(&text, options, |_| ()) else { return };
    assert_eq!(result.flows[0].completion_times_s.len(), 2);
    let trace = result.trace.as_ref().unwrap();
    let in_silence = trace.flows[0].samples[trace.time_s.iter().rposition(|&time_s| time_s < 10.0).unwrap()];
    let last = trace.flows[0].samples.last().unwrap();
    assert_eq!(last.ssthresh_packets, in_silence.ssthresh_packets, "{last:?}");
    // 4 s after a loss from 287 packets K is 6 s: the curve has not reached them.
    assert!((in_silence.cwnd_packets..287).contains(&last.cwnd_packets), "{in_silence:?} {last:?}");
}

/// 5 Mb/s are 431.6 segments a second, of which a round trip of 20 ms holds 9: the path has room for them, and the queue stays empty.
#[test]
fn an_application_that_offers_less_than_the_window() {
    let flows = "[[flows]]\ncontroller = \"kernel:reno\"\noffered_rate = \"5mbit\"";
    let Some(result) = emulate(&dumbbell("4s", "queue = \"1bdp\"", flows)) else { return };
    let flow = &result.flows[0];
    assert_eq!((flow.retransmits, flow.window_reductions), (0, 0));
    assert!((flow.goodput_mbps - 5.0).abs() < 0.1, "{}", flow.goodput_mbps);
    assert!(result.links[0].queue_packets.mean < 1.0);
}

/// In 4 s a Poisson process at 5 Mb/s has 1727 writes, with a deviation of 2.4 %: seed 1 is within four of them.
#[test]
fn an_application_that_writes_at_random() {
    let flows =
        "[[flows]]\ncontroller = \"kernel:reno\"\noffered_rate = \"5mbit\"\noffered_process = { kind = \"poisson\" }";
    let Some(result) = emulate(&dumbbell("4s", "queue = \"100p\"", flows)) else { return };
    let mbps = result.flows[0].goodput_mbps;
    assert!((mbps - 5.0).abs() < 0.5, "{mbps}");
}

/// 600 flows have 1200 sockets; 1024 files may be open in most shells, of which a run makes as many as the hard limit has.
#[test]
fn more_flows_than_a_program_may_open_files_at_first() {
    if !can_emulate() {
        return;
    }
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if maximum.is_some_and(|most| most < 2000) {
        return tandem_testing::skip("the hard limit of open files is below 2000: ulimit -n 2000");
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(1024), maximum }).unwrap();
    let flows = "[[flows]]\ncontroller = \"kernel:reno\"\ncount = 600";
    let text = dumbbell("1s", "queue = \"100p\"", flows).replace("20ms", "2ms");
    let scenario = parse(&text, "s.toml", "s", &Overrides::default()).unwrap();
    let result = run(&scenario, 1, Options::default()).unwrap().unwrap();
    assert_eq!(result.flows.len(), 600);
}

/// 20 Mb/s, 5 Mb/s from 3 s on, nothing from 6 s on: the emulator's link changes as the simulator's.
#[test]
fn a_link_changes_while_it_carries() {
    let flows = "[[flows]]\ncontroller = \"kernel:reno\"\n[effects.bottleneck]\n\
                 changes = [{ at = \"3s\", rate = \"5mbit\" }, { at = \"6s\", rate = 0 }]";
    let Some(result) = emulate(&dumbbell("8s", "queue = \"1bdp\"", flows)) else { return };
    let received = &result.flows[0].received_mbit_by_second;
    // The last packets that left before the outage arrive 10 ms later.
    assert_eq!(received[7], 0.0, "{received:?}");
    assert!(received[4] < 5.0 && received[5] < 5.0, "{received:?}");
    assert!(received[2] > 14.0 && received[5] > 4.0, "{received:?}");
}

/// Linux's TCP understands marks of the emulator's queue: it slows down, and nothing is dropped or sent again.
#[test]
fn marks_reach_real_tcp() {
    let flows = |ecn| format!("[[flows]]\ncontroller = \"kernel:reno\"\ncount = 2\necn = \"{ecn}\"");
    let queue = "queue = \"400p\"\naqm = { kind = \"codel\", ecn = true }";
    let Some(marked) = emulate(&dumbbell("6s", queue, &flows("rfc3168"))) else { return };
    let Some(dropped) = emulate(&dumbbell("6s", queue, &flows("off"))) else { return };
    assert!(marked.links[0].marks > 3, "{:?}", marked.links[0]);
    assert!(dropped.links[0].marks == 0 && dropped.links[0].drops > 3, "{:?}", dropped.links[0]);
    assert_eq!((marked.links[0].drops, marked.flows[0].retransmits, marked.flows[1].retransmits), (0, 0, 0));
    assert!(marked.flows.iter().all(|flow| flow.window_reductions > 0));
}

/// The Classic half of DualPI2 marks a Classic flow, and its packets wait for 15 ms rather than for the whole of the queue.
#[test]
fn dualpi2_marks_real_tcp() {
    let flows = "[[flows]]\ncontroller = \"kernel:reno\"\ncount = 2\necn = \"rfc3168\"";
    let Some(result) = emulate(&dumbbell("6s", "queue = \"400p\"\naqm = \"dualpi2\"", flows)) else { return };
    let link = &result.links[0];
    assert!(link.marks > 3, "{link:?}");
    // 400 packets are 240 ms; slow start's overshoot is in the mean. Where it is long, DualPI2 takes it for overload and drops some
    // (`is_overloaded` there), but most of what it signals are marks.
    assert!(link.drops < link.marks && link.queue_packets.mean < 100.0, "{link:?}");
}

/// Two users who think 200 ms on average and then fetch 100 kB: three rounds of slow start of 20 ms and more from the initial window, each
/// time, because each transfer has a new connection. A user makes up to four a second; two of 20 Mb/s are busy all the time.
#[test]
fn short_flows_have_a_connection_each() {
    let flows = "[[flows]]\ncontroller = \"reno\"\ncount = 2\nshort = { think = \"200ms\", size = \"100kB\" }\n\
                 [[flows]]\ncontroller = \"kernel:cubic\"\ncount = 20\nshort = { per_second = 5, size = \"14kB\" }";
    let ended = |flows: &[FlowResult]| -> Vec<f64> {
        flows.iter().flat_map(|f| &f.short_flows).filter_map(|t| t.completion_time_s).collect()
    };
    let always = |result: &SeedResult| {
        let (users, poisson) = (ended(&result.flows[..2]), ended(&result.flows[2..]));
        assert!(users.iter().all(|&t| t >= 0.060) && poisson.iter().all(|&t| t >= 0.020), "{users:?}, {poisson:?}");
        // All connections count: 70 packets of each transfer.
        let sent: u64 = result.flows[..2].iter().map(|f| f.sent_packets).sum();
        assert!(sent >= 70 * users.len() as u64, "{sent} for {}", users.len());
    };
    let text = dumbbell("6s", "queue = \"200p\"", flows);
    let Some(result) = emulate_and_ask(&text, Options::default(), always) else { return };
    let (users, poisson) = (ended(&result.flows[..2]), ended(&result.flows[2..]));
    assert!(users.len() > 4 && users.iter().filter(|&&t| t < 0.150).count() * 2 > users.len(), "{users:?}");
    // Ten packets go in the first round.
    assert!(poisson.iter().filter(|&&t| t < 0.050).count() * 2 > poisson.len(), "{poisson:?}");
    // 5 a second in 6 s: 30, within 4 deviations of 5.5.
    let came = result.flows[2..].iter().map(|f| f.short_flows.len()).sum::<usize>();
    assert!((8..=52).contains(&came) && poisson.len() + 2 >= came, "{} of {came}", poisson.len());
}

/// 10 ms to the other end, and 80 us for 200 bytes at 20 Mb/s. The sender's clock and the kernel's stamps are good for a fraction of a
/// millisecond.
#[test]
fn packets_of_a_call_have_delay_and_jitter() {
    let udp = "[[flows]]\nudp = { rate = \"80kbit\", packet = \"200B\" }\nstop = \"3990ms\"\n[[flows]]\nudp = { rate = \"1mbit\" }";
    let never_earlier = |result: &SeedResult| assert!(result.deliveries[0].unwrap().delay_ms.p50 >= 10.0);
    let text = dumbbell("4s", "queue = \"100p\"\nloss = 0.1", udp);
    let Some(result) = emulate_and_ask(&text, Options::default(), never_earlier) else { return };
    let met = result.deliveries[0].unwrap();
    // 50 a second for 4 s, of which a tenth is lost: four deviations are 17.
    assert_eq!(result.flows[0].sent_packets, 200);
    assert!((met.loss_rate - 0.1).abs() < 0.085, "{met:?}");
    // 148 bytes of each count as payload.
    let received_bytes = f64::from(result.flows[0].received_mbit_by_second.iter().sum::<f32>()) / 8e-6;
    assert!((received_bytes / 148.0 - 180.0).abs() < 20.0, "{received_bytes}");
    assert!(met.delay_ms.p50 < 11.5 && met.jitter_ms.p50 < 1.0, "{met:?}");
}

/// Losses by chance. BBR sends at the path's rate all the same, in recovery, too, for it owns the window: 20 Mb/s of packets carry 19.3 of
/// data, of which 1 % is sent again, and 1/8 of the rounds probe with 5/4 and 3/4 of the rate. Reno's law allows 1.22 / sqrt(0.01) = 12
/// packets each 20 ms: 7.1 Mb/s. As it is paced, no queue stands: less than half of the BDP of 33 packets, where the window is of two.
#[test]
fn bbr_owns_its_window_and_is_paced() {
    let flows = "[[flows]]\ncontroller = \"bbr\"";
    let text = dumbbell("8s", "queue = \"4bdp\"\nloss = 1e-2", flows).replace("duration", "warmup = \"3s\"\nduration");
    let Some(result) = emulate(&text) else { return };
    let (flow, link) = (&result.flows[0], &result.links[0]);
    let by_second = &flow.received_mbit_by_second[3..];
    let goodput_mbps = by_second.iter().sum::<f32>() / by_second.len() as f32;
    assert!((16.0..19.6).contains(&goodput_mbps), "{by_second:?}");
    assert!(flow.retransmits > 20 && link.queue_packets.mean < 16.0, "{} {:?}", flow.retransmits, link.queue_packets);
}

/// A receiver of a bulk transfer acknowledges every second packet (RFC 9293, 3.8.6.3). Each packet behind a loss has an ACK, too, until the loss is
/// repaired: with Reno and a queue of one BDP that is one round of about 33. One ACK for each packet, as while a receiver's window still grows or packets
/// carry PSH, is what this must tell from it.
#[test]
fn a_bulk_transfer_has_an_ack_for_two_packets() {
    let text = dumbbell("6s", "queue = \"1bdp\"", "[[flows]]\ncontroller = \"kernel:reno\"");
    let Some(result) = emulate(&text.replace("duration", "warmup = \"2s\"\nduration")) else { return };
    let [data, acks] = [0, 1].map(|link: usize| result.links[link].offered_packets as f64);
    assert!(data > 5000.0, "{data} packets");
    assert!((0.3..0.7).contains(&(acks / data)), "{acks} ACKs of {data} packets");
}
