// SPDX-License-Identifier: MIT OR Apache-2.0
//! `compound_steady` as a fluid: where flows that share a link come to rest, whether they stay there, and how they get there.
//!
//! Once a round a flow compares its backlog q = F (1 - base / r) with aim = B sqrt(x / T), T = 10 ms, and makes half of the difference
//! good. At rest q = aim for all: with x = F / r and the queueing delay d that is x d = B sqrt(x / T), hence
//!
//! ```text
//! x = B^2 / (d^2 T)        the RTT is not in it: flows with one B have one rate
//! ```
//!
//! [`Modes`] say how a small disturbance dies, [`Law::time_to_rest`] how long the way from anywhere takes.
//!
//! What is left out: losses, L, yields, noise, slow start, and that packets are whole.

mod course;
mod modes;

use serde::Serialize;
use tandem_controllers::Params;

pub use modes::Modes;

/// The controller whose law it is.
pub const CONTROLLER: &str = "compound_steady";

/// What the model has of the law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// T: the largest B, and the time in which a flow's rate is told in packets, s.
    pub buffer_s: f64,
    /// The share of q - aim that a round makes good.
    pub gain: f64,
    /// Growth in a round without a queue, over W^(3/4).
    pub alpha: f64,
    /// The part of D that such a round may fill.
    pub step: f64,
}

/// A flow of the link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// Of the empty path, s.
    pub base_rtt_s: f64,
    /// D, s; `None`: it has seen no overflow.
    pub overflow_s: Option<f64>,
}

/// What a flow has at rest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// x
    pub packets_per_s: f64,
    /// W
    pub window_packets: f64,
    /// q, which is aim.
    pub backlog_packets: f64,
}

/// Where the flows come to rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rest {
    /// d, s
    pub queueing_delay_s: f64,
    /// The sum of all backlogs.
    pub queue_packets: f64,
    /// In the order of the flows.
    pub shares: Vec<Share>,
}

impl Law {
    /// That of a controller with these parameters; `None` if it is not [`CONTROLLER`].
    pub fn of(params: &Params) -> Option<Self> {
        (params.controller().name == CONTROLLER).then_some(())?;
        let get = |name| params.get(name);
        Some(Self { buffer_s: get("buffer_us")? / 1e6, gain: 0.5, alpha: get("alpha")?, step: get("step")? })
    }

    /// B of a flow, s.
    fn part_s(&self, flow: &Flow) -> f64 {
        flow.overflow_s.map_or(self.buffer_s, |d| d.min(self.buffer_s))
    }

    /// Packets that a flow with this rate aims to have queued.
    fn aim(&self, flow: &Flow, packets_per_s: f64) -> f64 {
        (self.part_s(flow) * (packets_per_s / self.buffer_s).sqrt()).max(1.0)
    }

    /// The rate at which a flow has its aim queued, at a queueing delay of `d` s.
    fn rate(&self, flow: &Flow, d: f64) -> f64 {
        let part_s = self.part_s(flow);
        (part_s * part_s / (d * d * self.buffer_s)).max(1.0 / d)
    }

    /// Where `flows` on a link of `packets_per_s` come to rest; there is at least one.
    pub fn rest(&self, packets_per_s: f64, flows: &[Flow]) -> Rest {
        // All rates fall as d grows: halving finds the d at which they fill the link.
        let total = |d: f64| flows.iter().map(|flow| self.rate(flow, d)).sum::<f64>();
        let (mut short, mut long) = (1e-9, 1e3);
        for _ in 0..200 {
            let middle: f64 = f64::sqrt(short * long);
            if total(middle) > packets_per_s { short = middle } else { long = middle }
        }
        let d = f64::sqrt(short * long);
        let share = |flow: &Flow| {
            let x = self.rate(flow, d);
            Share { packets_per_s: x, window_packets: x * (flow.base_rtt_s + d), backlog_packets: x * d }
        };
        Rest { queueing_delay_s: d, queue_packets: packets_per_s * d, shares: flows.iter().map(share).collect() }
    }
}
