// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated traces have the properties that their models promise. Seeds are fixed.

use tandem_network::{Generated, TraceKind, generate};
use tandem_scenario::{
    effects::RateTrace,
    units::{Rate, Span},
};

/// 12 Mbit/s: one packet of 1500 bytes each millisecond.
fn trace(kind: TraceKind, seconds: u64, seed: u64) -> Generated {
    generate(kind, Rate { bps: 12_000_000 }, 1500, Span::from_secs(seconds), Span::from_ms(20), seed)
}

const KINDS: [TraceKind; 3] = [TraceKind::Cellular, TraceKind::Satellite, TraceKind::Wifi];

#[test]
fn they_can_be_read_and_have_about_the_rate() {
    for kind in KINDS {
        let Generated { opportunities_ms, .. } = trace(kind, 1200, 1);
        let text: String = opportunities_ms.iter().map(|ms| format!("{ms}\n")).collect();
        let read = RateTrace::parse(&text, "t").unwrap();
        assert_eq!(read.period(), Span::from_secs(1200));
        let mbps = read.mean_rate(1500).bps as f64 / 1e6;
        assert!((9.6..14.4).contains(&mbps), "{kind:?}: {mbps}");
    }
}

#[test]
fn a_seed_is_a_trace() {
    for kind in KINDS {
        assert_eq!(trace(kind, 60, 1), trace(kind, 60, 1));
        assert_ne!(trace(kind, 60, 1), trace(kind, 60, 2));
    }
}

/// Nothing for 20 ms at each handover, something within 200 ms and two packets' time at half the rate; delays of 20 to 35 ms, not all
/// alike.
#[test]
fn satellites_hand_over_every_15_seconds() {
    let Generated { opportunities_ms, delays } = trace(TraceKind::Satellite, 300, 3);
    let times: Vec<u64> = delays.iter().map(|(at, _)| at.ns / 1_000_000).collect();
    assert_eq!(times, (0..20).map(|slot| slot * 15_000).collect::<Vec<_>>());
    assert!(delays.iter().all(|(_, delay)| (20_000_000..=35_000_000).contains(&delay.ns)));
    assert!(delays.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() > 15);
    for handover in (1..20).map(|slot| slot * 15_000) {
        let next = opportunities_ms.iter().find(|&&ms| ms >= handover).unwrap() - handover;
        assert!((20..=204).contains(&next), "{next}");
    }
}

/// The variance of a Poisson process with a rate that wanders is more than its mean, and there are outages: about thirty in ten minutes,
/// of 0.5 s on average, of which a half are longer than 300 ms.
#[test]
fn cellular_rates_wander_and_stop() {
    let Generated { opportunities_ms, .. } = trace(TraceKind::Cellular, 600, 1);
    let mut by_second = vec![0.0f64; 600];
    opportunities_ms.iter().for_each(|ms| by_second[(*ms as usize / 1000).min(599)] += 1.0);
    let mean = by_second.iter().sum::<f64>() / 600.0;
    let variance = by_second.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 600.0;
    assert!(variance > 10.0 * mean, "{variance} and {mean}");
    // No more than twice the mean rate in any second: Poisson's deviation of 2000 is 45.
    assert!(by_second.iter().all(|&n| n < 2180.0));
    assert!(opportunities_ms.windows(2).any(|pair| pair[1] - pair[0] >= 300));
}

/// Bunches of up to 32: mean 16.5.
#[test]
fn wifi_comes_in_bunches() {
    let Generated { opportunities_ms, .. } = trace(TraceKind::Wifi, 600, 1);
    let bunches: Vec<usize> = opportunities_ms.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
    let mean = opportunities_ms.len() as f64 / bunches.len() as f64;
    assert!((14.0..20.0).contains(&mean), "{mean}");
}
