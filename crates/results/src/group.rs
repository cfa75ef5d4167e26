// SPDX-License-Identifier: MIT OR Apache-2.0
//! A group of flows, over all seeds, and what can be measured of one.

use serde::{Deserialize, Serialize};
use tandem_scenario::Scenario;
use tandem_statistics::{Estimate, mean};

use crate::{
    delivery::Delivery,
    distribution::Distribution,
    measure::{
        Column, FIGURES,
        Figure::{self, *},
        Measure, NOWHERE, OfRun, Seeds, Shown, SummaryColumn, Unit, Value, summary,
    },
    seed::SeedResult,
    short_flows::{self, ShortFlowsSummary},
};

/// A group of flows, summed up over seeds. [`GROUP_MEASURES`] says what is in it, and how it came about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The group's name; without one in the file, its controller as written.
    pub name: String,
    /// The controller's name, `kernel:NAME` or `udp`.
    pub controller: String,
    /// Number of flows.
    pub flows: u32,
    /// Payload of all its flows together, megabits a second; mean over seeds.
    pub goodput_mbps: f64,
    /// Half width of the 95 % interval; null with one seed.
    pub goodput_ci95_mbps: Option<f64>,
    /// The same seed by seed, in the order of [`Run::seeds`](crate::Run::seeds).
    pub goodput_by_seed_mbps: Vec<f64>,
    /// The same of each flow, seed by seed.
    #[serde(skip)]
    pub goodput_by_seed_and_flow_mbps: Vec<Vec<f64>>,
    /// The other groups of its run whose flows are of its own kind ([`Parts::alike`](tandem_scenario::Parts::alike)).
    #[serde(skip)]
    pub alike: Vec<usize>,
    /// Goodput of each flow, mean over seeds.
    pub per_flow_goodput_mbps: Vec<f64>,
    /// Share of the packets sent that were retransmissions.
    pub retransmit_rate: f64,
    /// Packets sent again, all flows together; mean over seeds.
    pub retransmits: f64,
    /// Retransmission timeouts, all flows together; mean over seeds.
    pub timeouts: f64,
    /// Reductions of the window, timeouts included; mean over seeds.
    pub window_reductions: f64,
    /// The RTT that each ACK measured; null with an engine that does not know them (`kernel`), and where no ACK came, as with UDP.
    pub rtt_ms: Option<Distribution>,
    /// The smoothed RTT (RFC 6298) at regular times, while data was outstanding; null with an engine that has none (`model`), and
    /// where no ACK came, as with UDP.
    pub srtt_ms: Option<Distribution>,
    /// Two-way propagation delay, without the random part of each flow.
    pub base_rtt_ms: f64,
    /// One-way propagation delay of the data: what [`Delivery::delay_ms`] is above it is waiting and transmission. Only for UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_delay_ms: Option<f64>,
    /// (P - Q) / P against the baseline run; null without one.
    pub stolen: Option<f64>,
    /// Half width of the 95 % interval of `stolen`; null with one seed.
    pub stolen_ci95: Option<f64>,
    /// Completion times of finite transfers, all seeds; null if there were none.
    pub completion_time_s: Option<Distribution>,
    /// The completion times themselves.
    #[serde(skip)]
    pub completion_times_s: Vec<f64>,
    /// What the packets met on their way; only for UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Left out without short flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_flows: Option<ShortFlowsSummary>,
}

/// The measures of a group of flows, in the order of the columns of tidy tables. A new one is a row here and a field above.
pub const GROUP_MEASURES: &[Measure<GroupSummary>] = &[
    Measure {
        key: "base_rtt_ms",
        beside: &[],
        unit: Unit::Ms,
        meaning: "two-way propagation delay alone, without `rtt_spread`",
        sum: Some(|seeds, group| group.base_rtt_ms = seeds.scenario.base_rtt(seeds.group()).ns as f64 / 1e6),
        value: |group| Some(group.base_rtt_ms.into()),
        column: Some(Column { name: "base_rtt_ms", figures: &[] }),
        shown: NOWHERE,
    },
    Measure {
        key: "base_delay_ms",
        beside: &[],
        unit: Unit::Ms,
        meaning: "only of UDP: one-way propagation delay of its data; `delay_ms` less this is waiting and transmission",
        sum: Some(|seeds, group| {
            // The delay outside the links is on the way of the ACKs.
            let delay = seeds.scenario.network.propagation(&seeds.group().forward, &[]);
            group.base_delay_ms = (!seeds.group().source.is_tcp()).then_some(delay.ns as f64 / 1e6);
        }),
        value: |group| group.base_delay_ms.map(Value::from),
        column: None,
        shown: NOWHERE,
    },
    Measure {
        key: "goodput_mbps",
        beside: &["goodput_ci95_mbps", "goodput_by_seed_mbps"],
        unit: Unit::Mbps,
        meaning: "payload of all flows of the group, Mb/s",
        sum: Some(|seeds, group| {
            group.goodput_by_seed_mbps = seeds.of_flows(|flow| flow.goodput_mbps);
            group.alike = seeds.scenario.alike(&[seeds.index]);
            let goodput = Estimate::of_mean(&group.goodput_by_seed_mbps);
            (group.goodput_mbps, group.goodput_ci95_mbps) = (goodput.value, goodput.half_width);
        }),
        value: |group| Some(Value::Mean(Estimate::kept(group.goodput_mbps, group.goodput_ci95_mbps))),
        column: Some(Column { name: "goodput_mbps", figures: &[] }),
        shown: Shown {
            summary: &[summary(
                0,
                Some("Goodput\nMbit/s"),
                "Goodput\nMbit/s",
                Mean,
                OfRun::SumBySeed(|group| &group.goodput_by_seed_mbps),
            )],
            ..NOWHERE
        },
    },
    Measure {
        key: "per_flow_goodput_mbps",
        beside: &[],
        unit: Unit::Mbps,
        meaning: "the same by flow",
        sum: Some(|seeds, group| {
            let of_flow = |&flow: &usize| {
                mean(&seeds.results.iter().map(|seed| seed.flows[flow].goodput_mbps).collect::<Vec<_>>())
            };
            group.per_flow_goodput_mbps = seeds.flows.iter().map(of_flow).collect();
            let of_seed = |seed: &SeedResult| seeds.flows.iter().map(|&flow| seed.flows[flow].goodput_mbps).collect();
            group.goodput_by_seed_and_flow_mbps = seeds.results.iter().map(of_seed).collect();
        }),
        value: |_| None,
        column: None,
        shown: NOWHERE,
    },
    Measure {
        key: "stolen",
        beside: &["stolen_ci95"],
        unit: Unit::Share,
        meaning: "of neighbours: the share of their goodput in the baseline that they lost; null without a baseline",
        // By `Run::set_stolen`, which has the baseline.
        sum: None,
        value: |group| Some(Value::Mean(Estimate::kept(group.stolen?, group.stolen_ci95))),
        column: Some(Column { name: "stolen", figures: &[] }),
        shown: Shown { summary: &[summary(1, Some("Stolen\n%"), "Stolen\n%", Mean, OfRun::Nothing)], ..NOWHERE },
    },
    Measure {
        key: "retransmit_rate",
        beside: &[],
        unit: Unit::Rate,
        meaning: "share of the packets sent that were retransmissions",
        sum: Some(|seeds, group| {
            let sent = seeds.mean_of_flows(|flow| flow.sent_packets as f64);
            let again = seeds.mean_of_flows(|flow| flow.retransmits as f64);
            group.retransmit_rate = if sent > 0.0 { again / sent } else { 0.0 };
        }),
        value: |group| group.if_tcp(group.retransmit_rate),
        column: Some(Column { name: "retransmit_rate", figures: &[] }),
        shown: NOWHERE,
    },
    Measure {
        key: "retransmits",
        beside: &[],
        unit: Unit::Count,
        meaning: "packets sent again",
        sum: Some(|seeds, group| group.retransmits = seeds.mean_of_flows(|flow| flow.retransmits as f64)),
        value: |group| group.if_tcp(group.retransmits),
        column: Some(Column { name: "retransmits", figures: &[] }),
        shown: Shown { summary: &[summary(20, Some("Re-\nsent"), "Retrans\u{ad}mits", Mean, OfRun::Sum)], ..NOWHERE },
    },
    Measure {
        key: "timeouts",
        beside: &[],
        unit: Unit::Count,
        meaning: "retransmission timeouts",
        sum: Some(|seeds, group| group.timeouts = seeds.mean_of_flows(|flow| flow.timeouts as f64)),
        value: |group| group.if_tcp(group.timeouts),
        column: Some(Column { name: "timeouts", figures: &[] }),
        shown: Shown { summary: &[summary(21, Some("RTOs"), "Time\u{ad}outs", Mean, OfRun::Sum)], ..NOWHERE },
    },
    Measure {
        key: "window_reductions",
        beside: &[],
        unit: Unit::Count,
        meaning: "reductions of the window, timeouts included",
        sum: Some(|seeds, group| group.window_reductions = seeds.mean_of_flows(|flow| flow.window_reductions as f64)),
        value: |group| group.if_tcp(group.window_reductions),
        column: Some(Column { name: "window_reductions", figures: &[] }),
        shown: NOWHERE,
    },
    Measure {
        key: "rtt_ms",
        beside: &[],
        unit: Unit::Ms,
        meaning: "distribution of the RTTs that ACKs measured, one sample per ACK; null with `kernel`, with `quic` if any flow has QUIC, \
                  where no ACK came, and of UDP",
        sum: Some(|seeds, group| group.rtt_ms = seeds.if_measured(|seed| &seed.rtt_ms)),
        value: |group| group.rtt_ms.map(Value::from),
        column: Some(Column { name: "rtt_ms", figures: FIGURES }),
        shown: Shown {
            summary: &[
                summary(2, Some("RTT\nms"), "RTT mean\nms", Mean, OfRun::Nothing),
                summary(3, None, "RTT p50\nms", P50, OfRun::Nothing),
                summary(4, Some("p95\nms"), "RTT p95\nms", P95, OfRun::Nothing),
                summary(5, None, "RTT p99\nms", P99, OfRun::Nothing),
            ],
            ..NOWHERE
        },
    },
    Measure {
        key: "srtt_ms",
        beside: &[],
        unit: Unit::Ms,
        meaning: "distribution of the smoothed RTT (RFC 6298); the same in `sim`, `quic` and `kernel`; null with `model`, where no ACK \
                  came, and of UDP",
        sum: Some(|seeds, group| group.srtt_ms = seeds.if_measured(|seed| &seed.srtt_ms)),
        value: |group| group.srtt_ms.map(Value::from),
        column: Some(Column { name: "srtt_ms", figures: FIGURES }),
        shown: Shown {
            summary: &[
                smoothed(6, Some("sRTT\nms"), "Smoothed RTT\nmean, ms", Mean),
                smoothed(7, None, "Smoothed RTT\np50, ms", P50),
                smoothed(8, Some("p95\nms"), "Smoothed RTT\np95, ms", P95),
                smoothed(9, None, "Smoothed RTT\np99, ms", P99),
            ],
            ..NOWHERE
        },
    },
    Measure {
        key: "",
        beside: &[],
        unit: Unit::Count,
        meaning: "finite transfers that ended",
        sum: Some(|seeds, group| {
            let of_seed = |seed: &SeedResult| {
                seeds.flows.iter().flat_map(|&flow| seed.flows[flow].completion_times_s.clone()).collect::<Vec<_>>()
            };
            group.completion_times_s = seeds.results.iter().flat_map(of_seed).collect();
        }),
        value: |group| Some(group.completion_times_s.len() as f64).filter(|&ended| ended > 0.0).map(Value::from),
        column: Some(Column { name: "transfers", figures: &[] }),
        shown: NOWHERE,
    },
    Measure {
        key: "completion_time_s",
        beside: &[],
        unit: Unit::S,
        meaning: "distribution of the completion times of the finite transfers of all seeds; null if none ended",
        sum: Some(|_, group| group.completion_time_s = Distribution::of_values(group.completion_times_s.clone())),
        value: |group| group.completion_time_s.map(Value::from),
        column: Some(Column { name: "completion_time_s", figures: FIGURES }),
        shown: NOWHERE,
    },
    Measure {
        key: "short_flows.unfinished",
        beside: &[],
        unit: Unit::Count,
        meaning: "only with `short`: transfers that had not ended with the run",
        sum: Some(|seeds, group| group.short_flows = short_flows::summarise(seeds)),
        value: |group| Some((group.short_flows.as_ref()?.unfinished as f64).into()),
        column: Some(Column { name: "unfinished_transfers", figures: &[] }),
        shown: NOWHERE,
    },
    Measure {
        key: "short_flows.slowdown",
        beside: &[],
        unit: Unit::Ratio,
        meaning: "only with `short`: distribution of the completion time over that of the same transfer alone; see \
                  [`short_flows`](#short_flows)",
        sum: None,
        value: |group| group.short_flows.as_ref()?.slowdown.map(Value::from),
        column: Some(Column { name: "slowdown_ratio", figures: FIGURES }),
        shown: NOWHERE,
    },
    Measure {
        key: "delivery.delay_ms",
        beside: &[],
        unit: Unit::Ms,
        meaning: "only of UDP: distribution of the one-way delay of packets",
        sum: Some(|seeds, group| group.delivery = Delivery::over_seeds(seeds.deliveries())),
        value: |group| Some(group.delivery?.delay_ms.into()),
        column: Some(Column { name: "delay_ms", figures: FIGURES }),
        shown: Shown { terminal: &[("Delay ms\np50", P50), ("\np95", P95), ("\np99", P99)], ..NOWHERE },
    },
    Measure {
        key: "delivery.jitter_ms",
        beside: &[],
        unit: Unit::Ms,
        meaning: "only of UDP: distribution of the interarrival jitter (RFC 3550 section 6.4.1), as it is after each packet",
        sum: None,
        value: |group| Some(group.delivery?.jitter_ms.into()),
        column: Some(Column { name: "jitter_ms", figures: FIGURES }),
        shown: Shown { terminal: &[("Jitter ms\np50", P50), ("\np95", P95), ("\np99", P99)], ..NOWHERE },
    },
    Measure {
        key: "delivery.loss_rate",
        beside: &[],
        unit: Unit::Rate,
        meaning: "only of UDP: share of the packets that did not arrive",
        sum: None,
        value: |group| Some(group.delivery?.loss_rate.into()),
        column: Some(Column { name: "loss_rate", figures: &[] }),
        shown: Shown { terminal: &[("Loss\nrate", Mean)], ..NOWHERE },
    },
    Measure {
        key: "delivery.loss_rate_by_second",
        beside: &[],
        unit: Unit::Rate,
        meaning: "only of UDP: distribution of that share in each second of each flow",
        sum: None,
        value: |group| Some(group.delivery?.loss_rate_by_second.into()),
        column: None,
        shown: Shown { terminal: &[("\np95", P95)], ..NOWHERE },
    },
];

/// Only where a run knows no other RTT, then for all runs, so that they can be compared.
const fn smoothed(place: u8, terminal: Option<&'static str>, page: &'static str, figure: Figure) -> SummaryColumn {
    SummaryColumn { place, terminal, page, figure, of_run: OfRun::Nothing, instead_of: Some("rtt_ms") }
}

impl GroupSummary {
    /// Nothing of UDP, which alone has a delay one way.
    fn if_tcp(&self, figure: f64) -> Option<Value> {
        self.base_delay_ms.is_none().then_some(figure.into())
    }
}

/// Sums up the group with this index, whose flows these are.
pub(crate) fn summarise(scenario: &Scenario, index: usize, flows: Vec<usize>, results: &[SeedResult]) -> GroupSummary {
    let group = &scenario.groups[index];
    let (name, controller) = (group.name.clone(), group.source.controller());
    let mut summary = GroupSummary { name, controller, flows: group.flows, ..GroupSummary::default() };
    Measure::sum_all(GROUP_MEASURES, &Seeds { scenario, results, index, flows }, &mut summary);
    summary
}
