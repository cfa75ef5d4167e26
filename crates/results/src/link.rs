// SPDX-License-Identifier: MIT OR Apache-2.0
//! A link, over all seeds, and what can be measured of one.

use serde::{Deserialize, Serialize};
use tandem_scenario::Scenario;
use tandem_statistics::{Estimate, mean};

use crate::{
    distribution::Distribution,
    measure::{Column, Figure::*, Measure, NOWHERE, OfRun, Seeds, Shown, Unit, Value, summary},
    seed::SeedResult,
};

/// A link, summed up over seeds. [`LINK_MEASURES`] says what is in it, and how it came about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LinkSummary {
    /// The link's name.
    pub name: String,
    /// The link's capacity, megabits a second.
    pub rate_mbps: f64,
    /// As in [`LinkResult`](crate::LinkResult), mean over seeds.
    pub utilisation: f64,
    /// Half width of the 95 % interval; null with one seed.
    pub utilisation_ci95: Option<f64>,
    /// As in [`LinkResult`](crate::LinkResult).
    pub queue_packets: Distribution,
    /// As in [`LinkResult`](crate::LinkResult).
    pub queueing_delay_ms: Distribution,
    /// Packets that the queue dropped, mean over seeds.
    pub drops: f64,
    /// Packets that queue management marked (ECN), mean over seeds; left out if there are none.
    #[serde(default, skip_serializing_if = "is_none_f64")]
    pub marks: f64,
    /// Packets lost at random, mean over seeds.
    pub random_losses: f64,
    /// Share of the packets offered that were dropped or lost (RFC 5166 section 2.1.3).
    pub loss_rate: f64,
}

fn is_none_f64(count: &f64) -> bool {
    *count == 0.0
}

/// The measures of a link. A new one is a row here and a field above; what an engine has to count for it, in
/// [`LinkResult`](crate::LinkResult).
pub const LINK_MEASURES: &[Measure<LinkSummary>] = &[
    Measure {
        key: "rate_mbps",
        beside: &[],
        unit: Unit::Mbps,
        meaning: "the link's capacity",
        sum: Some(|seeds, link| link.rate_mbps = seeds.scenario.network.links[seeds.index].rate.bps as f64 / 1e6),
        value: |link| Some(link.rate_mbps.into()),
        column: Some(Column { name: "link_rate_mbps", figures: &[] }),
        shown: Shown { terminal: &[("Rate\nMbit/s", Mean)], page: ("Rate\nMbit/s", &[Mean]), ..NOWHERE },
    },
    Measure {
        key: "utilisation",
        beside: &["utilisation_ci95"],
        unit: Unit::Share,
        meaning: "share of the rate that was used, headers included",
        sum: Some(|seeds, link| {
            let utilisation = Estimate::of_mean(&seeds.of_link(|link| link.utilisation));
            (link.utilisation, link.utilisation_ci95) = (utilisation.value, utilisation.half_width);
        }),
        value: |link| Some(Value::Mean(Estimate::kept(link.utilisation, link.utilisation_ci95))),
        column: Some(Column { name: "link_utilisation", figures: &[] }),
        shown: Shown {
            terminal: &[("Used\n%", Mean)],
            page: ("Used\n%", &[Mean]),
            summary: &[summary(11, Some("Used\n%"), "Link used\n%", Mean, OfRun::Nothing)],
            ..NOWHERE
        },
    },
    Measure {
        key: "queue_packets",
        beside: &[],
        unit: Unit::Packets,
        meaning: "distribution over time of the number of waiting packets; the one in transmission does not count",
        sum: Some(|seeds, link| link.queue_packets = seeds.distribution(|link| &link.queue_packets)),
        value: |link| Some(link.queue_packets.into()),
        column: Some(Column { name: "queue_packets", figures: &[Mean, P95, Max] }),
        shown: Shown {
            terminal: &[("Queue\np95", P95), ("pkts\np99", P99), ("\nmax", Max)],
            page: ("Queue, packets", &[Mean, P95, P99, Max]),
            summary: &[summary(10, Some("Queue\npkts"), "Queue mean\npackets", Mean, OfRun::Nothing)],
            ..NOWHERE
        },
    },
    Measure {
        key: "queueing_delay_ms",
        beside: &[],
        unit: Unit::Ms,
        meaning: "distribution over time of how long a packet would wait that arrived then",
        sum: Some(|seeds, link| link.queueing_delay_ms = seeds.distribution(|link| &link.queueing_delay_ms)),
        value: |link| Some(link.queueing_delay_ms.into()),
        column: Some(Column { name: "queueing_delay_ms", figures: &[Mean, P95] }),
        shown: Shown { terminal: &[("Delay ms\np95", P95)], page: ("Queueing delay, ms", &[Mean, P95]), ..NOWHERE },
    },
    Measure {
        key: "drops",
        beside: &[],
        unit: Unit::Count,
        meaning: "packets that the queue or a policer dropped",
        sum: Some(|seeds, link| link.drops = mean(&seeds.of_link(|link| link.drops as f64))),
        value: |link| Some(link.drops.into()),
        column: Some(Column { name: "link_drops", figures: &[] }),
        shown: Shown { terminal: &[("Drops", Mean)], page: ("Drops", &[Mean]), ..NOWHERE },
    },
    Measure {
        key: "marks",
        beside: &[],
        unit: Unit::Count,
        meaning: "packets that the queue marked (ECN)",
        sum: Some(|seeds, link| link.marks = mean(&seeds.of_link(|link| link.marks as f64))),
        value: |link| Some(link.marks.into()),
        column: Some(Column { name: "link_marks", figures: &[] }),
        shown: Shown { terminal: &[("Marks", Mean)], page: ("Marks", &[Mean]), if_any: true, ..NOWHERE },
    },
    Measure {
        key: "random_losses",
        beside: &[],
        unit: Unit::Count,
        meaning: "packets lost at random",
        sum: Some(|seeds, link| link.random_losses = mean(&seeds.of_link(|link| link.random_losses as f64))),
        value: |link| Some(link.random_losses.into()),
        column: Some(Column { name: "link_random_losses", figures: &[] }),
        shown: Shown { terminal: &[("Random\nlosses", Mean)], page: ("Random\nlosses", &[Mean]), ..NOWHERE },
    },
    Measure {
        key: "loss_rate",
        beside: &[],
        unit: Unit::Rate,
        meaning: "share of the packets offered that were dropped or lost at random (RFC 5166 section 2.1.3)",
        sum: Some(|seeds, link| {
            let offered = mean(&seeds.of_link(|link| link.offered_packets as f64));
            link.loss_rate = if offered > 0.0 { (link.drops + link.random_losses) / offered } else { 0.0 };
        }),
        value: |link| Some(link.loss_rate.into()),
        column: Some(Column { name: "link_loss_rate", figures: &[] }),
        shown: Shown {
            terminal: &[],
            page: ("Loss\nrate", &[Mean]),
            summary: &[summary(12, Some("Loss\nrate"), "Loss\nrate", Mean, OfRun::Nothing)],
            ..NOWHERE
        },
    },
];

/// Sums up the link with this index.
pub(crate) fn summarise(scenario: &Scenario, index: usize, results: &[SeedResult]) -> LinkSummary {
    let mut link = LinkSummary { name: scenario.network.links[index].name.clone(), ..LinkSummary::default() };
    Measure::sum_all(LINK_MEASURES, &Seeds { scenario, results, index, flows: Vec::new() }, &mut link);
    link
}
