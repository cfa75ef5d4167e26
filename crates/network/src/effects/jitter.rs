// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random additions to the delay, as `tc netem` makes them: a uniform random number, correlated with the last one, picks a place in a
//! distribution. As there, correlation narrows the distribution.

use tandem_scenario::effects::{Jitter, JitterDistribution};

use super::wifi;
use crate::Rng;

/// netem's tables end at this many standard deviations.
const CUT: f64 = 4.0;

#[derive(Debug, Clone)]
pub struct Additions {
    jitter: Jitter,
    last: f64,
}

impl Additions {
    pub fn new(jitter: Jitter) -> Self {
        Self { jitter, last: 0.5 }
    }

    /// Is there jitter at this time, ns since the start of the run?
    pub fn is_there(&self, since_start: u64) -> bool {
        self.jitter.during.has(since_start)
    }

    /// What this packet's delay is longer by, ns; may be negative.
    pub fn next(&mut self, rng: &mut Rng) -> i64 {
        let Jitter { time, distribution, correlation, .. } = self.jitter;
        self.last = correlation * self.last + (1.0 - correlation) * rng.share();
        let deviations = match distribution {
            JitterDistribution::Uniform => 2.0 * self.last - 1.0,
            JitterDistribution::Normal => normal_quantile(self.last),
            JitterDistribution::Pareto => pareto_quantile(self.last),
            JitterDistribution::Wifi => return wifi::addition_ns(time.ns, rng) as i64,
        };
        (deviations.clamp(-CUT, CUT) * time.ns as f64) as i64
    }
}

/// Shape 3, as iproute2's table: mean 1.5, moved to 0, and times 4/3, so that the deviation is 1.15.
fn pareto_quantile(share: f64) -> f64 {
    (1.0 / libm::cbrt(1.0 - share) - 1.5) * 4.0 / 3.0
}

/// Of the standard normal distribution, to 1.2e-9 of its value (Acklam 2003).
pub fn normal_quantile(share: f64) -> f64 {
    const A: [f64; 6] = [
        -39.69683028665376,
        220.9460984245205,
        -275.9285104469687,
        138.357751867269,
        -30.66479806614716,
        2.506628277459239,
    ];
    const B: [f64; 6] =
        [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1.0];
    const C: [f64; 6] = [
        -0.007784894002430293,
        -0.3223964580411365,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1.0];
    const TAIL: f64 = 0.02425;
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |share: f64| {
        let q = libm::sqrt(-2.0 * libm::log(share.max(f64::MIN_POSITIVE)));
        polynomial(&C, q) / polynomial(&D, q)
    };
    if share < TAIL {
        tail(share)
    } else if share > 1.0 - TAIL {
        -tail(1.0 - share)
    } else {
        let q = share - 0.5;
        polynomial(&A, q * q) * q / polynomial(&B, q * q)
    }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::{effects::During, units::Span};

    use super::*;
    use crate::Stream;

    /// From tables of the normal distribution.
    #[test]
    fn quantiles_of_the_normal_distribution() {
        for (share, expected) in
            [(0.5, 0.0), (0.841344746, 1.0), (0.975, 1.959964), (0.999, 3.090232), (0.01, -2.326348)]
        {
            assert!((normal_quantile(share) - expected).abs() < 1e-5, "{share}");
        }
    }

    /// Of 1/cbrt(1 - u): 1, 1.2599 and 10 at u = 0, 1/2 and 0.999.
    #[test]
    fn quantiles_of_the_pareto_distribution() {
        for (share, expected) in [(0.0, -0.666667), (0.5, -0.320105), (0.999, 11.333333)] {
            assert!((pareto_quantile(share) - expected).abs() < 1e-5, "{share}");
        }
    }

    fn additions(distribution: JitterDistribution, correlation: f64) -> Vec<f64> {
        let during = During::default();
        let jitter = Jitter { time: Span::from_ms(10), distribution, correlation, keep_order: true, during };
        let (mut additions, mut rng) = (Additions::new(jitter), Rng::new(1, Stream::Effects(0)));
        (0..100_000).map(|_| additions.next(&mut rng) as f64 / 1e7).collect()
    }

    fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64).sqrt())
    }

    /// Uniform over twice the time: sqrt(1/3). Pareto: X = 1/cbrt(1 - u) is cut off at c = 4 * 3/4 + 3/2 = 4.5. With density 3/x^4,
    /// E min(X, c) = 3/2 - 1/(2 c^2) = 1.47531 and E min(X, c)^2 = 3 - 2/c = 2.55556: deviation 0.61564, mean -0.02469, both times 4/3.
    #[test]
    fn means_and_deviations() {
        let (mean, deviation) = mean_and_deviation(&additions(JitterDistribution::Uniform, 0.0));
        assert!(mean.abs() < 0.01 && (deviation - 0.57735).abs() < 0.006, "{mean}, {deviation}");
        let (mean, deviation) = mean_and_deviation(&additions(JitterDistribution::Normal, 0.0));
        assert!(mean.abs() < 0.015 && (deviation - 1.0).abs() < 0.02, "{mean}, {deviation}");
        let (mean, deviation) = mean_and_deviation(&additions(JitterDistribution::Pareto, 0.0));
        assert!((mean + 0.03292).abs() < 0.012 && (deviation - 0.82086).abs() < 0.02, "{mean}, {deviation}");
    }

    /// With r of the last number taken over, neighbours have the correlation r (first-order autoregression).
    #[test]
    fn neighbours_are_correlated() {
        let values = additions(JitterDistribution::Uniform, 0.25);
        let (mean, deviation) = mean_and_deviation(&values);
        let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
        let correlation = products / values.len() as f64 / (deviation * deviation);
        assert!((correlation - 0.25).abs() < 0.015, "{correlation}");
    }
}
