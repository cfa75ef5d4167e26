// SPDX-License-Identifier: MIT OR Apache-2.0
//! L4S: what RFC 9332 claims, and what others measured on Linux.

mod claims;
mod linux;
mod unequal_rtts;

pub(super) use claims::{EQUAL, SHORT, part as claims};
pub(super) use linux::{CUBIC, PRAGUE, part as linux};
pub(super) use unequal_rtts::table as unequal_rtts;

use super::Validation;

/// Little is random: more of them change nothing.
const MOST_SEEDS: u64 = 3;

fn seeds(validation: &Validation) -> u64 {
    validation.seeds.min(MOST_SEEDS)
}
