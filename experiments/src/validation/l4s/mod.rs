// SPDX-License-Identifier: MIT OR Apache-2.0
//! L4S: what RFC 9332 claims, and what others measured on Linux.

mod claims;
mod linux;

use super::Validation;

/// How many points are as the RFC claims.
pub(super) fn agreement_with_claims(validation: &Validation) -> anyhow::Result<String> {
    claims::agreement(validation)
}

/// How many goodputs are as on Linux.
pub(super) fn agreement_with_linux(validation: &Validation) -> anyhow::Result<String> {
    linux::agreement(validation)
}

pub(super) fn part(validation: &Validation) -> anyhow::Result<String> {
    Ok(claims::part(validation)? + &linux::part(validation)?)
}
