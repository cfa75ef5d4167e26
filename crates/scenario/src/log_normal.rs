// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log-normal distribution of median 1: the natural logarithm is normally distributed, with mean 0 and standard deviation sigma.

/// Its mean.
pub fn mean(sigma: f64) -> f64 {
    libm::exp(sigma * sigma / 2.0)
}

/// The quantile that belongs to one of the standard normal distribution.
pub fn quantile(sigma: f64, normal_quantile: f64) -> f64 {
    libm::exp(sigma * normal_quantile)
}
