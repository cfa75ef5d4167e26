// SPDX-License-Identifier: MIT OR Apache-2.0
//! An oscillation as it is seen while following a connection: cycle after cycle, measured once settled.

use crate::{
    oscillation::{CycleType, Oscillation},
    totals::Totals,
};

/// Cycles in which an oscillation may settle, and over which it is then measured.
pub const SETTLING_CYCLES: usize = 4;
pub const MEASURED_CYCLES: usize = 8;

/// One cycle of the oscillation.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredCycle {
    pub kind: CycleType,
    pub totals: Totals,
    pub window_sum: f64,
    /// As the next cycle begins.
    pub loss_window: f64,
    pub min: f64,
    pub max: f64,
}

impl MeasuredCycle {
    pub const EMPTY: Self = Self {
        kind: CycleType::new(0, 0),
        totals: Totals { rounds: 0.0, time: 0.0, data: 0.0, queue_area: 0.0 },
        window_sum: 0.0,
        loss_window: 0.0,
        min: f64::INFINITY,
        max: 0.0,
    };

    pub fn take(&mut self, window: f64, totals: Totals) {
        self.totals += totals;
        self.window_sum += window;
        self.min = self.min.min(window);
        self.max = self.max.max(window);
    }
}

/// How many of this many cycles are left out as not yet settled: all but the last where there are few.
pub fn settling(cycles: usize) -> usize {
    SETTLING_CYCLES.min(cycles.saturating_sub(1))
}

pub fn oscillation(cycles: &[MeasuredCycle]) -> Option<Oscillation> {
    let rounds: f64 = cycles.iter().map(|c| c.totals.rounds).sum();
    (!cycles.is_empty()).then(|| Oscillation {
        types: cycles.iter().map(|c| c.kind).collect(),
        theta_min: cycles.iter().map(|c| c.min).fold(f64::INFINITY, f64::min),
        theta_mean: cycles.iter().map(|c| c.window_sum).sum::<f64>() / rounds,
        theta_max: cycles.iter().map(|c| c.max).fold(0.0, f64::max),
        backlog: cycles.iter().map(|c| c.totals.queue_area).sum::<f64>()
            / cycles.iter().map(|c| c.totals.time).sum::<f64>(),
    })
}
