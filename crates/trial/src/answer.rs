// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a trial's answer at some time.

use serde::Serialize;
use tandem_statistics::AsymmetricEstimate;

use crate::evidence::Totals;

/// How much worse than the second arm the first may be before the trial ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Smoothed RTT: a share of the second arm's, as 0.25.
    pub rtt: f64,
    /// Retransmitted share of the segments: a difference, as 0.01.
    pub retransmissions: f64,
    /// Share of handshakes that fail: a difference.
    pub failures: f64,
}

/// The difference in goodput of some connections.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which connections: all, or a class of sizes.
    pub name: String,
    /// Number of connections that sent something, in each arm.
    pub connections: [u64; 2],
    /// How much more goodput the first arm's had while busy, relative to the second arm's: the ratio of the geometric means, less 1. `None` before there
    /// are enough.
    pub goodput_change: Option<AsymmetricEstimate>,
}

/// A measure that the first arm must not make much worse.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Guard {
    /// `rtt`, `retransmissions` or `failures`.
    pub what: &'static str,
    /// See [`Limits`].
    pub limit: f64,
    /// In the limit's unit. `None` before there are enough.
    pub change: Option<AsymmetricEstimate>,
    /// Is the change above the limit, for certain? Then the trial ends.
    pub is_broken: bool,
}

/// The answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// There are too few connections to say anything.
    TooFew,
    /// No difference has shown.
    NoDifference,
    /// The first arm has more goodput, in all connections or in a class, and less in none.
    Better,
    /// The first arm has less, and more in none.
    Worse,
    /// More in one class, and less in another.
    Mixed,
}

impl Verdict {
    pub(crate) fn of(rows: &[Row], is_enough: bool) -> Self {
        let shown: Vec<AsymmetricEstimate> =
            rows.iter().filter_map(|row| row.goodput_change).filter(AsymmetricEstimate::excludes_zero).collect();
        let (more, less) = (shown.iter().any(|i| i.low > 0.0), shown.iter().any(|i| i.high < 0.0));
        match (more, less) {
            (true, true) => Self::Mixed,
            (true, false) => Self::Better,
            (false, true) => Self::Worse,
            (false, false) if is_enough => Self::NoDifference,
            (false, false) => Self::TooFew,
        }
    }
}

/// A trial's answer at some time. All intervals of goodput hold together, at all times, with a probability of 95 %.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The controllers.
    pub arms: [String; 2],
    /// The first arm's share.
    pub share: f64,
    /// Are peers assigned, rather than connections?
    pub by_peer: bool,
    /// Sums of each arm.
    pub totals: [Totals; 2],
    /// How many peers there were.
    pub peers: usize,
    /// In one word.
    pub verdict: Verdict,
    /// All connections, then each class of sizes.
    pub rows: Vec<Row>,
    /// The guard rails, which can end the trial.
    pub guards: Vec<Guard>,
    /// About the number of connections that sent something after which a difference of 5 % would show.
    pub connections_to_show: Option<f64>,
    /// How many of those there are now.
    pub counted: u64,
}

impl Answer {
    /// The guard rail that ends the trial.
    pub fn broken(&self) -> Option<&Guard> {
        self.guards.iter().find(|guard| guard.is_broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_an_interval_without_zero() {
        let row = |low: f64, high: f64| Row {
            name: String::new(),
            connections: [50, 50],
            goodput_change: Some(AsymmetricEstimate { value: 0.5 * (low + high), low, high }),
        };
        let (more, less, open) = (row(0.01, 0.2), row(-0.2, -0.01), row(-0.1, 0.2));
        let none = Row { goodput_change: None, ..open.clone() };
        let verdict = |rows: &[&Row]| Verdict::of(&rows.iter().copied().cloned().collect::<Vec<_>>(), true);
        assert_eq!(verdict(&[&open, &more, &none]), Verdict::Better);
        assert_eq!(verdict(&[&open, &less]), Verdict::Worse);
        assert_eq!(verdict(&[&more, &less]), Verdict::Mixed);
        assert_eq!(verdict(&[&open, &none]), Verdict::NoDifference);
        assert_eq!(Verdict::of(&[none], false), Verdict::TooFew);
    }
}
