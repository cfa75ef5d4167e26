// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a scenario chooses of a TCP and a sender carries out. It stands below both, so that neither has to know the other.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// How a sender finds losses, and what its window does until they are repaired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize), serde(rename_all = "kebab-case"))]
pub enum Recovery {
    /// Today's Linux: RACK-TLP (RFC 8985) and proportional rate reduction (RFC 6937).
    #[default]
    Prr,
    /// Linux 2.4 and 2.6 up to 3.1: FACK (Mathis and Mahdavi, 1996) and rate halving (Mathis, Semke, Mahdavi, Lahey, 1999).
    RateHalving,
}

/// Explicit congestion notification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize), serde(rename_all = "lowercase"))]
pub enum Ecn {
    /// Segments say that a mark would not be understood, so that queues drop them.
    #[default]
    Off,
    /// A mark has the effect of a loss on the window (RFC 3168).
    Rfc3168,
    /// A mark reduces the window less than a loss (RFC 8511): to 0.8 of it, with CUBIC to 0.85.
    Rfc8511,
    /// ACKs tell how many packets were marked (accurate ECN, RFC 9768). A controller that does not count them takes a mark for a loss.
    Accurate,
}

/// Whether a receiver says what is true, or what makes its sender faster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize), serde(rename_all = "kebab-case"))]
pub enum Honesty {
    /// It says what has come, and how.
    #[default]
    Honest,
    /// It acknowledges all before the newest segment that has come, and so hides losses (Savage, Cardwell, Wetherall, Anderson, 1999).
    EarlyAcks,
    /// It tells of no mark (RFC 3540 section 1).
    HidesMarks,
}

impl Honesty {
    /// Is it?
    pub fn is_honest(&self) -> bool {
        *self == Self::Honest
    }
}
