// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compound TCP with gamma from the largest and smallest RTT in real numbers.

use tandem_testing::invariant::{Facts, q8};

use super::{Kind, Oracle, ctcp::Compound};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| q8(params, "gamma_low")..=q8(params, "gamma_low").max(q8(params, "low_window")), shows_base_rtt: true, halves_at_most: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, _| Box::new(Compound::new(params, window))),
};
