// SPDX-License-Identifier: MIT OR Apache-2.0
//! One quantity in the simulator and in another engine, on the paths of both.

use tandem_statistics::Estimate;

use super::{
    compare::{Agreement, Bound, Check},
    table::Cell,
};

pub(super) struct Pair {
    pub simulated: Estimate,
    pub measured: Estimate,
    /// Of the simulation from the other engine, seed by seed: a seed has the same starts and the same random losses in both.
    pub difference: Estimate,
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
    pub fn relative_difference(&self) -> f64 {
        self.difference.value / self.measured.value
    }

    fn check(&self) -> Check {
        self.bound.check_difference(&self.difference, self.measured.value)
    }

    pub fn agreement(&self) -> Agreement {
        self.check().agreement
    }

    /// Both estimates, and whether they agree.
    pub fn cells(&self) -> [Cell; 3] {
        let check = self.check();
        [Cell::Estimate(self.simulated, 1), Cell::Estimate(self.measured, 1), check.into()]
    }
}
