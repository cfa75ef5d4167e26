// SPDX-License-Identifier: MIT OR Apache-2.0
//! One quantity in the simulator and in another engine, on the paths of both.

use tandem_statistics::Estimate;

use super::{compare::Bound, table::Cell};

pub(super) struct Pair {
    pub simulated: Estimate,
    /// The simulation with the seeds that the other engine ran, too: starts and random losses are the same.
    pub same_seeds: Estimate,
    pub measured: Estimate,
    pub bound: Bound,
}

/// Of a table with a [`Pair`] of goodputs, one of mean queues, and three counts in each engine.
pub(super) const COLUMNS: [&str; 13] = [
    "flows",
    "goodput, simulator, Mb/s",
    "goodput, measured, Mb/s",
    "goodput",
    "queue, simulator, packets",
    "queue, measured, packets",
    "queue",
    "retransmissions, simulator",
    "retransmissions, measured",
    "reductions, simulator",
    "reductions, measured",
    "timeouts, simulator",
    "timeouts, measured",
];

impl Pair {
    /// Of the simulation, as a share of the other engine's.
    pub fn difference(&self) -> f64 {
        self.same_seeds.value / self.measured.value - 1.0
    }

    /// Both estimates, and whether they agree.
    pub fn cells(&self) -> [Cell; 3] {
        let check = self.bound.check(&self.same_seeds, &self.measured);
        [Cell::Estimate(self.simulated, 1), Cell::Estimate(self.measured, 1), check.into()]
    }
}
