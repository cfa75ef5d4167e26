// SPDX-License-Identifier: MIT OR Apache-2.0
//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// How many standard errors the interval of this confidence reaches to each side, with this many degrees of freedom, more than 0.
pub fn two_sided(confidence: f64, degrees_of_freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("some degree of freedom");
    t.inverse_cdf((1.0 + confidence) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, table of Student's t: columns 0.95, 0.975 and 0.995.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees_of_freedom, quantiles) in [
            (1.0, [6.314, 12.706, 63.657]),
            (2.0, [2.920, 4.303, 9.925]),
            (4.0, [2.132, 2.776, 4.604]),
            (9.0, [1.833, 2.262, 3.250]),
            (29.0, [1.699, 2.045, 2.756]),
            (100.0, [1.660, 1.984, 2.626]),
        ] {
            for (confidence, expected) in [0.90, 0.95, 0.99].into_iter().zip(quantiles) {
                let t = two_sided(confidence, degrees_of_freedom);
                assert!((t - expected).abs() <= 5.1e-4, "{degrees_of_freedom}, {confidence}: {t}, expected {expected}");
            }
        }
    }
}
