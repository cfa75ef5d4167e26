// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples in rows of numbers, which a page reads without parsing.

use tandem_results::Trace;
use tandem_scenario::Scenario;

/// Columns before those of the groups: time, s; packets that wait at the first link.
const SHARED_COLUMNS: usize = 2;
/// Columns of a group: window of its first flow, packets; smoothed RTT of its first flow, ms; goodput of all its flows, Mb/s.
const GROUP_COLUMNS: usize = 3;

/// The samples that came last.
pub struct Rows {
    groups: usize,
    /// How many samples of the run have been taken.
    taken: usize,
    numbers: Vec<f32>,
}

impl Rows {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self { groups: scenario.groups.len(), taken: 0, numbers: Vec::new() }
    }

    /// Replaces the rows by those that the trace has besides what was taken before.
    pub(crate) fn take(&mut self, trace: &Trace) {
        self.numbers.clear();
        for sample in self.taken..trace.time_s.len() {
            let waiting = trace.links.first().map_or(0.0, |link| link.queue_packets[sample]);
            self.numbers.extend([trace.time_s[sample] as f32, waiting]);
            for group in 0..self.groups {
                let mut flows = trace.flows.iter().filter(|flow| flow.group == group).map(|flow| flow.samples[sample]);
                let first = flows.next().unwrap_or_default();
                let goodput_mbps = first.goodput_mbps + flows.map(|flow| flow.goodput_mbps).sum::<f32>();
                self.numbers.extend([first.cwnd_packets as f32, first.srtt_ms, goodput_mbps]);
            }
        }
        self.taken = trace.time_s.len();
    }

    /// Row by row: time, queue, then window, RTT and goodput of each group.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// Numbers in a row.
    pub fn columns(&self) -> usize {
        SHARED_COLUMNS + GROUP_COLUMNS * self.groups
    }
}
