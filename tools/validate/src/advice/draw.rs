// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths drawn from a distribution that imitates real ones; introduction.md states it. It is ours.

use std::{fmt::Write, fs, path::Path};

use anyhow::Context;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tandem_advise::{Known, Neighbours};
use tandem_network::{TraceKind, generate};
use tandem_scenario::{
    DEFAULT_MTU, EffectsSpec, Limit,
    effects::{BucketSpec, JitterDistribution, JitterSpec},
    units::{Bytes, LossRate, QueueSize, Rate, Share, Span},
};

/// A queue of fewer packets is none that is built.
const LEAST_QUEUE: u32 = 8;
/// How long a trace is before it begins again.
const TRACE_S: u64 = 60;
/// No faster link has a trace: a line for each packet.
const FASTEST_TRACED_BPS: u64 = 1_000_000_000;

/// One of the paths.
pub struct Drawn {
    pub known: Known,
    /// In the spelling of the options; the kind of jitter and of trace in words.
    pub words: String,
}

/// The path with this number. Those before it do not matter. A trace goes to `folder`.
pub fn draw(number: u64, folder: &Path) -> anyhow::Result<Drawn> {
    let rng = &mut Pcg64::seed_from_u64(number);
    let rate = Rate { bps: three_digits(log_uniform(rng, 1e6, 1e10)) };
    let rtt = Span { ns: 1000 * three_digits(log_uniform(rng, 1e3, 600e3)) };
    let bdp = (log_uniform(rng, 0.05, 10.0) * 100.0).round() / 100.0;
    let loss = match rng.random_bool(0.5) {
        true => 0.0,
        false => (log_uniform(rng, 1e-6, 1e-2) * 1e7).round() / 1e7,
    };
    let neighbours = neighbours(rng);
    let mut known = Known {
        queue: Some(queue(bdp, rate, rtt)?),
        loss: Some(LossRate(loss)),
        neighbours: Some(neighbours.parse::<Neighbours>()?),
        ..Known::new(rate, rtt)
    };
    let queue = known.queue.context("a queue was drawn")?;
    let mut words = format!("--rate {rate} --rtt {rtt} --queue {queue} --loss {loss} --neighbours {neighbours}");
    if rng.random_bool(0.25) {
        words += &add_more(&mut known, number, rng, folder)?;
    }
    Ok(Drawn { known, words })
}

/// A policer, jitter, marks or a trace.
fn add_more(known: &mut Known, number: u64, rng: &mut impl Rng, folder: &Path) -> anyhow::Result<String> {
    let kinds = if known.rate.bps <= FASTEST_TRACED_BPS { 4 } else { 3 };
    Ok(match rng.random_range(0..kinds) {
        0 => {
            let rate = Rate { bps: three_digits(known.rate.bps as f64 * rng.random_range(0.1..0.9)) };
            // What the rate carries in 10 to 200 ms, and at least ten packets.
            let burst = Bytes(((rate.bps as f64 / 8.0 * rng.random_range(0.01..0.2)) as u64).max(15_000));
            known.effects = EffectsSpec { policer: Some(BucketSpec { rate, burst }), ..EffectsSpec::default() };
            format!(" --policer {rate}:{burst}")
        }
        1 => {
            let time = Span::from_ms(rng.random_range(1..=10));
            let jitter = JitterSpec {
                time,
                distribution: JitterDistribution::Normal,
                correlation: Share::default(),
                keep_order: Some(true),
                from: None,
                until: None,
            };
            known.effects = EffectsSpec { jitter: Some(jitter), ..EffectsSpec::default() };
            format!(" --jitter {time}:normal, in order")
        }
        2 => {
            let aqm = ["codel", "fq_codel", "pie"][rng.random_range(0..3)];
            known.aqm = Some(aqm.parse().map_err(anyhow::Error::msg)?);
            known.ecn = true;
            format!(" --aqm {aqm} --ecn")
        }
        _ => {
            let (kind, name) = [(TraceKind::Cellular, "cellular"), (TraceKind::Wifi, "wifi")][rng.random_range(0..2)];
            let trace = generate(kind, known.rate, DEFAULT_MTU, Span::from_secs(TRACE_S), Span::default(), number);
            let mut text = String::new();
            for ms in trace.opportunities_ms {
                writeln!(text, "{ms}")?;
            }
            let file = folder.join(format!("{number}.trace"));
            fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
            known.effects = EffectsSpec { rate_trace: Some(file), ..EffectsSpec::default() };
            format!(" --rate-trace {name}")
        }
    })
}

/// CUBIC most of the time, as on the Internet (Mishra and others 2019, The Great Internet TCP Congestion Control Census).
fn neighbours(rng: &mut impl Rng) -> String {
    if rng.random_bool(0.2) {
        return "none".into();
    }
    let kind = match rng.random_range(0..10) {
        0..5 => "cubic",
        5..7 => "reno",
        7..9 => "bbr",
        _ => "compound",
    };
    format!("{kind}:{}", rng.random_range(1..=8))
}

/// In packets where this many BDP are too few.
fn queue(bdp: f64, rate: Rate, rtt: Span) -> anyhow::Result<QueueSize> {
    let queue = QueueSize::Bdp(bdp);
    Ok(match queue.limit(rate, rtt, DEFAULT_MTU) {
        Ok(Limit::Packets(packets)) if packets >= LEAST_QUEUE => queue,
        _ => QueueSize::Packets(LEAST_QUEUE),
    })
}

fn log_uniform(rng: &mut impl Rng, least: f64, most: f64) -> f64 {
    rng.random_range(least.ln()..most.ln()).exp()
}

/// As people write it.
fn three_digits(value: f64) -> u64 {
    let scale = 10f64.powf((value.log10().floor() - 2.0).max(0.0));
    ((value / scale).round() * scale) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_the_same_each_time_and_within_the_ranges() {
        let folder = tempfile::tempdir().unwrap();
        let words = || (0..200).map(|n| draw(n, folder.path()).unwrap().words).collect::<Vec<_>>();
        let first = words();
        assert_eq!(first, words());
        for n in 0..200 {
            let Drawn { known, .. } = draw(n, folder.path()).unwrap();
            assert!((1_000_000..=10_000_000_000).contains(&known.rate.bps), "{}", known.rate);
            assert!((Span::from_ms(1)..=Span::from_ms(600)).contains(&known.rtt), "{}", known.rtt);
            assert!(known.loss.unwrap().0 <= 0.01);
        }
        // A quarter of 200, give or take three deviations of 6.1.
        let with_more = first
            .iter()
            .filter(|words| ["--policer", "--jitter", "--ecn", "--rate-trace"].iter().any(|w| words.contains(w)));
        assert!((32..=68).contains(&with_more.count()));
        assert_eq!([1234.5, 99.96, 1e10].map(three_digits), [1230, 100, 10_000_000_000]);
    }
}
