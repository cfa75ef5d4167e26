// SPDX-License-Identifier: MIT OR Apache-2.0
//! What S2's model says of a scenario of one Compound TCP flow, in the integers of the module that S2 used.

use tandem_model::{
    Arithmetic, Law, Path, Prediction,
    oscillation::{Cycle, CycleType, Oscillation},
    published, published_oscillation,
    rule::{GainOf, Linux13},
};
use tandem_scenario::{CongestionControl, Limit, Scenario, Source};

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
    let Source::Tcp(tcp) = &group.source else { return None };
    let CongestionControl::Tandem(params) = &tcp.controller else { return None };
    let link = &scenario.network.links[*group.forward.first()?];
    let Limit::Packets(buffer) = link.limit else { return None };
    let path = Path {
        rate: link.rate,
        rtt: scenario.base_rtt(group),
        buffer_packets: f64::from(buffer),
        packet_bytes: scenario.mtu,
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
    let rule = Linux13 { gamma_packets: law.gamma_packets, gain_of: GainOf::Window };
    let forced = Cycle::forced(&rule, path.bdp_packets(), kind);
    Some(f64::from(u8::from(forced.is_some_and(|cycle| cycle.is_feasible(law.gamma_packets)))))
}

pub(crate) fn prediction(scenario: &Scenario) -> Option<Prediction> {
    let (law, path) = flow(scenario)?;
    Some(published(&path, &law, swing(scenario).as_ref()))
}
