// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rate traces in mahimahi's format: a line for each opportunity to send one full packet, with its time in whole milliseconds.
//! Several lines may have the same time. The time of the last line is the length of the trace, after which it begins again.

use std::{fmt, path::Path, sync::Arc};

use serde::{Serialize, Serializer};

use crate::{
    bounded::{TRACE_BYTES, read},
    units::{Rate, Span},
};

/// Opportunities to send a full packet, over and over.
#[derive(Clone, PartialEq)]
pub struct RateTrace {
    /// Milliseconds from the start, in order; the last is the period, and above 0.
    opportunities_ms: Arc<[u32]>,
}

/// The times as a text: a list of thousands of numbers would bury what is around it.
impl Serialize for RateTrace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times: Vec<String> = self.opportunities_ms.iter().map(u32::to_string).collect();
        serializer.serialize_str(&times.join(" "))
    }
}

/// Why a text is no trace; the message has the line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct TraceError(String);

/// The longest trace: a day.
const MAX_MS: u32 = 86_400_000;

impl RateTrace {
    /// Reads a trace; `name` is for messages.
    ///
    /// # Errors
    /// If the text has no opportunity, a line that is no whole number, a time before the last one, or takes no time.
    pub fn parse(text: &str, name: &str) -> Result<Self, TraceError> {
        let mut times: Vec<u32> = Vec::new();
        for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
            let wrong = |what: String| Err(TraceError(format!("{name}:{number}: {what}")));
            let Ok(time) = line.parse::<u32>() else {
                let shown: String = line.chars().take(40).collect();
                let shown = shown.escape_debug();
                return wrong(format!("`{shown}` is not a time: each line is a whole number of milliseconds"));
            };
            if time > MAX_MS {
                return wrong(format!("{time} ms is more than a day, {MAX_MS} ms"));
            }
            if let Some(&last) = times.last().filter(|&&last| last > time) {
                return wrong(format!("{time} comes after {last}: times must not fall"));
            }
            times.push(time);
        }
        match times.last() {
            None => Err(TraceError(format!("{name}: the trace is empty: it needs a line with a time in milliseconds"))),
            Some(0) => {
                let why = "the trace takes no time: its last line, which is its length, is 0";
                Err(TraceError(format!("{name}:{}: {why}", times.len())))
            }
            Some(_) => Ok(Self { opportunities_ms: times.into() }),
        }
    }

    /// Reads a trace from a file.
    ///
    /// # Errors
    /// If the file cannot be read or is not text, and as [`parse`](Self::parse).
    pub fn load(path: &Path) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let bytes =
            read(path, TRACE_BYTES).map_err(|e| TraceError(format!("rate trace `{name}` cannot be read: {e}")))?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text, &name),
            Err(e) => {
                let line = bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1;
                Err(TraceError(format!(
                    "{name}:{line}: this is not text: a trace has a time in milliseconds on each line"
                )))
            }
        }
    }

    /// When packets may be sent, ms from the start, in order. The last is the length of the trace.
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities_ms
    }

    /// How long the trace is, before it begins again.
    pub fn period(&self) -> Span {
        Span::from_ms(u64::from(self.opportunities_ms[self.opportunities_ms.len() - 1]))
    }

    /// The rate on average, if each opportunity is for a packet of `mtu` bytes; at least 1 bit/s.
    pub fn mean_rate(&self, mtu: u32) -> Rate {
        let bits = self.opportunities_ms.len() as u128 * u128::from(mtu) * 8;
        let bps = bits * 1_000_000_000 / u128::from(self.period().ns);
        Rate { bps: (bps as u64).max(1) }
    }
}

/// All times, because a result depends on all of them.
impl fmt::Debug for RateTrace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "RateTrace({:?})", self.opportunities_ms)
    }
}
