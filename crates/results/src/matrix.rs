// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every controller against every other on one path.

use serde::{Deserialize, Serialize};
use tandem_scenario::FORWARD_LINK;
use tandem_statistics::{Estimate, mean};

use crate::run::Run;

/// What came of each pair. `cells[row][column]` belongs to `controllers[row]` against `controllers[column]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// Names of the controllers, in the order of rows and columns.
    pub controllers: Vec<String>,
    /// Number of flows of each of the two.
    pub flows: u32,
    /// Null where no seed was finished.
    pub cells: Vec<Vec<Option<MatrixCell>>>,
}

/// A controller against another; means over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// The row's controller's part of what both got: 0.5 is fair.
    pub share: f64,
    /// Half width of the 95 % interval; null with one seed.
    pub share_ci95: Option<f64>,
    /// Goodput of both, megabits a second.
    pub goodput_mbps: f64,
    /// Share of the bottleneck's rate that was used, headers included.
    pub utilisation: f64,
    /// Mean number of packets that wait before the bottleneck.
    pub queue_packets: f64,
    /// Jain's index (RFC 5166 section 2.3.1) of the flows of both.
    pub jain: f64,
}

impl Matrix {
    /// The pairs that have to be run: each once, (row, column) with row <= column, row by row.
    pub fn pairs(controllers: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..controllers).flat_map(move |row| (row..controllers).map(move |column| (row, column)))
    }

    /// From a run of each of [`Matrix::pairs`], in their order; the first group is the row's.
    pub fn from_runs(controllers: Vec<String>, flows: u32, runs: &[Option<Run>]) -> Self {
        let mut cells = vec![vec![None; controllers.len()]; controllers.len()];
        for ((row, column), run) in Self::pairs(controllers.len()).zip(runs) {
            let Some(cell) = run.as_ref().and_then(MatrixCell::of) else { continue };
            // A controller against itself has one cell: the first flows against the second.
            cells[column][row] = Some(MatrixCell { share: 1.0 - cell.share, ..cell });
            cells[row][column] = Some(cell);
        }
        Self { controllers, flows, cells }
    }
}

impl MatrixCell {
    /// The run's first group against its second. `None` if a seed delivered nothing, because then there is nothing to share.
    pub fn of(run: &Run) -> Option<Self> {
        let [own, other] = [run.groups.first()?, run.groups.get(1)?].map(|g| &g.goodput_by_seed_mbps);
        let both: Vec<f64> = own.iter().zip(other).map(|(a, b)| a + b).collect();
        let shares: Vec<f64> = own.iter().zip(&both).map(|(a, both)| a / both).collect();
        let link = run.links.iter().find(|l| l.name == FORWARD_LINK)?;
        let jain = run.jain?;
        let share = run.looks.widened(Estimate::of_mean(&shares));
        both.iter().all(|&b| b > 0.0).then(|| Self {
            share: share.value,
            share_ci95: share.half_width,
            goodput_mbps: mean(&both),
            utilisation: link.utilisation,
            queue_packets: link.queue_packets.mean,
            jain,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_is_run_once() {
        assert_eq!(Matrix::pairs(3).collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]);
        assert_eq!(Matrix::pairs(0).count(), 0);
    }
}
