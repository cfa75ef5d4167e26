// SPDX-License-Identifier: MIT OR Apache-2.0
//! CTCP-TUBE in real numbers.

use std::ops::RangeInclusive;

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, q8};

use super::{Kind, Oracle, ctcp::Compound};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: between, shows_base_rtt: true, halves_at_most: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, _| Box::new(Compound::new(params, window))),
};

fn between(params: &Params) -> RangeInclusive<u32> {
    let [initial, low, high] = ["gamma", "gamma_low", "gamma_high"].map(|name| q8(params, name));
    initial.min(low).min(high)..=initial.max(high)
}
