// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a run in which an effect is there.

use serde::Serialize;

use crate::{
    check::SpecError,
    units::{Span, seconds, seconds_if_any},
};

/// From one time until before another. The default is always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct During {
    /// From the start of the run.
    #[serde(rename = "from_s", serialize_with = "seconds")]
    pub from: Span,
    /// `None`: to the end.
    #[serde(rename = "until_s", serialize_with = "seconds_if_any")]
    pub until: Option<Span>,
}

impl During {
    /// As written; `key` is that of the effect.
    pub(super) fn resolve(from: Option<Span>, until: Option<Span>, key: &str) -> Result<Self, SpecError> {
        let from = from.unwrap_or_default();
        match until {
            Some(until) if until <= from => {
                Err(SpecError::at(format!("{key}.until"), format!("until must be later than from, {from}")))
            }
            until => Ok(Self { from, until }),
        }
    }

    /// Is it the whole run?
    pub fn is_always(&self) -> bool {
        *self == Self::default()
    }

    /// Is this time, ns since the start of the run, in it?
    pub fn has(&self, ns: u64) -> bool {
        self.from.ns <= ns && self.until.is_none_or(|until| ns < until.ns)
    }

    /// In words, behind those of the effect.
    pub(super) fn in_words(&self) -> String {
        let until = self.until.map_or(String::new(), |until| format!(" until {}", until.in_words()));
        if self.from.ns == 0 { until } else { format!(" from {}{until}", self.from.in_words()) }
    }
}
