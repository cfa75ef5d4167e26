// SPDX-License-Identifier: MIT OR Apache-2.0
//! What packets met on their way.

use serde::{Deserialize, Serialize};
use tandem_statistics::mean;

use crate::distribution::Distribution;

/// What the packets of a group without congestion control met on their way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// From sending to arrival, of each packet.
    pub delay_ms: Distribution,
    /// Interarrival jitter (RFC 3550 section 6.4.1), as it is after each packet.
    pub jitter_ms: Distribution,
    /// Share of the packets that did not arrive, or came after 64 later ones.
    pub loss_rate: f64,
    /// The same in each second of each flow.
    pub loss_rate_by_second: Distribution,
}

impl Delivery {
    /// Each figure's mean over seeds, the maxima those of all; `None` if no seed has any.
    pub(crate) fn over_seeds<'a>(seeds: impl Iterator<Item = &'a Delivery> + Clone) -> Option<Self> {
        seeds.clone().next()?;
        Some(Self {
            delay_ms: Distribution::over_seeds(seeds.clone().map(|d| &d.delay_ms)),
            jitter_ms: Distribution::over_seeds(seeds.clone().map(|d| &d.jitter_ms)),
            loss_rate: mean(&seeds.clone().map(|d| d.loss_rate).collect::<Vec<_>>()),
            loss_rate_by_second: Distribution::over_seeds(seeds.map(|d| &d.loss_rate_by_second)),
        })
    }
}
