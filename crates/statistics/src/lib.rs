// SPDX-License-Identifier: MIT OR Apache-2.0
//! The statistics of independent runs: an [`Estimate`] with its confidence interval, and what describes a list of values.
//!
//! ```
//! use tandem_statistics::Estimate;
//!
//! // Goodput with three seeds, Mb/s. t = 4.303 with two degrees of freedom, standard error 1 / sqrt(3).
//! let goodput = Estimate::of_mean(&[47.0, 48.0, 49.0]);
//! assert_eq!(goodput.text(1), "48.0 ± 2.5");
//! ```
//!
//! [tandem-results](../tandem_results/index.html) sums up runs with it.

mod asymmetric;
mod describe;
mod estimate;
mod looks;
mod number;
mod sequence;
mod student;
mod symmetry;

pub use asymmetric::AsymmetricEstimate;
pub use describe::{jain, mean, percentile, variance};
pub use estimate::{CONFIDENCE, Estimate, proportion};
pub use looks::{Look, Looks};
pub use number::{rate, significant, with_interval};
pub use sequence::always_valid_half_width;
pub use symmetry::{Neighbours, stolen};
