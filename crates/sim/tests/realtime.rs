// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time traffic: the delay, the jitter and the loss of UDP packets.

mod common;

use common::{run, scenario, within};
use tandem_results::{Delivery, SeedResult};

fn delivery(result: &SeedResult, group: usize) -> Delivery {
    result.deliveries[group].expect("the group is UDP")
}

/// A dumbbell of 12 Mb/s, which is a full packet each millisecond, and 20 ms, of which the data's way has half.
fn dumbbell(queue: &str, rest: &str) -> String {
    format!("duration = \"21s\"\nwarmup = \"1s\"\n[dumbbell]\nrate = \"12mbit\"\nrtt = \"20ms\"\n{queue}\n{rest}")
}

/// Alone, each packet of 200 bytes takes 10 ms and its transmission of 133.333 us, and there is no jitter. 64 kb/s are 40 packets a second,
/// of which 148 bytes count as payload: 0.04736 Mb/s.
#[test]
fn a_voice_on_an_idle_path() {
    let result = run(&dumbbell("queue = \"10p\"", "[[flows]]\nudp = { rate = \"64kbit\", packet = \"200B\" }"));
    let Delivery { delay_ms, jitter_ms, loss_rate, loss_rate_by_second } = delivery(&result, 0);
    for figure in [delay_ms.mean, delay_ms.p50, delay_ms.p99, delay_ms.max] {
        within(figure, 10.133333, 0.01);
    }
    assert_eq!((jitter_ms.max, loss_rate, loss_rate_by_second.max), (0.0, 0.0, 0.0));
    assert_eq!(result.flows[0].sent_packets, 800);
    within(result.flows[0].goodput_mbps, 0.04736, 1e-4);
}

/// A packet each 1.2 ms, 10 ms on the way, with five places there: of each nine packets, the first five take them, and those that leave 6 to 9.6 ms
/// after the first are dropped.
#[test]
fn a_delay_with_too_few_places_loses_packets_of_an_idle_link() {
    let udp = "[[flows]]\nudp = { rate = \"10mbit\" }\n[effects.bottleneck]\ndelay_limit = 5";
    let result = run(&dumbbell("queue = \"10p\"", udp));
    let Delivery { delay_ms, loss_rate, .. } = delivery(&result, 0);
    within(loss_rate, 4.0 / 9.0, 0.001);
    within(delay_ms.mean, 11.0, 0.01);
    let (dropped, sent) = (result.links[0].drops as f64, result.flows[0].sent_packets as f64);
    within(dropped / sent, 4.0 / 9.0, 0.001);
}

/// A frame of 10 packets each 100 ms, sent at ten times the link's rate: packet k waits for k packets of 1 ms, less the k * 0.1 ms that it was
/// sent later. Delays are evenly spread from 11 to 11 + 9 * 0.9 = 19.1 ms.
#[test]
fn frames_of_a_video_queue_behind_themselves() {
    let udp = "[[flows]]\nudp = { rate = \"120mbit\", on = \"1ms\", off = \"99ms\" }";
    let result = run(&dumbbell("queue = \"100p\"", udp));
    let Delivery { delay_ms, jitter_ms, loss_rate, .. } = delivery(&result, 0);
    within(delay_ms.mean, 11.0 + 4.5 * 0.9, 0.01);
    within(delay_ms.p50, 14.6, 0.02);
    within(delay_ms.max, 19.1, 0.02);
    // Between packets the delay changes by 0.9 ms, at the start of each frame by 8.1 ms: the mean is 1.62 ms.
    within(jitter_ms.mean, 1.62, 0.02);
    assert!(jitter_ms.max < 2.2 && loss_rate == 0.0, "{jitter_ms:?}");
}

/// The same with room for four beside the packet in transmission: about half of each frame is lost, the same share in each second.
#[test]
fn a_short_queue_loses_the_end_of_each_frame() {
    let udp = "[[flows]]\nudp = { rate = \"120mbit\", on = \"1ms\", off = \"99ms\" }";
    let result = run(&dumbbell("queue = \"4p\"", udp));
    let Delivery { delay_ms, loss_rate, loss_rate_by_second, .. } = delivery(&result, 0);
    // The first is sent on at 0 ms, four wait until then, and at 0.9 ms none has left.
    within(loss_rate, 0.5, 0.01);
    within(loss_rate_by_second.p50, 0.5, 0.01);
    within(delay_ms.max, 11.0 + 4.0 * 0.9, 0.02);
}

/// Random loss of 2 % of 20 000 packets is within 4 deviations of 0.1 % each; in the worst second of 1000 packets it is above, and below 4.4 %
/// (five deviations).
#[test]
fn random_losses_are_counted() {
    let result = run(&dumbbell("queue = \"100p\"\nloss = 0.02", "[[flows]]\nudp = { rate = \"11.9mbit\" }"));
    let Delivery { loss_rate, loss_rate_by_second, .. } = delivery(&result, 0);
    within(loss_rate, 0.02, 0.004);
    assert!(loss_rate_by_second.max > 0.021 && loss_rate_by_second.max < 0.044, "{loss_rate_by_second:?}");
    let link = &result.links[0];
    within(loss_rate, link.random_losses as f64 / link.offered_packets as f64, 1e-4);
}

/// A bulk flow fills the queue of 40 ms: a call beside it has the delay of the queue, as the link itself sees it. Groups of TCP have none.
#[test]
fn a_call_beside_a_bulk_flow_waits_in_its_queue() {
    let flows =
        "[[flows]]\ncontroller = \"reno\"\n[[flows]]\nudp = { rate = \"64kbit\", packet = \"200B\" }\ncount = 2";
    let result = run(&dumbbell("queue = \"40p\"", flows));
    let Delivery { delay_ms, jitter_ms, .. } = delivery(&result, 1);
    assert_eq!((result.deliveries.len(), result.deliveries[0]), (2, None));
    within(delay_ms.mean, 10.1 + result.links[0].queueing_delay_ms.mean, 1.0);
    assert!(delay_ms.p95 > delay_ms.p50 && delay_ms.max < 52.0 && jitter_ms.mean > 0.1, "{delay_ms:?} {jitter_ms:?}");
    assert!(run(&dumbbell("queue = \"40p\"", "[[flows]]\ncontroller = \"reno\"")).deliveries.is_empty());
}

/// What jitter is asked for shows: a uniform addition of up to 5 ms to either side, independent from packet to packet, changes the delay
/// by a third of its whole range of 10 ms on average.
#[test]
fn jitter_of_the_link_is_jitter_of_the_packets() {
    let effects = "[effects.bottleneck]\njitter = { time = \"5ms\" }\n[[flows]]\nudp = { rate = \"300kbit\" }";
    let result = run(&dumbbell("queue = \"100p\"", effects));
    let Delivery { delay_ms, jitter_ms, loss_rate, .. } = delivery(&result, 0);
    within(delay_ms.mean, 11.0, 0.6);
    within(jitter_ms.mean, 10.0 / 3.0, 0.35);
    assert_eq!(loss_rate, 0.0);
}

/// A dumbbell of 1.2 Mb/s, where a full packet takes 10 ms, for two minutes of which the second counts.
fn media(flows: &str) -> SeedResult {
    media_on("rate = \"1200kbit\"\nrtt = \"20ms\"\nqueue = \"1s\"", flows)
}

fn media_on(path: &str, flows: &str) -> SeedResult {
    run(&format!("duration = \"120s\"\nwarmup = \"60s\"\n[dumbbell]\n{path}\n{flows}"))
}

const TO_3_MBPS: &str = "[[flows]]\nudp = { rate = \"3mbit\", min_rate = \"150kbit\", packet = \"300B\" }\n";

/// RFC 8698 section 4.3: at equilibrium the signal is 10 ms times the highest rate over the rate. Alone that is a queue of 10 3/1.2 = 25 ms.
#[test]
fn media_alone_fills_the_path_with_the_queue_of_its_equilibrium() {
    let result = media(TO_3_MBPS);
    assert!(result.links[0].utilisation > 0.98, "{}", result.links[0].utilisation);
    let Delivery { delay_ms, loss_rate, .. } = delivery(&result, 0);
    // 10 ms of the way and 2 ms of transmission.
    within(delay_ms.mean, 12.0 + 25.0, 0.08);
    assert_eq!(loss_rate, 0.0);
}

/// Its highest rate is all that it wants: then there is no queue.
#[test]
fn media_stays_at_its_highest_rate() {
    let result = media("[[flows]]\nudp = { rate = \"1mbit\", min_rate = \"150kbit\", packet = \"300B\" }");
    within(result.links[0].utilisation, 1.0 / 1.2, 0.01);
    assert!(delivery(&result, 0).delay_ms.p99 < 15.0, "{:?}", delivery(&result, 0).delay_ms);
}

/// Two that are alike and see the same delay have the same rate: 10 1.5/0.6 = 25 ms.
#[test]
fn media_shares_with_its_kind() {
    let result =
        media("[[flows]]\ncount = 2\nudp = { rate = \"1500kbit\", min_rate = \"150kbit\", packet = \"300B\" }");
    let [one, other] = [result.flows[0].goodput_mbps, result.flows[1].goodput_mbps];
    within(one / other, 1.0, 0.1);
    assert!(result.links[0].utilisation > 0.98, "{}", result.links[0].utilisation);
}

/// Random loss of 2 % counts for 10 ms (0.02/0.01)^2 = 40 ms. On an idle path, that is 10 6/40 = 1.5 Mb/s of 6. The mean of the square is a few
/// percent more than the square of the mean.
#[test]
fn media_slows_down_by_the_square_of_its_losses() {
    let udp = "[[flows]]\nudp = { rate = \"6mbit\", min_rate = \"150kbit\", packet = \"200B\" }";
    let result = media_on("rate = \"12mbit\"\nrtt = \"20ms\"\nqueue = \"100p\"\nloss = 0.02", udp);
    let sent_mbps = result.flows[0].sent_packets as f64 * 200.0 * 8.0 / 60e6;
    within(sent_mbps, 1.5, 0.12);
}

/// TCP fills a deep queue, and loses packets so rarely that the delay soon counts in full again: media has less than its half of 1.2 Mb/s.
#[test]
fn media_yields_to_tcp_in_a_deep_queue() {
    let beside = media(&format!("{TO_3_MBPS}[[flows]]\ncontroller = \"reno\""));
    let rate_mbps = beside.flows[0].sent_packets as f64 * 300.0 * 8.0 / 60e6;
    assert!((0.149..0.6).contains(&rate_mbps), "{rate_mbps}");
    assert!(delivery(&beside, 0).delay_ms.p50 > 100.0, "{:?}", delivery(&beside, 0).delay_ms);
}

/// Ten packets a second, from 50 ms on, for 2500 s, of which the first is the warm-up. Whatever is sampled over time is sampled each 1.25 s in so
/// long a run; seconds are seconds nevertheless.
#[test]
fn a_link_counts_the_seconds_of_a_long_run() {
    let udp = "[[flows]]\nudp = { rate = \"16kbit\", packet = \"200B\" }\nstart = \"50ms\"";
    let text = dumbbell("queue = \"10p\"", udp).replace("\"21s\"", "\"2500s\"");
    let options = tandem_engine::Options { traced_flows_per_group: 1, ..Default::default() };
    let result = tandem_sim::run(&scenario(&text), 1, options).unwrap().unwrap();
    let link = &result.trace.as_ref().unwrap().links[0];
    let others = link.offered_by_second.iter().filter(|&&packets| packets != 10).count();
    assert_eq!((link.offered_by_second.len(), others), (2499, 0));
    assert!(link.lost_by_second.len() == 2499 && link.lost_by_second.iter().all(|&packets| packets == 0));
    let untraced = tandem_sim::run(&scenario(&text), 1, Default::default()).unwrap().unwrap();
    assert!(untraced.trace.is_none(), "nobody asked");
}
