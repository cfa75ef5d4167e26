// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jitter as in the tests of C4 (draft-huitema-ccwg-c4-test), measured in bad wireless networks: picoquic's `sim_link.c` has the law.
//!
//! Each packet comes later by some short steps, and a share of the packets by many long ones, too. A uniform part of one step is missing from
//! both, so that delays are not whole steps.

use tandem_scenario::effects::{WIFI_LONGEST, WIFI_MOST_STEPS, WIFI_SHORTEST, WIFI_STEPS};

use crate::Rng;

/// Means of the numbers of steps, which are Poisson distributed.
const SHORT_STEPS: f64 = 1.0;
const LONG_STEPS: f64 = 12.0;

/// What a packet's delay is longer by, ns, where it is to be `time_ns` on average.
pub fn addition_ns(time_ns: u64, rng: &mut Rng) -> u64 {
    let [most_short, most_long] = WIFI_MOST_STEPS;
    let [short_step_ns, long_step_ns] = WIFI_STEPS.map(|step| step.ns as f64);
    let short = poisson(SHORT_STEPS, most_short, rng);
    let mut ns = (f64::from(short) - if short > 0 { rng.share() } else { 0.0 }) * short_step_ns;
    let range_ns = (WIFI_LONGEST.ns - WIFI_SHORTEST.ns) as f64;
    if rng.chance(time_ns.saturating_sub(WIFI_SHORTEST.ns) as f64 / range_ns) {
        let long = poisson(LONG_STEPS, most_long, rng);
        // Above 1, and not above 0: as there.
        ns += (f64::from(long) - if long > 1 { rng.share() } else { 0.0 }) * long_step_ns;
    }
    ns as u64
}

/// Inverts the distribution function.
fn poisson(mean: f64, most: u32, rng: &mut Rng) -> u32 {
    let (mut share, mut probability, mut n) = (rng.share(), libm::exp(-mean), 0);
    while share >= probability && n < most {
        share -= probability;
        n += 1;
        probability *= mean / f64::from(n);
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    /// In milliseconds.
    fn additions(time_ms: u64) -> Vec<f64> {
        let mut rng = Rng::new(1, Stream::Effects(0));
        (0..100_000).map(|_| addition_ns(time_ms * 1_000_000, &mut rng) as f64 / 1e6).collect()
    }

    fn share(values: &[f64], is_so: impl Fn(f64) -> bool) -> f64 {
        values.iter().filter(|&&value| is_so(value)).count() as f64 / values.len() as f64
    }

    fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64).sqrt())
    }

    /// With U uniform from 0 to 1, the addition is 0 for N = 0 and N - U otherwise. N = 0 has the probability 1/e, N >= 2 has 1 - 2/e, and
    /// N >= 4 has 1 - (1 + 1 + 1/2 + 1/6)/e. The mean is 1 - (1 - 1/e)/2 = 0.68394; the mean square is
    /// 2 - 1 + (1 - 1/e)/3 = 1.21071, so that the deviation is sqrt(1.21071 - 0.46777) = 0.86194.
    #[test]
    fn short_steps_alone() {
        let values = additions(1);
        let (mean, deviation) = mean_and_deviation(&values);
        assert!((mean - 0.68394).abs() < 0.012 && (deviation - 0.86194).abs() < 0.012, "{mean}, {deviation}");
        for (found, expected) in [
            (share(&values, |ms| ms == 0.0), 0.36788),
            (share(&values, |ms| ms > 1.0), 0.26424),
            (share(&values, |ms| ms > 3.0), 0.01899),
        ] {
            assert!((found - expected).abs() < 0.006, "{found}, {expected}");
        }
    }

    /// With M long steps in each packet, the mean is 0.68394 + 7.5 (12 - 1/2) = 86.934. Their variance is 7.5^2 (12 + 1/12) = 679.69, which
    /// with 0.743 of the short ones is a deviation of 26.085. M = 0 and 1, where nothing is missing, have 8e-5.
    #[test]
    fn long_steps_always() {
        let (mean, deviation) = mean_and_deviation(&additions(85));
        assert!((mean - 86.934).abs() < 0.33 && (deviation - 26.085).abs() < 0.3, "{mean}, {deviation}");
    }

    /// 7 ms give 6/84 of the packets long steps: mean 0.68394 + 86.25/14 = 6.8447. A packet with them comes more than 22.5 ms late unless
    /// M <= 3 (0.0023), and one without them never does. More than 97.5 ms late comes at least M >= 14, and at most M >= 13 and what short
    /// steps of 1 to 10 ms lift above it: 0.3185 of those with long steps, and 0.4240 with M >= 13.
    #[test]
    fn a_share_of_packets_has_long_steps() {
        let values = additions(7);
        let (mean, _) = mean_and_deviation(&values);
        assert!((mean - 6.8447).abs() < 0.3, "{mean}");
        let late = share(&values, |ms| ms > 22.5);
        assert!((late - 0.07126).abs() < 0.0035, "{late}");
        let very_late = share(&values, |ms| ms > 97.5);
        assert!((0.3185 / 14.0 - 0.002..0.424 / 14.0 + 0.002).contains(&very_late), "{very_late}");
    }
}
