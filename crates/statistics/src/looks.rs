// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeds in groups, with a look at the results after each: how often to look, and how wide an interval has to be so that looking again and
//! again does not make it lie.
//!
//! If you look five times at 95 % intervals and stop when one excludes a value, you exclude the true one in 17 of 100 cases. A
//! group-sequential boundary prevents that. The error of 5 % is spent over the looks in proportion to the seeds that there are (Lan and
//! DeMets 1983, Biometrika 70(3); the linear spending is that of Kim and DeMets 1987, Biometrika 74(1), with rho = 1). The boundary for a
//! mean of known variance comes from integration over what has not yet crossed (Armitage, McPherson and Rowe 1969, JRSS A 132(2)). Of that
//! it keeps the nominal level, which a look takes Student's t with (Jennison and Turnbull 2000, Group Sequential Methods, section 4.4); the
//! intervals are repeated ones (section 9.2). All of them together hold the true value in 95 of 100 cases.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use crate::{CONFIDENCE, Estimate, student::two_sided};

/// By how much the seeds grow from look to look: few looks, each with much that is new.
const GROWTH: f64 = 1.6;

/// When to look, and what to believe then. The default is not to look before the end: every interval stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Looks(Vec<Look>);

/// A look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Seeds up to here.
    pub seeds: usize,
    /// The confidence that an interval must have at this look, so that it holds together with those of all other looks with
    /// [`CONFIDENCE`].
    pub confidence: f64,
}

impl Looks {
    /// The usual seeds of the first look. Where one flow or another wins, three seeds agree by chance once in four
    /// times, and their interval is then next to nothing; five agree once in sixteen.
    pub const FIRST: usize = 5;

    /// From 5 seeds to `most`, each time 1.6 times as many. With 5 at most there is one look, with the usual confidence.
    pub fn up_to(most: usize) -> Self {
        Self::from_to(Self::FIRST.min(most), most)
    }

    /// From `first` seeds to `most`, each time 1.6 times as many.
    ///
    /// # Panics
    /// If `first` is 0 or above `most`.
    pub fn from_to(first: usize, most: usize) -> Self {
        assert!((1..=most).contains(&first), "from 1 to {most}, not {first}");
        let mut seeds = vec![first];
        while let Some(&last) = seeds.last().filter(|&&last| last < most) {
            seeds.push(((last as f64 * GROWTH).ceil() as usize).min(most));
        }
        Self::at(&seeds)
    }

    /// At these numbers of seeds, which rise.
    ///
    /// # Panics
    /// If there are none, or they do not rise.
    pub fn at(seeds: &[usize]) -> Self {
        assert!(seeds.first().is_some_and(|&first| first > 0) && seeds.is_sorted_by(|a, b| a < b), "looks must rise");
        let most = seeds[seeds.len() - 1] as f64;
        let times: Vec<f64> = seeds.iter().map(|&n| n as f64 / most).collect();
        let levels = nominal_levels(&times, 1.0 - CONFIDENCE);
        let look = |(&seeds, level)| Look { seeds, confidence: 1.0 - level };
        Self(seeds.iter().zip(levels).map(look).collect())
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = Look> + '_ {
        self.0.iter().copied()
    }

    /// The estimate with the interval that is due at the look with as many seeds; as it is if there is no such look.
    pub fn widened(&self, estimate: Estimate) -> Estimate {
        let look = self.0.iter().find(|look| look.seeds == estimate.n);
        look.map_or(estimate, |look| estimate.at(look.confidence))
    }

    /// How much wider the interval of a mean of as many values is at that look; 1 if there is no such look.
    pub fn factor(&self, n: usize) -> f64 {
        let look = self.0.iter().find(|look| look.seeds == n && n > 1);
        let reach = |confidence| two_sided(confidence, n as f64 - 1.0);
        look.map_or(1.0, |look| reach(look.confidence) / reach(CONFIDENCE))
    }

    /// Whether there is no look before the end.
    pub fn is_once(&self) -> bool {
        self.0.is_empty()
    }

    /// How likely the interval of the last look is to exclude a value that is `distance` from the mean now. `estimate` has the interval that
    /// is due at its number of seeds; the true mean may be anywhere around it (the predictive power of Spiegelhalter, Freedman and
    /// Blackburn 1986, Controlled Clinical Trials 7(1), with a flat prior). `None` if that cannot be said, or at the last look.
    pub fn chance_to_exclude(&self, distance: f64, estimate: &Estimate) -> Option<f64> {
        let last = self.0.last().filter(|last| last.seeds > estimate.n && estimate.degrees_of_freedom > 0.0)?;
        let standard_error = estimate.half_width? / two_sided(estimate.confidence, estimate.degrees_of_freedom);
        let added = last.seeds as f64 / estimate.n as f64;
        let last_error = standard_error / added.sqrt();
        let reach = two_sided(last.confidence, last.seeds as f64 - 1.0) * last_error;
        let spread = (standard_error * standard_error - last_error * last_error).sqrt();
        let still = Normal::new(distance, spread).ok()?;
        Some(still.sf(reach) + still.cdf(-reach))
    }

    /// The seeds of the first look.
    pub fn first(&self) -> usize {
        self.0[0].seeds
    }

    /// The most seeds.
    pub fn most(&self) -> usize {
        self.0[self.0.len() - 1].seeds
    }
}

/// Where a Brownian motion is that has not crossed a boundary: its density at equally spaced values.
struct Inside {
    time: f64,
    values: Vec<f64>,
    /// Density times the weight of the trapezoidal rule.
    masses: Vec<f64>,
}

/// Points of the grid. With 800 the levels are right to six digits.
const POINTS: usize = 801;

impl Inside {
    /// Before anything has happened.
    fn start() -> Self {
        Self { time: 0.0, values: vec![0.0], masses: vec![1.0] }
    }

    /// The probability that it is outside ± `z` standard deviations at `time`, having been inside until now.
    fn crosses(&self, time: f64, z: f64) -> f64 {
        let step = Normal::new(0.0, (time - self.time).sqrt()).expect("time goes on");
        let edge = z * time.sqrt();
        self.values.iter().zip(&self.masses).map(|(v, mass)| mass * (step.cdf(-edge - v) + step.sf(edge - v))).sum()
    }

    /// What is inside ± `z` standard deviations at `time`, too.
    fn after(&self, time: f64, z: f64) -> Self {
        let step = Normal::new(0.0, (time - self.time).sqrt()).expect("time goes on");
        let edge = z * time.sqrt();
        let width = 2.0 * edge / (POINTS - 1) as f64;
        let values: Vec<f64> = (0..POINTS).map(|i| i as f64 * width - edge).collect();
        let density =
            |v: &f64| self.values.iter().zip(&self.masses).map(|(u, mass)| mass * step.pdf(v - u)).sum::<f64>();
        let weight = |i: usize| if i == 0 || i == POINTS - 1 { width / 2.0 } else { width };
        let masses = values.iter().enumerate().map(|(i, v)| weight(i) * density(v)).collect();
        Self { time, values, masses }
    }
}

/// The two-sided levels at shares of the seeds that spend `error` in proportion to them.
fn nominal_levels(times: &[f64], error: f64) -> Vec<f64> {
    let normal = Normal::standard();
    let mut inside = Inside::start();
    let mut levels = Vec::with_capacity(times.len());
    for &time in times {
        let spent = error * (time - inside.time);
        // Between the widest and the narrowest that could be right, halved until nothing is left to halve.
        let (mut low, mut high) = (0.0, 40.0);
        while high - low > 1e-9 {
            let z = (low + high) / 2.0;
            if inside.crosses(time, z) > spent { low = z } else { high = z }
        }
        levels.push(2.0 * normal.sf(high));
        inside = inside.after(time, high);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mean, variance};

    /// The probability of crossing `z` at any of these looks.
    fn ever_crosses(boundary: &[(f64, f64)]) -> f64 {
        let mut inside = Inside::start();
        boundary.iter().fold(0.0, |crossed, &(time, z)| {
            let now = inside.crosses(time, z);
            inside = inside.after(time, z);
            crossed + now
        })
    }

    /// Jennison and Turnbull (2000), tables 2.1 and 2.3, five looks and an error of 5 %: Pocock's boundary is 2.413 at each, that of
    /// O'Brien and Fleming 2.040 sqrt(5 / k). Armitage, McPherson and Rowe (1969), table 2: five looks at 1.96 find something by chance
    /// with 14.2 %, ten with 19.3 %.
    #[test]
    fn boundaries_are_those_of_the_books() {
        let each = |looks: u32, z: &dyn Fn(u32) -> f64| {
            ever_crosses(&(1..=looks).map(|k| (f64::from(k) / f64::from(looks), z(k))).collect::<Vec<_>>())
        };
        for (found, expected) in [
            (each(5, &|_| 2.413), 0.05),
            (each(5, &|k| 2.040 * (5.0 / f64::from(k)).sqrt()), 0.05),
            (each(5, &|_| 1.96), 0.142),
            (each(10, &|_| 1.96), 0.193),
        ] {
            assert!((found - expected).abs() < 4e-4, "{found}, expected {expected}");
        }
    }

    /// What is spent by the end is the error, whatever the looks are; the first look spends its share: with half of the seeds 2.5 %,
    /// which is 2.241 standard deviations (any table).
    #[test]
    fn the_error_is_spent() {
        for times in [&[0.15, 0.25, 0.4, 0.65, 1.0][..], &[1.0], &[0.5, 1.0]] {
            let levels = nominal_levels(times, 0.05);
            let z = |level: f64| Normal::standard().inverse_cdf(1.0 - level / 2.0);
            let boundary: Vec<(f64, f64)> = times.iter().zip(&levels).map(|(&t, &level)| (t, z(level))).collect();
            assert!((ever_crosses(&boundary) - 0.05).abs() < 1e-6, "{boundary:?}");
            if times == [0.5, 1.0] {
                assert!((boundary[0].1 - 2.2414).abs() < 1e-4, "{boundary:?}");
            }
        }
    }

    #[test]
    fn few_looks_each_with_much_that_is_new() {
        let seeds = |most| Looks::up_to(most).iter().map(|look| look.seeds).collect::<Vec<_>>();
        assert_eq!(seeds(20), [5, 8, 13, 20]);
        assert_eq!(seeds(50), [5, 8, 13, 21, 34, 50]);
        assert_eq!((seeds(6), seeds(5), seeds(1), Looks::up_to(20).most()), (vec![5, 6], vec![5], vec![1], 20));
        assert!((Looks::up_to(5).iter().next().unwrap().confidence - 0.95).abs() < 1e-9);
    }

    /// Of two looks the first, with half of the seeds, spends 2.5 %: t(0.9875, 4) = 3.4954 (any finer table) where 2.7764 is usual.
    #[test]
    fn an_interval_is_as_wide_as_its_look_asks() {
        let looks = Looks::at(&[5, 10]);
        let usual = Estimate::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let ratio = looks.widened(usual).half_width.unwrap() / usual.half_width.unwrap();
        assert!((ratio - 3.4954 / 2.7764).abs() < 1e-4, "{ratio}");
        let between = Estimate::of_mean(&[1.0, 2.0, 4.0]);
        assert_eq!(looks.widened(between), between);
    }

    /// By hand, for 20 of 80 values with a standard error of 1: the last look's is 1/2, and its mean is spread by the root of 3/4 around
    /// today's. The one look after the first spends 3.75 % (t(79) = 2.14, any finer table, were it alone; the joint boundary is 1 to 2 % narrower).
    #[test]
    fn the_chance_to_exclude_by_hand() {
        let looks = Looks::at(&[20, 80]);
        let one = Estimate {
            half_width: Some(two_sided(CONFIDENCE, 19.0)),
            degrees_of_freedom: 19.0,
            n: 20,
            ..Estimate::exactly(0.0)
        };
        let chance = |distance| looks.chance_to_exclude(distance, &looks.widened(one)).unwrap();
        // At the value itself: beyond 1.05 on both sides, 1.05 / 0.866 = 1.21 standard deviations: 2 * 0.113.
        assert!((chance(0.0) - 0.226).abs() < 0.01, "{}", chance(0.0));
        // Where the reach of the last look is: half, and next to nothing on the other side.
        assert!((chance(1.05) - 0.5 - 0.0076).abs() < 0.02, "{}", chance(1.05));
        assert!(chance(5.0) > 0.9999 && (chance(-1.0) - chance(1.0)).abs() < 1e-12);
        let last = Estimate { n: 80, ..one };
        assert_eq!(looks.chance_to_exclude(1.0, &last), None);
    }

    /// A generator for the trials below: Marsaglia's xorshift64* (2003), uniform in 0 to 1.
    struct Random(u64);

    impl Random {
        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
        }

        /// Box and Muller (1958).
        fn normal(&mut self) -> f64 {
            (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }

    /// In what share of experiments some look excludes the true mean, 0: with the boundary, and with intervals of 95 %.
    fn excluded(looks: &Looks, draw: &dyn Fn(&mut Random) -> f64) -> (f64, f64) {
        const EXPERIMENTS: u32 = 10_000;
        let mut random = Random(7);
        let (mut by_boundary, mut by_usual) = (0, 0);
        // Student's t once for each look, not for each experiment.
        let reach = |seeds: usize, confidence: f64| two_sided(confidence, (seeds - 1) as f64);
        let reaches: Vec<_> = looks
            .iter()
            .map(|look| (look.seeds, reach(look.seeds, look.confidence), reach(look.seeds, CONFIDENCE)))
            .collect();
        for _ in 0..EXPERIMENTS {
            let values: Vec<f64> = (0..looks.most()).map(|_| draw(&mut random)).collect();
            let t = |n: usize| mean(&values[..n]).abs() / (variance(&values[..n]).unwrap() / n as f64).sqrt();
            by_boundary += u32::from(reaches.iter().any(|&(n, reach, _)| t(n) > reach));
            by_usual += u32::from(reaches.iter().any(|&(n, _, usual)| t(n) > usual));
        }
        (f64::from(by_boundary) / f64::from(EXPERIMENTS), f64::from(by_usual) / f64::from(EXPERIMENTS))
    }

    /// Over 10,000 experiments with normal values the boundary keeps 5 % (the standard error is 0.2 points; Student's t in place of a known
    /// variance costs up to 0.7), where intervals of 95 % become 13 to 20 %. Of other values Student's t itself is wrong with few seeds:
    /// uniform ones, and those with two humps, as where one flow or another wins, exceed 5 % a little, and never come near what
    /// repeated looks at the usual interval do.
    #[test]
    fn looking_again_and_again_does_not_make_an_interval_lie() {
        let eleven = Looks::at(&[3, 5, 7, 9, 11, 13, 15, 17, 19, 20, 21]);
        let humps = |r: &mut Random| if r.uniform() < 0.5 { -1.0 } else { 1.0 } + 0.5 * r.normal();
        for (looks, naive) in [(Looks::up_to(20), 0.12), (Looks::up_to(50), 0.16), (eleven, 0.18)] {
            let (found, usual) = excluded(&looks, &Random::normal);
            assert!((0.044..0.062).contains(&found) && usual > naive, "{looks:?}: {found}, {usual}");
        }
        let draws: [&dyn Fn(&mut Random) -> f64; 2] = [&|r| r.uniform() - 0.5, &humps];
        for draw in draws {
            let (found, usual) = excluded(&Looks::up_to(20), draw);
            assert!((0.045..0.085).contains(&found) && usual > 0.13, "{found}, {usual}");
        }
    }
}
