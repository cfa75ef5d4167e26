// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a host that several hosts share: what a transport does around its controller. They have no clock and do no I/O; times are
//! nanoseconds from any origin.

mod choices;
mod delivery_rate;
mod prr;
mod rtt;

pub use choices::{Ecn, Honesty, Recovery};
pub use delivery_rate::{DeliveryAccount, Stamp};
pub use prr::{Progress, Prr};
pub use rtt::{RTO_MAX_NS, RTO_MIN_NS, RttEstimator};
