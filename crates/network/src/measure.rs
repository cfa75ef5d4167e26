// SPDX-License-Identifier: MIT OR Apache-2.0
//! How engines measure, so that their results can be laid side by side.

use hdrhistogram::Histogram;
use tandem_scenario::result::{Distribution, LinkResult};

use crate::Link;

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

/// Samples of one link's queue.
#[derive(Debug)]
pub struct QueueSamples {
    packets: Histogram<u64>,
    /// The wait of a packet that would arrive at the time of the sample.
    wait_ns: Histogram<u64>,
}

impl Default for QueueSamples {
    fn default() -> Self {
        Self { packets: histogram(), wait_ns: histogram() }
    }
}

impl QueueSamples {
    pub fn take<P>(&mut self, now: u64, link: &mut Link<P>) {
        self.packets.saturating_record(link.waiting(now) as u64);
        self.wait_ns.saturating_record(link.wait_ns(now));
    }

    /// What came of the link in `measured_s` seconds. Mean and maximum are exact, the percentiles those of the samples.
    pub fn result<P>(&self, link: &Link<P>, measured_s: f64) -> LinkResult {
        let stats = &link.stats;
        let measured_ns = measured_s * 1e9;
        LinkResult {
            utilisation: stats.busy_ns as f64 / measured_ns,
            queue_packets: Distribution {
                mean: stats.waiting_packet_ns as f64 / measured_ns,
                max: stats.max_waiting as f64,
                ..distribution(&self.packets, 1.0)
            },
            queueing_delay_ms: Distribution {
                max: stats.max_wait_ns as f64 / 1e6,
                ..distribution(&self.wait_ns, 1e-6)
            },
            offered_packets: stats.offered_packets,
            drops: stats.queue_drops,
            random_losses: stats.random_losses,
        }
    }
}
