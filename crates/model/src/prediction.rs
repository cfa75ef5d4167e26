// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the model says of a connection.

use serde::Serialize;
use tandem_scenario::HEADER_BYTES;

use crate::{law::Law, oscillation::Oscillation, path::Path, totals::Totals};

/// The six ways to combine phases, S2 section III: 1: phase 1; 2: 1 and 2; 3: 2; 4: all; 5: 2, 3 and 4; 6: 4.
///
/// `first_window` is the window after a loss; `swings` says whether phase 3 takes place, `overflows_at_once` whether a step of
/// growth overflows before there is a queue. S2 writes the first condition for beta = 1/2: w_0 < BDP is b < BDP,
/// w_0 < BDP + gamma is b < BDP + 2 gamma.
pub fn case(bdp: f64, law: &Law, first_window: f64, swings: bool, overflows_at_once: bool) -> u8 {
    match (first_window, swings) {
        (w, _) if w >= bdp + law.gamma_packets => 6,
        (w, true) if w >= bdp => 5,
        (w, false) if w >= bdp => 3,
        (_, true) => 4,
        (_, false) if overflows_at_once => 1,
        _ => 2,
    }
}

/// A stretch of the time between two losses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// S2 Figure 1: 1 growth without a queue, 2 growth with a queue, 3 "constant" window, 4 Reno.
    pub phase: u8,
    /// Number of rounds, a mean over epochs.
    pub rounds: f64,
    /// Time from its first round to its end.
    pub duration_s: f64,
    /// Packets delivered in it.
    pub data_packets: f64,
    /// Mean queue over the phase.
    pub backlog_packets: f64,
    /// Window at its start.
    pub first_window_packets: f64,
    /// Window at its end.
    pub last_window_packets: f64,
}

/// One prediction of a connection's steady state: what repeats from loss to loss.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// 1 to 6; see [`case`].
    pub case: u8,
    /// m:n of the oscillation that the connection has, or would have if the buffer had room; null if it has none.
    pub oscillation: Option<String>,
    /// Smallest window of the oscillation; null without one.
    pub theta_min_packets: Option<f64>,
    /// Mean window of the oscillation over rounds; null without one.
    pub theta_mean_packets: Option<f64>,
    /// Largest window of the oscillation; null without one.
    pub theta_max_packets: Option<f64>,
    /// Share of the link's rate.
    pub utilisation: f64,
    /// On the wire, headers included.
    pub throughput_mbps: f64,
    /// Payload.
    pub goodput_mbps: f64,
    /// Mean queue over time.
    pub backlog_packets: f64,
    /// From loss to loss, mean.
    pub epoch_s: f64,
    /// Window that a loss finds.
    pub loss_window_packets: f64,
    /// Window that a loss leaves.
    pub first_window_packets: f64,
    /// The phases from one loss to the next, in order.
    pub phases: Vec<Phase>,
    /// Recovery and the round after it; 0 in S2's model, which knows of none.
    pub recovery_s: f64,
    /// Share of the epochs that reach phase 3's steady state, or Reno alone. Between 0 and 1 a connection changes between
    /// its cases, which happens next to borders.
    pub settled_share: f64,
}

/// What a [`Prediction`] is made of: sums over `epochs` epochs, in packets and packet times.
pub(crate) struct Parts<'a> {
    pub path: &'a Path,
    pub case: u8,
    pub oscillation: Option<&'a Oscillation>,
    pub epochs: f64,
    pub recovery: Totals,
    pub phases: [Totals; 4],
    pub spans: [Option<(f64, f64)>; 4],
    pub loss_window: f64,
    pub first_window: f64,
    pub settled_share: f64,
}

impl Parts<'_> {
    pub fn prediction(self) -> Prediction {
        let seconds = |packet_times: f64| packet_times / self.path.packets_per_s();
        let mut all = self.recovery;
        self.phases.iter().for_each(|phase| all += *phase);
        let phase = |(number, totals): (u8, Totals)| {
            let (first, last) = self.spans[usize::from(number) - 1]?;
            Some(Phase {
                phase: number,
                rounds: totals.rounds / self.epochs,
                duration_s: seconds(totals.time) / self.epochs,
                data_packets: totals.data / self.epochs,
                backlog_packets: totals.mean_queue(),
                first_window_packets: first,
                last_window_packets: last,
            })
        };
        let throughput_mbps = all.utilisation() * self.path.rate.bps as f64 / 1e6;
        let payload = f64::from(self.path.packet_bytes - HEADER_BYTES) / f64::from(self.path.packet_bytes);
        Prediction {
            case: self.case,
            oscillation: self.oscillation.map(Oscillation::name),
            theta_min_packets: self.oscillation.map(|o| o.theta_min),
            theta_mean_packets: self.oscillation.map(|o| o.theta_mean),
            theta_max_packets: self.oscillation.map(|o| o.theta_max),
            utilisation: all.utilisation(),
            throughput_mbps,
            goodput_mbps: throughput_mbps * payload,
            backlog_packets: all.mean_queue(),
            epoch_s: seconds(all.time) / self.epochs,
            loss_window_packets: self.loss_window,
            first_window_packets: self.first_window,
            phases: (1..).zip(self.phases).filter_map(phase).collect(),
            recovery_s: seconds(self.recovery.time) / self.epochs,
            settled_share: self.settled_share,
        }
    }
}
