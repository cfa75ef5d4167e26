// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a scenario: one schema whichever engine ran.
//!
//! An engine returns a [`SeedResult`] for each seed; [`Run::from_seeds`] sums them up. Rates are megabits a second of
//! payload (goodput, RFC 5166 section 2.1) unless said. Everything is measured after the warm-up unless said.

use serde::{Deserialize, Serialize};
use tandem_controllers::View;

use crate::stats::mean;
pub use crate::{
    cell::{CellResult, CellSummary},
    summary::{GroupSummary, LinkSummary, RttFairness, Run},
};

/// Mean and percentiles of a quantity, in the unit that the name of the field with it ends in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value; no percentile exceeds it.
    pub max: f64,
}

impl Distribution {
    /// Of values that are all at hand; `None` if there are none.
    pub fn of_values(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let at = |q: f64| values[((values.len() - 1) as f64 * q).round() as usize];
        (!values.is_empty()).then(|| Self {
            mean: mean(&values),
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        })
    }

    /// Each figure's mean over seeds; the maximum is that of all.
    pub(crate) fn over_seeds<'a>(seeds: impl Iterator<Item = &'a Distribution> + Clone) -> Self {
        let average = |f: fn(&Distribution) -> f64| mean(&seeds.clone().map(f).collect::<Vec<_>>());
        Self {
            mean: average(|d| d.mean),
            p50: average(|d| d.p50),
            p95: average(|d| d.p95),
            p99: average(|d| d.p99),
            max: seeds.clone().map(|d| d.max).fold(0.0, f64::max),
        }
    }
}

/// One flow, one seed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FlowResult {
    /// Payload that the receiver got, megabits a second (RFC 5166 section 2.1.2); what came twice counts once.
    pub goodput_mbps: f64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts (RFC 6298) that expired.
    pub timeouts: u64,
    /// Reductions of the window, timeouts included.
    pub window_reductions: u64,
    /// Smallest RTT that was possible, with this flow's random part, milliseconds.
    pub base_rtt_ms: f64,
    /// Completion times of finite transfers, seconds.
    pub completion_times_s: Vec<f64>,
    /// The transfers of short flows that came after the warm-up; empty without short flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_flows: Vec<ShortTransfer>,
    /// Payload received in each second of the whole run, megabits.
    pub received_mbit_by_second: Vec<f32>,
}

/// What the packets of a group without congestion control met on their way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// From sending to arrival, of each packet.
    pub delay_ms: Distribution,
    /// Interarrival jitter (RFC 3550 section 6.4.1), as it is after each packet.
    pub jitter_ms: Distribution,
    /// Share of the packets that did not arrive, or came after 64 later ones.
    pub loss_rate: f64,
    /// The same in each second of each flow.
    pub loss_rate_by_second: Distribution,
}

impl Delivery {
    /// Each figure's mean over seeds, the maxima those of all; `None` if no seed has any.
    pub(crate) fn over_seeds<'a>(seeds: impl Iterator<Item = &'a Delivery> + Clone) -> Option<Self> {
        seeds.clone().next()?;
        Some(Self {
            delay_ms: Distribution::over_seeds(seeds.clone().map(|d| &d.delay_ms)),
            jitter_ms: Distribution::over_seeds(seeds.clone().map(|d| &d.jitter_ms)),
            loss_rate: mean(&seeds.clone().map(|d| d.loss_rate).collect::<Vec<_>>()),
            loss_rate_by_second: Distribution::over_seeds(seeds.map(|d| &d.loss_rate_by_second)),
        })
    }
}

/// One transfer of short flows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShortTransfer {
    /// When it came, seconds from the start of the run.
    pub arrived_s: f64,
    /// Its payload.
    pub bytes: u64,
    /// From then until all of it was acknowledged, seconds; `None`: it had not ended when the run or the group did.
    pub completion_time_s: Option<f64>,
}

/// One link, one seed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LinkResult {
    /// Share of the link's rate that was used, headers included; in a wireless cell, of the data rate by packets that got
    /// through, so that it stays well below 1.
    pub utilisation: f64,
    /// Packets that wait, over time. Mean and maximum are exact, percentiles are those of regular samples.
    pub queue_packets: Distribution,
    /// How long a packet would wait that arrived then, over time. The maximum is exact; mean and percentiles are those of regular samples.
    /// In a wireless cell: how long packets waited until the transmission began that succeeded.
    pub queueing_delay_ms: Distribution,
    /// Packets that arrived at the link, the dropped and the lost ones included.
    pub offered_packets: u64,
    /// Packets that a full queue or queue management dropped.
    pub drops: u64,
    /// Packets that queue management marked (ECN); left out if there are none.
    #[serde(default, skip_serializing_if = "is_none_u64")]
    pub marks: u64,
    /// Packets that the link's random loss took; in a wireless cell, frames given up after the last try.
    pub random_losses: u64,
}

fn is_none_u64(count: &u64) -> bool {
    *count == 0
}

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

/// One seed of one scenario.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SeedResult {
    /// Seed of the random numbers.
    pub seed: u64,
    /// One entry for each flow, in the order of the groups.
    pub flows: Vec<FlowResult>,
    /// The RTTs that the ACKs of each group's flows measured, milliseconds. Empty if the engine does not know them.
    pub rtt_ms: Vec<Distribution>,
    /// The smoothed RTTs (RFC 6298) of each group's flows while data was outstanding, milliseconds, sampled at regular times. Empty if the
    /// engine has none.
    pub srtt_ms: Vec<Distribution>,
    /// What the packets of each UDP group met, `None` for other groups; empty if there is no UDP, or the engine does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<Option<Delivery>>,
    /// One entry for each link, in the order of the network.
    pub links: Vec<LinkResult>,
    /// Use of the channel; `None` without a wireless cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellResult>,
    /// Data packets that receivers got, in the warm-up too.
    pub data_packets: u64,
    /// CPU time that the run took, seconds.
    pub cpu_s: f64,
    /// How exact the path was; `None` if nothing was emulated.
    pub emulation: Option<Emulation>,
    /// Samples over time; `None` unless they were asked for.
    pub trace: Option<Trace>,
}

/// Samples of one seed at regular times; each series has one value a sample.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The seed that was traced.
    pub seed: u64,
    /// When each sample was taken, seconds from the start of the run.
    pub time_s: Vec<f64>,
    /// The traced flows: the first few of each TCP group.
    pub flows: Vec<FlowTrace>,
    /// All links, in the order of the network.
    pub links: Vec<LinkTrace>,
}

/// A traced flow.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FlowTrace {
    /// Index of the flow, counted over all groups.
    pub flow: usize,
    /// Index of the group.
    pub group: usize,
    /// One sample for each entry of [`Trace::time_s`].
    pub samples: Vec<FlowSample>,
}

/// The state of a flow at one time. What the flow's controller does not have is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSample {
    /// Congestion window.
    pub cwnd_packets: u32,
    /// Loss-based part of the window (`cwnd` in S2).
    pub loss_window_packets: u32,
    /// Delay-based part of the window (`dwnd` in S2).
    pub delay_window_packets: u32,
    /// Slow start threshold (RFC 5681).
    pub ssthresh_packets: u32,
    /// Threshold of the backlog, above which the delay window shrinks.
    pub gamma_packets: f32,
    /// Backlog that the controller estimates.
    pub diff_packets: f32,
    /// Smoothed RTT (RFC 6298).
    pub srtt_ms: f32,
    /// Smallest RTT as the controller keeps it.
    pub base_rtt_ms: f32,
    /// Packets sent, but neither acknowledged nor taken for lost.
    pub in_flight_packets: u32,
    /// Payload received since the last sample, megabits a second.
    pub goodput_mbps: f32,
}

impl FlowSample {
    /// Fills in the figures that a controller of Tandem's shows of itself.
    pub fn with_view(self, view: View) -> Self {
        let View { loss_window, delay_window, gamma_q8, diff_q8, base_rtt_us } = view;
        Self {
            loss_window_packets: loss_window,
            delay_window_packets: delay_window,
            gamma_packets: gamma_q8 as f32 / 256.0,
            diff_packets: diff_q8 as f32 / 256.0,
            base_rtt_ms: base_rtt_us as f32 / 1e3,
            ..self
        }
    }
}

/// The queue of a link over time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LinkTrace {
    /// The link's name.
    pub name: String,
    /// Waiting packets, one value for each entry of [`Trace::time_s`].
    pub queue_packets: Vec<f32>,
}
