// SPDX-License-Identifier: MIT OR Apache-2.0
//! How exactly a path was emulated.

use serde::{Deserialize, Serialize};
use tandem_statistics::mean;

use crate::distribution::Distribution;

/// How exactly a path was emulated (kernel engine).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// By how much packets left the path later than they should have, microseconds.
    pub lateness_us: Distribution,
    /// Between looks at what hosts have sent, while packets were under way, microseconds: one may have waited so long before the path saw
    /// it.
    pub look_gap_us: Distribution,
    /// Share of the time that such gaps took which were longer than a millisecond and than 1 % of the shortest RTT.
    #[serde(default)]
    pub unserved_share: f64,
    /// CPU time of the emulator's threads, over the time that they ran: 1 is one core. The work of the hosts' TCP on each
    /// arriving packet is part of it.
    pub cpu_share: f64,
    /// Share of the time that a thread of the emulator was ready to run but got no CPU.
    pub starved_share: f64,
    /// Packets lost outside the scenario's links.
    pub stray_drops: u64,
    /// Why the results are not to be trusted; empty if they are.
    pub doubts: Vec<String>,
}

impl Emulation {
    /// Each figure's mean over seeds, all drops, all doubts; `None` if nothing was emulated.
    pub(crate) fn over_seeds<'a>(seeds: impl Iterator<Item = &'a Emulation> + Clone) -> Option<Self> {
        let average = |f: fn(&Emulation) -> f64| mean(&seeds.clone().map(f).collect::<Vec<_>>());
        let mut doubts: Vec<String> = seeds.clone().flat_map(|e| e.doubts.iter().cloned()).collect();
        doubts.dedup();
        seeds.clone().next()?;
        Some(Self {
            lateness_us: Distribution::over_seeds(seeds.clone().map(|e| &e.lateness_us)),
            look_gap_us: Distribution::over_seeds(seeds.clone().map(|e| &e.look_gap_us)),
            unserved_share: average(|e| e.unserved_share),
            cpu_share: average(|e| e.cpu_share),
            starved_share: average(|e| e.starved_share),
            stray_drops: seeds.map(|e| e.stray_drops).sum(),
            doubts,
        })
    }
}
