// SPDX-License-Identifier: MIT OR Apache-2.0
//! One Compound TCP flow on its own: what S2's model says of it, in the integers of the module that S2 used, and what its samples show.

use tandem_model::{
    Arithmetic, Law, Path, Prediction, followed, observed,
    oscillation::{Cycle, CycleType, Oscillation},
    published, published_oscillation,
    rule::Linux13,
};
use tandem_scenario::{
    CongestionControl, Limit, Scenario, Traffic,
    result::{FlowSample, SeedResult},
    stats::mean,
};

const ARITHMETIC: Arithmetic = Arithmetic::Linux13;

/// Is there something that the model knows?
pub(crate) fn check(scenario: &Scenario) -> Result<(), String> {
    let message = "this is worked out for one flow of `compound` on one link with a queue in packets".to_owned();
    flow(scenario).map(|_| ()).ok_or(message)
}

/// `3:1`.
pub(crate) fn cycle(text: &str) -> Option<CycleType> {
    let (increases, decreases) = text.split_once(':')?;
    Some(CycleType::new(increases.parse().ok()?, decreases.parse().ok()?))
}

/// The law and the path of the one flow.
fn flow(scenario: &Scenario) -> Option<(Law, Path)> {
    let [group] = &scenario.groups[..] else { return None };
    let Traffic::Tcp(tcp) = &group.source else { return None };
    let CongestionControl::Tandem(params) = &tcp.controller else { return None };
    let link = &scenario.network.links[*group.forward.first()?];
    let Limit::Packets(buffer) = link.limit else { return None };
    let path = Path {
        rate: link.rate,
        rtt: scenario.base_rtt(group),
        buffer_packets: f64::from(buffer),
        packet_bytes: scenario.mtu,
        access_rate: None,
    };
    Some((Law::of(params)?, path))
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
