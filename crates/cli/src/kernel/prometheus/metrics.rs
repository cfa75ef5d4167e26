// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of the connections as metrics, named by Prometheus' conventions.
//!
//! Labels have no addresses: their number would be unbounded, and the scraper need not know who talks to whom.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet, prometheus_text},
    metrics::MetricType,
    registry::{Registry, Unit},
};
use tandem_controllers::Reading;
use tandem_kernel::{
    Histogram, Probed, Totals,
    sockops::{ArmCounts, Running},
};

#[derive(Debug)]
pub struct Metrics {
    pub controllers: Vec<Totals>,
    pub trials: Vec<Running>,
    pub probed: Vec<Probed>,
    pub looks: u64,
    /// Processor time of the earlier reads.
    pub cpu_s: f64,
    pub since_last_s: Option<f64>,
}

pub fn text(metrics: Metrics) -> String {
    let mut registry = Registry::with_prefix("tandem");
    registry.register_collector(Box::new(metrics));
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry).expect("a string takes all");
    text
}

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let to = &mut Families { to: &mut encoder };
        self.connections(to)?;
        self.distributions(to)?;
        self.arms(to)?;
        self.probes(to)?;
        to.counter("looks", "Looks at all connections", None, |family| count(family, &[], &self.looks))?;
        let help = "Processor time of the earlier readings";
        to.counter("look_cpu", help, Some(&Unit::Seconds), |family| count(family, &[], &self.cpu_s))?;
        let help = "Time since the last reading; readings are further apart if they would take more than 2 % of a core";
        to.gauge("look_interval", help, Some(&Unit::Seconds), |family| {
            self.since_last_s.iter().try_for_each(|seconds| gauge(family, &[], seconds))
        })
    }
}

type Labels<'a> = [(&'a str, &'a str)];

struct Families<'e, 'w> {
    to: &'e mut DescriptorEncoder<'w>,
}

impl Families<'_, '_> {
    fn family(
        &mut self,
        (name, help, unit): (&str, &str, Option<&Unit>),
        kind: MetricType,
        fill: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        fill(&mut self.to.encode_descriptor(name, help, unit, kind)?)
    }

    fn counter(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        fill: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        self.family((name, help, unit), MetricType::Counter, fill)
    }

    fn gauge(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        fill: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        self.family((name, help, unit), MetricType::Gauge, fill)
    }
}

fn count(family: &mut MetricEncoder<'_>, labels: &Labels<'_>, value: &impl EncodeCounterValue) -> fmt::Result {
    family.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(value, None)
}

fn gauge(family: &mut MetricEncoder<'_>, labels: &Labels<'_>, value: &impl EncodeGaugeValue) -> fmt::Result {
    family.encode_family(&labels)?.encode_gauge(value)
}

impl Metrics {
    fn connections(&self, to: &mut Families<'_, '_>) -> fmt::Result {
        let each = |family: &mut MetricEncoder<'_>, of: fn(&Totals) -> u64| {
            self.controllers.iter().try_for_each(|t| count(family, &[("controller", &t.controller)], &of(t)))
        };
        to.gauge("connections", "TCP connections now, by congestion controller", None, |family| {
            let mut of = self.controllers.iter();
            of.try_for_each(|t| gauge(family, &[("controller", &t.controller)], &(t.connections as i64)))
        })?;
        let help = "Data sent and acknowledged, as far as readings saw it";
        to.counter("acked", help, Some(&Unit::Bytes), |family| each(family, |t| t.acked_bytes))?;
        let help = "Segments with data sent, including retransmissions, as far as readings saw it";
        to.counter("sent_segments", help, None, |family| each(family, |t| t.segments))?;
        let help = "Segments retransmitted, as far as readings saw it";
        to.counter("retransmitted_segments", help, None, |family| each(family, |t| t.retransmitted))?;
        let help = "Time of connections that sent something, by what limited them: the application (nothing to send), the congestion \
                    window or the path, the receive window, the send buffer";
        to.counter("limited", help, Some(&Unit::Seconds), |family| {
            for t in &self.controllers {
                let by = [
                    ("application", t.idle_s),
                    ("congestion", t.path_s),
                    ("receive_window", t.rwnd_s),
                    ("send_buffer", t.sndbuf_s),
                ];
                for (by, seconds) in by {
                    count(family, &[("controller", &t.controller), ("by", by)], &seconds)?;
                }
            }
            Ok(())
        })
    }

    fn distributions(&self, to: &mut Families<'_, '_>) -> fmt::Result {
        let rate = Unit::Other("bytes_per_second".into());
        let [seconds, bytes, rate] = [Some(&Unit::Seconds), Some(&Unit::Bytes), Some(&rate)];
        let mut family = |name: &str, help: &str, unit, of: fn(&Totals) -> &Histogram| {
            let help =
                format!("{help}: of each connection that sent something since the last reading, at each reading");
            to.family((name, &help, unit), MetricType::Histogram, |family| {
                for t in &self.controllers {
                    let histogram = of(t);
                    let labels: &Labels<'_> = &[("controller", &t.controller)];
                    family.encode_family(&labels)?.encode_histogram::<NoLabelSet>(
                        histogram.sum,
                        histogram.count(),
                        &histogram.buckets,
                        None,
                    )?;
                }
                Ok(())
            })
        };
        family("rtt", "Smoothed round-trip time", seconds, |t| &t.rtt_s)?;
        family("congestion_window", "Congestion window", bytes, |t| &t.window_bytes)?;
        family("goodput", "Data acknowledged over the time with data to send or to be acknowledged", rate, |t| {
            &t.goodput_bytes_per_s
        })?;
        family("retransmitted_ratio", "Share of the segments that were retransmissions", None, |t| {
            &t.retransmitted_ratio
        })
    }

    /// Two arms of a trial may have the same controller.
    fn arms(&self, to: &mut Families<'_, '_>) -> fmt::Result {
        let mut family = |name: &str, help: &str, of: fn(&ArmCounts) -> u64| {
            to.counter(name, help, None, |family| {
                for trial in &self.trials {
                    let id = trial.id.to_string();
                    for ((controller, counts), arm) in trial.arms.iter().zip(&trial.counts).zip(["1", "2"]) {
                        count(family, &[("trial", &id), ("arm", arm), ("controller", controller)], &of(counts))?;
                    }
                }
                Ok(())
            })
        };
        family("trial_started_connections", "Connections that began with the controller of an arm", |c| c.started)?;
        family("trial_ended_connections", "Connections of an arm that have ended", |c| c.ended)?;
        family("trial_refused_connections", "Connections that did not get their arm's controller", |c| c.refused)?;
        family("trial_lost_connections", "Connections of an arm that ended without a record", |c| c.lost)
    }

    /// A probe's name has its unit.
    fn probes(&self, to: &mut Families<'_, '_>) -> fmt::Result {
        let help = "Values that a controller exports, over at most 1000 of its connections: minimum, median, maximum";
        to.gauge("probe", help, None, |family| {
            for (controller, probe, readings) in self.readings() {
                for (of, value) in three(readings) {
                    gauge(family, &[("controller", controller), ("probe", probe), ("of", of)], &value)?;
                }
            }
            Ok(())
        })?;
        let help = "Number of connections of a controller in each state, of at most 1000";
        to.gauge("probe_connections", help, None, |family| {
            for (controller, probe, readings) in self.readings() {
                for (word, connections) in words(readings) {
                    let labels: &Labels<'_> = &[("controller", controller), ("probe", probe), ("value", word)];
                    gauge(family, labels, &connections)?;
                }
            }
            Ok(())
        })
    }

    fn readings(&self) -> impl Iterator<Item = (&str, &str, &[Reading])> {
        self.probed.iter().flat_map(|p| p.readings.iter().map(|(probe, r)| (&*p.controller, *probe, &r[..])))
    }
}

/// Nothing if there is no number.
fn three(readings: &[Reading]) -> Vec<(&'static str, f64)> {
    let number = |reading: &Reading| if let Reading::Number(number) = reading { Some(*number) } else { None };
    let mut numbers: Vec<f64> = readings.iter().filter_map(number).collect();
    numbers.sort_by(f64::total_cmp);
    let (Some(least), Some(largest)) = (numbers.first(), numbers.last()) else { return Vec::new() };
    vec![("min", *least), ("median", numbers[numbers.len() / 2]), ("max", *largest)]
}

fn words(readings: &[Reading]) -> Vec<(&'static str, i64)> {
    let mut counts: Vec<(&'static str, i64)> = Vec::new();
    for reading in readings {
        let Reading::Word(word) = reading else { continue };
        match counts.iter_mut().find(|(known, _)| known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    counts
}
