// SPDX-License-Identifier: MIT OR Apache-2.0
//! How engines measure, so that their results can be laid side by side.

use hdrhistogram::Histogram;
use tandem_results::{Distribution, LinkResult};

use crate::{Link, Packet};

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

/// Samples of one link's queue.
#[derive(Debug, Default)]
pub struct QueueSamples {
    packets: Samples,
    /// How long a packet would wait that arrived at the time of the sample.
    wait_ns: Samples,
}

impl QueueSamples {
    /// Reads the queue at `now`.
    pub fn take<P: Packet>(&mut self, now: u64, link: &mut Link<P>) {
        self.packets.record(link.waiting(now) as u64);
        self.wait_ns.record(link.wait_ns(now));
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
}
