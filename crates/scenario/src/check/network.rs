// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario's network, whichever of the four ways it is given.

use std::path::Path;

use super::{SpecError, check_name};
use crate::{
    dumbbell::DumbbellSpec,
    effects::{Effects, EffectsSpec},
    scenario::{LinkConfig, Topology},
    spec::{LinkSpec, ParkingLotSpec, ScenarioSpec},
    units::{QueueSize, Span},
};

impl ScenarioSpec {
    /// For packets of `mtu` bytes.
    pub(super) fn network(&self, mtu: u32) -> Result<Topology, SpecError> {
        match (&self.dumbbell, &self.parking_lot, &self.wlan, &self.links[..]) {
            (Some(dumbbell), None, None, []) => self.dumbbell_network(dumbbell, mtu),
            (None, Some(parking_lot), None, []) => parking_lot_network(parking_lot, mtu),
            (None, None, Some(wlan), []) => wlan.network(mtu),
            (None, None, None, links @ [_, ..]) => graph(links, mtu),
            _ => Err(SpecError::nowhere("give one network: [dumbbell], [parking_lot], [wlan] or [[links]]")),
        }
    }

    /// The network, and what its links do beside.
    pub(super) fn network_with_effects(&self, mtu: u32) -> Result<Topology, SpecError> {
        let mut network = self.network(mtu)?;
        for (name, spec) in &self.effects {
            network.add_effects(name, spec, &self.folder, mtu)?;
        }
        Ok(network)
    }

    /// The links carry the smallest RTT of any group; the others add theirs as access delay.
    fn dumbbell_network(&self, dumbbell: &DumbbellSpec, mtu: u32) -> Result<Topology, SpecError> {
        let rtts = self.flows.iter().map(|f| f.rtt.unwrap_or(dumbbell.rtt));
        let link_rtt = rtts.min().unwrap_or(dumbbell.rtt);
        dumbbell.network(link_rtt, mtu).map_err(|e| SpecError::at("dumbbell.queue", e))
    }
}

impl Topology {
    /// Gives the link `name` effects. `mtu` in bytes; traces with a relative path are looked for in `folder`.
    ///
    /// # Errors
    /// If there is no such link, or [`EffectsSpec::resolve`] refuses.
    pub fn add_effects(&mut self, name: &str, spec: &EffectsSpec, folder: &Path, mtu: u32) -> Result<(), SpecError> {
        let key = format!("effects.{name}");
        let Some(place) = self.links.iter().position(|link| link.name == *name) else {
            let known: Vec<String> = self.links.iter().map(|link| format!("`{}`", link.name)).collect();
            return Err(SpecError::at(key, format!("there is no link `{name}`; there are {}", known.join(", "))));
        };
        if self.cell.as_ref().is_some_and(|cell| place == cell.uplink || place == cell.downlink) {
            let message = format!("`{name}` goes over the air, which has its own effects: give them to `wired`");
            return Err(SpecError::at(key, message));
        }
        let link = &mut self.links[place];
        let effects = spec.resolve(link, &key, folder, mtu)?;
        if let Some(rate) = effects.mean_rate(mtu) {
            link.rate = rate;
        }
        if effects != Effects::default() {
            link.effects = Some(Box::new(effects));
        }
        Ok(())
    }
}

fn graph(links: &[LinkSpec], mtu: u32) -> Result<Topology, SpecError> {
    let mut network = Topology::default();
    for (place, spec) in links.iter().enumerate() {
        let wrong = |key: &str, message: String| SpecError::at(format!("links.{place}.{key}"), message);
        for (key, name) in [("name", &spec.name), ("from", &spec.from), ("to", &spec.to)] {
            check_name(&format!("links.{place}.{key}"), name)?;
        }
        for (name, from, to) in spec.directions() {
            if network.links.iter().any(|l| l.name == name) {
                return Err(wrong("name", format!("there are two links named `{name}`: rename one")));
            }
            let (from, to) = (network.node_or_new(from), network.node_or_new(to));
            if from == to {
                return Err(wrong("name", format!("link `{name}` leads from a node to itself")));
            }
            if matches!(spec.queue, QueueSize::Bdp(_)) {
                let message = "bdp is defined for [dumbbell] and [parking_lot] only: write packets, bytes or a time";
                return Err(wrong("queue", message.into()));
            }
            let limit = spec.queue.limit(spec.rate, Span::default(), mtu).map_err(|e| wrong("queue", e.to_string()))?;
            let aqm = spec.aqm.resolve(limit, mtu).map_err(|e| wrong("queue", e.to_string()))?;
            let LinkSpec { rate, delay, loss, .. } = *spec;
            network.links.push(LinkConfig { name, from, to, rate, delay, limit, aqm, loss, effects: None });
        }
    }
    Ok(network)
}

fn parking_lot_network(spec: &ParkingLotSpec, mtu: u32) -> Result<Topology, SpecError> {
    let wrong = |key: &str, message: String| SpecError::at(format!("parking_lot.{key}"), message);
    if !(1..=100).contains(&spec.hops) {
        return Err(wrong("hops", "hops must be 1 to 100".into()));
    }
    let longest_rtt = Span { ns: 2 * u64::from(spec.hops) * spec.hop_delay.ns };
    let limit = spec.queue.limit(spec.rate, longest_rtt, mtu).map_err(|e| wrong("queue", e.to_string()))?;
    let aqm = spec.aqm.resolve(limit, mtu).map_err(|e| wrong("queue", e.to_string()))?;
    let mut network = Topology { nodes: (1..=spec.hops + 1).map(|i| format!("r{i}")).collect(), ..Topology::default() };
    for hop in 0..spec.hops as usize {
        for (from, to) in [(hop, hop + 1), (hop + 1, hop)] {
            let name = format!("{}-{}", network.nodes[from], network.nodes[to]);
            let (rate, delay, loss) = (spec.rate, spec.hop_delay, spec.loss);
            network.links.push(LinkConfig { name, from, to, rate, delay, limit, aqm, loss, effects: None });
        }
    }
    Ok(network)
}
