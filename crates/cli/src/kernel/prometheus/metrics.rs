// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of the connections as metrics, named by Prometheus' conventions.
//!
//! Labels have no addresses: their number would be unbounded, and the scraper need not know who talks to whom.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet, prometheus_text},
    metrics::MetricType::{self, Counter, Gauge},
    registry::{Registry, Unit},
};
use tandem_controllers::Reading;
use tandem_kernel::{
    Histogram, Probed, Totals,
    sockops::{ArmCounts, Running, RunningArm},
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
        to.family(Gauge, "connections", "TCP connections now, by congestion controller", None, |family| {
            let mut of = self.controllers.iter();
            of.try_for_each(|t| gauge(family, &[("controller", &t.controller)], &(t.connections as i64)))
        })?;
        let controllers: Vec<_> = self.controllers.iter().map(Group::of_controller).collect();
        activity(to, "", "as far as looks saw it", "since the previous look", &controllers)?;
        self.trials(to)?;
        self.probes(to)?;
        to.family(Counter, "looks", "Looks at all connections", None, |family| count(family, &[], &self.looks))?;
        let help = "Processor time that the looks took before this one";
        to.family(Counter, "look_cpu", help, Some(&Unit::Seconds), |family| count(family, &[], &self.cpu_s))?;
        let help = "Time since the previous look; looks are further apart if they would take over 2 % of a core";
        to.family(Gauge, "look_interval", help, Some(&Unit::Seconds), |family| {
            self.since_last_s.iter().try_for_each(|seconds| gauge(family, &[], seconds))
        })
    }
}

struct Families<'e, 'w> {
    to: &'e mut DescriptorEncoder<'w>,
}

impl Families<'_, '_> {
    fn family(
        &mut self,
        kind: MetricType,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        fill: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        fill(&mut self.to.encode_descriptor(name, help, unit, kind)?)
    }
}

type Labels<'a> = [(&'a str, &'a str)];

fn count(family: &mut MetricEncoder<'_>, labels: &Labels<'_>, value: &impl EncodeCounterValue) -> fmt::Result {
    family.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(value, None)
}

fn gauge(family: &mut MetricEncoder<'_>, labels: &Labels<'_>, value: &impl EncodeGaugeValue) -> fmt::Result {
    family.encode_family(&labels)?.encode_gauge(value)
}

/// Connections with labels in common, and what they did.
struct Group<'a> {
    labels: Vec<(&'a str, &'a str)>,
    totals: &'a Totals,
}

impl<'a> Group<'a> {
    fn of_controller(totals: &'a Totals) -> Self {
        Self { labels: vec![("controller", &totals.controller)], totals }
    }

    fn labels_and(&self, more: (&'a str, &'a str)) -> Vec<(&'a str, &'a str)> {
        self.labels.iter().copied().chain([more]).collect()
    }
}

/// What each group did, in families whose names begin with `prefix`. `sums`: which part of it; `each`: of which connections values are.
fn activity(to: &mut Families<'_, '_>, prefix: &str, sums: &str, each: &str, groups: &[Group<'_>]) -> fmt::Result {
    let mut sum = |name: &str, help: &str, unit, of: fn(&Totals) -> u64| {
        to.family(Counter, &format!("{prefix}{name}"), &format!("{help}, {sums}"), unit, |family| {
            groups.iter().try_for_each(|group| count(family, &group.labels, &of(group.totals)))
        })
    };
    sum("acked", "Data that was sent and acknowledged", Some(&Unit::Bytes), |t| t.acked_bytes)?;
    sum("sent_segments", "Segments with data that were sent, retransmissions too", None, |t| t.segments)?;
    sum("retransmitted_segments", "Segments that were retransmitted", None, |t| t.retransmitted)?;
    let help = "Time of connections that sent something, by what limited them: the application (nothing to send), the congestion window or \
                the path, the receive window, the send buffer";
    to.family(Counter, &format!("{prefix}limited"), help, Some(&Unit::Seconds), |family| {
        for group in groups {
            let Totals { idle_s, path_s, rwnd_s, sndbuf_s, .. } = group.totals;
            for (by, seconds) in
                [("application", idle_s), ("congestion", path_s), ("receive_window", rwnd_s), ("send_buffer", sndbuf_s)]
            {
                count(family, &group.labels_and(("by", by)), seconds)?;
            }
        }
        Ok(())
    })?;
    let rate = Unit::Other("bytes_per_second".into());
    let [seconds, bytes, rate] = [Some(&Unit::Seconds), Some(&Unit::Bytes), Some(&rate)];
    let mut histogram = |name: &str, help: &str, unit, of: fn(&Totals) -> &Histogram| {
        let help = format!("{help}: of each connection that sent something {each}");
        to.family(MetricType::Histogram, &format!("{prefix}{name}"), &help, unit, |family| {
            groups.iter().try_for_each(|group| {
                let Histogram { sum, buckets } = of(group.totals);
                let labels: &Labels<'_> = &group.labels;
                let total = of(group.totals).count();
                family.encode_family(&labels)?.encode_histogram::<NoLabelSet>(*sum, total, buckets, None)
            })
        })
    };
    histogram("rtt", "Smoothed round-trip time", seconds, |t| &t.rtt_s)?;
    histogram("congestion_window", "Congestion window", bytes, |t| &t.window_bytes)?;
    let help = "Data acknowledged over the time with data to send or to be acknowledged";
    histogram("goodput", help, rate, |t| &t.goodput_bytes_per_s)?;
    let help = "Share of the segments that were retransmissions";
    histogram("retransmitted_ratio", help, None, |t| &t.retransmitted_ratio)
}

impl Metrics {
    /// Two arms of a trial may have the same controller.
    fn trials(&self, to: &mut Families<'_, '_>) -> fmt::Result {
        let ids: Vec<String> = self.trials.iter().map(|trial| trial.id.to_string()).collect();
        let (mut groups, mut counts) = (Vec::new(), Vec::new());
        for (id, trial) in ids.iter().zip(&self.trials) {
            for (number, RunningArm { counts: of_arm, totals }) in ["1", "2"].into_iter().zip(&trial.arms) {
                let labels = vec![("trial", &**id), ("arm", number), ("controller", &*totals.controller)];
                groups.push(Group { labels, totals });
                counts.push(of_arm);
            }
        }
        let mut family = |name: &str, help: &str, of: fn(&ArmCounts) -> u64| {
            to.family(Counter, name, help, None, |family| {
                groups.iter().zip(&counts).try_for_each(|(group, counts)| count(family, &group.labels, &of(counts)))
            })
        };
        family("trial_started_connections", "Connections that began with the controller of an arm", |c| c.started)?;
        family("trial_ended_connections", "Connections of an arm that have ended", |c| c.ended)?;
        family("trial_refused_connections", "Connections that did not get their arm's controller", |c| c.refused)?;
        family("trial_lost_connections", "Connections of an arm that ended without a record", |c| c.lost)?;
        activity(to, "trial_", "by connections of an arm that have ended", "in an arm, at its end", &groups)
    }

    /// A probe's name has its unit.
    fn probes(&self, to: &mut Families<'_, '_>) -> fmt::Result {
        let help = "What a controller exports, for at most 1000 of its connections: minimum, median and maximum";
        to.family(Gauge, "probe", help, None, |family| {
            for (controller, probe, readings) in self.readings() {
                for (of, value) in three(readings) {
                    gauge(family, &[("controller", controller), ("probe", probe), ("of", of)], &value)?;
                }
            }
            Ok(())
        })?;
        let help = "How many of at most 1000 connections of a controller are in a state";
        to.family(Gauge, "probe_connections", help, None, |family| {
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
