// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bandwidth stolen: what flows lose to a newcomer, of what they had among their own kind.
//!
//! In the reference run all flows are of one kind, so they are exchangeable: their goodputs have the same joint distribution in whatever
//! order. Let n flows be alike there, m of them the neighbours; P is what the neighbours have, T what all n have, and Q what the neighbours
//! have beside the newcomer with the same seed.
//!
//! 1. P has the mean of (m/n) T, which is far quieter: what one flow gains another loses.
//! 2. The neighbours' luck c = P - (m/n) T has the mean 0, and no correlation with T.
//! 3. With the same seed a flow starts at the same time and has the same RTT, so some of the luck is in Q, too: b c of it. Whatever b is,
//!    Q - b c has the mean of Q: c is a control variate (Lavenberg and Welch 1981, Management Science 27(3)).
//!
//! What the neighbours keep is the mean of Q - b c over that of (m/n) T. With b = 1 that is nearly Q / P of the same seed; with b = 0 it
//! leaves the luck out of the reference alone. A flow's luck against the other neighbours of its seed shows b without a look at c; its
//! regression is pooled with that of Q on c, each contrast with the same weight, and with 1 where there are few. What of b
//! was learnt from c costs its share of a degree of freedom. The pooling is ours; docs/statistics.md has what it gains on ten paths.

use crate::{Estimate, mean, variance};

/// Where contrasts are few, b is taken for 1, as if all of the luck stayed: no worse than pairs of the same seed, and a newcomer that is one of
/// the neighbours takes nothing, exactly. That counts as much as eight contrasts. Ours.
const PRIOR: Slope = Slope { value: 1.0, contrasts: 8.0 };

/// The goodputs of one seed; neighbours stand in the same order in both runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Neighbours {
    /// Each neighbour's beside the newcomer.
    pub beside: Vec<f64>,
    /// Each neighbour's in the reference run.
    pub reference: Vec<f64>,
    /// Those of the other flows in the reference run that are of the neighbours' kind in all that decides their goodput; none if there
    /// are no such flows, or if it is not known.
    pub peers: Vec<f64>,
}

impl Neighbours {
    /// Of the reference's flows that are alike, the share that are neighbours.
    fn share(&self) -> f64 {
        self.reference.len() as f64 / (self.reference.len() + self.peers.len()) as f64
    }

    /// The neighbours' goodput that is due in the reference, (m/n) T.
    fn due(&self) -> f64 {
        self.share() * (self.reference.iter().sum::<f64>() + self.peers.iter().sum::<f64>())
    }

    /// What they have above it by luck.
    fn luck(&self) -> f64 {
        self.reference.iter().sum::<f64>() - self.due()
    }
}

/// The share of their goodput that neighbours lose: 0 if the newcomer is as one of them, less if they gain. Each seed must have the same
/// number of flows. `None` without seeds, and where the neighbours have nothing in the reference.
pub fn stolen(seeds: &[Neighbours]) -> Option<Estimate> {
    kept(seeds).map(Estimate::complement)
}

fn kept(seeds: &[Neighbours]) -> Option<Estimate> {
    let beside: Vec<f64> = seeds.iter().map(|seed| seed.beside.iter().sum()).collect();
    let due: Vec<f64> = seeds.iter().map(Neighbours::due).collect();
    if seeds.iter().all(|seed| seed.peers.is_empty()) {
        // Nothing tells luck from what is due: pairs of the same seed share theirs.
        return Estimate::of_ratio(&beside, &due);
    }
    if mean(&due) <= 0.0 {
        return None;
    }
    if seeds.iter().all(|seed| seed.beside == seed.reference) {
        // The newcomer is what stands in its place in the reference: no rounding may say that it takes something.
        let n = seeds.len();
        return Some(Estimate::of_variance(1.0, (n > 1).then_some(0.0), n as f64 - 1.0, n));
    }
    let luck = Luck::new(seeds, &beside, &due);
    let rest: Vec<f64> = beside.iter().zip(&luck.by_seed).map(|(q, c)| q - luck.slope * c).collect();
    let ratio = mean(&rest) / mean(&due);
    let residuals: Vec<f64> = rest.iter().zip(&due).map(|(q, due)| q - ratio * due).collect();
    let n = seeds.len() as f64;
    let degrees_of_freedom = n - 1.0 - luck.learnt;
    // With a mean of the luck that is far from 0, an error in b matters more.
    let variance_of_mean = variance(&residuals).filter(|_| degrees_of_freedom > 0.0).map(|variance| {
        let of_slope = if luck.squares > 0.0 { luck.learnt * mean(&luck.by_seed).powi(2) / luck.squares } else { 0.0 };
        variance * (n - 1.0) / degrees_of_freedom * (1.0 / n + of_slope)
    });
    Some(Estimate::of_variance(mean(&rest), variance_of_mean, degrees_of_freedom, seeds.len()) / mean(&due))
}

/// A regression's slope, and how many contrasts it rests on.
#[derive(Clone, Copy)]
struct Slope {
    value: f64,
    contrasts: f64,
}

impl Slope {
    /// From sums of products and of squares; without squares nothing is known.
    fn of(products: f64, squares: f64, contrasts: f64) -> Self {
        if squares > 0.0 { Self { value: products / squares, contrasts } } else { Self { value: 0.0, contrasts: 0.0 } }
    }

    /// The mean, each contrast with the same weight.
    fn pooled(slopes: &[Self]) -> Self {
        let contrasts: f64 = slopes.iter().map(|slope| slope.contrasts).sum();
        Self { value: slopes.iter().map(|slope| slope.value * slope.contrasts).sum::<f64>() / contrasts, contrasts }
    }
}

/// The neighbours' luck in the reference.
struct Luck {
    by_seed: Vec<f64>,
    /// Its squared deviations from its mean, summed.
    squares: f64,
    /// How much of it is in their goodput beside the newcomer.
    slope: f64,
    /// The share of the slope that was learnt from `by_seed`.
    learnt: f64,
}

impl Luck {
    fn new(seeds: &[Neighbours], beside: &[f64], due: &[f64]) -> Self {
        let by_seed: Vec<f64> = seeds.iter().map(Neighbours::luck).collect();
        let centre = mean(&by_seed);
        let [within, prior] = [within(seeds), PRIOR];
        // What is kept as far as is known without c, so that what Q and T have in common is not taken for luck.
        let ratio = (mean(beside) - Slope::pooled(&[within, prior]).value * centre) / mean(due);
        let (mut products, mut squares) = (0.0, 0.0);
        for (c, (q, due)) in by_seed.iter().zip(beside.iter().zip(due)) {
            products += (c - centre) * (q - ratio * due);
            squares += (c - centre).powi(2);
        }
        let between = Slope::of(products, squares, seeds.len() as f64 - 1.0);
        let all = Slope::pooled(&[within, between, prior]);
        Self { by_seed, squares, slope: all.value, learnt: between.contrasts / all.contrasts }
    }
}

/// The regression of what neighbours have above their seed's mean beside the newcomer on the same in the reference.
fn within(seeds: &[Neighbours]) -> Slope {
    let (mut products, mut squares, mut contrasts) = (0.0, 0.0, 0.0);
    for seed in seeds {
        let (x_mean, y_mean) = (mean(&seed.reference), mean(&seed.beside));
        for (x, y) in seed.reference.iter().zip(&seed.beside) {
            products += (x - x_mean) * (y - y_mean);
            squares += (x - x_mean).powi(2);
        }
        contrasts += (seed.reference.len() as f64 - 1.0).max(0.0);
    }
    Slope::of(products, squares, contrasts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(beside: &[f64], reference: &[f64], peers: &[f64]) -> Neighbours {
        Neighbours { beside: beside.to_vec(), reference: reference.to_vec(), peers: peers.to_vec() }
    }

    #[track_caller]
    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 5e-5, "{actual}, expected {expected}");
    }

    /// One neighbour, one peer; seeds (y; x; peer): (8; 12; 8), (9; 10; 12), (10; 8; 10). T/2 is 10, 11, 9 and c is 2, -1, -1 with the mean
    /// 0. Between seeds: the mean of y is 9, of T/2 10, so y - 0.9 T/2 is -1, -0.9, 1.9; times c: -2 + 0.9 - 1.9 = -3, squares 6: -1/2 of 2
    /// contrasts. With 1 of 8: b = (-1 + 8) / 10 = 0.7; learnt 0.2. y - 0.7 c is 6.6, 9.7, 10.7 with the mean 9: 0.9 is kept. Residuals
    /// 6.6 - 9 = -2.4, 9.7 - 9.9 = -0.2, 10.7 - 8.1 = 2.6: squares 5.76 + 0.04 + 6.76 = 12.56, over 3 - 1 - 0.2 = 1.8 degrees of freedom
    /// 6.97778, over 3 seeds 2.32593, root 1.52510. t(0.975, 1.8) is between 12.706 with 1 and 4.303 with 2.
    #[test]
    fn luck_is_taken_from_both_sides() {
        let seeds = [seed(&[8.0], &[12.0], &[8.0]), seed(&[9.0], &[10.0], &[12.0]), seed(&[10.0], &[8.0], &[10.0])];
        let stolen = stolen(&seeds).unwrap();
        close(stolen.value, 0.1);
        assert_eq!((stolen.n, stolen.degrees_of_freedom), (3, 1.8));
        // SciPy 1.17: t.ppf(0.975, 1.8) = 4.79488.
        close(stolen.half_width.unwrap(), 4.79488 * 0.152510);
    }

    /// Two neighbours in two seeds have two contrasts: x (6, 4), (5, 7) and y (5, 4), (3, 6). Within seeds: products 1 + 3, squares 2 + 2,
    /// slope 1, as the prior's. T = 15 both times, 10 is due; c is 0 and 2, and Q 9 both times: between seeds the slope is 0 of one contrast.
    /// b = (2 + 0 + 8) / 11 = 10/11. Q - b c is 9 and 79/11, 178/11 of 20 are kept.
    #[test]
    fn the_slope_is_pooled() {
        let seeds = [seed(&[5.0, 4.0], &[6.0, 4.0], &[5.0]), seed(&[3.0, 6.0], &[5.0, 7.0], &[3.0])];
        close(stolen(&seeds).unwrap().value, 1.0 - 178.0 / 220.0);
    }

    /// Whatever luck the flows have.
    #[test]
    fn a_newcomer_that_is_one_of_the_neighbours_takes_nothing() {
        let alike = |x: &[f64], peers: &[f64]| seed(x, x, peers);
        let seeds = [alike(&[5.0, 4.0], &[9.0]), alike(&[3.0, 6.0], &[3.5]), alike(&[7.0, 1.0], &[0.2])];
        let stolen = stolen(&seeds).unwrap();
        assert_eq!((stolen.value, stolen.half_width), (0.0, Some(0.0)));
        // Nearly: what one flow gains, the other loses.
        let nearly = [seed(&[5.0, 4.1], &[5.0, 4.0], &[9.0]), seeds[1].clone(), seeds[2].clone()];
        let stolen = super::stolen(&nearly).unwrap();
        assert!(stolen.value.abs() < 0.01 && stolen.half_width.unwrap() < 0.02, "{stolen:?}");
    }

    /// 8, 9, 13 over 10, 12, 14, as the ratio's own test works it out.
    #[test]
    fn without_peers_it_is_the_ratio_of_pairs() {
        let pairs = [(8.0, 10.0), (9.0, 12.0), (13.0, 14.0)].map(|(q, p)| seed(&[q], &[p], &[]));
        let sixth = stolen(&pairs).unwrap();
        close(sixth.value, 1.0 / 6.0);
        close(sixth.half_width.unwrap(), 0.24880);
        // Gaining bandwidth is negative theft.
        let gained = stolen(&[seed(&[15.0], &[10.0], &[])]).unwrap();
        assert_eq!((gained.value, gained.half_width), (-0.5, None));
    }

    #[test]
    fn of_nothing_nothing_is_stolen() {
        assert_eq!(stolen(&[]), None);
        assert_eq!(stolen(&[seed(&[1.0], &[0.0], &[0.0])]), None);
        assert_eq!(stolen(&[seed(&[1.0], &[0.0], &[])]), None);
        let one = stolen(&[seed(&[0.0], &[4.0], &[4.0])]).unwrap();
        assert_eq!((one.value, one.half_width), (1.0, None));
    }

    /// Goodputs without any luck are known exactly.
    #[test]
    fn what_is_the_same_in_all_seeds_is_exact() {
        let stolen = stolen(&vec![seed(&[3.0, 3.0], &[4.0, 4.0], &[4.0]); 5]).unwrap();
        close(stolen.value, 0.25);
        close(stolen.half_width.unwrap(), 0.0);
    }
}
