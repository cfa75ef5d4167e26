// SPDX-License-Identifier: MIT OR Apache-2.0
//! When short flows come and how large they are.

use std::sync::{Arc, Mutex, PoisonError};

use tandem_network::{Rng, Stream, agenda::NEVER, normal_quantile};
use tandem_results::ShortTransfer;
use tandem_scenario::{
    ShortFlows,
    short_flows::{Arrivals, Sizes},
};

/// A time that is exponentially distributed with this mean.
pub fn exponential_ns(rng: &mut Rng, mean_ns: f64) -> u64 {
    // The cast saturates.
    (-libm::log(1.0 - rng.share()) * mean_ns) as u64
}

/// A transfer that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demanded {
    /// When it comes.
    pub at: u64,
    /// Its payload.
    pub bytes: u64,
}

impl Demanded {
    /// What became of it; `ns` is how long it took.
    pub fn took(self, ns: Option<u64>) -> ShortTransfer {
        ShortTransfer {
            arrived_s: self.at as f64 / 1e9,
            bytes: self.bytes,
            completion_time_s: ns.map(|ns| ns as f64 / 1e9),
        }
    }
}

/// The transfers that a flow has to make, or several flows together: each takes the next one as soon as it has ended its last. That is a
/// queue in order of arrival with as many servers as there are flows.
#[derive(Debug, Clone)]
pub struct SharedDemand(Arc<Mutex<Demand>>);

#[derive(Debug)]
struct Demand {
    arrivals: Arrivals,
    sizes: Sizes,
    rng: Rng,
    /// When the last one came that was taken.
    last: u64,
}

impl SharedDemand {
    /// From `start` on, at random by this seed; `flow` is the first of those that share it.
    pub fn new(short: &ShortFlows, seed: u64, flow: usize, start: u64) -> Self {
        let rng = Rng::new(seed, Stream::Transfers(flow));
        let demand = Demand { arrivals: short.arrivals, sizes: short.sizes.clone(), rng, last: start };
        Self(Arc::new(Mutex::new(demand)))
    }

    /// The next transfer, for a flow that is free since `now`.
    pub fn next(&self, now: u64) -> Demanded {
        self.with(|demand| demand.next(now))
    }

    /// All that nobody has taken and that come before `end`. Users want nothing while they wait.
    pub fn rest(&self, end: u64) -> Vec<Demanded> {
        self.with(|demand| match demand.arrivals {
            Arrivals::Poisson { .. } => {
                std::iter::from_fn(|| Some(demand.next(end)).filter(|next| next.at < end)).collect()
            }
            Arrivals::Users { .. } => Vec::new(),
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Demand) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Demand {
    fn next(&mut self, now: u64) -> Demanded {
        let (from, mean_ns) = match self.arrivals {
            Arrivals::Poisson { per_second } => (self.last, 1e9 / per_second),
            Arrivals::Users { think } => (now, think.ns as f64),
        };
        self.last = from.saturating_add(exponential_ns(&mut self.rng, mean_ns)).min(NEVER);
        Demanded { at: self.last, bytes: self.sizes.quantile_bytes(self.rng.share(), normal_quantile) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_scenario::units::Span;

    const SECOND: u64 = 1_000_000_000;

    fn short(arrivals: Arrivals, sizes: Sizes) -> ShortFlows {
        ShortFlows { arrivals, sizes, class_borders_bytes: Vec::new() }
    }

    fn drawn(sizes: Sizes, count: usize) -> Vec<u64> {
        let demand = SharedDemand::new(&short(Arrivals::Poisson { per_second: 1000.0 }, sizes), 1, 0, 0);
        (0..count).map(|_| demand.next(0).bytes).collect()
    }

    /// The number of arrivals in 1000 s at 50 a second has a mean of 50 000 and, as any Poisson number, the same variance: four standard
    /// deviations are 894. The gaps' mean square is twice the square of their mean.
    #[test]
    fn arrivals_are_a_poisson_process() {
        let fixed = Sizes::Fixed { bytes: 1 };
        for seed in 1..=3 {
            let demand = SharedDemand::new(&short(Arrivals::Poisson { per_second: 50.0 }, fixed.clone()), seed, 7, 5);
            let arrivals = demand.rest(1000 * SECOND);
            assert!(arrivals.len().abs_diff(50_000) < 894, "{}", arrivals.len());
            let gaps_s: Vec<f64> = arrivals.windows(2).map(|w| (w[1].at - w[0].at) as f64 / 1e9).collect();
            let mean = gaps_s.iter().sum::<f64>() / gaps_s.len() as f64;
            let square = gaps_s.iter().map(|gap| gap * gap).sum::<f64>() / gaps_s.len() as f64;
            assert!((square / (mean * mean) - 2.0).abs() < 0.1, "{square} {mean}");
        }
    }

    #[test]
    fn the_same_seed_and_flow_want_the_same_and_others_do_not() {
        let pareto = Sizes::Pareto { smallest_bytes: 1000, largest_bytes: 1_000_000, shape: 1.2 };
        let of = |seed, flow| {
            let poisson = Arrivals::Poisson { per_second: 10.0 };
            SharedDemand::new(&short(poisson, pareto.clone()), seed, flow, 0).rest(60 * SECOND)
        };
        assert_eq!(of(3, 4), of(3, 4));
        assert!(of(3, 4) != of(4, 4) && of(3, 4) != of(3, 5));
    }

    /// A user thinks from the end of the last transfer on, 2 s on average: with 10 000 of them four deviations are 0.08 s.
    #[test]
    fn users_think_after_each_transfer() {
        let users = Arrivals::Users { think: Span::from_secs(2) };
        let demand = SharedDemand::new(&short(users, Sizes::Fixed { bytes: 9 }), 1, 0, 0);
        let thought_s: Vec<f64> = (0..10_000).map(|i| (demand.next(i * SECOND).at - i * SECOND) as f64 / 1e9).collect();
        let mean = thought_s.iter().sum::<f64>() / 1e4;
        assert!((mean - 2.0).abs() < 0.08, "{mean}");
        assert_eq!(demand.rest(u64::MAX), []);
    }

    /// Of 100 000 sizes with median 10 kB and sigma 1.5: half are below the median, 84.13 % below one deviation above it, 10 kB times
    /// e^1.5 = 44.817 kB; by 4 deviations, 0.63 % and 0.46 %.
    #[test]
    fn log_normal_sizes() {
        let sizes = drawn(Sizes::LogNormal { median_bytes: 10_000, sigma: 1.5 }, 100_000);
        let share_below = |bytes: u64| sizes.iter().filter(|&&size| size < bytes).count() as f64 / 1e5;
        assert!((share_below(10_000) - 0.5).abs() < 0.0063, "{}", share_below(10_000));
        assert!((share_below(44_817) - 0.8413).abs() < 0.0046, "{}", share_below(44_817));
    }

    /// With shape 1.2 the share above ten times the smallest is 10^-1.2 = 6.31 %, above a hundred times 0.398 %; none is above the largest,
    /// which the share above it has: 1000^-1.2 = 0.0251 %.
    #[test]
    fn pareto_sizes() {
        let sizes = drawn(Sizes::Pareto { smallest_bytes: 1000, largest_bytes: 1_000_000, shape: 1.2 }, 100_000);
        let share_from = |bytes: u64| sizes.iter().filter(|&&size| size >= bytes).count() as f64 / 1e5;
        assert!(sizes.iter().all(|size| (1000..=1_000_000).contains(size)));
        for (bytes, share, four_deviations) in
            [(10_000, 0.0631, 0.0031), (100_000, 0.00398, 0.0008), (1_000_000, 0.000251, 0.0002)]
        {
            assert!((share_from(bytes) - share).abs() < four_deviations, "{bytes}: {}", share_from(bytes));
        }
    }
}
