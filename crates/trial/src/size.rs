// SPDX-License-Identifier: MIT OR Apache-2.0
//! Classes of connections by what they sent: a controller has little to decide on in a short one.

use serde::Serialize;

/// How many bytes a connection sent and had acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeClass {
    /// Less than 15 kB: about the initial window of ten segments (RFC 6928), before a controller has decided on anything.
    InitialWindow,
    /// Less than 150 kB: slow start.
    Short,
    /// Less than 1.5 MB.
    Medium,
    /// Less than 15 MB.
    Long,
    /// 15 MB and more.
    Bulk,
}

impl SizeClass {
    /// From the shortest to the longest.
    pub const ALL: [Self; 5] = [Self::InitialWindow, Self::Short, Self::Medium, Self::Long, Self::Bulk];

    /// The class of this many bytes.
    pub fn of(bytes: u64) -> Self {
        match bytes {
            ..15_000 => Self::InitialWindow,
            15_000..150_000 => Self::Short,
            150_000..1_500_000 => Self::Medium,
            1_500_000..15_000_000 => Self::Long,
            _ => Self::Bulk,
        }
    }

    /// As people read it.
    pub fn words(self) -> &'static str {
        match self {
            Self::InitialWindow => "below 15 kB",
            Self::Short => "15 to 150 kB",
            Self::Medium => "150 kB to 1.5 MB",
            Self::Long => "1.5 to 15 MB",
            Self::Bulk => "15 MB and more",
        }
    }
}
