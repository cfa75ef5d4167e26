// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cell as a part of a network.

use std::ops::Range;

use tandem_scenario::Topology;

use super::Cell;

/// A wireless cell, and the numbers of its two links.
#[derive(Debug)]
pub struct Air<P> {
    /// The channel and its senders.
    pub cell: Cell<P>,
    pub(crate) uplink: usize,
    pub(crate) downlink: usize,
}

impl<P> Air<P> {
    /// The links that share the channel: up and down.
    pub(crate) const LINKS: usize = 2;

    /// The cell of a topology, if it has one. `measured` is the part of the run that counts in statistics, ns.
    pub fn of(topology: &Topology, measured: &Range<u64>, seed: u64) -> Option<Self> {
        let spec = topology.cell.as_ref()?;
        let cell = Cell::of(spec, &topology.links, measured.clone(), seed);
        Some(Self { cell, uplink: spec.uplink, downlink: spec.downlink })
    }
}
