// SPDX-License-Identifier: MIT OR Apache-2.0
//! What holds of some controllers only, and the invariants therefore cannot know.

use std::ops::RangeInclusive;

use tandem_controllers::Params;

/// Stated by each controller's oracle, `controllers/tests/oracles/NAME.rs`.
#[derive(Clone, Copy)]
pub struct Facts {
    /// The values that its gamma may take under these parameters, 1/256 packets.
    pub gamma_q8: fn(&Params) -> RangeInclusive<u32>,
    /// Shows the smallest RTT sample.
    pub shows_base_rtt: bool,
    /// "CTCP window is low-bounded by its loss-based component" (S0 III.B): only a loss takes from the loss window ...
    pub loss_window_stays: bool,
    /// ... and leaves at least half of it.
    pub halves_at_most: bool,
}

impl Facts {
    /// Shows neither gamma nor base RTT; takes from its window at a loss only.
    pub const USUAL: Self =
        Self { gamma_q8: |_| 0..=0, shows_base_rtt: false, loss_window_stays: true, halves_at_most: false };

    /// Nothing is known of it.
    pub const NONE: Self =
        Self { gamma_q8: |_| 0..=u32::MAX, shows_base_rtt: false, loss_window_stays: false, halves_at_most: false };
}

/// A parameter in 1/256 packets.
pub fn q8(params: &Params, name: &str) -> u32 {
    (params.get(name).unwrap() * 256.0) as u32
}

/// Gamma is this parameter.
pub fn only(params: &Params, name: &str) -> RangeInclusive<u32> {
    q8(params, name)..=q8(params, name)
}
