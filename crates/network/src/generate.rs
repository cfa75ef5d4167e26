// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rate traces made at random: like a cellular link, a satellite constellation, Wi-Fi. They imitate the kind, no particular network;
//! docs/reference/traces.md has the models with their sources and numbers.

use tandem_scenario::units::{Rate, Span};

use crate::{Rng, Stream, effects::normal_quantile};

/// What a trace imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// A rate that wanders as in the model of Sprout (Winstein, Sivaraman, Balakrishnan, NSDI 2013), with outages.
    Cellular,
    /// Another satellite every 15 s: another rate, another delay, and an outage between.
    Satellite,
    /// Bunches of packets, whose sizes and distances vary, at a rate that changes every second or so.
    Wifi,
}

/// A trace, and the delays that go with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Opportunities for one full packet each, ms, in order; the last is the end of the trace.
    pub opportunities_ms: Vec<u32>,
    /// When the one-way delay changes, and to what. The first is at 0, if there are any.
    pub delays: Vec<(Span, Span)>,
}

/// How long one satellite serves.
const SLOT_MS: u32 = 15_000;
/// The shortest and the longest outage between two satellites.
const OUTAGE_MS: (u64, u64) = (20, 200);
/// How much longer the longest one-way delay to a satellite is than the shortest.
const DELAY_SPREAD_US: u64 = 15_000;

/// A trace of `duration` with about this mean rate for packets of `mtu` bytes. `delay` is the shortest one-way delay.
pub fn generate(kind: TraceKind, rate: Rate, mtu: u32, duration: Span, delay: Span, seed: u64) -> Generated {
    let packets_per_ms = rate.bps as f64 / (8000.0 * f64::from(mtu));
    let end_ms = (duration.ns / 1_000_000).clamp(1, u32::MAX.into()) as u32;
    let mut rng = Rng::new(seed, Stream::Effects(kind as usize));
    let mut delays = Vec::new();
    let mut opportunities_ms = match kind {
        TraceKind::Cellular => cellular(packets_per_ms, end_ms, &mut rng),
        TraceKind::Satellite => satellite(packets_per_ms, end_ms, delay, &mut delays, &mut rng),
        TraceKind::Wifi => wifi(packets_per_ms, end_ms, &mut rng),
    };
    opportunities_ms.push(end_ms);
    Generated { opportunities_ms, delays }
}

/// Opportunities of a Poisson process, whose rate does a Brownian motion between 0 and twice the mean, reflected at both ends, by a fifth
/// of that range in a second, as Sprout's model of a cellular link has it. Outages come every 20 s and last 0.5 s on average.
fn cellular(mean_per_ms: f64, end_ms: u32, rng: &mut Rng) -> Vec<u32> {
    const STEP_MS: u32 = 20;
    let most = 2.0 * mean_per_ms;
    let step_deviation = 0.2 * most * libm::sqrt(f64::from(STEP_MS) / 1000.0);
    let (mut per_ms, mut is_out) = (mean_per_ms, false);
    let mut times = Vec::new();
    for ms in 0..end_ms {
        if ms % STEP_MS == 0 {
            per_ms = (per_ms + step_deviation * normal_quantile(rng.share()).clamp(-4.0, 4.0)).abs();
            per_ms = if per_ms > most { 2.0 * most - per_ms } else { per_ms };
            let mean_ms = if is_out { 500.0 } else { 20_000.0 };
            is_out ^= rng.chance(f64::from(STEP_MS) / mean_ms);
        }
        if !is_out {
            times.extend(std::iter::repeat_n(ms, poisson(per_ms, rng)));
        }
    }
    times
}

fn satellite(mean_per_ms: f64, end_ms: u32, delay: Span, delays: &mut Vec<(Span, Span)>, rng: &mut Rng) -> Vec<u32> {
    let mut times = Vec::new();
    let (mut per_ms, mut outage_until, mut credit) = (mean_per_ms, 0, 0.0);
    for ms in 0..end_ms {
        if ms % SLOT_MS == 0 {
            per_ms = mean_per_ms * (0.5 + rng.share());
            delays.push((Span::from_ms(ms.into()), Span { ns: delay.ns + 1000 * rng.below(DELAY_SPREAD_US + 1) }));
            let outage_ms = OUTAGE_MS.0 + rng.below(OUTAGE_MS.1 - OUTAGE_MS.0 + 1);
            outage_until = if ms > 0 { ms + outage_ms as u32 } else { 0 };
        }
        if ms >= outage_until {
            credit += per_ms;
            times.extend(std::iter::repeat_n(ms, credit as usize));
            credit -= libm::floor(credit);
        }
    }
    times
}

/// Bunches of 1 to 32 packets. The pauses between them are exponential and so long that the mean is kept; the rate is 1/2 to 3/2 of the
/// mean, for 0.5 to 1.5 s each.
fn wifi(mean_per_ms: f64, end_ms: u32, rng: &mut Rng) -> Vec<u32> {
    const MOST: u64 = 32;
    let mut times = Vec::new();
    let (mut at_ms, mut per_ms, mut rate_until) = (0.0, mean_per_ms, 0.0);
    while (at_ms as u32) < end_ms {
        if at_ms >= rate_until {
            per_ms = mean_per_ms * (0.5 + 0.25 * rng.below(5) as f64);
            rate_until = at_ms + 500.0 + rng.below(1001) as f64;
        }
        let bunch = 1 + rng.below(MOST);
        times.extend(std::iter::repeat_n(at_ms as u32, bunch as usize));
        at_ms += bunch as f64 / per_ms * -libm::log(1.0 - rng.share());
    }
    times
}

/// Knuth's method: good for the few packets of a millisecond.
fn poisson(mean: f64, rng: &mut Rng) -> usize {
    let mut count = 0;
    // In parts, for exp(-mean) must not vanish.
    let mut left = mean;
    while left > 0.0 {
        let part = if left > 100.0 { 100.0 } else { left };
        left -= part;
        let (limit, mut product) = (libm::exp(-part), 1.0 - rng.share());
        while product > limit {
            count += 1;
            product *= 1.0 - rng.share();
        }
    }
    count
}
