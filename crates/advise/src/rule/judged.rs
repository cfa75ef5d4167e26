// SPDX-License-Identifier: MIT OR Apache-2.0
//! One controller against the limits and against the best.

use serde::Serialize;
use tandem_statistics::{Estimate, Looks, Neighbours, mean, stolen};

use super::{
    Limits,
    observed::{Elsewhere, Observed, exceeds, gain, half, is_clear_of, wanted_gain},
};

/// A smaller difference in goodput, as a share, counts as none.
const SAME: f64 = 0.01;
/// An interval of half this share of the best goodput is narrow enough. Where less gain than that is asked for, it has to be as narrow as that gain,
/// which is certain then, but no narrower than [`SAME`].
const NARROW: f64 = 0.05;
/// The same of what has a limit, as a part of that: half of the interval; of the neighbours' loss within the same bounds. Ours.
const PARTS_OF_LIMIT: f64 = 5.0;
/// If neighbours use less than this share of what they leave free, their loss counts as a share of that share instead. Ours.
const LITTLE: f64 = 0.1;

/// The rule's findings about a controller.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// With its parameters.
    pub controller: String,
    /// Effort to deploy it; smaller is easier, and untried controllers come last.
    #[serde(skip)]
    pub effort: (u8, bool),
    /// Number of seeds that ran.
    pub seeds: usize,
    /// Goodput of all own flows, or a transfer's size over its time, Mb/s.
    pub goodput_mbps: Estimate,
    /// Its goodput less the goodput of the best within the limits, over the same seeds.
    pub above_best_mbps: Estimate,
    /// Share of their goodput that the neighbours lose against the reference; null without neighbours.
    pub stolen: Option<Estimate>,
    /// The 95th percentile of the queueing delay, ms.
    pub delay_ms: Estimate,
    /// The same less the reference's.
    pub added_delay_ms: Estimate,
    /// Do neighbours certainly lose more than the limit? Their loss counts less if they leave nearly all of the path free.
    pub takes_too_much: bool,
    /// Does it keep within all [`Limits`], unless its whole interval exceeds one?
    pub is_within_limits: bool,
    /// Are its means within them, too? A controller that is merely not certain to exceed them is chosen only if there is no other.
    pub means_are_within_limits: bool,
    /// The measured goodput is its final one, as far as can be told. A controller that is not steady is never chosen.
    pub is_steady: bool,
    /// Equally likely paths on which it exceeds a limit and the default does not.
    pub exceeds_with: Vec<String>,
    /// The equally likely path on which it falls shortest; null without one.
    pub elsewhere: Option<Elsewhere>,
    /// It cannot be distinguished from the best within the limits.
    pub is_tied_with_best: bool,
    /// More seeds could change the verdict on it.
    pub is_open: bool,
}

impl Judged {
    /// It keeps the limits here and elsewhere, and is steady.
    pub fn may_be_chosen(&self) -> bool {
        self.is_within_limits && self.is_steady && self.exceeds_with.is_empty()
    }
}

pub fn judge(
    observed: &Observed,
    (reference, default): (&Observed, &str),
    carried_mbps: f64,
    limits: Limits,
    looks: &Looks,
) -> Judged {
    let pairs = observed.neighbours_mbps.iter().zip(&reference.neighbours_mbps).enumerate();
    let of_seed = |(seed, (beside, there)): (usize, (&Vec<f64>, &Vec<f64>))| Neighbours {
        beside: beside.clone(),
        reference: there.clone(),
        peers: reference.peers_mbps.get(seed).cloned().unwrap_or_default(),
    };
    let stolen = stolen(&pairs.map(of_seed).collect::<Vec<_>>()).map(|stolen| looks.widened(stolen));
    let added_delay_ms = looks.widened(Estimate::of_difference(&observed.delay_ms, &reference.delay_ms));
    let counted = stolen.map(|stolen| stolen * weight(reference, carried_mbps));
    let takes_too_much = counted.is_some_and(|counted| exceeds(counted, limits.stolen));
    Judged {
        controller: observed.name.clone(),
        effort: (observed.effort, observed.is_untried),
        seeds: observed.goodput_mbps.len(),
        goodput_mbps: looks.widened(Estimate::of_mean(&observed.goodput_mbps)),
        above_best_mbps: Estimate::exactly(0.0),
        stolen,
        delay_ms: looks.widened(Estimate::of_mean(&observed.delay_ms)),
        added_delay_ms,
        takes_too_much,
        is_within_limits: !takes_too_much && !exceeds(added_delay_ms, limits.added_delay_ms),
        means_are_within_limits: counted.is_none_or(|counted| counted.value <= limits.stolen)
            && added_delay_ms.value <= limits.added_delay_ms,
        // A comparison with itself needs no whole cycle.
        is_steady: !observed.moves(looks) && (!observed.is_short || observed.name == default),
        exceeds_with: observed.exceeds_with.clone(),
        elsewhere: observed.elsewhere.clone(),
        is_tied_with_best: true,
        is_open: false,
    }
}

/// The neighbours' loss as it counts: all of it, unless they use next to nothing of the path. Then it is relative to what they leave.
fn weight(reference: &Observed, carried_mbps: f64) -> f64 {
    let theirs = reference.neighbours_mean_mbps();
    let little = LITTLE * (carried_mbps - theirs);
    if theirs < little { theirs / little } else { 1.0 }
}

/// Compares a controller with the best.
pub fn compare(judged: &mut Judged, observed: &Observed, best: &Observed, looks: &Looks) {
    let above = if observed.name == best.name {
        Estimate::exactly(0.0)
    } else {
        looks.widened(Estimate::of_difference(&observed.goodput_mbps, &best.goodput_mbps))
    };
    let is_clearly_worse = above.value + half(above) < 0.0 && above.value.abs() >= SAME * mean(&best.goodput_mbps);
    judged.above_best_mbps = above;
    judged.is_tied_with_best = !is_clearly_worse;
}

/// Could more seeds make it the choice, or exclude it? A controller that certainly gains too little over the choice is out in any case.
pub fn is_open(judged: &Judged, observed: &Observed, chosen: &Observed, limits: Limits, looks: &Looks) -> bool {
    if !judged.is_steady || !judged.exceeds_with.is_empty() {
        return false;
    }
    let narrow = (limits.stolen / PARTS_OF_LIMIT).clamp(SAME, NARROW);
    let limits_are_clear = judged.stolen.is_none_or(|stolen| is_clear_of(stolen, limits.stolen, narrow))
        && is_clear_of(judged.added_delay_ms, limits.added_delay_ms, limits.added_delay_ms / PARTS_OF_LIMIT);
    let Some(gain) = gain(observed, chosen, limits.goal).map(|gain| looks.widened(gain)) else {
        return !limits_are_clear;
    };
    let wanted = wanted_gain(observed, chosen, limits);
    let may_gain_enough = gain.value + half(gain) >= wanted;
    let gain_is_clear = !judged.is_within_limits || is_clear_of(gain, wanted, wanted.clamp(SAME, NARROW));
    may_gain_enough && !(limits_are_clear && gain_is_clear)
}
