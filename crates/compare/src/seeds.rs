// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many seeds a comparison gets.

use std::str::FromStr;

use tandem_scenario::{file::MAX_COUNT, units::Span};

/// A fixed number, or as many as it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seeds {
    /// As many as it takes.
    Auto,
    /// This many of each run.
    Fixed(u32),
}

impl Seeds {
    /// Of engines that take as long as they emulate, which nobody waits for twenty times.
    pub const REAL_TIME: Self = Self::Fixed(5);
}

/// What is neither `auto` nor a number of seeds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number of seeds: give `auto` or a number from 1 to {MAX_COUNT}")]
pub struct SeedsError(pub String);

impl FromStr for Seeds {
    type Err = SeedsError;

    fn from_str(text: &str) -> Result<Self, SeedsError> {
        let number = || text.parse().ok().filter(|count| (1..=MAX_COUNT).contains(count)).map(Self::Fixed);
        if text == "auto" { Some(Self::Auto) } else { number() }.ok_or_else(|| SeedsError(text.to_owned()))
    }
}

/// What bounds seeds that are added until all is decided. All three are ours.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The most of each run.
    pub most_seeds: u32,
    /// No more seeds are begun after it, but the first are always run.
    pub time: Span,
    /// Half the width of an interval that is narrow enough: of the greater of two goodputs, or of a share.
    pub precision: f64,
}

impl Budget {
    /// The default if none is named.
    pub const USUAL: Self = Self { most_seeds: 20, time: Span::from_secs(120), precision: 0.05 };
}
