// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model beside the simulator: one flow on random paths.

use anyhow::Context;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tandem_batch::{Batch, Task, Traces};
use tandem_model::{Arithmetic, Law, Path, Prediction, followed, observed};
use tandem_results::SeedResult;
use tandem_scenario::{
    DEFAULT_MTU, Scenario, ScenarioSpec,
    units::{Rate, Span},
};
use tandem_sim::Sim;

use crate::{
    compare::{Bound, Check},
    dumbbell::Ns2Setup,
    reference::ns2::COMPOUND,
    table::{Cell, Table},
};

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
    /// Times from loss to loss after the warm-up.
    pub epochs: usize,
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
        access_rate: None,
    };
    (0..count).map(|_| path()).collect()
}

/// Losses that a run should see after its warm-up, of at least two, and the shortest run.
const EPOCHS: f64 = 3.0;
const SHORTEST_S: f64 = 60.0;

/// This many paths are simulated at a time: samples of a whole run take room.
const AT_A_TIME: usize = 8;

/// Each path by the model and in the simulator.
pub fn compare(paths: &[Path], batch: &Batch) -> anyhow::Result<Vec<Point>> {
    let mut points = Vec::new();
    for paths in paths.chunks(AT_A_TIME) {
        let model = |path: &Path| followed(path, &Law::default(), Arithmetic::Tandem);
        let models: Vec<Prediction> = paths.iter().map(model).collect::<Result<_, _>>()?;
        // The model's time from loss to loss says how long to simulate, and nothing else.
        let by_model = paths.iter().zip(&models).map(|(p, m)| (*p, (EPOCHS * m.epoch_s).max(SHORTEST_S), m.epoch_s));
        let mut simulated = simulate(&by_model.collect::<Vec<_>>(), batch)?;
        let without_loss: Vec<usize> = (0..paths.len()).filter(|&i| simulated[i].epochs == 0).collect();
        let by_reno = without_loss.iter().map(|&i| {
            let path = paths[i];
            // As long as Reno takes to win half of the largest window back.
            let epoch_s = path.rtt.as_secs_f64() * (path.pipe_packets() + path.buffer_packets);
            (path, EPOCHS * epoch_s, epoch_s)
        });
        let again = simulate(&by_reno.collect::<Vec<_>>(), batch)?;
        without_loss.iter().zip(again).for_each(|(&i, longer)| simulated[i] = longer);
        let both = paths.iter().zip(models).zip(simulated);
        points.extend(both.map(|((&path, model), simulated)| Point { path, model, simulated }));
    }
    Ok(points)
}

/// Paths, each with the seconds to measure and the seconds from loss to loss.
fn simulate(paths: &[(Path, f64, f64)], batch: &Batch) -> anyhow::Result<Vec<Simulated>> {
    let scenarios: Vec<Scenario> =
        paths.iter().map(|(path, measured_s, epoch_s)| scenario(path, *measured_s, *epoch_s)).collect();
    let task = |scenario| Task { scenario, engine: &Sim, traces: Traces::FirstSeed(1) };
    let tasks: Vec<Task> = scenarios.iter().map(task).collect();
    // Samples are too many to keep.
    let outcome = Batch { store: None, ..*batch }.run(&tasks)?;
    let each = paths.iter().zip(&scenarios).zip(&outcome.seeds);
    each.map(|(((path, ..), scenario), seeds)| {
        Ok(classify(path, seeds.first().context("interrupted")?, scenario.warmup.as_secs_f64()))
    })
    .collect()
}

fn scenario(path: &Path, measured_s: f64, epoch_s: f64) -> Scenario {
    // The first overshoot of slow start takes up to some seconds to repair.
    let warmup_s = (1.2 * epoch_s + 20.0 * path.rtt.as_secs_f64()).ceil().max(20.0);
    let setup = Ns2Setup {
        rate_mbps: path.rate.bps as f64 / 1e6,
        rtt_ms: path.rtt.ns / 1_000_000,
        queue_packets: path.buffer_packets as u32,
        loss: 0.0,
        duration_s: warmup_s as u64 + measured_s.ceil() as u64,
        warmup_s: warmup_s as u64,
        send_jitter: false,
        spread: false,
    };
    let spec = ScenarioSpec {
        // Twice a round, as far as a scenario takes this many samples.
        sample_interval: Some(Span { ns: (path.rtt.ns / 2).max(1_000_000).max(setup.duration_s * 1000 + 1) }),
        ..setup.spec(&[(COMPOUND, 1)], 1)
    };
    spec.check().expect("the set-up is valid")
}

fn classify(path: &Path, result: &SeedResult, warmup_s: f64) -> Simulated {
    let trace = result.trace.as_ref().expect("asked for");
    let epochs = observed::epochs(&trace.flows[0].samples, trace.time_s.partition_point(|t| *t < warmup_s));
    let link = &result.links[0];
    Simulated {
        // Without a loss there is Reno alone, as far as can be seen.
        case: observed::usual_case(path, &Law::default(), &epochs).unwrap_or(6),
        utilisation: link.utilisation,
        backlog_packets: link.queue_packets.mean,
        epochs: epochs.len(),
    }
}

/// How far apart throughput may lie.
const IN_CASES_4_TO_6: f64 = 0.02;
const IN_CASES_1_TO_3: f64 = 0.05;

impl Point {
    pub fn difference(&self) -> f64 {
        self.model.utilisation / self.simulated.utilisation - 1.0
    }

    pub fn throughput(&self) -> Check {
        let bound = if self.simulated.case >= 4 { IN_CASES_4_TO_6 } else { IN_CASES_1_TO_3 };
        Bound::Relative(bound).check_values(self.model.utilisation, self.simulated.utilisation)
    }

    pub fn case_agrees(&self) -> bool {
        self.model.case == self.simulated.case
    }

    fn row(&self) -> Vec<Cell> {
        let (p, m, s) = (&self.path, &self.model, &self.simulated);
        let (share, packets) = (|value| Cell::Number(value, 4), |value| Cell::Number(value, 1));
        vec![
            Cell::Number(p.rate.bps as f64 / 1e6, 1),
            Cell::count((p.rtt.ns / 1_000_000) as f64),
            Cell::count(p.buffer_packets),
            Cell::count(p.bdp_packets()),
            Cell::count(m.case),
            Cell::count(s.case),
            Check::of(self.case_agrees()).into(),
            share(m.utilisation),
            share(s.utilisation),
            self.throughput().into(),
            packets(m.backlog_packets),
            packets(s.backlog_packets),
        ]
    }
}

/// How near the model is on the random paths.
pub fn closeness(points: &[Point]) -> String {
    let quantile = |of: fn(&Point) -> f64, share: f64| {
        let mut values: Vec<f64> = points.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[((values.len() - 1) as f64 * share).round() as usize]
    };
    let queue = |p: &Point| (p.model.backlog_packets - p.simulated.backlog_packets).abs();
    let share = |at| 100.0 * quantile(|p| p.difference().abs(), at);
    format!(
        "On {} random paths half of the utilisations differ from the simulator's by {:.2} % or less, nine of ten by {:.1} % or less, the \
         worst by {:.1} %; half of the mean queues by {:.1} packets or less, nine of ten by {:.1} or less.",
        points.len(),
        share(0.5),
        share(0.9),
        share(1.0),
        quantile(queue, 0.5),
        quantile(queue, 0.9),
    )
}

pub fn table(points: &[Point]) -> Table {
    Table {
        title: format!("The simulator on {} random paths", points.len()),
        setup: "Rate 10 Mb/s to 1 Gb/s, RTT 10 to 200 ms, queue 10 to 3000 packets, evenly in logarithm; one flow of `compound`, an ACK \
                for each packet, no random element, at least 60 s and some three losses after a warm-up of more than one."
            .into(),
        asked: "the same case, utilisation within 2 % in cases 4 to 6 and 5 % in cases 1 to 3".into(),
        columns: &[
            "rate, Mb/s",
            "RTT, ms",
            "queue, packets",
            "BDP, packets",
            "case, model",
            "case, simulator",
            "case",
            "utilisation, model",
            "utilisation, simulator",
            "utilisation",
            "mean queue, model, packets",
            "mean queue, simulator, packets",
        ],
        rows: points.iter().map(Point::row).collect(),
    }
}
