// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is said of a queue, by hand. 12 Mbit/s: 1500 bytes take 1 ms.

mod common;

use common::{MS, MTU, Plain, codel, link, spec};
use tandem_network::{Link, QueueSamples, Rng, Samples, Stream};
use tandem_results::{Distribution, LinkResult};
use tandem_scenario::{Aqm, Limit};

/// Three digits, rounded up: a histogram takes 8333 for 8335. Mean and maximum are exact.
#[test]
fn no_percentile_exceeds_the_maximum() {
    let mut samples = Samples::default();
    (0..999).for_each(|_| samples.record(8333));
    samples.record(1333);
    let Distribution { mean, p50, p95, p99, max } = samples.distribution(0, 1.0);
    assert_eq!((mean, p50, p95, p99, max), (8326.0, 8333.0, 8333.0, 8333.0, 8333.0));
    // A larger value was seen between the samples: then the percentiles are the histogram's.
    let Distribution { p99, max, .. } = samples.distribution(9000, 1.0);
    assert!((8333.0..8342.0).contains(&p99) && max == 9000.0, "{p99}");
    assert_eq!(Samples::default().distribution(0, 1.0), Distribution::default());
}

fn samples_of(link: &mut Link<Plain>, events: &[Event]) -> QueueSamples {
    let mut samples = QueueSamples::default();
    for event in events {
        match *event {
            Event::Arrivals(at, packets) => (0..packets).for_each(|_| _ = link.offer(at, MTU, &mut Plain)),
            Event::Sample(at) => samples.take(at, link),
        }
    }
    samples
}

fn result_of(link: &mut Link<Plain>, measured_s: f64, events: &[Event]) -> LinkResult {
    samples_of(link, events).result(link, measured_s)
}

enum Event {
    /// This many packets at a time.
    Arrivals(u64, u32),
    Sample(u64),
}

use Event::{Arrivals, Sample};

/// Three packets at 0 leave at 1, 2 and 3 ms; five at 20 ms leave at 21 to 25 ms.
///
/// A packet that arrived would wait 3 ms at 0, 1.5 ms at 1.5 ms, 0.5 ms at 2.5 ms and 0 at 10 ms: 1.25 ms on average. The longest wait
/// is that right after the five, 5 ms, which no sample has seen. Two packets wait for 1 ms and one for another, four for 1 ms, and so
/// on: 3 + 10 packet ms in 40.
#[test]
fn queue_and_wait_of_a_link() {
    let mut link = Link::new(&spec(Limit::Packets(100), Aqm::DropTail), MTU, 0..40 * MS, Rng::new(1, Stream::Link(0)));
    let samples = [Sample(0), Sample(MS + MS / 2), Sample(2 * MS + MS / 2), Sample(10 * MS)];
    let events: Vec<Event> = [Arrivals(0, 3)].into_iter().chain(samples).chain([Arrivals(20 * MS, 5)]).collect();
    let LinkResult { queue_packets: queue, queueing_delay_ms: delay, .. } = result_of(&mut link, 0.04, &events);
    assert_eq!((queue.mean, queue.max, queue.p50, queue.p99), (13.0 / 40.0, 4.0, 0.0, 2.0));
    assert_eq!((delay.mean, delay.max), (1.25, 5.0));
    assert!((delay.p50 - 0.5).abs() < 0.001 && (delay.p99 - 3.0).abs() < 0.003, "{delay:?}");
}

/// One packet alone waits for nobody, but another that came meanwhile would: up to the whole transmission.
#[test]
fn the_maximum_is_of_the_same_quantity_as_the_percentiles() {
    let mut link = link(&spec(Limit::Packets(100), Aqm::DropTail));
    let result = result_of(&mut link, 1.0, &[Arrivals(0, 1), Sample(MS / 4)]);
    let delay = result.queueing_delay_ms;
    assert_eq!((delay.mean, delay.p99, delay.max), (0.75, delay.p50, 1.0));
    assert!((delay.p99 - 0.75).abs() < 0.001);
    assert_eq!(result.queue_packets.max, 0.0);
}

/// Three at 9 ms, measured from 10 ms on: then one is in transmission and one waits, and nothing arrives any more.
#[test]
fn what_waits_when_the_measured_part_begins_counts() {
    let mut link =
        Link::new(&spec(Limit::Packets(100), Aqm::DropTail), MTU, 10 * MS..20 * MS, Rng::new(1, Stream::Link(0)));
    let result = result_of(&mut link, 0.01, &[Arrivals(9 * MS, 3), Sample(10 * MS)]);
    assert_eq!((result.queue_packets.p99, result.queue_packets.max), (1.0, 1.0));
    assert_eq!(result.queueing_delay_ms.max, 2.0);
}

/// CoDel keeps the packets, but they are as many.
#[test]
fn codel_counts_what_it_keeps() {
    let mut link = link(&spec(Limit::Packets(100), codel()));
    let result = result_of(&mut link, 1.0, &[Arrivals(0, 3), Sample(0)]);
    assert_eq!((result.queueing_delay_ms.max, result.queue_packets.max), (3.0, 2.0));
}

/// A packet in transmission and two that wait have room, so two of five are lost. Counts are read at the first sample after each second, and the
/// last second is not over. The first sample may be late: over real TCP it is.
#[test]
fn a_link_counts_by_the_second() {
    let mut link = Link::new(&spec(Limit::Packets(2), Aqm::DropTail), MTU, 0..4000 * MS, Rng::new(1, Stream::Link(0)));
    let events = [
        Sample(MS),
        Arrivals(5 * MS, 5),
        Sample(990 * MS),
        Sample(1004 * MS),
        Arrivals(1500 * MS, 1),
        Sample(2000 * MS),
        Arrivals(2500 * MS, 4),
    ];
    assert_eq!(samples_of(&mut link, &events).into_seconds(), [vec![5, 1], vec![2, 0]]);
}
