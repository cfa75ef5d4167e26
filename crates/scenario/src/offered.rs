// SPDX-License-Identifier: MIT OR Apache-2.0
//! An application that writes at random: its keys, what they come to, and what it says of itself.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Rate, Span, seconds};

/// The largest write, bytes.
const MAX_WRITE_BYTES: u64 = 1_000_000_000;

/// When an application writes, as written: `{ kind = "poisson" }` or `{ kind = "on-off", on = "1s", off = "1s" }`. The mean rate is what
/// the application offers.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProcessSpec {
    /// A Poisson process.
    Poisson {
        /// Payload of a write; a full segment if not given.
        size: Option<Bytes>,
    },
    /// Evenly while on, and nothing while off. Both times are exponentially distributed.
    OnOff {
        /// Mean time on.
        on: Span,
        /// Mean time off.
        off: Span,
        /// Payload of a write; a full segment if not given.
        size: Option<Bytes>,
    },
}

/// The same, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Process {
    /// The gaps between writes are exponentially distributed.
    Poisson,
    /// Evenly while on, and nothing while off. Both times are exponentially distributed.
    OnOff {
        /// Mean time on.
        #[serde(rename = "on_s", serialize_with = "seconds")]
        on: Span,
        /// Mean time off.
        #[serde(rename = "off_s", serialize_with = "seconds")]
        off: Span,
    },
}

impl ProcessSpec {
    /// The process and the payload of a write, bytes, rounded up to full segments. `rates_bps` are all mean rates that it is to have. What is
    /// out of range is refused in words.
    pub(crate) fn check(
        self,
        segment_bytes: u32,
        mut rates_bps: impl Iterator<Item = u64>,
    ) -> Result<(Process, u32), String> {
        let (process, size) = match self {
            Self::Poisson { size } => (Process::Poisson, size),
            Self::OnOff { on, off, size } => (Process::OnOff { on, off }, size),
        };
        let bytes = size.map_or(u64::from(segment_bytes), |size| size.0);
        if bytes > MAX_WRITE_BYTES {
            return Err(format!("`size` must be at most {}", Bytes(MAX_WRITE_BYTES)));
        }
        let piece_bytes = (bytes as u32).next_multiple_of(segment_bytes);
        let Process::OnOff { on, off } = process else { return Ok((process, piece_bytes)) };
        if on.ns == 0 || off.ns == 0 {
            return Err("on-off needs `on` and `off` above 0".into());
        }
        let cycle_s = on.as_secs_f64() + off.as_secs_f64();
        let has_no_write = |&bps: &u64| bps > 0 && (bps as f64) * cycle_s < 8.0 * f64::from(piece_bytes);
        match rates_bps.find(has_no_write) {
            Some(bps) => Err(format!(
                "at {} a time `on` has not one write of {piece_bytes} bytes on average: make `on` and `off` longer, or write less at a time",
                Rate { bps }
            )),
            None => Ok((process, piece_bytes)),
        }
    }
}

impl Process {
    /// As a part of a sentence on what an application offers; `piece_bytes` is the payload of a write.
    pub fn in_words(self, piece_bytes: u32) -> String {
        let size = Bytes(piece_bytes.into()).in_words();
        match self {
            Self::Poisson => format!(" on average, in writes of {size} at random (Poisson)"),
            Self::OnOff { on, off } => {
                format!(" on average, in writes of {size}, {} on and {} off at random", on.in_words(), off.in_words())
            }
        }
    }
}
