// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals that hold however often one looks, and whenever one stops: confidence sequences.

/// Half the width of an asymptotic confidence sequence of a mean: with probability `1 - alpha` the true mean is within it at all times from
/// some number of values on, however many looks are taken.
///
/// `n` values, more than 0; `variance_of_sum`: the estimated variance of their sum (`n` times that of one value, if they are independent).
/// It is narrowest near `tuned_for` values, and little wider far from there.
///
/// Source: Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", The
/// Annals of Statistics 52(6), 2024: theorem 2.2, with the mixture parameter of their appendix for one number of values. The boundary is
/// Robbins' normal mixture (1970).
pub fn always_valid_half_width(variance_of_sum: f64, n: f64, alpha: f64, tuned_for: f64) -> f64 {
    let twice_log = -2.0 * alpha.ln();
    let rho_squared = (twice_log + twice_log.ln() + 1.0) / tuned_for;
    let time = n * rho_squared;
    let boundary = 2.0 * (1.0 + 1.0 / time) * ((time + 1.0).sqrt() / alpha).ln();
    (variance_of_sum * boundary).sqrt() / n
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand for alpha = 0.05 and 500 values of variance 1, tuned for 500: -2 ln 0.05 = 5.99146, its logarithm 1.79034, so rho^2 =
    /// 8.78180 / 500; n rho^2 = 8.78180; ln(sqrt(9.78180) / 0.05) = ln 62.5518 = 4.13600; 2 * 1.113872 * 4.13600 = 9.21395;
    /// sqrt(500 * 9.21395) / 500 = 0.135749.
    #[test]
    fn the_half_width_by_hand() {
        assert!((always_valid_half_width(500.0, 500.0, 0.05, 500.0) - 0.135749).abs() < 2e-6);
        // Twice the standard deviation, twice the width.
        assert!((always_valid_half_width(2000.0, 500.0, 0.05, 500.0) - 0.271498).abs() < 4e-6);
    }

    /// It must be wider than the interval of a single look, 1.96 / sqrt(n), and is narrowest in its unit near where it is tuned for.
    #[test]
    fn it_costs_something_at_each_time() {
        let relative = |n: f64| always_valid_half_width(n, n, 0.05, 500.0) * n.sqrt();
        for n in [10.0, 100.0, 500.0, 5e3, 1e6] {
            assert!(relative(n) > 1.959_964, "{n}");
        }
        assert!(relative(500.0) < relative(50.0) && relative(500.0) < relative(50_000.0));
    }
}
