// SPDX-License-Identifier: MIT OR Apache-2.0
//! A link, over all seeds.

use serde::{Deserialize, Serialize};
use tandem_scenario::Scenario;
use tandem_statistics::{Estimate, mean};

use crate::{
    distribution::Distribution,
    seed::{LinkResult, SeedResult},
};

/// A link, summed up over seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinkSummary {
    /// The link's name.
    pub name: String,
    /// The link's capacity, megabits a second.
    pub rate_mbps: f64,
    /// As in [`LinkResult`], mean over seeds.
    pub utilisation: f64,
    /// Half width of the 95 % interval; null with one seed.
    pub utilisation_ci95: Option<f64>,
    /// As in [`LinkResult`].
    pub queue_packets: Distribution,
    /// As in [`LinkResult`].
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

/// Sums up the link with this index.
pub(crate) fn summarise(scenario: &Scenario, index: usize, seeds: &[SeedResult]) -> LinkSummary {
    let link = &scenario.network.links[index];
    let each = |f: fn(&LinkResult) -> f64| seeds.iter().map(|s| f(&s.links[index])).collect::<Vec<_>>();
    let utilisation = Estimate::of_mean(&each(|l| l.utilisation));
    let drops = mean(&each(|l| l.drops as f64));
    let random_losses = mean(&each(|l| l.random_losses as f64));
    let offered = mean(&each(|l| l.offered_packets as f64));
    LinkSummary {
        name: link.name.clone(),
        rate_mbps: link.rate.bps as f64 / 1e6,
        utilisation: utilisation.value,
        utilisation_ci95: utilisation.half_width,
        queue_packets: Distribution::over_seeds(seeds.iter().map(|s| &s.links[index].queue_packets)),
        queueing_delay_ms: Distribution::over_seeds(seeds.iter().map(|s| &s.links[index].queueing_delay_ms)),
        drops,
        marks: mean(&each(|l| l.marks as f64)),
        random_losses,
        loss_rate: if offered > 0.0 { (drops + random_losses) / offered } else { 0.0 },
    }
}
