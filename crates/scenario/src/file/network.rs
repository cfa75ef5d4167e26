// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario file's network, whichever of the four ways it is given.

use toml::Spanned;

use super::{
    Problem,
    tables::{DumbbellTable, File, ParkingLotTable},
};
use crate::{
    dumbbell::Dumbbell,
    scenario::{Link, Network},
    units::{QueueSize, Span},
};

impl File {
    pub(super) fn network(&self, mtu: u32) -> Result<Network, Problem> {
        let shapes = [self.dumbbell.is_some(), self.parking_lot.is_some(), self.wlan.is_some(), !self.links.is_empty()];
        if shapes.iter().filter(|&&given| given).count() != 1 {
            return Err(Problem(None, "give one network: [dumbbell], [parking_lot], [wlan] or [[links]]".into()));
        }
        if let Some(table) = &self.dumbbell {
            return self.dumbbell_network(table, mtu);
        }
        if let Some(table) = &self.parking_lot {
            return parking_lot_network(table, mtu);
        }
        if let Some(table) = &self.wlan {
            return table.network(mtu);
        }
        let mut network = Network::default();
        for table in &self.links {
            for (name, from, to) in table.directions() {
                if network.links.iter().any(|l| l.name == name) {
                    return Err(Problem::at(&table.name, format!("there are two links named `{name}`: rename one")));
                }
                let (from, to) = (network.node_or_new(from), network.node_or_new(to));
                if from == to {
                    return Err(Problem::at(&table.name, format!("link `{name}` leads from a node to itself")));
                }
                if matches!(table.queue.get_ref(), QueueSize::Bdp(_)) {
                    let message =
                        "bdp is defined for [dumbbell] and [parking_lot] only: write packets, bytes or a time";
                    return Err(Problem::at(&table.queue, message));
                }
                let problem = |e| Problem::at(&table.queue, e);
                let limit = table.queue.get_ref().limit(table.rate, Span::default(), mtu).map_err(problem)?;
                let aqm = table.aqm.resolve(limit, mtu).map_err(problem)?;
                network.links.push(Link {
                    name,
                    from,
                    to,
                    rate: table.rate,
                    delay: table.delay,
                    limit,
                    aqm,
                    loss: table.loss,
                });
            }
        }
        Ok(network)
    }

    /// The links carry the smallest RTT of any group; the others add theirs as access delay.
    fn dumbbell_network(&self, table: &DumbbellTable, mtu: u32) -> Result<Network, Problem> {
        let own_rtts = self.flows.get_ref().iter().map(|f| f.rtt.as_ref().map_or(table.rtt, |r| *r.get_ref()));
        let dumbbell = Dumbbell {
            rate: table.rate,
            rtt: table.rtt,
            queue: *table.queue.get_ref(),
            aqm: table.aqm,
            loss: table.loss,
            reverse_rate: table.reverse_rate,
            reverse_queue: table.reverse_queue,
            reverse_loss: table.reverse_loss,
        };
        let link_rtt = own_rtts.min().unwrap_or(table.rtt);
        dumbbell.network(link_rtt, mtu).map_err(|e| Problem::at(&table.queue, e))
    }
}

fn parking_lot_network(spanned: &Spanned<ParkingLotTable>, mtu: u32) -> Result<Network, Problem> {
    let table = spanned.get_ref();
    if !(1..=100).contains(&table.hops) {
        return Err(Problem::at(spanned, "hops must be 1 to 100"));
    }
    let longest_rtt = Span { ns: 2 * u64::from(table.hops) * table.hop_delay.ns };
    let problem = |e| Problem::at(spanned, e);
    let limit = table.queue.limit(table.rate, longest_rtt, mtu).map_err(problem)?;
    let aqm = table.aqm.resolve(limit, mtu).map_err(problem)?;
    let mut network = Network { nodes: (1..=table.hops + 1).map(|i| format!("r{i}")).collect(), ..Network::default() };
    for hop in 0..table.hops as usize {
        for (from, to) in [(hop, hop + 1), (hop + 1, hop)] {
            let name = format!("{}-{}", network.nodes[from], network.nodes[to]);
            let (rate, delay, loss) = (table.rate, table.hop_delay, table.loss);
            network.links.push(Link { name, from, to, rate, delay, limit, aqm, loss });
        }
    }
    Ok(network)
}
