// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was seen of a connection from one loss to the next.

use crate::{oscillation::Oscillation, queue::Segment, totals::Totals};

/// From one loss to the next.
#[derive(Debug, Clone, Default)]
pub struct Epoch {
    /// Recovery and the round after it, then phases 1 to 4.
    pub recovery: Totals,
    /// Window after that.
    pub first_window: f64,
    pub phases: [Totals; 4],
    /// First and last window of each phase, packets.
    pub spans: [Option<(f64, f64)>; 4],
    pub oscillation: Option<Oscillation>,
    /// Did it get as far as that oscillation's steady state, or to Reno alone, rather than overflow on the way there?
    pub is_settled: bool,
    /// Window when the loss is noticed.
    pub loss_window: f64,
    /// Packets that found no room.
    pub lost_packets: f64,
    /// Largest window, which may be above the one that is halved.
    pub peak_window: f64,
}

impl Epoch {
    pub fn totals(&self) -> Totals {
        let mut sum = self.recovery;
        for phase in self.phases {
            sum += phase;
        }
        sum
    }

    /// Is there phase 4 only?
    pub fn is_reno_alone(&self) -> bool {
        self.spans[..3].iter().all(Option::is_none)
    }

    pub fn enter(&mut self, phase: usize, window: f64, totals: Totals) {
        self.phases[phase] += totals;
        let span = self.spans[phase].get_or_insert((window, window));
        span.1 = window;
        self.peak_window = self.peak_window.max(window);
    }
}

/// One round of a connection, for those who want to see them all.
#[derive(Debug, Clone)]
pub struct Record {
    pub window: f64,
    pub loss_window: f64,
    pub totals: Totals,
    pub queue: Vec<Segment>,
    /// Does it begin with a loss?
    pub is_recovery: bool,
}
