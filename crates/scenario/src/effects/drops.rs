// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses without chance: packets are counted as they reach the link, from 1.

use serde::{Deserialize, Serialize};

use crate::check::SpecError;

/// Which packets are lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drops {
    /// Those with these numbers, in their order.
    Packets(Vec<u64>),
    /// The last of each group of this many.
    Every(u64),
    /// All but the last of each group of this many.
    KeepEvery(u64),
}

/// As written: one of the three.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DropsSpec {
    /// Numbers of packets.
    pub packets: Option<Vec<u64>>,
    /// The last of this many is lost.
    pub every: Option<u64>,
    /// The last of this many passes.
    pub keep_every: Option<u64>,
}

impl DropsSpec {
    /// `key` is that of the effect.
    pub(super) fn resolve(&self, key: &str) -> Result<Drops, SpecError> {
        let wrong = |part: &str, message: &str| Err(SpecError::at(format!("{key}.{part}"), message));
        match (&self.packets, self.every, self.keep_every) {
            (Some(packets), None, None) => {
                let mut packets = packets.clone();
                packets.sort_unstable();
                match packets.first() {
                    None => wrong("packets", "no packet is named: give its number, from 1, or leave `drop` out"),
                    Some(0) => wrong("packets", "packets are counted from 1"),
                    Some(_) => Ok(Drops::Packets(packets)),
                }
            }
            (None, Some(0 | 1), None) => wrong("every", "every must be 2 or more: otherwise nothing passes"),
            (None, Some(every), None) => Ok(Drops::Every(every)),
            (None, None, Some(0 | 1)) => wrong("keep_every", "keep_every must be 2 or more: otherwise nothing is lost"),
            (None, None, Some(every)) => Ok(Drops::KeepEvery(every)),
            _ => Err(SpecError::at(key, "give one of `packets`, `every` and `keep_every`")),
        }
    }
}

impl Drops {
    /// In words.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Packets(packets) => {
                let numbers: Vec<String> = packets.iter().take(5).map(u64::to_string).collect();
                let more = if packets.len() > numbers.len() { ", ..." } else { "" };
                format!("packet {}{more} lost", numbers.join(", "))
            }
            Self::Every(every) => format!("one packet in {every} lost, evenly"),
            Self::KeepEvery(every) => format!("all but one packet in {every} lost, evenly"),
        }
    }
}
