// SPDX-License-Identifier: MIT OR Apache-2.0
//! The difference that the first arm makes to one measure, estimated from the chance by which connections got their arms.
//!
//! Each connection adds `(Z / p - (1 - Z) / (1 - p)) (y - m)`: Z is 1 in the first arm, p that arm's share, y the measure, and m what was to be
//! expected of it, from earlier connections alone. Its mean is the effect, whatever m is; a good m makes its variance small. Ham, Bojinov, Lindon,
//! Tingley, "Design-Based Confidence Sequences", 2022 (arXiv 2210.08639), use such sums at any time; the interval is
//! [`always_valid_half_width`].
//!
//! The variance of the sum is the larger one of two: as if connections were independent, and with those of a peer as one cluster.

use std::collections::HashMap;

use tandem_statistics::{Estimate, always_valid_half_width};

use crate::SizeClass;

/// Connections per arm below which the interval, which is asymptotic, is not given.
const ENOUGH_CONNECTIONS: u64 = 30;
/// The same for peers per arm, if peers are assigned.
const ENOUGH_PEERS: u64 = 10;
/// The number of connections for which intervals are narrowest.
const TUNED_FOR: f64 = 500.0;

/// How connections get their arms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assignment {
    /// The share of the first arm, more than 0 and less than 1.
    pub share: f64,
    /// One peer always has the same arm; otherwise each connection's is drawn.
    pub by_peer: bool,
}

/// A sum and the number of its terms.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    n: f64,
    total: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.total += value;
    }

    fn without(self, other: Self) -> Self {
        Self { n: self.n - other.n, total: self.total - other.total }
    }

    fn mean(self) -> Option<f64> {
        (self.n > 0.5).then(|| self.total / self.n)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    /// Sum of its terms.
    terms: Sum,
    /// Sums of its measures: all, and by class.
    all: Sum,
    by_class: [Sum; SizeClass::ALL.len()],
    /// Has it been in the arm?
    is_in: [bool; 2],
}

/// The evidence of the connections so far on one measure.
#[derive(Clone, Debug)]
pub struct Effect {
    assignment: Assignment,
    connections: [u64; 2],
    peers_in: [u64; 2],
    terms: Sum,
    squares: f64,
    /// Over the peers: squares of the sums, sums times numbers, squares of the numbers.
    clusters: [f64; 3],
    all: Sum,
    by_class: [Sum; SizeClass::ALL.len()],
    peers: HashMap<u64, Peer>,
}

impl Effect {
    /// Without any connection yet.
    pub fn new(assignment: Assignment) -> Self {
        Self {
            assignment,
            connections: [0; 2],
            peers_in: [0; 2],
            terms: Sum::default(),
            squares: 0.0,
            clusters: [0.0; 3],
            all: Sum::default(),
            by_class: Default::default(),
            peers: HashMap::new(),
        }
    }

    /// The next connection that has ended: who the peer was, its arm (0 or 1), its size and the measure.
    pub fn add(&mut self, peer: u64, arm: usize, class: SizeClass, measure: f64) {
        let mut known = self.peers.get(&peer).copied().unwrap_or_default();
        self.connections[arm] += 1;
        self.peers_in[arm] += u64::from(!std::mem::replace(&mut known.is_in[arm], true));
        // The very first has nothing to be compared with.
        if let Some(expected) = self.expected(&known, class) {
            let share = self.assignment.share;
            let weight = if arm == 0 { 1.0 / share } else { -1.0 / (1.0 - share) };
            let term = weight * (measure - expected);
            self.terms.add(term);
            self.squares += term * term;
            self.count_cluster(known.terms, -1.0);
            known.terms.add(term);
            self.count_cluster(known.terms, 1.0);
        }
        for sum in
            [&mut self.all, &mut self.by_class[class as usize], &mut known.all, &mut known.by_class[class as usize]]
        {
            sum.add(measure);
        }
        self.peers.insert(peer, known);
    }

    fn count_cluster(&mut self, Sum { n, total }: Sum, sign: f64) {
        for (sum, value) in self.clusters.iter_mut().zip([total * total, total * n, n * n]) {
            *sum += sign * value;
        }
    }

    /// The expected measure of a connection, before its arm is known. If peers are assigned, their own connections would reveal the arm.
    fn expected(&self, peer: &Peer, class: SizeClass) -> Option<f64> {
        let class = class as usize;
        if self.assignment.by_peer {
            let of_class = self.by_class[class].without(peer.by_class[class]);
            return of_class.mean().or_else(|| self.all.without(peer.all).mean());
        }
        let of_class = self.by_class[class].mean().or_else(|| self.all.mean())?;
        // The peer's own, drawn to the others' as if one more connection had been as those.
        let own = peer.by_class[class];
        Some((own.total + of_class) / (own.n + 1.0))
    }

    /// How many connections were in each arm.
    pub fn connections(&self) -> [u64; 2] {
        self.connections
    }

    /// How many peers there were.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Are there enough for an interval?
    pub fn is_enough(&self) -> bool {
        self.connections.iter().all(|n| *n >= ENOUGH_CONNECTIONS)
            && (!self.assignment.by_peer || self.peers_in.iter().all(|n| *n >= ENOUGH_PEERS))
    }

    /// The difference, first arm less second, with an interval that holds at all times with probability `1 - alpha`. `None` before there are
    /// [enough](Effect::is_enough).
    pub fn difference(&self, alpha: f64) -> Option<Estimate> {
        if !self.is_enough() {
            return None;
        }
        let value = self.terms.mean()?;
        let half = always_valid_half_width(self.variance_of_sum(value), self.terms.n, alpha, TUNED_FOR);
        let n = self.terms.n as usize;
        Some(Estimate { confidence: 1.0 - alpha, n, ..Estimate::kept(value, Some(half)) })
    }

    fn variance_of_sum(&self, mean: f64) -> f64 {
        let independent = self.squares - self.terms.n * mean * mean;
        let [squares, products, numbers] = self.clusters;
        let clustered = squares - 2.0 * mean * products + mean * mean * numbers;
        independent.max(clustered).max(0.0)
    }

    /// About the number of connections after which a difference of `size` would show, if they continue as before. `None` before there are enough.
    pub fn connections_to_show(&self, size: f64, alpha: f64) -> Option<f64> {
        if !self.is_enough() {
            return None;
        }
        let per_connection = self.variance_of_sum(self.terms.mean()?) / self.terms.n;
        let half = |n: f64| always_valid_half_width(per_connection * n, n, alpha, TUNED_FOR);
        let doubled = std::iter::successors(Some(1.0), |n| Some(n * 2.0)).take(60).find(|n| half(*n) <= size)?;
        // The half width falls with each connection.
        let (mut few, mut enough) = (doubled / 2.0, doubled);
        while enough - few > 0.5 {
            let middle = 0.5 * (few + enough);
            if half(middle) <= size { enough = middle } else { few = middle }
        }
        Some(enough.ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Assignment = Assignment { share: 0.5, by_peer: false };

    /// Two peers, by hand. Expectations: none; 1 of the class; (1 + 2) / 2 of the peer's 1 and the class's (1 + 3) / 2 = 2; (3 + 2) / 2 of its
    /// 3 and (1 + 3 + 2) / 3 = 2. Terms, with the weights 2 and -2: -2 (3 - 1) = -4, 2 (2 - 1.5) = 1, 2 (4 - 2.5) = 3. Mean 0.
    #[test]
    fn terms_by_hand() {
        let mut effect = Effect::new(EVEN);
        for (peer, arm, measure) in [(7, 0, 1.0), (8, 1, 3.0), (7, 0, 2.0), (8, 0, 4.0)] {
            effect.add(peer, arm, SizeClass::Long, measure);
        }
        assert!(effect.terms.total.abs() < 1e-12 && effect.terms.n == 3.0, "{:?}", effect.terms);
        // Independent: 16 + 1 + 9; clusters: 1 of the first peer, and (-4 + 3)^2 of the second.
        assert_eq!((effect.squares, effect.clusters), (26.0, [2.0, 1.0 - 2.0, 1.0 + 4.0]));
        assert_eq!((effect.connections(), effect.peers()), ([3, 1], 2));
        assert_eq!(effect.difference(0.05), None);
    }

    /// Where peers are assigned, their own do not count: 5 and 7 of peer 1 are compared with nothing, then with peer 2's 3.
    #[test]
    fn a_peer_s_own_do_not_tell_what_is_expected_of_it() {
        let mut effect = Effect::new(Assignment { share: 0.25, by_peer: true });
        effect.add(1, 0, SizeClass::Short, 5.0);
        effect.add(1, 0, SizeClass::Short, 7.0);
        assert_eq!(effect.terms.n, 0.0);
        effect.add(2, 1, SizeClass::Short, 3.0);
        assert!((effect.terms.total + (3.0 - 6.0) / 0.75).abs() < 1e-12);
        effect.add(1, 0, SizeClass::Short, 5.0);
        assert!((effect.terms.total - 4.0 - (5.0 - 3.0) / 0.25).abs() < 1e-12);
    }

    #[test]
    fn what_is_needed_is_what_makes_the_interval_narrow_enough() {
        let mut effect = Effect::new(EVEN);
        for n in 0..400u32 {
            effect.add(u64::from(n % 40), (n * 7 % 13 % 2) as usize, SizeClass::Bulk, f64::from(n * 31 % 17));
        }
        let half = effect.difference(0.05).unwrap().half_width.unwrap();
        // The size that shows now needs as many as there are; the first had no term.
        assert!((effect.connections_to_show(half, 0.05).unwrap() - 399.0).abs() <= 1.0);
        assert!(effect.connections_to_show(half / 2.0, 0.05).unwrap() > 4.0 * 390.0);
    }
}
