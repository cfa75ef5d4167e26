// SPDX-License-Identifier: MIT OR Apache-2.0
//! Effects as written in a file, `[effects.LINK]`, and the way to complete ones.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, de};

use super::{
    Bunches, Change, DropsSpec, During, Effects, Jitter, JitterDistribution, RateTrace, Reorder, TokenBucket,
    WIFI_LONGEST,
};
use crate::{
    check::SpecError,
    loss::of_change,
    named_file::named_file,
    scenario::{LinkConfig, Loss},
    units::{Bytes, LossRate, NS_PER_SEC, Portion, QueueSize, Rate, Share, Span, rate_or_none},
};

/// Effects of one link that have not been checked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EffectsSpec {
    /// A file in mahimahi's format; a relative path begins at the scenario file's folder.
    pub rate_trace: Option<PathBuf>,
    /// Changes over time.
    pub changes: Vec<ChangeSpec>,
    /// A random addition to the delay.
    pub jitter: Option<JitterSpec>,
    /// Late packets.
    pub reorder: Option<ReorderSpec>,
    /// The share of packets that arrive twice.
    pub duplicate: Share,
    /// Packets in bunches.
    pub aggregate: Option<BunchesSpec>,
    /// A bucket that drops.
    pub policer: Option<BucketSpec>,
    /// A bucket that queues.
    pub shaper: Option<BucketSpec>,
    /// The most packets on their way.
    pub delay_limit: Option<u32>,
    /// Losses without chance.
    pub drop: Option<DropsSpec>,
    /// The share of ECN fields that are cleared.
    pub bleach: Portion,
    /// The share of ECN marks that are lost.
    pub unmark: Portion,
}

/// A change at a time, or every so often.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeSpec {
    /// When.
    pub at: Span,
    /// Again each time that this much has passed.
    pub every: Option<Span>,
    /// The new rate; `0` is an outage.
    #[serde(default, deserialize_with = "rate_or_outage")]
    pub rate: Option<u64>,
    /// The new one-way delay.
    pub delay: Option<Span>,
    /// The new random loss; `1` or `"100%"`: every packet.
    #[serde(default, deserialize_with = "of_change")]
    pub loss: Option<Loss>,
    /// The new limit of the queue.
    pub queue: Option<QueueSize>,
}

/// Jitter as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Its size.
    pub time: Span,
    /// Uniform if not given.
    #[serde(default)]
    pub distribution: JitterDistribution,
    /// 0 if not given.
    #[serde(default)]
    pub correlation: Share,
    /// Packets keep their order if not given.
    pub keep_order: Option<bool>,
    /// When it begins; with the run if not given.
    pub from: Option<Span>,
    /// When it ends; with the run if not given.
    pub until: Option<Span>,
}

/// Reordering as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// The share of packets that come late.
    pub share: Share,
    /// How late: a time, or as many packets as overtake the late one when the link is full.
    pub distance: QueueSize,
    /// When it begins; with the run if not given.
    pub from: Option<Span>,
    /// When it ends; with the run if not given.
    pub until: Option<Span>,
}

/// Bunches as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BunchesSpec {
    /// The longest that a packet is held.
    pub hold: Span,
    /// The most packets at once.
    pub most: u32,
    /// When it begins; with the run if not given.
    pub from: Option<Span>,
    /// When it ends; with the run if not given.
    pub until: Option<Span>,
}

/// A token bucket as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketSpec {
    /// How fast it fills.
    pub rate: Rate,
    /// How much it holds.
    pub burst: Bytes,
}

/// A rate, or `0` with or without a unit.
fn rate_or_outage<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u64>, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = Option<u64>;
        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("a quoted rate with its unit, or 0 for an outage")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<u64>, E> {
            rate_or_none(text).map(Some).map_err(E::custom)
        }
        fn visit_i64<E: de::Error>(self, n: i64) -> Result<Option<u64>, E> {
            self.visit_str(&n.to_string())
        }
    }
    d.deserialize_any(Visitor)
}

impl EffectsSpec {
    /// The effects of `link`, whose place in the file is `key`, for packets of `mtu` bytes. Traces with a relative path are looked for in
    /// `folder`.
    ///
    /// # Errors
    /// If a value is out of range, two exclude each other, or a trace cannot be read.
    pub fn resolve(&self, link: &LinkConfig, key: &str, folder: &Path, mtu: u32) -> Result<Effects, SpecError> {
        let wrong = |part: &str, message: String| SpecError::at(format!("{key}.{part}"), message);
        let rate_trace = match &self.rate_trace {
            None => None,
            Some(path) => Some(
                RateTrace::load(&named_file(folder, "rate_trace", path))
                    .map_err(|e| wrong("rate_trace", e.to_string()))?,
            ),
        };
        if rate_trace.is_some() && self.changes.iter().any(|change| change.rate.is_some()) {
            return Err(wrong(
                "rate_trace",
                "a link has either a rate_trace or changes of its rate: leave one out".into(),
            ));
        }
        if self.delay_limit == Some(0) {
            return Err(wrong("delay_limit", "delay_limit must be 1 packet or more".into()));
        }
        let changes = self.changes.iter().enumerate();
        let changes = changes.map(|(i, change)| change.resolve(link, &format!("{key}.changes.{i}"), mtu));
        let bucket = |part: &str, spec: Option<BucketSpec>| {
            spec.map(|BucketSpec { rate, burst }| match burst.0 >= u64::from(mtu) {
                true => Ok(TokenBucket { rate, burst_bytes: burst.0 }),
                false => Err(wrong(part, format!("a burst of {burst} does not hold one packet of {mtu} bytes"))),
            })
        };
        Ok(Effects {
            rate_trace,
            changes: changes.collect::<Result<_, _>>()?,
            jitter: self.jitter.map(|jitter| jitter.resolve(&format!("{key}.jitter"))).transpose()?,
            reorder: self.reorder.map(|reorder| reorder.resolve(link, &format!("{key}.reorder"), mtu)).transpose()?,
            duplicate: LossRate(self.duplicate.0),
            aggregate: self.aggregate.map(|bunches| bunches.resolve(&format!("{key}.aggregate"))).transpose()?,
            policer: bucket("policer", self.policer).transpose()?,
            shaper: bucket("shaper", self.shaper).transpose()?,
            delay_limit: self.delay_limit,
            drop: self.drop.as_ref().map(|drop| drop.resolve(&format!("{key}.drop"))).transpose()?,
            bleach: self.bleach.0,
            unmark: self.unmark.0,
        })
    }
}

impl ChangeSpec {
    fn resolve(&self, link: &LinkConfig, key: &str, mtu: u32) -> Result<Change, SpecError> {
        let wrong = |part: &str, message: String| SpecError::at(format!("{key}.{part}"), message);
        let Self { at, every, rate, delay, loss, queue } = *self;
        if rate.is_none() && delay.is_none() && loss.is_none() && queue.is_none() {
            return Err(wrong("at", "this changes nothing: give rate, delay, loss or queue".into()));
        }
        if every.is_some_and(|every| every.ns < 1_000_000) {
            return Err(wrong("every", "every must be at least 1ms".into()));
        }
        if matches!(queue, Some(QueueSize::Bdp(_))) {
            return Err(wrong("queue", "a changed queue has no bdp: write packets, bytes or a time".into()));
        }
        let new_rate = rate.filter(|&bps| bps > 0).map_or(link.rate, |bps| Rate { bps });
        let limit = queue.map(|queue| queue.limit(new_rate, Span::default(), mtu)).transpose();
        let limit = limit.map_err(|e| wrong("queue", e.to_string()))?;
        Ok(Change { at, every, rate_bps: rate, delay, loss, limit })
    }
}

impl JitterSpec {
    /// Uniform, in order, throughout the run.
    pub fn uniform(time: Span) -> Self {
        Self {
            time,
            distribution: JitterDistribution::Uniform,
            correlation: Share::default(),
            keep_order: None,
            from: None,
            until: None,
        }
    }

    fn resolve(self, key: &str) -> Result<Jitter, SpecError> {
        let Self { time, distribution, correlation, keep_order, from, until } = self;
        if time.ns == 0 || time > Span::from_secs(10) {
            return Err(SpecError::at(
                format!("{key}.time"),
                format!("jitter must be above 0, at most 10s, not {time}"),
            ));
        }
        if distribution == JitterDistribution::Wifi {
            let wrong = |part: &str, message: String| Err(SpecError::at(format!("{key}.{part}"), message));
            if time > WIFI_LONGEST {
                return wrong("time", format!("wifi jitter has a mean of at most {WIFI_LONGEST}, not {time}"));
            }
            if correlation.0 > 0.0 {
                return wrong(
                    "correlation",
                    "wifi jitter is independent for each packet: leave correlation out".into(),
                );
            }
        }
        let during = During::resolve(from, until, key)?;
        Ok(Jitter { time, distribution, correlation: correlation.0, keep_order: keep_order.unwrap_or(true), during })
    }
}

impl ReorderSpec {
    fn resolve(self, link: &LinkConfig, key: &str, mtu: u32) -> Result<Reorder, SpecError> {
        let wrong = |message: String| SpecError::at(format!("{key}.distance"), message);
        let by = match self.distance {
            QueueSize::Time(time) => time,
            QueueSize::Packets(n) => {
                // Half a packet more, so that the last of them is clearly before the late one.
                let half_packet_ns = u128::from(mtu) * 4 * u128::from(NS_PER_SEC) / u128::from(link.rate.bps);
                Span { ns: ((2 * u128::from(n) + 1) * half_packet_ns).min(u64::MAX.into()) as u64 }
            }
            QueueSize::Bytes(_) | QueueSize::Bdp(_) => {
                return Err(wrong(format!(
                    "distance `{}` is neither a time nor packets: write `5ms` or `3p`",
                    self.distance
                )));
            }
        };
        if by > Span::from_secs(10) {
            return Err(wrong(format!("a packet would be {by} late: at most 10s")));
        }
        let during = During::resolve(self.from, self.until, key)?;
        Ok(Reorder { share: LossRate(self.share.0), by, during })
    }
}

impl BunchesSpec {
    fn resolve(self, key: &str) -> Result<Bunches, SpecError> {
        let Self { hold, most, from, until } = self;
        if !(2..=100_000).contains(&most) {
            return Err(SpecError::at(format!("{key}.most"), "most must be 2 to 100000 packets"));
        }
        if hold.ns == 0 || hold > Span::from_secs(10) {
            return Err(SpecError::at(format!("{key}.hold"), format!("hold must be above 0, at most 10s, not {hold}")));
        }
        Ok(Bunches { hold, most, during: During::resolve(from, until, key)? })
    }
}
