// SPDX-License-Identifier: MIT OR Apache-2.0
//! How engines measure, so that their results can be laid side by side.

use hdrhistogram::Histogram;
use tandem_results::{Distribution, LinkResult};

use crate::{Link, LinkStats, Packet};

/// Holds three significant digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1 << 40, 3).expect("valid bounds")
}

/// What is in a histogram, times `scale`.
pub fn distribution(histogram: &Histogram<u64>, scale: f64) -> Distribution {
    let at = |q| histogram.value_at_quantile(q) as f64 * scale;
    Distribution {
        mean: histogram.mean() * scale,
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        max: histogram.max() as f64 * scale,
    }
}

/// Samples of one quantity: exact mean and maximum, percentiles to three significant digits.
#[derive(Debug)]
pub struct Samples {
    histogram: Histogram<u64>,
    sum: u128,
    max: u64,
}

impl Default for Samples {
    fn default() -> Self {
        Self { histogram: histogram(), sum: 0, max: 0 }
    }
}

impl Samples {
    /// Takes one sample. A value above the histogram's range has the highest percentile; mean and maximum stay exact.
    pub fn record(&mut self, value: u64) {
        self.histogram.saturating_record(value);
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// The distribution of a quantity whose largest value is known to be at least `max`, times `scale`. A histogram rounds up, but no
    /// percentile exceeds the maximum.
    pub fn distribution(&self, max: u64, scale: f64) -> Distribution {
        let max = self.max.max(max);
        let at = |q| self.histogram.value_at_quantile(q).min(max) as f64 * scale;
        let count = self.histogram.len();
        let mean = if count > 0 { self.sum as f64 / count as f64 } else { 0.0 };
        Distribution { mean: mean * scale, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: max as f64 * scale }
    }
}

/// Samples of one link: of its queue, and of its counts each second.
#[derive(Debug, Default)]
pub struct QueueSamples {
    packets: Samples,
    /// How long a packet would wait that arrived at the time of the sample.
    wait_ns: Samples,
    seconds: Seconds,
}

const SECOND_NS: u64 = 1_000_000_000;

/// What a link counts in each second of the measured part, read at the first sample after each: samples must come far more often.
#[derive(Debug, Default)]
struct Seconds {
    /// Packets offered and lost until the last one ended.
    before: [u64; 2],
    offered: Vec<u32>,
    lost: Vec<u32>,
}

impl Seconds {
    fn read(&mut self, now: u64, stats: &LinkStats) {
        if now < stats.from() + (self.offered.len() as u64 + 1) * SECOND_NS {
            return;
        }
        let counts = [stats.offered_packets, stats.queue_drops + stats.random_losses];
        self.offered.push((counts[0] - self.before[0]) as u32);
        self.lost.push((counts[1] - self.before[1]) as u32);
        self.before = counts;
    }
}

impl QueueSamples {
    /// Reads the queue at `now`.
    pub fn take<P: Packet>(&mut self, now: u64, link: &mut Link<P>) {
        self.packets.record(link.waiting(now) as u64);
        self.wait_ns.record(link.wait_ns(now));
        self.seconds.read(now, &link.stats);
    }

    /// The link's result in `measured_s` seconds. Two quantities vary over time: how many packets wait, and how long a packet would wait
    /// that arrived then. The percentiles of both, and the mean of the wait, are those of the samples; the mean number of packets and
    /// both maxima are exact, of the whole time.
    pub fn result<P>(&self, link: &Link<P>, measured_s: f64) -> LinkResult {
        let stats = &link.stats;
        let measured_ns = measured_s * 1e9;
        LinkResult {
            utilisation: stats.busy_ns as f64 / measured_ns,
            queue_packets: Distribution {
                mean: stats.waiting_packet_ns as f64 / measured_ns,
                ..self.packets.distribution(stats.max_waiting as u64, 1.0)
            },
            queueing_delay_ms: self.wait_ns.distribution(stats.max_wait_ns, 1e-6),
            offered_packets: stats.offered_packets,
            drops: stats.queue_drops,
            marks: stats.marks,
            random_losses: stats.random_losses,
        }
    }

    /// Packets offered, and packets lost, in each whole second of the measured part.
    pub fn into_seconds(self) -> [Vec<u32>; 2] {
        [self.seconds.offered, self.seconds.lost]
    }
}
