// SPDX-License-Identifier: MIT OR Apache-2.0
//! One Compound TCP flow on its own: S2's model of it, in the integers of the module that S2 used, and its samples.

use tandem_model::{
    Arithmetic, Law, Path, Prediction,
    engine::{Isolated, Refusal},
    followed, observed,
    oscillation::{Cycle, CycleType, Oscillation},
    published, published_oscillation, published_window,
    rule::Linux13,
};
use tandem_results::{FlowSample, SeedResult};
use tandem_scenario::Scenario;
use tandem_statistics::mean;

const ARITHMETIC: Arithmetic = Arithmetic::Linux13;

/// Whether the model knows the scenario.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Refusal> {
    Isolated::new(scenario).map(|_| ())
}

/// `3:1`.
pub(crate) fn cycle(text: &str) -> Option<CycleType> {
    let (increases, decreases) = text.split_once(':')?;
    Some(CycleType::new(increases.parse().ok()?, decreases.parse().ok()?))
}

/// The law and the path of the one flow.
fn flow(scenario: &Scenario) -> Option<(Law, Path)> {
    let isolated = Isolated::new(scenario).ok()?;
    Some((*isolated.law(), *isolated.path()))
}

fn swing(scenario: &Scenario) -> Option<Oscillation> {
    let (law, path) = flow(scenario)?;
    published_oscillation(&path, &law, ARITHMETIC).ok()?
}

/// Largest less smallest window, packets.
pub(crate) fn amplitude(scenario: &Scenario) -> Option<f64> {
    let swing = swing(scenario)?;
    Some(swing.theta_max - swing.theta_min)
}

/// m:n as m.n.
pub(crate) fn oscillation(scenario: &Scenario) -> Option<f64> {
    let kind = *swing(scenario)?.types.first()?;
    Some(f64::from(kind.increases) + f64::from(kind.decreases) / 10.0)
}

pub(crate) fn is_feasible(scenario: &Scenario, kind: CycleType) -> Option<f64> {
    let (law, path) = flow(scenario)?;
    let rule = Linux13 { gamma_packets: law.gamma_packets };
    let forced = Cycle::forced(&rule, path.bdp_packets(), kind);
    Some(f64::from(u8::from(forced.is_some_and(|cycle| cycle.is_feasible(law.gamma_packets)))))
}

pub(crate) fn prediction(scenario: &Scenario) -> Option<Prediction> {
    let (law, path) = flow(scenario)?;
    Some(published(&path, &law, swing(scenario).as_ref()))
}

/// Packets, `time_s` after a loss.
pub(crate) fn window(scenario: &Scenario, time_s: f64) -> Option<f64> {
    let (law, path) = flow(scenario)?;
    published_window(&path, &law, &prediction(scenario)?, time_s)
}

/// Packets, over time. Little's law: what the link carries takes the RTT of the empty path, and waits in the queue.
pub(crate) fn mean_window(scenario: &Scenario) -> Option<f64> {
    let (_, path) = flow(scenario)?;
    prediction(scenario).map(|p| p.utilisation * path.bdp_packets() + p.backlog_packets)
}

/// By S2's flow chart, and by Tandem's model.
pub(crate) fn published_case(scenario: &Scenario) -> Option<f64> {
    prediction(scenario).map(|p| f64::from(p.case))
}

pub(crate) fn followed_case(scenario: &Scenario) -> Option<f64> {
    let (law, path) = flow(scenario)?;
    followed(&path, &law, Arithmetic::Tandem).ok().map(|p| f64::from(p.case))
}

/// The flow from loss to loss, after the warm-up.
pub(crate) struct Epochs<'a> {
    scenario: &'a Scenario,
    epochs: Vec<&'a [FlowSample]>,
    interval_s: f64,
}

impl<'a> Epochs<'a> {
    pub fn new(scenario: &'a Scenario, seed: &'a SeedResult) -> Option<Self> {
        let trace = seed.trace.as_ref()?;
        let warmup_s = scenario.warmup.as_secs_f64();
        let first = trace.time_s.partition_point(|time| *time < warmup_s);
        let epochs = observed::epochs(&trace.flows.first()?.samples, first);
        Some(Self { scenario, epochs, interval_s: scenario.sample_interval.as_secs_f64() })
    }

    /// So long after the first of the losses; `None` after the next.
    pub fn after_loss(&self, time_s: f64) -> Option<&'a FlowSample> {
        self.epochs.first()?.get((time_s / self.interval_s).round() as usize)
    }

    /// From loss to loss, mean.
    pub fn seconds(&self) -> Option<f64> {
        self.mean(|epoch| epoch.len() as f64 * self.interval_s)
    }

    pub fn largest_window(&self) -> Option<f64> {
        self.mean(|epoch| windows(epoch).fold(0.0, f64::max))
    }

    pub fn smallest_window(&self) -> Option<f64> {
        self.mean(|epoch| windows(epoch).fold(f64::INFINITY, f64::min))
    }

    pub fn case(&self) -> Option<f64> {
        let (law, path) = flow(self.scenario)?;
        observed::usual_case(&path, &law, &self.epochs).map(f64::from)
    }

    fn mean(&self, of: impl Fn(&[FlowSample]) -> f64) -> Option<f64> {
        let values: Vec<f64> = self.epochs.iter().map(|epoch| of(epoch)).collect();
        (!values.is_empty()).then(|| mean(&values))
    }
}

fn windows(epoch: &[FlowSample]) -> impl Iterator<Item = f64> {
    epoch.iter().map(|sample| f64::from(sample.cwnd_packets))
}
