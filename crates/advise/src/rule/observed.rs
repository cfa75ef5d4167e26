// SPDX-License-Identifier: MIT OR Apache-2.0
//! The observations of a controller's runs, and comparisons of two.

use serde::Serialize;
use tandem_statistics::{Estimate, Looks, mean};

use super::{Goal, Limits};

/// A goodput that changes by more than this share of a fair share is not steady. Ours.
const DRIFT: f64 = 0.1;

/// A controller on one path, seed by seed, in the order of the seeds. Lists may differ in length between controllers; they begin with
/// the same seed, and comparisons are made seed by seed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    pub name: String,
    /// Effort to deploy it on this machine; smaller is easier.
    pub effort: u8,
    /// Nobody is known to have run it for common use.
    pub is_untried: bool,
    /// The path's RTT without queues, ms.
    pub base_rtt_ms: f64,
    /// Goodput, or a transfer's size over its time, Mb/s.
    pub goodput_mbps: Vec<f64>,
    /// The goodput of each neighbour beside it, Mb/s; empty without neighbours. A transfer's neighbours are one, all together.
    pub neighbours_mbps: Vec<Vec<f64>>,
    /// Of a reference that is exchangeable with its neighbours: the goodput of each own flow, Mb/s; otherwise empty.
    pub peers_mbps: Vec<Vec<f64>>,
    /// The 95th percentile of the queueing delay, ms.
    pub delay_ms: Vec<f64>,
    /// By how much its goodput rose from the first half of what was measured to the second, as a share of what its flows would have if all had
    /// the same; empty where nothing is measured by halves.
    pub drift: Vec<f64>,
    /// The measured time is shorter than the loss cycle, as far as that is known.
    pub is_short: bool,
    /// Paths that are as likely, on which it exceeds a limit and the default does not: by what differs.
    pub exceeds_with: Vec<String>,
    /// Where it falls shortest, if there are such paths.
    pub elsewhere: Option<Elsewhere>,
}

/// What a controller has on a path that is as likely.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Elsewhere {
    /// The value that differs.
    pub differs: String,
    /// Its goodput, or whatever counts, as a share of the best within the limits.
    pub of_best: f64,
}

impl Observed {
    /// Its score for the goal, seed by seed; higher is better.
    pub fn score(&self, goal: Goal) -> Vec<f64> {
        let rtts_ms = self.delay_ms.iter().map(|delay_ms| self.base_rtt_ms + delay_ms);
        match goal {
            Goal::Goodput => self.goodput_mbps.clone(),
            Goal::Delay => rtts_ms.map(|ms| 1.0 / ms).collect(),
            Goal::Both => self.goodput_mbps.iter().zip(rtts_ms).map(|(mbps, ms)| mbps / ms).collect(),
        }
    }

    /// What it and its neighbours had together, Mb/s.
    pub fn carried_mbps(&self) -> f64 {
        mean(&self.goodput_mbps) + self.neighbours_mean_mbps()
    }

    pub fn neighbours_mean_mbps(&self) -> f64 {
        mean(&self.neighbours_mbps.iter().map(|seed| seed.iter().sum()).collect::<Vec<f64>>())
    }

    /// Is it measured over a whole cycle, without a trend?
    pub fn is_steady(&self, looks: &Looks) -> bool {
        !self.is_short && !self.moves(looks)
    }

    /// Was it still approaching its final goodput?
    pub fn moves(&self, looks: &Looks) -> bool {
        let drift = looks.widened(Estimate::of_mean(&self.drift));
        !self.drift.is_empty() && drift.value.abs() > DRIFT.max(half(drift))
    }
}

/// An untried controller must gain this many times what another change must. Ours.
const UNTRIED: f64 = 2.0;

/// The gain over another that it needs.
pub fn wanted_gain(observed: &Observed, other: &Observed, limits: Limits) -> f64 {
    if observed.is_untried && !other.is_untried { UNTRIED * limits.gain } else { limits.gain }
}

/// Without an interval, it may be chance.
pub fn half(estimate: Estimate) -> f64 {
    estimate.half_width.unwrap_or(f64::INFINITY)
}

/// Is the whole interval above the limit?
pub fn exceeds(estimate: Estimate, limit: f64) -> bool {
    estimate.value - half(estimate) > limit
}

/// Is the whole interval on one side of the limit, or narrow enough?
pub fn is_clear_of(estimate: Estimate, limit: f64, narrow: f64) -> bool {
    (estimate.value - limit).abs() > half(estimate) || half(estimate) <= narrow
}

/// Is its score certainly higher, seed by seed? Where few flows get through, goodputs have a heavy tail, and one lucky seed widens the interval of the
/// mean more than it raises the mean. So it is their ratios that are averaged, as logarithms; if a seed had nothing, their differences.
pub fn is_certainly_better(observed: &Observed, other: &Observed, goal: Goal, looks: &Looks) -> bool {
    let [score, of_other] = [observed, other].map(|o| o.score(goal));
    let above = Estimate::of_log_ratio(&score, &of_other);
    exceeds(looks.widened(above.unwrap_or_else(|| Estimate::of_difference(&score, &of_other))), 0.0)
}

/// The difference of the scores, over the seeds that both have, relative to the other's mean there; `None` for itself, or if the other
/// got nothing.
pub fn gain(observed: &Observed, other: &Observed, goal: Goal) -> Option<Estimate> {
    let [score, of_other] = [observed, other].map(|o| o.score(goal));
    let both = score.len().min(of_other.len());
    let scale = mean(&of_other[..both]);
    let above = Estimate::of_difference(&score, &of_other);
    (observed.name != other.name && scale > 0.0).then(|| above / scale)
}
