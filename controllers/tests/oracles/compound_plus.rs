// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compound TCP+ in real numbers.

use tandem_testing::invariant::{Facts, only};

use super::{Kind, Oracle, ctcp::Compound};

pub const ORACLE: Oracle = Oracle {
    facts: Facts {
        gamma_q8: |params| only(params, "gamma"),
        shows_base_rtt: true,
        loss_window_stays: false,
        halves_at_most: true,
    },
    kind: Kind::Windows(|params, window, _| Box::new(Compound::new(params, window))),
};
