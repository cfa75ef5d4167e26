// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an engine returns for one seed. Rates are megabits a second of payload (goodput, RFC 5166 section 2.1) unless said. Everything is
//! measured after the warm-up unless said.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{delivery::Delivery, distribution::Distribution, emulation::Emulation, trace::Trace};

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

/// How the channel of a wireless cell was used, one seed. Shares are of the measured time; the rest was idle, with its
/// backoffs and the gaps before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// Exchanges from stations that succeeded: data, SIFS and ACK.
    pub up_airtime: f64,
    /// The same from the access point.
    pub down_airtime: f64,
    /// Collisions, with the gap after each.
    pub collision_airtime: f64,
    /// Frames that did not collide but were damaged.
    pub error_airtime: f64,
    /// Data frames sent, each try counted.
    pub frames: u64,
    /// Data frames that another frame disturbed.
    pub collided_frames: u64,
    /// Data frames that did not collide but were damaged.
    pub damaged_frames: u64,
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
    /// Samples over time; `None` unless they were asked for. They are most of a result, and results are copied to all that ask for the same run.
    pub trace: Option<Arc<Trace>>,
}
