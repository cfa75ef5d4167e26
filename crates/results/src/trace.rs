// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows and links over time.

use serde::{Deserialize, Serialize};
use tandem_controllers::{MAX_PROBES, View};

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
    /// [`View::probes`], which the flow's controller reads; `None` where nothing shows them.
    pub probes: Option<[u64; MAX_PROBES]>,
}

impl FlowSample {
    /// Fills in the figures that a controller of Tandem's shows of itself.
    pub fn with_view(self, view: View) -> Self {
        let View { probes, loss_window, delay_window, gamma_q8, diff_q8, base_rtt_us, .. } = view;
        Self {
            loss_window_packets: loss_window,
            delay_window_packets: delay_window,
            gamma_packets: gamma_q8 as f32 / 256.0,
            diff_packets: diff_q8 as f32 / 256.0,
            base_rtt_ms: base_rtt_us as f32 / 1e3,
            probes: Some(probes),
            ..self
        }
    }
}

/// A link over time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LinkTrace {
    /// The link's name.
    pub name: String,
    /// Waiting packets, one value for each entry of [`Trace::time_s`].
    pub queue_packets: Vec<f32>,
    /// Packets that arrived at the link in each whole second after the warm-up; empty for a wireless cell, and where nothing was sent packet by
    /// packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered_by_second: Vec<u32>,
    /// Packets that were dropped or lost at random in each of these seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_by_second: Vec<u32>,
}
