// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model beside the simulator: one flow on random paths.

use indicatif::ProgressIterator;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tandem_model::{Arithmetic, CONTROLLER, Law, Path, Prediction, case, followed};
use tandem_scenario::{
    DEFAULT_MTU, Scenario,
    result::{FlowSample, SeedResult},
    units::{Rate, Span},
};
use tandem_sim::Options;

use crate::dumbbell::Setup;

/// One path, by both.
pub struct Point {
    pub path: Path,
    pub model: Prediction,
    pub simulated: Simulated,
}

/// What the simulator shows of it.
pub struct Simulated {
    pub case: u8,
    pub utilisation: f64,
    pub backlog_packets: f64,
    /// Losses after the warm-up.
    pub epochs: usize,
    /// Share of the time between losses that is in the commonest case.
    pub case_share: f64,
}

/// The plane that the points are drawn from, evenly in logarithm.
const RATE_MBPS: (f64, f64) = (10.0, 1000.0);
const RTT_MS: (f64, f64) = (10.0, 200.0);
const BUFFER_PACKETS: (f64, f64) = (10.0, 3000.0);

/// Random paths, the same for the same seed; the first of many are those of few.
pub fn random_paths(count: usize, seed: u64) -> Vec<Path> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut between = |(low, high): (f64, f64)| low * (high / low).powf(rng.random::<f64>());
    let mut path = || Path {
        rate: Rate { bps: (between(RATE_MBPS) * 10.0).round() as u64 * 100_000 },
        rtt: Span::from_ms(between(RTT_MS).round() as u64),
        buffer_packets: between(BUFFER_PACKETS).round(),
        packet_bytes: DEFAULT_MTU,
    };
    (0..count).map(|_| path()).collect()
}

/// Losses that a run should see after its warm-up, of at least two, and the shortest run.
const EPOCHS: f64 = 3.0;
const SHORTEST_S: f64 = 60.0;

pub fn compare(paths: &[Path]) -> anyhow::Result<Vec<Point>> {
    let law = Law::default();
    let point = |path: &Path| {
        let model = followed(path, &law, Arithmetic::Tandem)?;
        // The model's time from loss to loss says how long to simulate, and nothing else.
        let simulated = simulate(path, (EPOCHS * model.epoch_s).max(SHORTEST_S), model.epoch_s);
        Ok(Point { path: *path, model, simulated })
    };
    paths.iter().progress().map(point).collect()
}

fn simulate(path: &Path, measured_s: f64, epoch_s: f64) -> Simulated {
    // The first overshoot of slow start takes up to some seconds to repair.
    let warmup_s = (1.2 * epoch_s + 20.0 * path.rtt.as_secs_f64()).ceil().max(20.0);
    let setup = Setup {
        rate_mbps: path.rate.bps as f64 / 1e6,
        rtt_ms: path.rtt.ns / 1_000_000,
        queue_packets: path.buffer_packets as u32,
        loss: 0.0,
        duration_s: warmup_s as u64 + measured_s.ceil() as u64,
        warmup_s: warmup_s as u64,
        send_jitter: false,
        spread: false,
    };
    let scenario = Scenario {
        // Twice a round.
        sample_interval: Span { ns: (path.rtt.ns / 2).max(1_000_000) },
        ..setup.scenario(&[(CONTROLLER, 1)], 1)
    };
    let options = Options { traced_flows_per_group: 1, ..Options::default() };
    let result = tandem_sim::run(&scenario, 1, options).expect("nothing cancels it");
    classify(path, &result, warmup_s)
}

/// The case in which the flow spends most of its time between losses.
fn classify(path: &Path, result: &SeedResult, warmup_s: f64) -> Simulated {
    let trace = result.trace.as_ref().expect("asked for");
    let samples = &trace.flows[0].samples;
    let losses = losses(samples, trace.time_s.partition_point(|t| *t < warmup_s));
    let mut time = [0usize; 7];
    for pair in losses.windows(2) {
        time[usize::from(case_of(path, &samples[pair[0]..pair[1]]))] += pair[1] - pair[0];
    }
    let case = (1..=6u8).max_by_key(|&c| time[usize::from(c)]).expect("six");
    let link = &result.links[0];
    Simulated {
        case,
        utilisation: link.utilisation,
        backlog_packets: link.queue_packets.mean,
        epochs: losses.len().saturating_sub(1),
        case_share: time[usize::from(case)] as f64 / time.iter().sum::<usize>().max(1) as f64,
    }
}

/// The samples from `first` on at which a loss shows. Only a loss lowers the loss window, over the RTT that recovery takes.
fn losses(samples: &[FlowSample], first: usize) -> Vec<usize> {
    let (mut found, mut largest, mut is_falling) = (Vec::new(), 0, false);
    for (i, sample) in samples.iter().enumerate().skip(first) {
        let now = sample.loss_window_packets;
        if now * 8 < largest * 7 && !is_falling {
            found.push(i);
        }
        is_falling =
            now < largest && (is_falling || now * 8 < largest * 7) && now <= samples[i - 1].loss_window_packets;
        largest = if now * 8 < largest * 7 { now } else { largest.max(now) };
    }
    found
}

/// The model calls an oscillation settled after so many cycles.
const CYCLES: usize = 12;

/// The case of the samples from one loss to the next.
fn case_of(path: &Path, epoch: &[FlowSample]) -> u8 {
    let delay = |s: &FlowSample| s.delay_window_packets;
    // Recovery brings the window down to ssthresh, which is what the loss left.
    let first_window = f64::from(epoch[0].ssthresh_packets);
    let last = &epoch[epoch.len() - 1];
    let cuts = epoch.windows(3).filter(|w| delay(&w[0]) <= delay(&w[1]) && delay(&w[1]) > delay(&w[2])).count();
    let settles = delay(last) == 0 || cuts >= CYCLES;
    let largest = epoch.iter().map(|s| s.cwnd_packets).max().unwrap_or(0);
    if epoch.iter().all(|s| delay(s) == 0) {
        return 6;
    }
    case(path.bdp_packets(), &Law::default(), first_window, settles, f64::from(largest) <= path.pipe_packets())
}
