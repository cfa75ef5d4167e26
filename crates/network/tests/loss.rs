// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random loss against theory. The seeds are fixed, so these tests either always pass or never.

mod common;

use common::{Plain, seeded, spec};
use tandem_network::{DropReason, Offer};
use tandem_scenario::{Aqm, Limit, Loss, units::LossRate};

fn losses(loss: Loss, packets: u64, seed: u64) -> Vec<bool> {
    let mut link = seeded(&tandem_scenario::LinkConfig { loss, ..spec(Limit::Packets(10), Aqm::DropTail) }, seed);
    // So far apart that the queue plays no part.
    let lost = (0..packets)
        .map(|i| link.offer(i * 2_000_000, 1500, &mut Plain) == Offer::Dropped(DropReason::Random))
        .collect();
    assert_eq!((link.stats.queue_drops, link.stats.offered_packets), (0, packets));
    lost
}

fn count(lost: &[bool]) -> u64 {
    lost.iter().filter(|&&l| l).count() as u64
}

/// Packets, rate, and the exact 99.9 % interval of the binomial distribution (its 0.0005 and 0.9995 quantiles).
const BERNOULLI: [(u64, f64, u64, u64); 4] =
    [(100_000, 0.3, 29_524, 30_477), (100_000, 0.01, 898, 1105), (1_000_000, 1e-4, 69, 134), (1_000_000, 1e-6, 0, 6)];

#[test]
fn bernoulli() {
    for (packets, rate, low, high) in BERNOULLI {
        for seed in 1..=5 {
            let lost = count(&losses(Loss::Bernoulli(LossRate(rate)), packets, seed));
            assert!((low..=high).contains(&lost), "{lost} of {packets} at {rate}, seed {seed}");
        }
    }
}

/// Independent losses come in runs of mean length 1 / (1 - p) = 10/7 at p = 0.3. About 21000 runs of standard deviation
/// sqrt(p) / (1 - p) = 0.78 each: 3.29 standard errors are 0.018.
#[test]
fn bernoulli_losses_are_independent() {
    let run = mean_run(&losses(Loss::Bernoulli(LossRate(0.3)), 100_000, 1));
    assert!((run - 10.0 / 7.0).abs() < 0.018, "{run}");
}

fn mean_run(lost: &[bool]) -> f64 {
    let runs = lost.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
    count(lost) as f64 / runs as f64
}

/// Gilbert's channel: all is lost in the bad state, which is entered with 0.01 and left with 0.25 a packet. The share of the
/// bad state is 0.01 / 0.26. Its correlation from packet to packet is 1 - 0.26 = 0.74, so the count's variance is
/// n pi (1 - pi) 1.74 / 0.26: standard deviation 497 in 10^6, and 3.29 times that 1637. A burst is geometric of mean
/// 1 / 0.25 = 4; 9600 of them with standard deviation 3.46 give 3.29 standard errors = 0.117.
#[test]
fn gilbert() {
    let loss = Loss::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
    for seed in 1..=3 {
        let lost = losses(loss, 1_000_000, seed);
        let share = count(&lost) as f64 - 1e6 * 0.01 / 0.26;
        assert!(share.abs() < 1637.0, "{share} off, seed {seed}");
        let burst = mean_run(&lost);
        assert!((burst - 4.0).abs() < 0.117, "mean burst {burst}, seed {seed}");
    }
}

/// With loss in both states: pi_bad 0.5 + pi_good 0.001 = 0.020192. The variance is at most that of the hidden state's share
/// times 0.499^2 plus binomial noise: sqrt(248^2 + 103^2) = 269 in 10^6; 3.29 times that is 884.
#[test]
fn gilbert_elliott() {
    let loss = Loss::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.25, loss_good: 0.001, loss_bad: 0.5 };
    let lost = count(&losses(loss, 1_000_000, 1)) as f64;
    assert!((lost - 20_192.0).abs() < 884.0, "{lost}");
}

/// Another link's or seed's luck is another.
#[test]
fn streams_differ() {
    let rate = Loss::Bernoulli(LossRate(0.5));
    assert_ne!(losses(rate, 64, 1), losses(rate, 64, 2));
    assert_eq!(losses(rate, 64, 1), losses(rate, 64, 1));
}
