// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a link does beside carrying packets at one rate in their order: it changes, follows a trace, jitters, reorders, duplicates,
//! bunches packets, polices or shapes. A link without any of that has no [`Effects`] and pays nothing for them.

mod drops;
mod during;
mod rate_trace;
mod spec;

pub use drops::{Drops, DropsSpec};
pub use during::During;
pub use rate_trace::{RateTrace, TraceError};
pub use spec::{BucketSpec, BunchesSpec, ChangeSpec, EffectsSpec, JitterSpec, ReorderSpec};

use serde::{Deserialize, Serialize};

use crate::{
    scenario::{Limit, Loss},
    units::{LossRate, Rate, Span, bps, seconds, seconds_if_any},
};

/// All effects of one link, complete and checked.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Effects {
    /// When a packet of full size may leave; replaces the link's rate.
    pub rate_trace: Option<RateTrace>,
    /// What changes when, in the order of the file.
    pub changes: Vec<Change>,
    /// A random addition to each packet's delay.
    pub jitter: Option<Jitter>,
    /// A share of the packets comes late.
    pub reorder: Option<Reorder>,
    /// The share of packets that arrive twice.
    pub duplicate: LossRate,
    /// Packets leave the link's far end in bunches.
    pub aggregate: Option<Bunches>,
    /// Drops what exceeds a rate and a burst.
    pub policer: Option<TokenBucket>,
    /// Holds what exceeds a rate and a burst in the queue.
    pub shaper: Option<TokenBucket>,
    /// The most packets on their way from the link to its far end, as `tc netem` has a `limit`; others are dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_limit: Option<u32>,
    /// Which packets are lost, without chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop: Option<Drops>,
    /// The share of packets with an ECN field that come out without one.
    #[serde(skip_serializing_if = "is_none")]
    pub bleach: f64,
    /// The share of marks that are lost: such a packet comes out with ECT(0).
    #[serde(skip_serializing_if = "is_none")]
    pub unmark: f64,
}

fn is_none(share: &f64) -> bool {
    *share == 0.0
}

/// A change of a link. What is `None` stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// When, from the start of the run.
    #[serde(rename = "at_s", serialize_with = "seconds")]
    pub at: Span,
    /// From then on again each time that this much has passed; `None`: once.
    #[serde(rename = "every_s", serialize_with = "seconds_if_any")]
    pub every: Option<Span>,
    /// The new rate, bits a second; 0 is an outage.
    pub rate_bps: Option<u64>,
    /// The new one-way propagation delay. Packets under way keep theirs, and none overtakes another.
    #[serde(rename = "delay_s", serialize_with = "seconds_if_any")]
    pub delay: Option<Span>,
    /// The new random loss.
    pub loss: Option<Loss>,
    /// The new limit of the queue. Packets that already wait stay.
    pub limit: Option<Limit>,
}

/// A random addition to the delay, in the words of `tc netem`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Jitter {
    /// Uniform: the most that is added or taken away; wifi: about the mean; otherwise the standard deviation.
    #[serde(rename = "time_s", serialize_with = "seconds")]
    pub time: Span,
    /// How additions are distributed.
    pub distribution: JitterDistribution,
    /// How much of one packet's random number the next one's takes over, 0 up to below 1.
    pub correlation: f64,
    /// Does a packet with less delay wait for those before it?
    pub keep_order: bool,
    /// When it is there.
    #[serde(skip_serializing_if = "During::is_always")]
    pub during: During,
}

/// The distributions that `tc netem` has, and one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JitterDistribution {
    /// Uniform over twice the time.
    #[default]
    Uniform,
    /// Normal, cut off at 4 standard deviations.
    Normal,
    /// Pareto with shape 3, moved to mean 0, cut off at 4 standard deviations.
    Pareto,
    /// Steps of 1 ms, and for a share of the packets of 7.5 ms, their numbers Poisson distributed: the wireless networks of C4's tests.
    Wifi,
}

/// The mean of [`JitterDistribution::Wifi`] up to which no packet has long steps.
pub const WIFI_SHORTEST: Span = Span::from_ms(1);
/// The mean from which all have them.
pub const WIFI_LONGEST: Span = Span::from_ms(85);
/// A short step and a long one.
pub const WIFI_STEPS: [Span; 2] = [Span::from_ms(1), Span { ns: 7_500_000 }];
/// The most steps of both kinds. A Poisson variable is above that with a probability below 1e-20.
pub const WIFI_MOST_STEPS: [u32; 2] = [20, 60];

/// Late packets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reorder {
    /// The share of packets that come late.
    pub share: LossRate,
    /// By how much.
    #[serde(rename = "by_s", serialize_with = "seconds")]
    pub by: Span,
    /// When it is there.
    #[serde(skip_serializing_if = "During::is_always")]
    pub during: During,
}

impl Jitter {
    /// The most that it adds.
    fn most(&self) -> Span {
        match self.distribution {
            JitterDistribution::Uniform => self.time,
            JitterDistribution::Normal | JitterDistribution::Pareto => Span { ns: 4 * self.time.ns },
            JitterDistribution::Wifi => {
                let most = WIFI_STEPS.iter().zip(WIFI_MOST_STEPS).map(|(step, steps)| u64::from(steps) * step.ns);
                Span { ns: most.sum() }
            }
        }
    }

    /// The most that it takes away.
    fn most_subtracted(&self) -> Span {
        match self.distribution {
            JitterDistribution::Wifi => Span { ns: 0 },
            JitterDistribution::Uniform | JitterDistribution::Normal | JitterDistribution::Pareto => self.most(),
        }
    }
}

/// Packets are held, and released together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bunches {
    /// The longest that the first packet of a bunch is held.
    #[serde(rename = "hold_s", serialize_with = "seconds")]
    pub hold: Span,
    /// The most packets in one bunch.
    pub most: u32,
    /// When it is there.
    #[serde(skip_serializing_if = "During::is_always")]
    pub during: During,
}

/// A token bucket; it is full at the start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TokenBucket {
    /// How fast it fills, bits of packets a second, headers included.
    #[serde(rename = "rate_bps", serialize_with = "bps")]
    pub rate: Rate,
    /// How much it holds, bytes; at least one full packet.
    pub burst_bytes: u64,
}

impl Effects {
    /// The mean rate of a trace, whose opportunities are for `mtu` bytes each; `None` without a trace.
    pub fn mean_rate(&self, mtu: u32) -> Option<Rate> {
        self.rate_trace.as_ref().map(|trace| trace.mean_rate(mtu))
    }

    /// The most by which a packet on a link with this delay comes later than that because of them, waiting in a queue not counted.
    pub fn most_added(&self, delay: Span) -> Span {
        let longest = self.changes.iter().filter_map(|change| change.delay).max().unwrap_or(delay);
        let jitter_ns = self.jitter.map_or(0, |jitter| jitter.most().ns);
        let late_ns = self.reorder.map_or(0, |reorder| reorder.by.ns);
        let held_ns = self.aggregate.map_or(0, |bunches| bunches.hold.ns);
        Span { ns: longest.ns.saturating_sub(delay.ns) + jitter_ns + late_ns + held_ns }
    }

    /// The least delay that a packet has on a link with this one.
    pub fn least_delay(&self, delay: Span) -> Span {
        let shortest = self.changes.iter().filter_map(|change| change.delay).fold(delay, Span::min);
        let jitter_ns = self.jitter.map_or(0, |jitter| jitter.most_subtracted().ns);
        Span { ns: shortest.ns.saturating_sub(jitter_ns) }
    }

    /// The effects in words, each with what it is.
    pub fn in_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let bucket = |b: TokenBucket| format!("of {} with a burst of {}", b.rate, crate::units::Bytes(b.burst_bytes));
        words.extend(self.rate_trace.as_ref().map(|trace| format!("a rate trace of {}", trace.period().in_words())));
        if !self.changes.is_empty() {
            words.push(format!("{} changes over time", self.changes.len()));
        }
        words.extend(self.jitter.map(|j| {
            let kind = format!("{:?}", j.distribution).to_lowercase();
            let order = if j.keep_order { "" } else { " that reorders" };
            format!("{kind} jitter of {}{order}{}", j.time.in_words(), j.during.in_words())
        }));
        let late = |r: Reorder| format!("{} of packets {} late{}", r.share, r.by.in_words(), r.during.in_words());
        words.extend(self.reorder.map(late));
        if self.duplicate.0 > 0.0 {
            words.push(format!("{} of packets twice", self.duplicate));
        }
        let bunches =
            |b: Bunches| format!("bunches of up to {} packets in {}{}", b.most, b.hold.in_words(), b.during.in_words());
        words.extend(self.aggregate.map(bunches));
        words.extend(self.policer.map(|b| format!("a policer {}", bucket(b))));
        words.extend(self.shaper.map(|b| format!("a shaper {}", bucket(b))));
        words.extend(self.delay_limit.map(|most| format!("at most {most} packets on their way")));
        words.extend(self.drop.as_ref().map(Drops::in_words));
        let percent = |share: f64, what: &str| (share > 0.0).then(|| format!("{} % of {what}", 100.0 * share));
        words.extend(percent(self.bleach, "ECN fields bleached"));
        words.extend(percent(self.unmark, "ECN marks lost"));
        words
    }
}
